// SPDX-License-Identifier: Apache-2.0
#include "bridges/onnxruntime/definition.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/support/half.h"
#include "deputy/builtin_ops.h"

namespace deputy::onnxruntime {
namespace {

const Dims kToNchw = {0, 3, 1, 2}, kToNhwc = {0, 2, 3, 1};

const TfLiteAffineQuantization* AffineOf(const TfLiteTensor& tensor) {
  if (tensor.quantization.type != kTfLiteAffineQuantization) return nullptr;
  return static_cast<const TfLiteAffineQuantization*>(tensor.quantization.params);
}

int ScaleCount(const TfLiteTensor& tensor) {
  const TfLiteAffineQuantization* affine = AffineOf(tensor);
  return affine == nullptr || affine->scale == nullptr ? 0 : affine->scale->size;
}

bool IsScale(float scale) { return std::isnormal(scale) && scale > 0; }

bool IsZeroPoint(TfLiteType type, int zero_point) {
  return type == kTfLiteInt8 ? zero_point >= INT8_MIN && zero_point <= INT8_MAX
                             : zero_point >= 0 && zero_point <= UINT8_MAX;
}

std::string_view ToBytes(const void* data, size_t bytes) {
  return {static_cast<const char*>(data), bytes};
}

Dims Permuted(const Dims& dims, const Dims& order) {
  Dims permuted;
  for (const int64_t dim : order) permuted.push_back(dims[static_cast<size_t>(dim)]);
  return permuted;
}

// Returns the elements of an array of shape `dims` in the given order of dimensions.
std::string PermutedBytes(std::string_view bytes, const Dims& dims, const Dims& order,
                          size_t element) {
  Dims strides(dims.size(), 1);
  for (size_t i = dims.size() - 1; i > 0; --i) strides[i - 1] = strides[i] * dims[i];
  const Dims extents = Permuted(dims, order), steps = Permuted(strides, order);
  std::string permuted;
  permuted.reserve(bytes.size());
  Dims index(dims.size(), 0);
  for (int64_t position = 0, done = CountOf(dims); done > 0; --done) {
    permuted.append(bytes, static_cast<size_t>(position) * element, element);
    for (size_t i = dims.size(); i-- > 0;) {
      position += steps[i];
      if (++index[i] < extents[i]) break;
      position -= steps[i] * extents[i];
      index[i] = 0;
    }
  }
  return permuted;
}

}  // namespace

ElementType TypeOf(const TfLiteTensor& tensor) {
  switch (tensor.type) {
    case kTfLiteFloat32:
      return kFloat32;
    case kTfLiteInt32:
      return kInt32;
    case kTfLiteInt64:
      return kInt64;
    case kTfLiteInt8:
      return kInt8;
    case kTfLiteUInt8:
    case kTfLiteBool:
      return kUint8;
    default:
      return kUndefined;
  }
}

bool IsQuantized(const TfLiteTensor& tensor) {
  return tensor.type == kTfLiteUInt8 || tensor.type == kTfLiteInt8;
}

bool IsConstant(const TfLiteTensor& tensor) {
  return tensor.allocation_type == kTfLiteMmapRo && tensor.data.raw_const != nullptr &&
         tensor.bytes > 0;
}

Dims DimsOf(const TfLiteTensor& tensor) {
  return {tensor.dims->data, tensor.dims->data + tensor.dims->size};
}

int64_t CountOf(const Dims& dims) {
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  return count;
}

size_t ElementBytes(ElementType type) {
  switch (type) {
    case kInt64:
      return 8;
    case kFloat32:
    case kInt32:
      return 4;
    default:
      return 1;
  }
}

std::string NameOf(const TfLiteTensor& tensor) {
  return "tensor '" + std::string(tensor.name == nullptr ? "" : tensor.name) + "'";
}

HalfConstants FindHalfConstants(TfLiteContext* context, int last_node) {
  HalfConstants constants;
  for (int i = 0; i <= last_node; ++i) {
    TfLiteNode* node = nullptr;
    TfLiteRegistration* registration = nullptr;
    if (context->GetNodeAndRegistration(context, i, &node, &registration) != kTfLiteOk) break;
    if (registration->builtin_code != kTfLiteBuiltinDequantize || node->inputs->size != 1 ||
        node->outputs->size != 1 || node->inputs->data[0] < 0 || node->outputs->data[0] < 0) {
      continue;
    }
    const TfLiteTensor& half = context->tensors[node->inputs->data[0]];
    const TfLiteTensor& whole = context->tensors[node->outputs->data[0]];
    if (half.type != kTfLiteFloat16 || whole.type != kTfLiteFloat32 || !IsConstant(half) ||
        whole.dims == nullptr ||
        half.bytes != static_cast<size_t>(CountOf(DimsOf(whole))) * sizeof(uint16_t)) {
      continue;
    }
    constants[node->outputs->data[0]] = node->inputs->data[0];
  }
  return constants;
}

bool Definition::IsConstant(int tensor) const {
  return IsHalfConstant(tensor) || onnxruntime::IsConstant(context_->tensors[tensor]);
}

// Returns the bytes of a constant, "" while only checking.
std::string Definition::Contents(int tensor) const {
  if (checking_) return "";
  const auto half = halves_->find(tensor);
  if (half == halves_->end()) {
    const TfLiteTensor& host = context_->tensors[tensor];
    return {host.data.raw_const, host.bytes};
  }
  const TfLiteTensor& host = context_->tensors[half->second];
  std::string bytes(host.bytes * 2, '\0');
  for (size_t i = 0; i < host.bytes / sizeof(uint16_t); ++i) {
    uint16_t bits = 0;
    memcpy(&bits, host.data.raw_const + i * sizeof bits, sizeof bits);
    const float number = HalfToFloat(bits);
    memcpy(bytes.data() + i * sizeof number, &number, sizeof number);
  }
  return bytes;
}

bool Definition::Refuse(DeputyReason reason, const std::string& text) {
  if (ok()) refusal_ = {reason, text};
  return false;
}

// ---- Values of tensors --------------------------------------------------------------------------

std::string Definition::Stored(int tensor, Layout layout) {
  if (!ok()) return "";
  Values& values = values_[tensor];
  std::string& name = layout == Layout::kNhwc ? values.nhwc : values.nchw;
  if (name.empty()) name = FirstValue(tensor, layout, values);
  return name;
}

// Adds the value of a tensor in a layout in which it has none.
std::string Definition::FirstValue(int tensor, Layout layout, const Values& values) {
  const TfLiteTensor& host = context_->tensors[tensor];
  const ElementType type = TypeOf(host);
  Dims dims = DimsOf(host);
  if (IsConstant(tensor)) {
    std::string bytes = Contents(tensor);
    if (layout == Layout::kNhwc) return Constant(type, dims, bytes);
    dims.insert(dims.begin(), 4 - dims.size(), 1);
    if (!checking_) bytes = PermutedBytes(bytes, dims, kToNchw, ElementBytes(type));
    return Constant(type, Permuted(dims, kToNchw), bytes);
  }
  if (layout == Layout::kNchw) return Add("Transpose", {Stored(tensor)}, {{"perm", kToNchw}});
  if (!values.nchw.empty()) return Add("Transpose", {values.nchw}, {{"perm", kToNhwc}});
  inputs_.insert(tensor);
  return "t" + std::to_string(tensor);
}

std::string Definition::Real(int tensor, Layout layout) {
  std::string stored = Stored(tensor, layout);
  const TfLiteTensor& host = context_->tensors[tensor];
  std::string scale, zero_point;
  if (host.type == kTfLiteBool) return Add("Cast", {stored}, {{"to", int64_t{kBool}}});
  if (!IsQuantized(host) || !Affine(host, &scale, &zero_point)) return stored;
  return Add("DequantizeLinear", {stored, scale, zero_point});
}

void Definition::SetStored(int tensor, const std::string& value, Layout layout) {
  Values& values = values_[tensor];
  (layout == Layout::kNhwc ? values.nhwc : values.nchw) = value;
}

void Definition::SetReal(int tensor, const std::string& value, Layout layout) {
  const TfLiteTensor& host = context_->tensors[tensor];
  std::string scale, zero_point;
  if (host.type == kTfLiteBool) {
    SetStored(tensor, Add("Cast", {value}, {{"to", int64_t{kUint8}}}), layout);
  } else if (!IsQuantized(host)) {
    SetStored(tensor, value, layout);
  } else if (Affine(host, &scale, &zero_point)) {
    SetStored(tensor, Add("QuantizeLinear", {value, scale, zero_point}), layout);
  }
}

bool Definition::IsOnlyNchw(int tensor) const {
  const auto found = values_.find(tensor);
  return found != values_.end() && !found->second.nchw.empty() && found->second.nhwc.empty() &&
         !IsConstant(tensor);
}

// Adds the scale and zero point of a tensor that has one of each.
bool Definition::Affine(const TfLiteTensor& tensor, std::string* out_scale,
                        std::string* out_zero_point) {
  if (!ok()) return false;
  const int zero_point = tensor.params.zero_point;
  if (ScaleCount(tensor) > 1 || !IsScale(tensor.params.scale) ||
      !IsZeroPoint(tensor.type, zero_point)) {
    return Refuse(
        kDeputyReasonQuantization,
        NameOf(tensor) + ": expected one positive scale and a zero point in the range of its type");
  }
  *out_scale = Float(tensor.params.scale);
  const auto byte = static_cast<uint8_t>(zero_point);
  *out_zero_point = Constant(TypeOf(tensor), {}, ToBytes(&byte, 1));
  return true;
}

// Reads the scale and zero point of each slice of dimension `channel`, or one of each.
bool Definition::ReadScales(const TfLiteTensor& weights, int channel,
                            std::vector<float>* out_scales, std::vector<int>* out_zero_points) {
  const TfLiteAffineQuantization* affine = AffineOf(weights);
  const int count = ScaleCount(weights);
  if (count <= 1) {
    *out_scales = {weights.params.scale};
    *out_zero_points = {weights.params.zero_point};
  } else if (channel < 0 || affine->quantized_dimension != channel ||
             channel >= weights.dims->size || count != weights.dims->data[channel]) {
    return Refuse(kDeputyReasonQuantization,
                  NameOf(weights) + ": expected one scale" +
                      (channel < 0 ? "" : " per slice of dimension " + std::to_string(channel)) +
                      ", found " + std::to_string(count));
  } else {
    out_scales->assign(affine->scale->data, affine->scale->data + count);
    out_zero_points->assign(static_cast<size_t>(count), 0);
    if (affine->zero_point != nullptr && affine->zero_point->size == count) {
      out_zero_points->assign(affine->zero_point->data, affine->zero_point->data + count);
    }
  }
  return (std::all_of(out_scales->begin(), out_scales->end(), IsScale) &&
          std::all_of(out_zero_points->begin(), out_zero_points->end(),
                      [&](int value) { return IsZeroPoint(weights.type, value); })) ||
         Refuse(kDeputyReasonQuantization,
                NameOf(weights) +
                    ": expected positive scales and zero points in the range of its type");
}

// Returns the bytes of a constant as float32; "" while only checking, and after a refusal.
std::string Definition::Numbers(int tensor, int channel) {
  const TfLiteTensor& host = context_->tensors[tensor];
  if (!IsQuantized(host)) return Contents(tensor);
  std::vector<float> scales;
  std::vector<int> zero_points;
  if (!ReadScales(host, channel, &scales, &zero_points) || checking_) return "";
  const Dims dims = DimsOf(host);
  const int64_t inner = CountOf({dims.begin() + channel + 1, dims.end()});
  std::vector<float> numbers(host.bytes);
  for (size_t i = 0; i < numbers.size(); ++i) {
    const size_t slice = i / static_cast<size_t>(inner) % scales.size();
    const int value = host.type == kTfLiteInt8 ? host.data.int8[i] : host.data.uint8[i];
    numbers[i] = scales[slice] * static_cast<float>(value - zero_points[slice]);
  }
  return std::string(ToBytes(numbers.data(), numbers.size() * sizeof(float)));
}

std::string Definition::Weights(int tensor, const Dims& order, int channel) {
  if (!ok()) return "";
  const auto known = weights_.find({tensor, order});
  if (known != weights_.end()) return known->second;
  const TfLiteTensor& host = context_->tensors[tensor];
  const bool keeps_order = std::is_sorted(order.begin(), order.end());
  std::string& name = weights_[{tensor, order}];
  if (!IsConstant(tensor)) {
    if (IsQuantized(host)) {
      Refuse(kDeputyReasonNotConstant, NameOf(host) + ": expected a constant");
      return "";
    }
    name = Stored(tensor);
    if (!keeps_order) name = Add("Transpose", {name}, {{"perm", order}});
    return name;
  }
  const Dims dims = DimsOf(host);
  std::string bytes = Numbers(tensor, channel);
  if (!checking_ && !keeps_order) bytes = PermutedBytes(bytes, dims, order, sizeof(float));
  return name = Constant(kFloat32, Permuted(dims, order), bytes);
}

std::string Definition::Bias(int tensor, const TfLiteTensor& input, const TfLiteTensor& weights,
                             int64_t count) {
  if (!ok() || tensor < 0) return "";
  const TfLiteTensor& host = context_->tensors[tensor];
  const bool is_float = input.type == kTfLiteFloat32;
  if (host.type != (is_float ? kTfLiteFloat32 : kTfLiteInt32)) {
    Refuse(kDeputyReasonType,
           NameOf(host) + ": expected " + (is_float ? "FLOAT32" : "INT32") + " for a bias");
    return "";
  }
  if (host.dims->size != 1 || host.dims->data[0] != count) {
    Refuse(kDeputyReasonShape,
           NameOf(host) + ": expected the shape [" + std::to_string(count) + "]");
    return "";
  }
  if (is_float) return Stored(tensor);
  std::vector<float> scales;
  std::vector<int> zero_points;
  if (!IsConstant(tensor)) {
    Refuse(kDeputyReasonNotConstant, NameOf(host) + ": expected a constant");
    return "";
  }
  if (!ReadScales(weights, ScaleCount(weights) > 1 ? AffineOf(weights)->quantized_dimension : -1,
                  &scales, &zero_points)) {
    return "";
  }
  std::vector<float> numbers(checking_ ? 0 : static_cast<size_t>(count));
  for (size_t i = 0; i < numbers.size(); ++i) {
    const double scale = static_cast<double>(input.params.scale) * scales[i % scales.size()];
    numbers[i] = static_cast<float>(scale * host.data.i32[i]);
  }
  return Constant(kFloat32, {count}, ToBytes(numbers.data(), numbers.size() * sizeof(float)));
}

// ---- Other values -------------------------------------------------------------------------------

std::string Definition::Ints(const Dims& values) {
  return Constant(kInt64, {static_cast<int64_t>(values.size())},
                  ToBytes(values.data(), values.size() * sizeof(int64_t)));
}

std::string Definition::Float(float value) {
  return Constant(kFloat32, {}, ToBytes(&value, sizeof value));
}

std::string Definition::Constant(ElementType type, const Dims& dims, std::string_view contents) {
  std::string name = NewName();
  if (!checking_) model_.AddConstant(name, type, dims, contents);
  return name;
}

std::string Definition::Add(std::string_view op, const std::vector<std::string>& inputs,
                            const std::vector<Attribute>& attributes) {
  return AddMany(op, inputs, 1, attributes)[0];
}

std::vector<std::string> Definition::AddMany(std::string_view op,
                                             const std::vector<std::string>& inputs, int outputs,
                                             const std::vector<Attribute>& attributes) {
  std::vector<std::string> names;
  names.reserve(static_cast<size_t>(outputs));
  for (int i = 0; i < outputs; ++i) names.push_back(NewName());
  if (!checking_) model_.AddNode(op, inputs, names, attributes);
  return names;
}

std::string Definition::Finish(const std::vector<int>& inputs, const std::vector<int>& outputs,
                               std::vector<int>* out_inputs,
                               std::vector<std::string>* out_input_names,
                               std::vector<std::string>* out_output_names) {
  for (const int tensor : outputs) {
    const TfLiteTensor& host = context_->tensors[tensor];
    out_output_names->push_back(Stored(tensor));
    model_.AddOutput(out_output_names->back(), TypeOf(host), DimsOf(host));
  }
  for (const int tensor : inputs) {
    if (inputs_.count(tensor) == 0) continue;
    const TfLiteTensor& host = context_->tensors[tensor];
    out_inputs->push_back(tensor);
    out_input_names->push_back(Stored(tensor));
    model_.AddInput(out_input_names->back(), TypeOf(host), DimsOf(host));
  }
  return model_.Finish();
}

}  // namespace deputy::onnxruntime
