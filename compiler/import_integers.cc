// SPDX-License-Identifier: Apache-2.0
//
// Products of integers: quantised convolutions and matrix products whose sums are computed from the
// stored integers. As in TensorFlow Lite, with scales and zero points,
//   output = round(sum * input scale * filter scale / output scale) + output zero point,
// where the bias is a part of the sum.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <utility>

#include "compiler/node_import.h"

namespace deputy::compiler {
namespace {

bool IsByte(TfLiteType type) { return type == kTfLiteInt8 || type == kTfLiteUInt8; }

struct Range {
  int64_t min, max;
};

// Returns the stored numbers that an output with an activation can have; nullopt if the activation
// is not a range.
std::optional<Range> RangeOf(TfLiteType type, Quantization quantization,
                             TfLiteFusedActivation activation) {
  Range range = {SmallestOf(type), LargestOf(type)};
  const auto stored = [&](double real) {
    const double number = std::round(real / static_cast<double>(quantization.scale));
    return std::clamp(static_cast<int64_t>(std::clamp(number, -1e9, 1e9)) + quantization.zero_point,
                      range.min, range.max);
  };
  switch (activation) {
    case kTfLiteActNone:
      return range;
    case kTfLiteActRelu:
      return Range{stored(0), range.max};
    case kTfLiteActReluN1To1:
      return Range{stored(-1), stored(1)};
    case kTfLiteActRelu6:
      return Range{stored(0), stored(6)};
    default:
      return std::nullopt;
  }
}

// Returns true if no sum of a product overflows int32, for the stored image and for one that
// kernels convert from int8 to uint8 or the reverse.
bool SumsFit(const Value& filter, int axis, const Value* bias) {
  // Upper bound on the sum of the magnitudes of an element and of the converted zero point.
  constexpr int64_t kLargestElement = 3 * 255;
  const auto channels = static_cast<size_t>(filter.shape[static_cast<size_t>(axis)]);
  const int64_t stride = Strides(filter.shape)[static_cast<size_t>(axis)];
  std::vector<int64_t> sums(channels, 0);
  for (size_t c = 0; bias != nullptr && c < channels; ++c) {
    sums[c] = std::abs(bias->At(static_cast<int64_t>(c)).integer);
  }
  for (int64_t i = 0; i < ElementCount(filter.shape); ++i) {
    sums[static_cast<size_t>(i / stride) % channels] +=
        kLargestElement * std::abs(filter.At(i).integer);
  }
  return std::all_of(sums.begin(), sums.end(), [](int64_t sum) { return sum <= INT32_MAX; });
}

}  // namespace

ValueId NodeImport::SignedFilter(int n) {
  const ValueId stored = Input(n);
  const Value from = value(stored);
  std::optional<int> zero_point = ZeroPoint(n);
  if (!zero_point) return kNoValue;
  if (from.type == kTfLiteInt8 && *zero_point == 0) return stored;
  const int64_t count = ElementCount(from.shape);
  if (!CheckKept(static_cast<size_t>(count))) return kNoValue;
  std::vector<int8_t> numbers(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    const int64_t number = from.At(i).integer - *zero_point;
    if (number < SmallestOf(kTfLiteInt8) || number > LargestOf(kTfLiteInt8)) return kNoValue;
    numbers[static_cast<size_t>(i)] = static_cast<int8_t>(number);
  }
  const ValueId id = state_->graph->AddConstantOf<int8_t>(kTfLiteInt8, from.shape, numbers);
  state_->graph->value(id).name = from.name;
  return id;
}

std::vector<ValueId> NodeImport::IntegerInputs(const ProductInputs& inputs,
                                               TfLiteFusedActivation activation) {
  if (!state_->integer_products || state_->check_only) return {};
  const TfLiteType to = output_tensor(0).type;
  const ValueId left = Input(inputs.left), filter = Input(inputs.filter), bias = Input(inputs.bias);
  if (!IsByte(value(left).type) || !IsByte(value(filter).type) || !IsByte(to) ||
      value(left).constant() || !value(filter).constant() ||
      (bias != kNoValue && value(bias).type != kTfLiteInt32) ||
      !(OutputQuantization(0).scale > 0) || !RangeOf(to, OutputQuantization(0), activation)) {
    return {};
  }
  const TfLiteType from = value(left).type;
  const std::optional<int> zero_point = ZeroPoint(inputs.left);
  if (!zero_point || *zero_point < SmallestOf(from) || *zero_point > LargestOf(from)) return {};
  const ValueId numbers = SignedFilter(inputs.filter);
  if (numbers == kNoValue ||
      !SumsFit(value(numbers), inputs.axis, bias == kNoValue ? nullptr : &value(bias))) {
    return {};
  }
  return {left, numbers, bias};
}

ValueId NodeImport::AddRequantize(ValueId sums, const ProductInputs& inputs,
                                  TfLiteFusedActivation activation) {
  const Quantization to = OutputQuantization(0);
  const TfLiteType type = output_tensor(0).type;
  const Range range = *RangeOf(type, to, activation);
  int axis = 0;
  std::vector<double> scales = Scales(inputs.filter, &axis);
  // A scale per channel even if all are equal, so that all products have the same expression.
  scales.resize(static_cast<size_t>(shape(sums).back()), scales.front());
  const double scale = Scales(inputs.left, &axis)[0] / static_cast<double>(to.scale);
  for (double& each : scales) each *= scale;
  const auto channels = static_cast<int>(scales.size());
  const ValueId scale_of_channel = Constant(kTfLiteFloat32, {channels}, scales);
  Expression e;
  const auto number = [&](double value) { return e.Constant(kTfLiteFloat32, value); };
  int node = e.Cast(e.Operand(0, kTfLiteInt32), kTfLiteFloat32);
  node = e.Apply(ScalarOp::kMul, node, e.Operand(1, kTfLiteFloat32));
  node = e.Apply(ScalarOp::kFloor, e.Apply(ScalarOp::kAdd, node, number(to.zero_point + 0.5)));
  // NaN, the product of 0 and an infinite scale, becomes the smallest number.
  node = e.Apply(ScalarOp::kMax, node, number(static_cast<double>(range.min)));
  node = e.Apply(ScalarOp::kMin, node, number(static_cast<double>(range.max)));
  e.SetResult(e.Cast(node, type));
  return AddElementwise(std::move(e), {sums, scale_of_channel});
}

}  // namespace deputy::compiler
