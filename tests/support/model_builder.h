// SPDX-License-Identifier: Apache-2.0
//
// Writes small .tflite models for tests, valid and invalid ones: the builder checks nothing.
//
//     ModelBuilder m;
//     const int x = m.AddTensor(kTfLiteFloat32, {1, 4}, "x");
//     const int w = m.AddConstant<float>(kTfLiteFloat32, {4}, {1, 2, 3, 4}, "w");
//     const int y = m.AddTensor(kTfLiteFloat32, {1, 4}, "y");
//     m.AddOp(kTfLiteBuiltinAdd, {x, w}, {y}, schema::CreateAddOptions(m.fbb()));
//     m.SetInputs({x});
//     m.SetOutputs({y});
//     std::vector<uint8_t> bytes = m.Finish();
#ifndef DEPUTY_TESTS_SUPPORT_MODEL_BUILDER_H_
#define DEPUTY_TESTS_SUPPORT_MODEL_BUILDER_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "c_api/include/builtin_ops.h"
#include "c_api/include/common.h"
#include "core/support/model_writer.h"
#include "schema_generated.h"

namespace deputy {

// Optional properties of a tensor besides type, shape and name.
struct TensorExtras {
  // Scales of affine quantisation; missing zero points are written as zeros.
  std::vector<float> scale = {};
  std::vector<int64_t> zero_point = {};
  int32_t quantized_dimension = 0;
  std::vector<int32_t> signature = {};  // shape signature; empty: none in the file
  bool is_variable = false;
  bool trailing = false;  // for constants: store data after the FlatBuffer, by offset and size
  // Ready-made tables, for properties that the fields above cannot express.
  flatbuffers::Offset<schema::QuantizationParameters> quantization = {};
  flatbuffers::Offset<schema::SparsityParameters> sparsity = {};
};

class ModelBuilder : public ModelWriter {
 public:
  using ModelWriter::ModelWriter;

  // The Add functions that return a number return the index of the added object.
  int AddTensor(TfLiteType type, const std::vector<int32_t>& shape, const std::string& name = "",
                const TensorExtras& extras = {});
  // Adds a constant. `values` are written byte by byte, independent of `type`; packed types need
  // packed bytes.
  template <typename T>
  int AddConstant(TfLiteType type, const std::vector<int32_t>& shape, const std::vector<T>& values,
                  const std::string& name = "", const TensorExtras& extras = {}) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<uint8_t> bytes(values.size() * sizeof(T));
    if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
    return AddTensorOfBuffer(type, shape, AddBuffer(bytes, extras.trailing), name, extras);
  }
  int AddStringConstant(const std::vector<int32_t>& shape, const std::vector<std::string>& values,
                        const std::string& name = "");
  int AddTensorOfBuffer(TfLiteType type, const std::vector<int32_t>& shape, uint32_t buffer,
                        const std::string& name = "", const TensorExtras& extras = {});

  uint32_t AddBuffer(const std::vector<uint8_t>& bytes, bool trailing = false);

  // Adds a builtin operator with options of either union: any Create...Options(fbb(), ...).
  template <typename Options>
  int AddOp(TfLiteBuiltinOperator code, const std::vector<int32_t>& inputs,
            const std::vector<int32_t>& outputs, flatbuffers::Offset<Options> options,
            int version = 1, const std::vector<int32_t>& intermediates = {}) {
    return AddNode({.code_index = AddOperatorCode(code, nullptr, version),
                    .inputs = inputs,
                    .outputs = outputs,
                    .intermediates = intermediates,
                    .options_type = schema::BuiltinOptionsTraits<Options>::enum_value,
                    .options_2_type = schema::BuiltinOptions2Traits<Options>::enum_value,
                    .options = options.Union()});
  }
  // Adds a builtin operator without options.
  int AddOp(TfLiteBuiltinOperator code, const std::vector<int32_t>& inputs,
            const std::vector<int32_t>& outputs, int version = 1);
  int AddCustomOp(const std::string& name, const std::vector<int32_t>& inputs,
                  const std::vector<int32_t>& outputs, const std::vector<uint8_t>& options = {},
                  int version = 1);

  using NamedTensors = std::vector<std::pair<std::string, uint32_t>>;
  void AddSignature(const std::string& key, const NamedTensors& inputs, const NamedTensors& outputs,
                    uint32_t subgraph = 0);
  void AddMetadata(const std::string& name, const std::vector<uint8_t>& bytes);
  void AddMetadataOfBuffer(const std::string& name, uint32_t buffer);

  // Returns the file. The builder cannot be used afterwards.
  std::vector<uint8_t> Finish();

 private:
  struct TrailingData {
    uint32_t buffer;
    std::vector<uint8_t> bytes;
  };

  flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<schema::TensorMap>>> TensorMaps(
      const NamedTensors& tensors);
  void AppendTrailingData(std::vector<uint8_t>* file) const;

  std::vector<TrailingData> trailing_;
};

// Returns the bytes of a string tensor (abi.md appendix A).
std::vector<uint8_t> StringTensorBytes(const std::vector<std::string>& values);

}  // namespace deputy

#endif  // DEPUTY_TESTS_SUPPORT_MODEL_BUILDER_H_
