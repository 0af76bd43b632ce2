// SPDX-License-Identifier: Apache-2.0
#include "tests/support/sample_model.h"

#include <cstring>
#include <span>

#include "tests/support/model_builder.h"

namespace deputy {
namespace {

flatbuffers::Offset<schema::SparsityParameters> DiagonalSparsity(
    flatbuffers::FlatBufferBuilder& fbb) {
  const std::vector<int32_t> order = {0, 1};
  const std::vector<int32_t> segments = {0, 1, 2};
  const std::vector<uint16_t> indices = {0, 1};
  const auto segment_vector = schema::CreateInt32VectorDirect(fbb, &segments);
  const auto index_vector = schema::CreateUint16VectorDirect(fbb, &indices);
  const std::vector<flatbuffers::Offset<schema::DimensionMetadata>> levels = {
      schema::CreateDimensionMetadata(fbb, schema::DimensionType::DENSE, 2),
      schema::CreateDimensionMetadata(
          fbb, schema::DimensionType::SPARSE_CSR, 0, schema::SparseIndexVector::Int32Vector,
          segment_vector.Union(), schema::SparseIndexVector::Uint16Vector, index_vector.Union())};
  return schema::CreateSparsityParametersDirect(fbb, &order, nullptr, &levels);
}

template <typename T>
uint64_t SumOf(std::span<const T> values) {
  uint64_t sum = 0;
  for (const T& value : values) {
    unsigned char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    for (const unsigned char byte : bytes) sum += byte;
  }
  return sum;
}

uint64_t SumOf(const TensorDesc& tensor) {
  uint64_t sum = std::strlen(tensor.name) + SumOf(tensor.shape) + SumOf(tensor.signature) +
                 SumOf(std::span(tensor.data, tensor.bytes)) + SumOf(tensor.quantization.scale) +
                 SumOf(tensor.quantization.zero_point) + SumOf(tensor.quantization.dimensions);
  if (tensor.sparsity != nullptr) {
    sum += SumOf(tensor.sparsity->traversal_order) + SumOf(tensor.sparsity->block_map);
  }
  return sum;
}

}  // namespace

uint64_t ReadAll(const ModelDesc& desc) {
  uint64_t sum = std::strlen(desc.description);
  for (const OperatorCodeDesc& code : desc.operator_codes) {
    if (code.custom_name != nullptr) sum += std::strlen(code.custom_name);
  }
  for (const SubgraphDesc& subgraph : desc.subgraphs) {
    sum += std::strlen(subgraph.name) + SumOf(subgraph.inputs) + SumOf(subgraph.outputs);
    for (const TensorDesc& tensor : subgraph.tensors) sum += SumOf(tensor);
    for (const OperatorDesc& node : subgraph.operators) {
      sum += SumOf(node.inputs) + SumOf(node.outputs) + SumOf(node.intermediates) +
             SumOf(node.custom_options) + static_cast<uint64_t>(node.options.Byte(0));
    }
  }
  for (const SignatureDesc& signature : desc.signatures) {
    sum += std::strlen(signature.key);
    for (const auto& tensor : signature.inputs) sum += std::strlen(tensor.name);
    for (const auto& tensor : signature.outputs) sum += std::strlen(tensor.name);
  }
  for (const MetadataDesc& metadata : desc.metadata) {
    sum += std::strlen(metadata.name) + SumOf(metadata.data);
  }
  return sum;
}

std::vector<uint8_t> SampleModel() {
  ModelBuilder m;
  m.AddTensor(kTfLiteFloat32, {1, 2}, "x", {.signature = {-1, 2}});
  m.AddConstant<float>(kTfLiteFloat32, {2}, {1.5f, -2.5f}, "w");
  m.AddTensor(kTfLiteInt8, {1, 2}, "y",
              {.scale = {0.5f, 0.25f}, .zero_point = {3, -4}, .quantized_dimension = 1});
  m.AddTensor(kTfLiteBool, {}, "condition");
  m.AddTensor(kTfLiteFloat32, {1, 2}, "z");
  m.AddStringConstant({2}, {"ab", "c"}, "texts");
  m.AddTensor(kTfLiteFloat32, {3}, "state", {.is_variable = true});
  m.AddConstant<float>(kTfLiteFloat32, {2, 2}, {7, 8}, "diagonal",
                       {.sparsity = DiagonalSparsity(m.fbb())});
  m.AddConstant<float>(kTfLiteFloat32, {3}, {4, 5, 6}, "trailing", {.trailing = true});
  const auto blockwise = schema::CreateBlockwiseQuantization(m.fbb(), 1, -1, 32);
  m.AddTensor(kTfLiteInt4, {64}, "blocks",
              {.quantization = schema::CreateQuantizationParameters(
                   m.fbb(), 0, 0, 0, 0, schema::QuantizationDetails::BlockwiseQuantization,
                   blockwise.Union(), 0)});
  const std::vector<int32_t> axes = {0, 1};
  const auto multi_axis = schema::CreateMultiAxisQuantizationDirect(m.fbb(), 1, 2, 16, &axes);
  m.AddTensor(kTfLiteInt4, {8, 8}, "axes",
              {.quantization = schema::CreateQuantizationParameters(
                   m.fbb(), 0, 0, 0, 0, schema::QuantizationDetails::MultiAxisQuantization,
                   multi_axis.Union(), 0)});
  m.AddOp(kTfLiteBuiltinAdd, {0, 1}, {2},
          schema::CreateAddOptions(m.fbb(), schema::ActivationFunctionType::RELU6), 2);
  m.AddOp(kTfLiteBuiltinIf, {3, 2}, {4}, schema::CreateIfOptions(m.fbb(), 1, 1));
  m.AddCustomOp("Mine", {4, -1}, {6}, {9, 8, 7}, 3);
  m.SetInputs({0, 3});
  m.SetOutputs({4});

  m.AddSubgraph("branch");
  m.AddTensor(kTfLiteInt8, {1, 2}, "in");
  m.AddTensor(kTfLiteFloat32, {1, 2}, "out");
  m.AddOp(kTfLiteBuiltinDequantize, {0}, {1});
  m.SetInputs({0});
  m.SetOutputs({1});

  m.AddSignature("serving_default", {{"image", 0}, {"flag", 3}}, {{"scores", 4}});
  m.AddMetadata("min_runtime_version", {'1', '.', '5'});
  return m.Finish();
}

}  // namespace deputy
