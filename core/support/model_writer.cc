// SPDX-License-Identifier: Apache-2.0
//
// Writes .tflite files. Tables are written when they are added, because FlatBuffers grow from the
// inside out; Finish joins them.
#include "core/support/model_writer.h"

#include <algorithm>
#include <iterator>

namespace deputy {

schema::TensorType SchemaType(TfLiteType type) {
  using enum schema::TensorType;
  // The TensorType of each TfLiteType; the first entry is that of kTfLiteNoType, which files cannot
  // contain.
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

ModelWriter::ModelWriter(uint32_t schema_version) : schema_version_(schema_version), subgraphs_(1) {
  AddRawBuffer(schema::CreateBuffer(fbb_));
}

uint32_t ModelWriter::AddRawBuffer(flatbuffers::Offset<schema::Buffer> buffer) {
  buffers_.push_back(buffer);
  return static_cast<uint32_t>(buffers_.size() - 1);
}

int ModelWriter::AddRawTensor(flatbuffers::Offset<schema::Tensor> tensor) {
  subgraph().tensors.push_back(tensor);
  return static_cast<int>(subgraph().tensors.size() - 1);
}

int ModelWriter::AddRawOperator(flatbuffers::Offset<schema::Operator> op) {
  subgraph().operators.push_back(op);
  return static_cast<int>(subgraph().operators.size() - 1);
}

uint32_t ModelWriter::AddRawOperatorCode(flatbuffers::Offset<schema::OperatorCode> code) {
  codes_.push_back(code);
  return static_cast<uint32_t>(codes_.size() - 1);
}

uint32_t ModelWriter::AddOperatorCode(int code, const char* custom_name, int version) {
  const std::string name = custom_name == nullptr ? "" : custom_name;
  const auto [entry, is_new] = index_of_code_.try_emplace({code, name, version}, 0);
  if (is_new) {
    entry->second = AddRawOperatorCode(schema::CreateOperatorCodeDirect(
        fbb_, static_cast<int8_t>(std::min(code, 127)), custom_name, version,
        static_cast<schema::BuiltinOperator>(code)));
  }
  return entry->second;
}

int ModelWriter::AddNode(const Node& node) {
  const auto vector = [&](std::span<const int32_t> values) {
    return fbb_.CreateVector(values.data(), values.size());
  };
  const auto inputs = vector(node.inputs);
  const auto outputs = vector(node.outputs);
  flatbuffers::Offset<flatbuffers::Vector<uint8_t>> custom_options = 0;
  if (!node.custom_options.empty()) {
    custom_options = fbb_.CreateVector(node.custom_options.data(), node.custom_options.size());
  }
  flatbuffers::Offset<flatbuffers::Vector<int32_t>> intermediates = 0;
  if (!node.intermediates.empty()) intermediates = vector(node.intermediates);
  const bool in_second = node.options_2_type != schema::BuiltinOptions2::NONE;
  return AddRawOperator(schema::CreateOperator(
      fbb_, node.code_index, inputs, outputs, node.options_type, in_second ? 0 : node.options,
      custom_options, schema::CustomOptionsFormat::FLEXBUFFERS, 0, intermediates, 0, 0,
      node.options_2_type, in_second ? node.options : 0));
}

int ModelWriter::AddSubgraph(const std::string& name) {
  subgraphs_.emplace_back().name = name;
  current_ = subgraphs_.size() - 1;
  return static_cast<int>(current_);
}

void ModelWriter::AddRawSignature(flatbuffers::Offset<schema::SignatureDef> signature) {
  signatures_.push_back(signature);
}

void ModelWriter::AddRawMetadata(flatbuffers::Offset<schema::Metadata> metadata) {
  metadata_.push_back(metadata);
}

void ModelWriter::AddExternalBuffer(uint32_t id, const std::string& file, uint64_t offset,
                                    uint64_t length, const char* packing) {
  const auto group = static_cast<uint32_t>(groups_.size());
  groups_.push_back(schema::CreateExternalBufferGroup(fbb_, fbb_.CreateString(file)));
  external_buffers_.push_back(
      schema::CreateExternalBufferDirect(fbb_, id, group, offset, length, packing));
}

std::vector<uint8_t> ModelWriter::Finish(const std::string& description) {
  std::vector<flatbuffers::Offset<schema::SubGraph>> subgraphs;
  for (const SubgraphParts& parts : subgraphs_) {
    subgraphs.push_back(schema::CreateSubGraphDirect(
        fbb_, &parts.tensors, &parts.inputs, &parts.outputs, &parts.operators, parts.name.c_str()));
  }
  schema::FinishModelBuffer(
      fbb_, schema::CreateModelDirect(
                fbb_, schema_version_, &codes_, &subgraphs, description.c_str(), &buffers_, nullptr,
                metadata_.empty() ? nullptr : &metadata_,
                signatures_.empty() ? nullptr : &signatures_, groups_.empty() ? nullptr : &groups_,
                external_buffers_.empty() ? nullptr : &external_buffers_));
  return {fbb_.GetBufferPointer(), fbb_.GetBufferPointer() + fbb_.GetSize()};
}

}  // namespace deputy
