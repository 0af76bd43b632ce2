// SPDX-License-Identifier: Apache-2.0
//
// The quantised side of convolutions and fully connected layers: one factor per output channel,
// from sums of products to steps of the output. The factors come from the scales of input,
// weights and output alone; the bias's own scale is not used.
#ifndef DEPUTY_KERNELS_LINALG_CHANNEL_SCALING_H_
#define DEPUTY_KERNELS_LINALG_CHANNEL_SCALING_H_

#include <span>

#include "kernels/common/activation_range.h"
#include "kernels/common/kernel.h"
#include "kernels/common/requantize.h"
#include "kernels/cpu/cpu.h"

namespace deputy {

// How Arithmetic::kReference rounds. TensorFlow Lite's convolutions round twice, as gemmlowp does;
// its fully connected layers round once, even in the reference resolver.
enum class ExactRounding { kTwice, kOnce };

// Scales of weights: one for all, or one per output channel. TensorFlow Lite takes a single scale
// as "one for all" whatever the number of channels.
class WeightScales {
 public:
  // `channel_axis`: of the weights' output channels. Refuses weights without affine quantisation,
  // with another number of scales than 1 and the channels', or along another axis.
  TfLiteStatus Prepare(TfLiteContext* context, const TfLiteTensor* weights, int channel_axis);
  bool per_channel() const { return scales_.size() > 1; }
  // True when several scales are not all the same.
  bool differ() const;
  float operator[](int channel) const {
    return scales_[per_channel() ? static_cast<size_t>(channel) : 0];
  }

 private:
  std::span<const float> scales_;  // the tensor's own
};

// All zero points of the weights are 0.
TfLiteStatus CheckNoZeroPoints(TfLiteContext* context, const TfLiteTensor* weights);

// The bias must have been quantised with input scale times weight scale, where these are one number
// each.
TfLiteStatus CheckBiasScale(TfLiteContext* context, const TfLiteTensor* input,
                            const TfLiteTensor* weights, const TfLiteTensor* bias,
                            const TfLiteTensor* output);

class ChannelScaling {
 public:
  // Reads and checks the quantisation of all three tensors for `channels` output channels, which
  // lie along `channel_axis` of the weights.
  TfLiteStatus Prepare(TfLiteContext* context, const TfLiteTensor* input,
                       const TfLiteTensor* weights, int channel_axis, const TfLiteTensor* output,
                       TfLiteFusedActivation activation, ExactRounding exact_rounding);

  // The sum of one channel as a step of the output.
  int32_t Requantize(Arithmetic arithmetic, int32_t sum, int channel) const;

  // Requantises the sum of one channel for int16 inputs, rounding once. The reference arithmetic
  // follows TensorFlow Lite: sums either have 32 bits (`wide` false; they wrap), or have 64 bits
  // and a multiplier of 15 bits, which is a step off.
  int16_t RequantizeInt16(int64_t sum, bool wide, int channel) const;

  // As Requantize for tiles of int8 or uint8 outputs, the latter as int8 with 128 less: what to
  // call, and a tile to call it with that starts at channel `first`; its size, sums and output are
  // the caller's to fill in.
  using TileFunction = void (*)(const RequantizeTile& tile);
  TileFunction TileFunctionOf(const CpuKernels& cpu, Arithmetic arithmetic) const;
  RequantizeTile Tile(int first) const;

  int32_t input_zero_point() const { return input_zero_point_; }
  // 128 when the output is uint8, else 0.
  int32_t output_offset() const { return output_offset_; }
  bool per_channel() const { return per_channel_; }

 private:
  float* factors() const { return reinterpret_cast<float*>(block_.data()); }
  int32_t* mantissas() const { return reinterpret_cast<int32_t*>(factors() + channels_); }
  int32_t* shifts() const { return mantissas() + channels_; }

  Block block_;  // factors, mantissas, shifts
  int channels_ = 0;
  bool per_channel_ = false;
  ExactRounding exact_rounding_ = ExactRounding::kTwice;
  Arithmetic arithmetic_ = Arithmetic::kDefault;
  int32_t input_zero_point_ = 0, zero_point_ = 0, output_offset_ = 0;
  IntRange range_;
};

// Converts int8 to the uint8 that is 128 more, or back, in place.
void FlipSigns(int8_t* values, int64_t count);
// The outputs of a tile, from int8 to uint8.
void FlipSigns(const RequantizeTile& tile);

}  // namespace deputy

#endif  // DEPUTY_KERNELS_LINALG_CHANNEL_SCALING_H_
