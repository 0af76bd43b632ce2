// SPDX-License-Identifier: Apache-2.0
//
// A .tflite file under construction: one subgraph, operators of their first version. What it may
// grow to is bounded by what it is made of; beyond, nothing more is added, and `full` says so.
#ifndef DEPUTY_MINDSPORE_MS_WRITE_H_
#define DEPUTY_MINDSPORE_MS_WRITE_H_

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mindspore/ms/read.h"
#include "schema_generated.h"

namespace deputy::ms {

using Builtin = schema::BuiltinOperator;

// What a tensor has beside its contents. `channel_axis` counts where there is a scale per channel.
struct TensorForm {
  Type type = Type::kFloat32;
  std::vector<int32_t> dims = {};
  std::string_view name = {};
  const Quantization* quantization = nullptr;
  int channel_axis = 0;
};

class Writer {
 public:
  // `limit`: greatest number of bytes.
  explicit Writer(size_t limit) : limit_(limit) {}

  // Counts bytes that will be added; false, and full from then on, if they are too many. Everything
  // below does so by itself; whoever computes a constant does so before allocating it.
  bool Reserve(size_t bytes);
  bool full() const { return full_; }

  // No tensor: returned where one is refused. Loaders refuse a model that holds it.
  static constexpr int kNoTensor = std::numeric_limits<int>::min();

  // The number of a new tensor; kNoTensor if the writer is full. A dimension of -1 is one that
  // callers choose.
  int AddTensor(const TensorForm& form);
  int AddConstant(const TensorForm& form, std::span<const uint8_t> bytes);

  template <typename Options>
  void AddOp(Builtin code, const std::vector<int>& inputs, const std::vector<int>& outputs,
             flatbuffers::Offset<Options> options) {
    AddNode(code, {}, inputs, outputs, schema::BuiltinOptionsTraits<Options>::enum_value,
            options.Union(), {});
  }
  void AddOp(Builtin code, const std::vector<int>& inputs, const std::vector<int>& outputs) {
    AddNode(code, {}, inputs, outputs, schema::BuiltinOptions::NONE, 0, {});
  }
  void AddCustomOp(const std::string& name, const std::vector<int>& inputs,
                   const std::vector<int>& outputs, std::span<const uint8_t> options) {
    AddNode(Builtin::CUSTOM, name, inputs, outputs, schema::BuiltinOptions::NONE, 0, options);
  }

  // For tables of options.
  flatbuffers::FlatBufferBuilder& fbb() { return fbb_; }

  std::vector<uint8_t> Finish(const std::vector<int>& inputs, const std::vector<int>& outputs,
                              const std::string& description);

 private:
  int AddTensorOfBuffer(const TensorForm& form, uint32_t buffer);
  flatbuffers::Offset<schema::QuantizationParameters> WriteQuantization(const TensorForm& form);
  void AddNode(Builtin code, const std::string& name, const std::vector<int>& inputs,
               const std::vector<int>& outputs, schema::BuiltinOptions kind,
               flatbuffers::Offset<void> options, std::span<const uint8_t> custom_options);

  const size_t limit_;
  size_t used_ = 0;
  bool full_ = false;
  flatbuffers::FlatBufferBuilder fbb_;
  std::vector<flatbuffers::Offset<schema::Buffer>> buffers_ = {schema::CreateBuffer(fbb_)};
  std::vector<flatbuffers::Offset<schema::Tensor>> tensors_;
  std::vector<flatbuffers::Offset<schema::Operator>> operators_;
  std::vector<flatbuffers::Offset<schema::OperatorCode>> codes_;
  std::map<std::pair<Builtin, std::string>, uint32_t> code_numbers_;
};

}  // namespace deputy::ms

#endif  // DEPUTY_MINDSPORE_MS_WRITE_H_
