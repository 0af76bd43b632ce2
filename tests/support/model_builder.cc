// SPDX-License-Identifier: Apache-2.0
//
// Tables are written when they are added, because FlatBuffers grow from the inside out; Finish
// joins them. Data after the FlatBuffer is placed by Finish, when its size is known.
#include "tests/support/model_builder.h"

#include <algorithm>
#include <iterator>

namespace deputy {
namespace {

constexpr size_t kBufferAlignment = 16;

// Writers store this until they know the offset; readers interpret it as "inline".
constexpr uint64_t kPlaceholderOffset = 1;

}  // namespace

schema::TensorType SchemaType(TfLiteType type) {
  using enum schema::TensorType;
  // Indexed by TfLiteType; the first entry is kTfLiteNoType, which files cannot contain.
  static constexpr schema::TensorType kTypes[] = {
      static_cast<schema::TensorType>(-1),
      FLOAT32,
      INT32,
      UINT8,
      INT64,
      STRING,
      BOOL,
      INT16,
      COMPLEX64,
      INT8,
      FLOAT16,
      FLOAT64,
      COMPLEX128,
      UINT64,
      RESOURCE,
      VARIANT,
      UINT32,
      UINT16,
      INT4,
      BFLOAT16,
      INT2,
      UINT4,
      FLOAT8_E4M3FN,
      FLOAT8_E5M2,
  };
  return static_cast<size_t>(type) < std::size(kTypes) ? kTypes[type] : kTypes[0];
}

std::vector<uint8_t> StringTensorBytes(const std::vector<std::string>& values) {
  std::vector<int32_t> words = {static_cast<int32_t>(values.size())};
  auto offset = static_cast<int32_t>((values.size() + 2) * sizeof(int32_t));
  words.push_back(offset);
  std::string text;
  for (const std::string& value : values) {
    text += value;
    words.push_back(offset + static_cast<int32_t>(text.size()));
  }
  std::vector<uint8_t> bytes(words.size() * sizeof(int32_t));
  std::memcpy(bytes.data(), words.data(), bytes.size());
  bytes.insert(bytes.end(), text.begin(), text.end());
  return bytes;
}

ModelBuilder::ModelBuilder(uint32_t schema_version)
    : schema_version_(schema_version), subgraphs_(1) {
  // Buffer 0 is the empty one, which all tensors without data share.
  AddRawBuffer(schema::CreateBuffer(fbb_));
}

int ModelBuilder::AddSubgraph(const std::string& name) {
  subgraphs_.emplace_back().name = name;
  current_ = subgraphs_.size() - 1;
  return static_cast<int>(current_);
}

// ---- Tensors and buffers ------------------------------------------------------------------------

uint32_t ModelBuilder::AddBuffer(const std::vector<uint8_t>& bytes, bool trailing) {
  if (trailing) {
    const uint32_t index =
        AddRawBuffer(schema::CreateBuffer(fbb_, 0, kPlaceholderOffset, bytes.size()));
    trailing_.push_back({index, bytes});
    return index;
  }
  return AddRawBuffer(schema::CreateBufferDirect(fbb_, &bytes));
}

uint32_t ModelBuilder::AddRawBuffer(flatbuffers::Offset<schema::Buffer> buffer) {
  buffers_.push_back(buffer);
  return static_cast<uint32_t>(buffers_.size() - 1);
}

int ModelBuilder::AddTensor(TfLiteType type, const std::vector<int32_t>& shape,
                            const std::string& name, const TensorExtras& extras) {
  return AddTensorOfBuffer(type, shape, 0, name, extras);
}

int ModelBuilder::AddStringConstant(const std::vector<int32_t>& shape,
                                    const std::vector<std::string>& values,
                                    const std::string& name) {
  return AddConstant<uint8_t>(kTfLiteString, shape, StringTensorBytes(values), name);
}

int ModelBuilder::AddTensorOfBuffer(TfLiteType type, const std::vector<int32_t>& shape,
                                    uint32_t buffer, const std::string& name,
                                    const TensorExtras& extras) {
  flatbuffers::Offset<schema::QuantizationParameters> quantization = extras.quantization;
  if (!extras.scale.empty()) {
    std::vector<int64_t> zero_point = extras.zero_point;
    if (zero_point.empty()) zero_point.resize(extras.scale.size());
    quantization = schema::CreateQuantizationParametersDirect(
        fbb_, nullptr, nullptr, &extras.scale, &zero_point, schema::QuantizationDetails::NONE, 0,
        extras.quantized_dimension);
  }
  return AddRawTensor(schema::CreateTensorDirect(
      fbb_, &shape, SchemaType(type), buffer, name.c_str(), quantization, extras.is_variable,
      extras.sparsity, extras.signature.empty() ? nullptr : &extras.signature));
}

int ModelBuilder::AddRawTensor(flatbuffers::Offset<schema::Tensor> tensor) {
  subgraph().tensors.push_back(tensor);
  return static_cast<int>(subgraph().tensors.size() - 1);
}

// ---- Nodes --------------------------------------------------------------------------------------

uint32_t ModelBuilder::AddOperatorCode(int code, const char* custom_name, int version) {
  const std::pair key(std::pair(code, std::string(custom_name == nullptr ? "" : custom_name)),
                      version);
  const auto known = std::find(code_keys_.begin(), code_keys_.end(), key);
  if (known != code_keys_.end()) return static_cast<uint32_t>(known - code_keys_.begin());
  const auto index = AddRawOperatorCode(
      schema::CreateOperatorCodeDirect(fbb_, static_cast<int8_t>(std::min(code, 127)), custom_name,
                                       version, static_cast<schema::BuiltinOperator>(code)));
  code_keys_.back() = key;
  return index;
}

uint32_t ModelBuilder::AddRawOperatorCode(flatbuffers::Offset<schema::OperatorCode> code) {
  code_keys_.emplace_back(std::pair(-1, ""), -1);  // this key never matches
  codes_.push_back(code);
  return static_cast<uint32_t>(codes_.size() - 1);
}

int ModelBuilder::AddOp(TfLiteBuiltinOperator code, const std::vector<int32_t>& inputs,
                        const std::vector<int32_t>& outputs, int version) {
  return AddNode(AddOperatorCode(code, nullptr, version), inputs, outputs,
                 schema::BuiltinOptions::NONE, schema::BuiltinOptions2::NONE, 0, {}, {});
}

int ModelBuilder::AddCustomOp(const std::string& name, const std::vector<int32_t>& inputs,
                              const std::vector<int32_t>& outputs,
                              const std::vector<uint8_t>& options, int version) {
  return AddNode(AddOperatorCode(kTfLiteBuiltinCustom, name.c_str(), version), inputs, outputs,
                 schema::BuiltinOptions::NONE, schema::BuiltinOptions2::NONE, 0, options, {});
}

int ModelBuilder::AddNode(uint32_t code_index, const std::vector<int32_t>& inputs,
                          const std::vector<int32_t>& outputs, schema::BuiltinOptions first,
                          schema::BuiltinOptions2 second, flatbuffers::Offset<void> options,
                          const std::vector<uint8_t>& custom_options,
                          const std::vector<int32_t>& intermediates) {
  const bool in_second = second != schema::BuiltinOptions2::NONE;
  return AddRawOperator(schema::CreateOperatorDirect(
      fbb_, code_index, &inputs, &outputs, first, in_second ? 0 : options,
      custom_options.empty() ? nullptr : &custom_options, schema::CustomOptionsFormat::FLEXBUFFERS,
      nullptr, intermediates.empty() ? nullptr : &intermediates, 0, 0, second,
      in_second ? options : 0));
}

int ModelBuilder::AddRawOperator(flatbuffers::Offset<schema::Operator> op) {
  subgraph().operators.push_back(op);
  return static_cast<int>(subgraph().operators.size() - 1);
}

// ---- Signatures and metadata --------------------------------------------------------------------

flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<schema::TensorMap>>>
ModelBuilder::TensorMaps(const NamedTensors& tensors) {
  std::vector<flatbuffers::Offset<schema::TensorMap>> maps;
  for (const auto& [name, index] : tensors) {
    maps.push_back(schema::CreateTensorMapDirect(fbb_, name.c_str(), index));
  }
  return fbb_.CreateVector(maps);
}

void ModelBuilder::AddSignature(const std::string& key, const NamedTensors& inputs,
                                const NamedTensors& outputs, uint32_t subgraph) {
  const auto input_maps = TensorMaps(inputs);
  const auto output_maps = TensorMaps(outputs);
  const auto text = fbb_.CreateString(key);
  AddRawSignature(schema::CreateSignatureDef(fbb_, input_maps, output_maps, text, subgraph));
}

void ModelBuilder::AddRawSignature(flatbuffers::Offset<schema::SignatureDef> signature) {
  signatures_.push_back(signature);
}

void ModelBuilder::AddMetadata(const std::string& name, const std::vector<uint8_t>& bytes) {
  AddMetadataOfBuffer(name, AddBuffer(bytes));
}

void ModelBuilder::AddMetadataOfBuffer(const std::string& name, uint32_t buffer) {
  metadata_.push_back(schema::CreateMetadataDirect(fbb_, name.c_str(), buffer));
}

// ---- The file -----------------------------------------------------------------------------------

std::vector<uint8_t> ModelBuilder::Finish() {
  std::vector<flatbuffers::Offset<schema::SubGraph>> subgraphs;
  for (const SubgraphParts& parts : subgraphs_) {
    subgraphs.push_back(schema::CreateSubGraphDirect(
        fbb_, &parts.tensors, &parts.inputs, &parts.outputs, &parts.operators, parts.name.c_str()));
  }
  schema::FinishModelBuffer(
      fbb_, schema::CreateModelDirect(fbb_, schema_version_, &codes_, &subgraphs, "made for a test",
                                      &buffers_, nullptr, metadata_.empty() ? nullptr : &metadata_,
                                      signatures_.empty() ? nullptr : &signatures_));
  std::vector<uint8_t> file(fbb_.GetBufferPointer(), fbb_.GetBufferPointer() + fbb_.GetSize());
  AppendTrailingData(&file);
  return file;
}

void ModelBuilder::AppendTrailingData(std::vector<uint8_t>* file) const {
  for (const TrailingData& data : trailing_) {
    file->resize((file->size() + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment);
    const uint64_t offset = file->size();
    file->insert(file->end(), data.bytes.begin(), data.bytes.end());
    const schema::Buffer* buffer = schema::GetModel(file->data())->buffers()->Get(data.buffer);
    auto* table =
        const_cast<flatbuffers::Table*>(reinterpret_cast<const flatbuffers::Table*>(buffer));
    table->SetField<uint64_t>(schema::Buffer::VT_OFFSET, offset, 0);
  }
}

}  // namespace deputy
