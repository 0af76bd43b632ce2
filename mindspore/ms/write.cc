// SPDX-License-Identifier: Apache-2.0
//
// Writes the tables of a .tflite file. Finish writes the operators, the Add functions all others.
#include "mindspore/ms/write.h"

#include <algorithm>

namespace deputy::ms {
namespace {

// Upper bounds on the size of a tensor, of a node, and of the lists per channel.
constexpr size_t kTensorBytes = 160, kNodeBytes = 192, kChannelBytes = 16;

// Returns the version of an operator. Version 1 suffices for most, because the kernels accept newer
// features in it.
int VersionOf(Builtin code) { return code == Builtin::BROADCAST_TO ? 2 : 1; }

// Returns the schema's type. Types that are not supported become FLOAT32; their uses are refused.
schema::TensorType SchemaTypeOf(Type type) {
  const TfLiteType known = TfLiteTypeOf(type);
  return known == kTfLiteNoType ? schema::TensorType::FLOAT32 : SchemaType(known);
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
      fbb(), 0, 0, fbb().CreateVector(form.quantization->scale),
      fbb().CreateVector(form.quantization->zero_point), schema::QuantizationDetails::NONE, 0,
      form.channel_axis);
}

int Writer::AddTensorOfBuffer(const TensorForm& form, uint32_t buffer) {
  const size_t channels = form.quantization == nullptr ? 0 : form.quantization->scale.size();
  if (!Reserve(kTensorBytes + form.name.size() + kChannelBytes * channels)) return kNoTensor;
  const auto name = fbb().CreateString(form.name.data(), form.name.size());
  const auto quantization = WriteQuantization(form);
  std::vector<int32_t> dims = form.dims;
  flatbuffers::Offset<flatbuffers::Vector<int32_t>> signature;
  if (std::find(dims.begin(), dims.end(), -1) != dims.end()) {
    signature = fbb().CreateVector(dims);
    std::replace(dims.begin(), dims.end(), -1, 1);
  }
  const auto shape = fbb().CreateVector(dims);
  schema::TensorBuilder tensor(fbb());
  tensor.add_shape(shape);
  tensor.add_type(SchemaTypeOf(form.type));
  tensor.add_buffer(buffer);
  tensor.add_name(name);
  if (!quantization.IsNull()) tensor.add_quantization(quantization);
  if (!signature.IsNull()) tensor.add_shape_signature(signature);
  return writer_.AddRawTensor(tensor.Finish());
}

int Writer::AddTensor(const TensorForm& form) { return AddTensorOfBuffer(form, 0); }

int Writer::AddConstant(const TensorForm& form, std::span<const uint8_t> bytes) {
  constexpr size_t kAlignment = 16;
  if (!Reserve(bytes.size() + 2 * kAlignment)) return kNoTensor;
  fbb().ForceVectorAlignment(bytes.size(), 1, kAlignment);
  const auto data = fbb().CreateVector(bytes.data(), bytes.size());
  return AddTensorOfBuffer(form, writer_.AddRawBuffer(schema::CreateBuffer(fbb(), data)));
}

void Writer::AddNode(Builtin code, const std::string& name, const std::vector<int>& inputs,
                     const std::vector<int>& outputs, schema::BuiltinOptions kind,
                     flatbuffers::Offset<void> options, std::span<const uint8_t> custom_options) {
  const size_t index_bytes = (inputs.size() + outputs.size()) * sizeof(int32_t);
  if (!Reserve(kNodeBytes + index_bytes + name.size() + custom_options.size())) return;
  ops_.push_back(
      {code, name, inputs, outputs, kind, options, {custom_options.begin(), custom_options.end()}});
}

void Writer::AddMetadata(const char* name, std::span<const uint8_t> bytes) {
  constexpr size_t kAlignment = 16;
  if (!Reserve(bytes.size() + 2 * kAlignment)) return;
  fbb().ForceVectorAlignment(bytes.size(), 1, kAlignment);
  const auto data = fbb().CreateVector(bytes.data(), bytes.size());
  const uint32_t buffer = writer_.AddRawBuffer(schema::CreateBuffer(fbb(), data));
  const auto text = fbb().CreateString(name);
  writer_.AddRawMetadata(schema::CreateMetadata(fbb(), text, buffer));
}

std::vector<uint8_t> Writer::Finish(const std::vector<int>& inputs, const std::vector<int>& outputs,
                                    const std::string& description) {
  for (const Op& op : ops_) {
    const char* name = op.code == Builtin::CUSTOM ? op.name.c_str() : nullptr;
    writer_.AddNode(
        {.code_index = writer_.AddOperatorCode(static_cast<int>(op.code), name, VersionOf(op.code)),
         .inputs = op.inputs,
         .outputs = op.outputs,
         .options_type = op.kind,
         .options = op.options,
         .custom_options = op.custom_options});
  }
  writer_.SetName("main");
  writer_.SetInputs(inputs);
  writer_.SetOutputs(outputs);
  return writer_.Finish(description);
}

}  // namespace deputy::ms
