// SPDX-License-Identifier: Apache-2.0
//
// Writes small .tflite models for tests, valid and invalid ones: nothing is checked here.
//
//     ModelBuilder m;
//     const int x = m.AddTensor(kTfLiteFloat32, {1, 4}, "x");
//     const int w = m.AddConstant<float>(kTfLiteFloat32, {4}, {1, 2, 3, 4}, "w");
//     const int y = m.AddTensor(kTfLiteFloat32, {1, 4}, "y");
//     m.AddOp(kTfLiteBuiltinAdd, {x, w}, {y}, schema::CreateAddOptions(m.fbb()));
//     m.SetInputs({x});
//     m.SetOutputs({y});
//     std::vector<uint8_t> bytes = m.Finish();
//
// Tensors, nodes, inputs and outputs are added to the current subgraph: 0 at first, then the one
// that was added by AddSubgraph or selected by SelectSubgraph last.
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
#include "schema_generated.h"

namespace deputy {

// Optional properties of a tensor besides type, shape and name.
struct TensorExtras {
  // Affine quantisation; missing zero points are written as zeros.
  std::vector<float> scale = {};
  std::vector<int64_t> zero_point = {};
  int32_t quantized_dimension = 0;
  std::vector<int32_t> signature = {};  // empty: no signature in the file
  bool is_variable = false;
  bool trailing =
      false;  // constants: data after the end of the FlatBuffer, found by offset and size
  // Ready-made tables, for properties that the fields above cannot express.
  flatbuffers::Offset<schema::QuantizationParameters> quantization = {};
  flatbuffers::Offset<schema::SparsityParameters> sparsity = {};
};

class ModelBuilder {
 public:
  explicit ModelBuilder(uint32_t schema_version = 3);

  // The underlying builder, for options and other tables.
  flatbuffers::FlatBufferBuilder& fbb() { return fbb_; }

  // Each function returns the index of the added object.
  int AddTensor(TfLiteType type, const std::vector<int32_t>& shape, const std::string& name = "",
                const TensorExtras& extras = {});
  // `values` are written byte by byte, independent of `type`; packed types need packed bytes.
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
  int AddRawTensor(flatbuffers::Offset<schema::Tensor> tensor);

  uint32_t AddBuffer(const std::vector<uint8_t>& bytes, bool trailing = false);
  uint32_t AddRawBuffer(flatbuffers::Offset<schema::Buffer> buffer);

  // Adds a builtin operator with options of either union: any Create...Options(fbb(), ...).
  template <typename Options>
  int AddOp(TfLiteBuiltinOperator code, const std::vector<int32_t>& inputs,
            const std::vector<int32_t>& outputs, flatbuffers::Offset<Options> options,
            int version = 1, const std::vector<int32_t>& intermediates = {}) {
    return AddNode(AddOperatorCode(code, nullptr, version), inputs, outputs,
                   schema::BuiltinOptionsTraits<Options>::enum_value,
                   schema::BuiltinOptions2Traits<Options>::enum_value, options.Union(), {},
                   intermediates);
  }
  // Adds a builtin operator without options.
  int AddOp(TfLiteBuiltinOperator code, const std::vector<int32_t>& inputs,
            const std::vector<int32_t>& outputs, int version = 1);
  int AddCustomOp(const std::string& name, const std::vector<int32_t>& inputs,
                  const std::vector<int32_t>& outputs, const std::vector<uint8_t>& options = {},
                  int version = 1);
  int AddRawOperator(flatbuffers::Offset<schema::Operator> op);

  // Adds an operator code as current writers do; equal codes are added once. A null name is a
  // builtin operator.
  uint32_t AddOperatorCode(int code, const char* custom_name, int version);
  uint32_t AddRawOperatorCode(flatbuffers::Offset<schema::OperatorCode> code);

  int AddSubgraph(const std::string& name = "");
  void SelectSubgraph(int index) { current_ = static_cast<size_t>(index); }
  void SetInputs(const std::vector<int32_t>& tensors) { subgraph().inputs = tensors; }
  void SetOutputs(const std::vector<int32_t>& tensors) { subgraph().outputs = tensors; }

  using NamedTensors = std::vector<std::pair<std::string, uint32_t>>;
  void AddSignature(const std::string& key, const NamedTensors& inputs, const NamedTensors& outputs,
                    uint32_t subgraph = 0);
  void AddRawSignature(flatbuffers::Offset<schema::SignatureDef> signature);
  void AddMetadata(const std::string& name, const std::vector<uint8_t>& bytes);
  void AddMetadataOfBuffer(const std::string& name, uint32_t buffer);

  // Returns the file. The builder cannot be used afterwards.
  std::vector<uint8_t> Finish();

 private:
  struct SubgraphParts {
    std::string name;
    std::vector<flatbuffers::Offset<schema::Tensor>> tensors;
    std::vector<flatbuffers::Offset<schema::Operator>> operators;
    std::vector<int32_t> inputs, outputs;
  };
  struct TrailingData {
    uint32_t buffer;
    std::vector<uint8_t> bytes;
  };

  SubgraphParts& subgraph() { return subgraphs_[current_]; }
  int AddNode(uint32_t code_index, const std::vector<int32_t>& inputs,
              const std::vector<int32_t>& outputs, schema::BuiltinOptions first,
              schema::BuiltinOptions2 second, flatbuffers::Offset<void> options,
              const std::vector<uint8_t>& custom_options,
              const std::vector<int32_t>& intermediates);
  flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<schema::TensorMap>>> TensorMaps(
      const NamedTensors& tensors);
  void AppendTrailingData(std::vector<uint8_t>* file) const;

  flatbuffers::FlatBufferBuilder fbb_;
  const uint32_t schema_version_;
  size_t current_ = 0;
  std::vector<SubgraphParts> subgraphs_;
  std::vector<std::pair<std::pair<int, std::string>, int>> code_keys_;  // code, name, version
  std::vector<flatbuffers::Offset<schema::OperatorCode>> codes_;
  std::vector<flatbuffers::Offset<schema::Buffer>> buffers_;
  std::vector<TrailingData> trailing_;
  std::vector<flatbuffers::Offset<schema::SignatureDef>> signatures_;
  std::vector<flatbuffers::Offset<schema::Metadata>> metadata_;
};

// Returns the schema's number of a TfLiteType.
schema::TensorType SchemaType(TfLiteType type);

// Returns the bytes of a string tensor (abi.md appendix A).
std::vector<uint8_t> StringTensorBytes(const std::vector<std::string>& values);

}  // namespace deputy

#endif  // DEPUTY_TESTS_SUPPORT_MODEL_BUILDER_H_
