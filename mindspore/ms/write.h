// SPDX-License-Identifier: Apache-2.0
//
// Builds a .tflite file with one subgraph and operators of version 1 (BROADCAST_TO of version 2).
// The size of the file is limited; beyond the limit nothing is added, and full() returns true.
#ifndef DEPUTY_MINDSPORE_MS_WRITE_H_
#define DEPUTY_MINDSPORE_MS_WRITE_H_

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/support/model_writer.h"
#include "mindspore/ms/read.h"
#include "schema_generated.h"

namespace deputy::ms {

using Builtin = schema::BuiltinOperator;

// Properties of a tensor except its contents. `channel_axis` applies if there is a scale per
// channel.
struct TensorForm {
  Type type = Type::kFloat32;
  std::vector<int32_t> dims = {};
  std::string_view name = {};
  const Quantization* quantization = nullptr;
  int channel_axis = 0;
};

class Writer {
 public:
  // Creates an empty file of at most `limit` bytes.
  explicit Writer(size_t limit) : limit_(limit) {}

  // Counts bytes that will be added. Returns false, and full() is true from then on, if they exceed
  // the limit. The functions below call it themselves; a caller that computes a constant calls it
  // before allocating memory.
  bool Reserve(size_t bytes);
  bool full() const { return full_; }

  // Index that is returned if a tensor is not added. Loaders reject a model that contains it.
  static constexpr int kNoTensor = std::numeric_limits<int>::min();

  // Return the index of the new tensor, or kNoTensor if the writer is full. A dimension of -1 can
  // be chosen by callers of the model.
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

  int op_count() const { return static_cast<int>(ops_.size()); }
  // Removes the operators that were added last, so that `count` remain.
  void TruncateOps(int count) { ops_.resize(static_cast<size_t>(count)); }

  void AddMetadata(const char* name, std::span<const uint8_t> bytes);

  // Returns the number of bytes that may still be added.
  size_t free_bytes() const { return full_ ? 0 : limit_ - used_; }

  // Returns the builder for option tables.
  flatbuffers::FlatBufferBuilder& fbb() { return writer_.fbb(); }

  std::vector<uint8_t> Finish(const std::vector<int>& inputs, const std::vector<int>& outputs,
                              const std::string& description);

 private:
  // An operator, which Finish writes.
  struct Op {
    Builtin code = Builtin::ADD;
    std::string name;  // of a custom operator
    std::vector<int> inputs, outputs;
    schema::BuiltinOptions kind = schema::BuiltinOptions::NONE;
    flatbuffers::Offset<void> options;
    std::vector<uint8_t> custom_options;
  };

  int AddTensorOfBuffer(const TensorForm& form, uint32_t buffer);
  flatbuffers::Offset<schema::QuantizationParameters> WriteQuantization(const TensorForm& form);
  void AddNode(Builtin code, const std::string& name, const std::vector<int>& inputs,
               const std::vector<int>& outputs, schema::BuiltinOptions kind,
               flatbuffers::Offset<void> options, std::span<const uint8_t> custom_options);

  const size_t limit_;
  size_t used_ = 0;
  bool full_ = false;
  ModelWriter writer_;
  std::vector<Op> ops_;
};

}  // namespace deputy::ms

#endif  // DEPUTY_MINDSPORE_MS_WRITE_H_
