// SPDX-License-Identifier: Apache-2.0
//
// Implements ms_writer.h: writes small .ms models for tests.
#include "tests/mindspore/ms/ms_writer.h"

#include <cstdlib>
#include <fstream>
#include <functional>
#include <string_view>

namespace deputy::ms {
namespace {

// Writes the file to the folder DEPUTY_MS_WRITE_FOLDER, if it is set: seeds of
// mindspore_hostile_test. The name is a hash of the contents.
void WriteToFolder(const std::vector<uint8_t>& bytes) {
  const char* folder = std::getenv("DEPUTY_MS_WRITE_FOLDER");
  if (folder == nullptr) return;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::string name = std::to_string(std::hash<std::string_view>()(text)) + ".ms";
  std::ofstream(std::string(folder) + "/" + name, std::ios::binary) << text;
}

}  // namespace

uint32_t MsWriter::Tensor(const std::vector<int32_t>& dims, int type) {
  MsTensor& tensor = tensors.emplace_back();
  tensor.type = type;
  tensor.dims = dims;
  tensor.name = "t" + std::to_string(tensors.size() - 1);
  return static_cast<uint32_t>(tensors.size() - 1);
}

uint32_t MsWriter::Input(const std::vector<int32_t>& dims, int type) {
  inputs.push_back(Tensor(dims, type));
  return inputs.back();
}

uint32_t MsWriter::Output(const std::vector<int32_t>& dims, int type) {
  outputs.push_back(Tensor(dims, type));
  return outputs.back();
}

flatbuffers::Offset<file::Vec2D> MsWriter::Rows(const std::vector<std::vector<int64_t>>& rows) {
  std::vector<flatbuffers::Offset<file::Vec>> list;
  for (const auto& row : rows) list.push_back(file::CreateVec(fbb_, Longs(row)));
  return file::CreateVec2D(fbb_, fbb_.CreateVector(list));
}

void MsWriter::AddNode(file::PrimitiveType value, const std::vector<uint32_t>& in,
                       const std::vector<uint32_t>& out, flatbuffers::Offset<void> attributes) {
  const auto primitive = file::CreatePrimitive(fbb_, value, attributes);
  const std::string text = node_name.empty() ? "n" + std::to_string(nodes_.size()) : node_name;
  const auto name = fbb_.CreateString(text);
  const auto ins = fbb_.CreateVector(in), outs = fbb_.CreateVector(out);
  plan.push_back(static_cast<uint32_t>(nodes_.size()));
  nodes_.push_back(file::CreateCNode(fbb_, name, primitive, ins, outs));
}

flatbuffers::Offset<file::Tensor> MsWriter::WriteTensor(const MsTensor& tensor) {
  std::vector<flatbuffers::Offset<file::QuantParam>> scales;
  for (const MsScale& each : tensor.scales) {
    scales.push_back(file::CreateQuantParam(fbb_, each.scale, each.zero_point, 0, 0, true, 8,
                                            each.inited, each.var_corr, each.mean_corr));
  }
  flatbuffers::Offset<flatbuffers::Vector<int32_t>> dims;
  flatbuffers::Offset<flatbuffers::Vector<uint8_t>> data;
  flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<file::QuantParam>>> quantization;
  flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<file::ExternalData>>> external;
  if (tensor.has_dims) dims = fbb_.CreateVector(tensor.dims);
  if (!tensor.data.empty()) data = fbb_.CreateVector(tensor.data);
  if (!scales.empty()) quantization = fbb_.CreateVector(scales);
  if (!tensor.location.empty()) {
    const auto location = fbb_.CreateString(tensor.location);
    external = fbb_.CreateVector(std::vector{file::CreateExternalData(fbb_, 0, location)});
  }
  const auto name = fbb_.CreateString(tensor.name);
  return file::CreateTensor(
      fbb_, tensor.computed ? 2 : 0, tensor.type, dims, tensor.layout, 0, 0, data, quantization, 0,
      name, false, static_cast<file::WeightQuantCompressType>(tensor.compression), external);
}

std::vector<uint8_t> MsWriter::Finish() {
  std::vector<flatbuffers::Offset<file::Tensor>> written;
  for (const MsTensor& tensor : tensors) written.push_back(WriteTensor(tensor));
  const auto ins = fbb_.CreateVector(inputs), outs = fbb_.CreateVector(outputs);
  const auto order = fbb_.CreateVector(plan);
  const auto main = file::CreateSubGraph(fbb_, 0, ins, outs, order);
  const auto subgraphs = fbb_.CreateVector(std::vector{main});
  const auto text = fbb_.CreateString(version);
  const auto nodes = fbb_.CreateVector(nodes_);
  const auto all = fbb_.CreateVector(written);
  fbb_.Finish(file::CreateMetaGraph(fbb_, 0, text, 3, ins, outs, 0, nodes, all, subgraphs),
              identifier);
  std::vector<uint8_t> bytes(fbb_.GetBufferPointer(), fbb_.GetBufferPointer() + fbb_.GetSize());
  WriteToFolder(bytes);
  return bytes;
}

}  // namespace deputy::ms
