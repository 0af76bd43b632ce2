// SPDX-License-Identifier: Apache-2.0
//
// Implements model_builder.h. Tables are written when they are added, because FlatBuffers grow from
// the inside out; Finish joins them. Data after the FlatBuffer is placed by Finish, when its size
// is known.
#include "tests/support/model_builder.h"

#include <algorithm>
#include <iterator>

namespace deputy {
namespace {

constexpr size_t kBufferAlignment = 16;

// Offset that is stored until the real one is known; readers interpret it as "inline".
constexpr uint64_t kPlaceholderOffset = 1;

}  // namespace

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

// ---- Tensors and buffers ------------------------------------------------------------------------

uint32_t ModelBuilder::AddBuffer(const std::vector<uint8_t>& bytes, bool trailing) {
  if (trailing) {
    const uint32_t index =
        AddRawBuffer(schema::CreateBuffer(fbb(), 0, kPlaceholderOffset, bytes.size()));
    trailing_.push_back({index, bytes});
    return index;
  }
  return AddRawBuffer(schema::CreateBufferDirect(fbb(), &bytes));
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
        fbb(), nullptr, nullptr, &extras.scale, &zero_point, schema::QuantizationDetails::NONE, 0,
        extras.quantized_dimension);
  }
  return AddRawTensor(schema::CreateTensorDirect(
      fbb(), &shape, SchemaType(type), buffer, name.c_str(), quantization, extras.is_variable,
      extras.sparsity, extras.signature.empty() ? nullptr : &extras.signature));
}

// ---- Nodes --------------------------------------------------------------------------------------

int ModelBuilder::AddOp(TfLiteBuiltinOperator code, const std::vector<int32_t>& inputs,
                        const std::vector<int32_t>& outputs, int version) {
  return AddNode({.code_index = AddOperatorCode(code, nullptr, version),
                  .inputs = inputs,
                  .outputs = outputs});
}

int ModelBuilder::AddCustomOp(const std::string& name, const std::vector<int32_t>& inputs,
                              const std::vector<int32_t>& outputs,
                              const std::vector<uint8_t>& options, int version) {
  return AddNode({.code_index = AddOperatorCode(kTfLiteBuiltinCustom, name.c_str(), version),
                  .inputs = inputs,
                  .outputs = outputs,
                  .custom_options = options});
}

// ---- Signatures and metadata --------------------------------------------------------------------

flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<schema::TensorMap>>>
ModelBuilder::TensorMaps(const NamedTensors& tensors) {
  std::vector<flatbuffers::Offset<schema::TensorMap>> maps;
  for (const auto& [name, index] : tensors) {
    maps.push_back(schema::CreateTensorMapDirect(fbb(), name.c_str(), index));
  }
  return fbb().CreateVector(maps);
}

void ModelBuilder::AddSignature(const std::string& key, const NamedTensors& inputs,
                                const NamedTensors& outputs, uint32_t subgraph) {
  const auto input_maps = TensorMaps(inputs);
  const auto output_maps = TensorMaps(outputs);
  const auto text = fbb().CreateString(key);
  AddRawSignature(schema::CreateSignatureDef(fbb(), input_maps, output_maps, text, subgraph));
}

void ModelBuilder::AddMetadata(const std::string& name, const std::vector<uint8_t>& bytes) {
  AddMetadataOfBuffer(name, AddBuffer(bytes));
}

void ModelBuilder::AddMetadataOfBuffer(const std::string& name, uint32_t buffer) {
  AddRawMetadata(schema::CreateMetadataDirect(fbb(), name.c_str(), buffer));
}

// ---- The file -----------------------------------------------------------------------------------

std::vector<uint8_t> ModelBuilder::Finish() {
  std::vector<uint8_t> file = ModelWriter::Finish("made for a test");
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
