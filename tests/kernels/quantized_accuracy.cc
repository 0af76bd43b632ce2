// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/quantized_accuracy.h"

#include <algorithm>
#include <cmath>

namespace deputy {
namespace {

std::vector<uint8_t> BytesOf(TfLiteType type, const std::vector<int32_t>& values) {
  const size_t size = type == kTfLiteInt64   ? 8
                      : type == kTfLiteInt32 ? 4
                      : type == kTfLiteInt16 ? 2
                                             : 1;
  std::vector<uint8_t> bytes(values.size() * size);
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t wide = values[i];
    std::memcpy(&bytes[i * size], &wide, size);
  }
  return bytes;
}

}  // namespace

Reals Steps::real() const {
  int64_t inner = 1;
  for (size_t i = static_cast<size_t>(axis) + 1; i < shape.size(); ++i) inner *= shape[i];
  Reals reals(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const auto channel = static_cast<size_t>(static_cast<int64_t>(i) / inner) % scales.size();
    reals[i] = static_cast<double>(scales[scales.size() == 1 ? 0 : channel]) * (values[i] - zero);
  }
  return reals;
}

int LowestStep(TfLiteType type) {
  return type == kTfLiteInt16 ? -32768 : type == kTfLiteInt8 ? -128 : 0;
}
int HighestStep(TfLiteType type) {
  return type == kTfLiteInt16 ? 32767 : type == kTfLiteInt8 ? 127 : type == kTfLiteBool ? 1 : 255;
}
const char* TypeText(TfLiteType type) {
  return type == kTfLiteInt16  ? "int16"
         : type == kTfLiteInt8 ? "int8"
         : type == kTfLiteBool ? "bool"
                               : "uint8";
}
int64_t CountOfDims(const Dims4& shape) {
  int64_t count = 1;
  for (int32_t extent : shape) count *= extent;
  return count;
}

Affine AccuracyModel::RandomAffine(TfLiteType type, float least) {
  const float scale = least * (1.0f + static_cast<float>(Random(1000)) * 0.001f);
  return {scale, type == kTfLiteInt16 ? 0 : LowestStep(type) + static_cast<int>(Random(256))};
}

Steps AccuracyModel::Make(TfLiteType type, const Dims4& shape, std::vector<float> scales, int zero,
                          int axis, int low, int high) {
  if (low == 0 && high == 0) {
    low = LowestStep(type);
    high = HighestStep(type);
  }
  Steps steps = {-1, type, shape, std::move(scales), zero, axis, {}};
  steps.values.resize(static_cast<size_t>(CountOfDims(shape)));
  for (int32_t& value : steps.values) {
    value = low + static_cast<int32_t>(Random(static_cast<uint32_t>(high - low) + 1));
  }
  return steps;
}

int AccuracyModel::Add(const Steps& steps, bool constant) {
  TensorExtras extras;
  extras.scale = steps.scales;
  extras.zero_point.assign(steps.scales.size(), steps.zero);
  extras.quantized_dimension = steps.axis;
  const std::vector<uint8_t> bytes = BytesOf(steps.type, steps.values);
  if (constant) return m_.AddConstant<uint8_t>(steps.type, steps.shape, bytes, "constant", extras);
  feeds_.push_back(bytes);
  inputs_.push_back(m_.AddTensor(steps.type, steps.shape, "input", extras));
  return inputs_.back();
}

Steps AccuracyModel::Input(TfLiteType type, const Dims4& shape, Affine affine, int low, int high) {
  Steps steps = Make(type, shape, {affine.scale}, affine.zero, 0, low, high);
  steps.tensor = Add(steps, false);
  return steps;
}

Steps AccuracyModel::Constant(TfLiteType type, const Dims4& shape, Affine affine, int low,
                              int high) {
  Steps steps = Make(type, shape, {affine.scale}, affine.zero, 0, low, high);
  steps.tensor = Add(steps, true);
  return steps;
}

Steps AccuracyModel::PerChannelConstant(TfLiteType type, const Dims4& shape, float scale, int axis,
                                        int low, int high) {
  std::vector<float> scales;
  for (int c = 0; c < shape[static_cast<size_t>(axis)]; ++c) {
    scales.push_back(scale * (1.0f + static_cast<float>(Random(1000)) * 0.001f));
  }
  Steps steps = Make(type, shape, scales, 0, axis, low, high);
  steps.tensor = Add(steps, true);
  return steps;
}

Steps AccuracyModel::Bias(TfLiteType type, int count, const Steps& input, const Steps& weights) {
  std::vector<float> scales = weights.scales;
  for (float& scale : scales) scale *= input.scales[0];
  Steps steps = Make(type, {count}, scales, 0, 0, -2000, 2000);
  steps.tensor = Add(steps, true);
  return steps;
}

int AccuracyModel::Numbers(const Dims4& shape, const std::vector<int32_t>& values) {
  return m_.AddConstant<int32_t>(kTfLiteInt32, shape, values, "numbers");
}

int AccuracyModel::Floats(const Dims4& shape, const std::vector<float>& values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  feeds_.push_back(bytes);
  inputs_.push_back(m_.AddTensor(kTfLiteFloat32, shape, "input"));
  return inputs_.back();
}

int AccuracyModel::Output(TfLiteType type, const Dims4& shape, Affine affine, const Reals& truth) {
  TensorExtras extras;
  if (type != kTfLiteBool) {
    extras.scale = {affine.scale};
    extras.zero_point = {affine.zero};
  }
  made_.affine.push_back(affine);
  made_.truth.push_back(truth);
  outputs_.push_back(m_.AddTensor(type, shape, "output", extras));
  return outputs_.back();
}

int AccuracyModel::OutputFor(TfLiteType type, const Dims4& shape, const Reals& truth) {
  const auto [least, most] = std::minmax_element(truth.begin(), truth.end());
  const double low = std::min(*least, 0.0), high = std::max({*most, 0.0, low + 0.5});
  if (type == kTfLiteInt16) {
    const auto scale = static_cast<float>(std::max(-low, high) / 32767.0);
    return Output(type, shape, {scale, 0}, truth);
  }
  const auto scale = static_cast<float>((high - low) / 255.0);
  const int zero =
      LowestStep(type) + static_cast<int>(std::lround(-low / static_cast<double>(scale)));
  return Output(type, shape, {scale, std::min(zero, HighestStep(type))}, truth);
}

int AccuracyModel::UncomparedOutput(const Dims4& shape, TfLiteType type) {
  outputs_.push_back(m_.AddTensor(type, shape, "uncompared"));
  return outputs_.back();
}

AccuracyCase AccuracyModel::Finish(const std::string& name, TfLiteType type, uint32_t number) {
  m_.SetInputs(inputs_);
  m_.SetOutputs(outputs_);
  made_.name = name + " " + TypeText(type) + " " + std::to_string(number);
  made_.model = m_.Finish();
  made_.feeds = feeds_;
  made_.type = type;
  return std::move(made_);
}

}  // namespace deputy
