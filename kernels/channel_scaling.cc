// SPDX-License-Identifier: Apache-2.0
#include "kernels/channel_scaling.h"

namespace deputy {
namespace {

// Scales of the weights: one for all, or one per channel along `axis`. TensorFlow Lite takes a
// single scale as "one for all" whatever the number of channels.
TfLiteStatus WeightScales(TfLiteContext* context, const TfLiteTensor* weights, int axis,
                          const TfLiteFloatArray** out_scales) {
  const auto* affine =
      weights->quantization.type == kTfLiteAffineQuantization
          ? static_cast<const TfLiteAffineQuantization*>(weights->quantization.params)
          : nullptr;
  if (affine == nullptr || affine->scale == nullptr || affine->scale->size < 1) {
    return TensorError(context, weights, "expected affine quantisation, found none");
  }
  const TfLiteFloatArray* scales = affine->scale;
  if (scales->size > 1 && affine->quantized_dimension != axis) {
    return TensorError(context, weights, "expected scales along dimension %d, found %d", axis,
                       affine->quantized_dimension);
  }
  if (scales->size > 1 && scales->size != Dim(weights, axis)) {
    return TensorError(context, weights, "expected 1 or %d scales, found %d", Dim(weights, axis),
                       scales->size);
  }
  for (int i = 0; i < scales->size; ++i) {
    if (!(scales->data[i] >= 0.0f) || !std::isfinite(scales->data[i])) {
      return TensorError(context, weights, "scale %d: expected a finite number, found %g", i,
                         static_cast<double>(scales->data[i]));
    }
  }
  *out_scales = scales;
  return kTfLiteOk;
}

int8_t ClampToStep(int64_t steps, const IntRange& range) {
  return static_cast<int8_t>(std::min<int64_t>(std::max<int64_t>(steps, range.low), range.high));
}

// Plain code for all tables: fully connected layers have few outputs.
void RequantizeOnce(const RequantizeRow& row) {
  for (int i = 0; i < row.count; ++i) {
    const int64_t steps = MultiplyRoundingOnce(row.sums[i], {row.mantissas[i], row.shifts[i]});
    row.out[i] = ClampToStep(steps + row.zero_point, {row.low, row.high});
  }
}

}  // namespace

TfLiteStatus ChannelScaling::Prepare(TfLiteContext* context, const TfLiteTensor* input,
                                     const TfLiteTensor* weights, int channel_axis,
                                     const TfLiteTensor* output,
                                     TfLiteFusedActivation activation,
                                     ExactRounding exact_rounding) {
  DEPUTY_TRY(CheckQuantized(context, input));
  DEPUTY_TRY(CheckQuantized(context, output));
  const TfLiteFloatArray* scales = nullptr;
  DEPUTY_TRY(WeightScales(context, weights, channel_axis, &scales));
  DEPUTY_TRY(QuantizedActivationRange(context, activation, output, &range_));
  input_zero_point_ = input->params.zero_point;
  zero_point_ = output->params.zero_point;
  per_channel_ = scales->size > 1;
  exact_rounding_ = exact_rounding;

  const int channels = Dim(weights, channel_axis);
  if (!block_.Reserve(static_cast<size_t>(channels) * 3 * sizeof(int32_t), 0, LimitsOf(context))) {
    return TensorError(context, weights, "out of memory for its scales");
  }
  channels_ = channels;
  for (int c = 0; c < channels; ++c) {
    const double factor = static_cast<double>(input->params.scale) *
                          static_cast<double>(scales->data[per_channel_ ? c : 0]) /
                          static_cast<double>(output->params.scale);
    if (!(factor <= static_cast<double>(std::numeric_limits<float>::max()))) {
      return TensorError(context, output, "its scale is too small for its input and weights");
    }
    const FixedMultiplier fixed = ToFixedMultiplier(factor);
    factors()[c] = static_cast<float>(factor);
    mantissas()[c] = fixed.mantissa;
    shifts()[c] = fixed.shift;
  }
  return kTfLiteOk;
}

int8_t ChannelScaling::Requantize(Arithmetic arithmetic, int32_t sum, int channel) const {
  if (arithmetic == Arithmetic::kDefault) {
    return static_cast<int8_t>(FloatRequantizer(factors()[channel], zero_point_, range_)(sum));
  }
  const FixedMultiplier factor = {mantissas()[channel], shifts()[channel]};
  const int64_t steps = exact_rounding_ == ExactRounding::kTwice
                            ? Multiply(sum, factor)
                            : MultiplyRoundingOnce(sum, factor);
  return ClampToStep(steps + zero_point_, range_);
}

ChannelScaling::RowFunction ChannelScaling::RowFunctionOf(const CpuKernels& cpu,
                                                          Arithmetic arithmetic) const {
  if (arithmetic == Arithmetic::kDefault) return cpu.requantize_float;
  return exact_rounding_ == ExactRounding::kTwice ? cpu.requantize_exact : &RequantizeOnce;
}

RequantizeRow ChannelScaling::Row(int first) const {
  RequantizeRow row = {};
  row.factors = factors() + first;
  row.mantissas = mantissas() + first;
  row.shifts = shifts() + first;
  row.zero_point = zero_point_;
  row.low = range_.low;
  row.high = range_.high;
  return row;
}

}  // namespace deputy
