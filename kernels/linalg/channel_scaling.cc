// SPDX-License-Identifier: Apache-2.0
#include "kernels/linalg/channel_scaling.h"

#include <cstring>

namespace deputy {
namespace {

int32_t ClampToRange(int64_t steps, const IntRange& range) {
  return static_cast<int32_t>(std::min<int64_t>(std::max<int64_t>(steps, range.low), range.high));
}

// Requantises a tile with a single rounding. Plain code suffices for all instruction sets: fully
// connected layers have few outputs.
void RequantizeOnce(const RequantizeTile& tile) {
  for (int r = 0; r < tile.rows; ++r) {
    const int32_t* sums = tile.sums + static_cast<size_t>(r) * tile.sums_stride;
    int8_t* out = tile.out + static_cast<size_t>(r) * tile.out_stride;
    for (int c = 0; c < tile.columns; ++c) {
      const int64_t steps = MultiplyRoundingOnce(sums[c], {tile.mantissas[c], tile.shifts[c]});
      out[c] = static_cast<int8_t>(ClampToRange(steps + tile.zero_point, {tile.low, tile.high}));
    }
  }
}

}  // namespace

TfLiteStatus WeightScales::Prepare(TfLiteContext* context, const TfLiteTensor* weights,
                                   int channel_axis) {
  const auto* affine =
      weights->quantization.type == kTfLiteAffineQuantization
          ? static_cast<const TfLiteAffineQuantization*>(weights->quantization.params)
          : nullptr;
  if (affine == nullptr || affine->scale == nullptr || affine->scale->size < 1) {
    return TensorError(context, weights, "expected affine quantisation, found none");
  }
  const int count = affine->scale->size;
  scales_ = {affine->scale->data, static_cast<size_t>(count)};
  if (count > 1 && affine->quantized_dimension != channel_axis) {
    return TensorError(context, weights, "expected scales along dimension %d, found %d",
                       channel_axis, affine->quantized_dimension);
  }
  if (count > 1 && count != Dim(weights, channel_axis)) {
    return TensorError(context, weights, "expected 1 or %d scales, found %d",
                       Dim(weights, channel_axis), count);
  }
  for (int i = 0; i < count; ++i) {
    const float scale = scales_[static_cast<size_t>(i)];
    if (!(scale >= 0.0f) || !std::isfinite(scale)) {
      return TensorError(context, weights, "scale %d: expected a finite number, found %g", i,
                         static_cast<double>(scale));
    }
  }
  return kTfLiteOk;
}

bool WeightScales::differ() const {
  return std::any_of(scales_.begin(), scales_.end(), [this](float s) { return s != scales_[0]; });
}

TfLiteStatus CheckNoZeroPoints(TfLiteContext* context, const TfLiteTensor* weights) {
  const auto* affine = static_cast<const TfLiteAffineQuantization*>(weights->quantization.params);
  const TfLiteIntArray* zero_points =
      weights->quantization.type == kTfLiteAffineQuantization && affine != nullptr
          ? affine->zero_point
          : nullptr;
  for (int i = 0; zero_points != nullptr && i < zero_points->size; ++i) {
    if (zero_points->data[i] != 0) {
      return TensorError(context, weights, "expected zero point 0, found %d", zero_points->data[i]);
    }
  }
  return kTfLiteOk;
}

TfLiteStatus CheckBiasScale(TfLiteContext* context, const TfLiteTensor* input,
                            const TfLiteTensor* weights, const TfLiteTensor* bias,
                            const TfLiteTensor* output) {
  const double product =
      static_cast<double>(input->params.scale) * static_cast<double>(weights->params.scale);
  const double bias_scale = static_cast<double>(bias->params.scale);
  if (std::fabs(product - bias_scale) / static_cast<double>(output->params.scale) <= 0.02) {
    return kTfLiteOk;
  }
  return TensorError(context, bias, "expected scale %g (input times weights), found %g", product,
                     bias_scale);
}

TfLiteStatus ChannelScaling::Prepare(TfLiteContext* context, const TfLiteTensor* input,
                                     const TfLiteTensor* weights, int channel_axis,
                                     const TfLiteTensor* output, TfLiteFusedActivation activation,
                                     ExactRounding exact_rounding) {
  DEPUTY_TRY(CheckQuantized(context, input));
  DEPUTY_TRY(CheckQuantized(context, output));
  WeightScales scales;
  DEPUTY_TRY(scales.Prepare(context, weights, channel_axis));
  DEPUTY_TRY(QuantizedActivationRange(context, activation, output, &range_));
  input_zero_point_ = input->params.zero_point;
  zero_point_ = output->params.zero_point;
  output_offset_ = output->type == kTfLiteUInt8 ? 128 : 0;
  per_channel_ = scales.per_channel();
  exact_rounding_ = exact_rounding;
  arithmetic_ = ArithmeticOf(context);

  const int channels = Dim(weights, channel_axis);
  if (!block_.Reserve(static_cast<size_t>(channels) * 3 * sizeof(int32_t), 0, LimitsOf(context))) {
    return TensorError(context, weights, "out of memory for its scales");
  }
  channels_ = channels;
  for (int c = 0; c < channels; ++c) {
    const double factor = static_cast<double>(input->params.scale) *
                          static_cast<double>(scales[c]) /
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

int32_t ChannelScaling::Requantize(Arithmetic arithmetic, int32_t sum, int channel) const {
  if (arithmetic == Arithmetic::kDefault) {
    return FloatRequantizer(factors()[channel], zero_point_, range_)(sum);
  }
  const FixedMultiplier factor = {mantissas()[channel], shifts()[channel]};
  const int64_t steps = exact_rounding_ == ExactRounding::kTwice
                            ? Multiply(sum, factor)
                            : MultiplyRoundingOnce(sum, factor);
  return ClampToRange(steps + zero_point_, range_);
}

int16_t ChannelScaling::RequantizeInt16(int64_t sum, bool wide, int channel) const {
  if (arithmetic_ == Arithmetic::kDefault) {
    const double steps = static_cast<double>(sum) * static_cast<double>(factors()[channel]);
    const double low = range_.low - zero_point_, high = range_.high - zero_point_;
    return static_cast<int16_t>(std::lrint(std::clamp(steps, low, high)) + zero_point_);
  }
  const FixedMultiplier factor = {mantissas()[channel], shifts()[channel]};
  int64_t steps = 0;
  if (exact_rounding_ == ExactRounding::kOnce) {
    steps = MultiplyRoundingOnce(wide ? sum : static_cast<int32_t>(sum), factor);
  } else {
    steps = wide ? MultiplyWide(sum, factor) : Multiply(static_cast<int32_t>(sum), factor);
  }
  return static_cast<int16_t>(ClampToRange(steps + zero_point_, range_));
}

ChannelScaling::TileFunction ChannelScaling::TileFunctionOf(const CpuKernels& cpu,
                                                            Arithmetic arithmetic) const {
  if (arithmetic == Arithmetic::kDefault) return cpu.requantize.in_float;
  return exact_rounding_ == ExactRounding::kTwice ? cpu.requantize.exact : &RequantizeOnce;
}

RequantizeTile ChannelScaling::Tile(int first) const {
  RequantizeTile tile = {};
  tile.factors = factors() + first;
  tile.mantissas = mantissas() + first;
  tile.shifts = shifts() + first;
  tile.zero_point = zero_point_ - output_offset_;
  tile.low = range_.low - output_offset_;
  tile.high = range_.high - output_offset_;
  return tile;
}

// Flips the sign bit of each value, eight bytes at a time in case the compiler does not vectorise
// the loop.
void FlipSigns(int8_t* values, int64_t count) {
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    uint64_t word;
    std::memcpy(&word, values + i, sizeof word);
    word ^= 0x8080808080808080u;
    std::memcpy(values + i, &word, sizeof word);
  }
  for (; i < count; ++i) values[i] = static_cast<int8_t>(static_cast<uint8_t>(values[i]) ^ 0x80u);
}

void FlipSigns(const RequantizeTile& tile) {
  for (int r = 0; r < tile.rows; ++r) {
    FlipSigns(tile.out + static_cast<size_t>(r) * tile.out_stride, tile.columns);
  }
}

}  // namespace deputy
