// SPDX-License-Identifier: Apache-2.0
//
// Writes each table when it is added. See write.h.
#include "mindspore/ms/write.h"

#include <algorithm>

namespace deputy::ms {
namespace {

// Upper bounds on the size of a tensor, of a node, and of the lists per channel.
constexpr size_t kTensorBytes = 160, kNodeBytes = 192, kChannelBytes = 16;
constexpr uint32_t kSchemaVersion = 3;

// Version 1 suffices, because the kernels accept newer features in it.
int VersionOf(Builtin code) { return code == Builtin::BROADCAST_TO ? 2 : 1; }

schema::TensorType SchemaType(Type type) {
  switch (type) {
    case Type::kBool:
      return schema::TensorType::BOOL;
    case Type::kInt8:
      return schema::TensorType::INT8;
    case Type::kInt16:
      return schema::TensorType::INT16;
    case Type::kInt32:
      return schema::TensorType::INT32;
    case Type::kInt64:
      return schema::TensorType::INT64;
    case Type::kUInt8:
      return schema::TensorType::UINT8;
    case Type::kUInt16:
      return schema::TensorType::UINT16;
    case Type::kUInt32:
      return schema::TensorType::UINT32;
    case Type::kUInt64:
      return schema::TensorType::UINT64;
    case Type::kFloat16:
      return schema::TensorType::FLOAT16;
    case Type::kFloat64:
      return schema::TensorType::FLOAT64;
    default:
      return schema::TensorType::FLOAT32;
  }
}

}  // namespace

bool Writer::Reserve(size_t bytes) {
  if (full_ || bytes > limit_ - used_) {
    full_ = true;
    return false;
  }
  used_ += bytes;
  return true;
}

flatbuffers::Offset<schema::QuantizationParameters> Writer::WriteQuantization(
    const TensorForm& form) {
  const bool integer = form.type == Type::kInt8 || form.type == Type::kUInt8 ||
                       form.type == Type::kInt16 || form.type == Type::kInt32;
  if (form.quantization == nullptr || !form.quantization->present() || !integer) return 0;
  return schema::CreateQuantizationParameters(
      fbb_, 0, 0, fbb_.CreateVector(form.quantization->scale),
      fbb_.CreateVector(form.quantization->zero_point), schema::QuantizationDetails::NONE, 0,
      form.channel_axis);
}

int Writer::AddTensorOfBuffer(const TensorForm& form, uint32_t buffer) {
  const size_t channels = form.quantization == nullptr ? 0 : form.quantization->scale.size();
  if (!Reserve(kTensorBytes + form.name.size() + kChannelBytes * channels)) return kNoTensor;
  const auto name = fbb_.CreateString(form.name.data(), form.name.size());
  const auto quantization = WriteQuantization(form);
  std::vector<int32_t> dims = form.dims;
  flatbuffers::Offset<flatbuffers::Vector<int32_t>> signature;
  if (std::find(dims.begin(), dims.end(), -1) != dims.end()) {
    signature = fbb_.CreateVector(dims);
    std::replace(dims.begin(), dims.end(), -1, 1);
  }
  const auto shape = fbb_.CreateVector(dims);
  schema::TensorBuilder tensor(fbb_);
  tensor.add_shape(shape);
  tensor.add_type(SchemaType(form.type));
  tensor.add_buffer(buffer);
  tensor.add_name(name);
  if (!quantization.IsNull()) tensor.add_quantization(quantization);
  if (!signature.IsNull()) tensor.add_shape_signature(signature);
  tensors_.push_back(tensor.Finish());
  return static_cast<int>(tensors_.size()) - 1;
}

int Writer::AddTensor(const TensorForm& form) { return AddTensorOfBuffer(form, 0); }

int Writer::AddConstant(const TensorForm& form, std::span<const uint8_t> bytes) {
  constexpr size_t kAlignment = 16;
  if (!Reserve(bytes.size() + 2 * kAlignment)) return kNoTensor;
  fbb_.ForceVectorAlignment(bytes.size(), 1, kAlignment);
  const auto data = fbb_.CreateVector(bytes.data(), bytes.size());
  buffers_.push_back(schema::CreateBuffer(fbb_, data));
  return AddTensorOfBuffer(form, static_cast<uint32_t>(buffers_.size() - 1));
}

void Writer::AddNode(Builtin code, const std::string& name, const std::vector<int>& inputs,
                     const std::vector<int>& outputs, schema::BuiltinOptions kind,
                     flatbuffers::Offset<void> options, std::span<const uint8_t> custom_options) {
  const size_t index_bytes = (inputs.size() + outputs.size()) * sizeof(int32_t);
  if (!Reserve(kNodeBytes + index_bytes + name.size() + custom_options.size())) return;
  const auto [entry, is_new] =
      code_numbers_.try_emplace({code, name}, static_cast<uint32_t>(codes_.size()));
  if (is_new) {
    constexpr int kMaxInt8 = 127;
    const auto short_code = static_cast<int8_t>(std::min(static_cast<int>(code), kMaxInt8));
    codes_.push_back(schema::CreateOperatorCodeDirect(
        fbb_, short_code, code == Builtin::CUSTOM ? name.c_str() : nullptr, VersionOf(code), code));
  }
  const auto in = fbb_.CreateVector(inputs);
  const auto out = fbb_.CreateVector(outputs);
  flatbuffers::Offset<flatbuffers::Vector<uint8_t>> custom;
  if (!custom_options.empty()) {
    custom = fbb_.CreateVector(custom_options.data(), custom_options.size());
  }
  schema::OperatorBuilder node(fbb_);
  node.add_opcode_index(entry->second);
  node.add_inputs(in);
  node.add_outputs(out);
  if (kind != schema::BuiltinOptions::NONE) {
    node.add_builtin_options_type(kind);
    node.add_builtin_options(options);
  }
  if (!custom.IsNull()) node.add_custom_options(custom);
  operators_.push_back(node.Finish());
}

std::vector<uint8_t> Writer::Finish(const std::vector<int>& inputs, const std::vector<int>& outputs,
                                    const std::string& description) {
  const auto graph = schema::CreateSubGraph(
      fbb_, fbb_.CreateVector(tensors_), fbb_.CreateVector(inputs), fbb_.CreateVector(outputs),
      fbb_.CreateVector(operators_), fbb_.CreateString("main"));
  const auto model = schema::CreateModel(
      fbb_, kSchemaVersion, fbb_.CreateVector(codes_), fbb_.CreateVector(std::vector{graph}),
      fbb_.CreateString(description), fbb_.CreateVector(buffers_));
  schema::FinishModelBuffer(fbb_, model);
  return {fbb_.GetBufferPointer(), fbb_.GetBufferPointer() + fbb_.GetSize()};
}

}  // namespace deputy::ms
