// SPDX-License-Identifier: Apache-2.0
//
// Quantisation of convolutions, fully connected layers and batched products: one factor per output
// channel, from sums of products to quantised outputs. The factors depend on the scales of input,
// weights and output only; the bias's own scale is not used.
#ifndef DEPUTY_KERNELS_LINALG_CHANNEL_SCALING_H_
#define DEPUTY_KERNELS_LINALG_CHANNEL_SCALING_H_

#include <span>

#include "kernels/common/activation_range.h"
#include "kernels/common/kernel.h"
#include "kernels/common/requantize.h"
#include "kernels/cpu/cpu.h"

namespace deputy {

// Number of roundings with Arithmetic::kReference. TensorFlow Lite's convolutions round twice, as
// gemmlowp does; its fully connected layers round once, even in the reference resolver.
enum class ExactRounding { kTwice, kOnce };

// Scales of weights: one for all channels, or one per output channel. As in TensorFlow Lite, a
// single scale applies to all channels whatever their number.
class WeightScales {
 public:
  // Reads the scales of `weights`, whose output channels are along `channel_axis`. Fails for
  // weights without affine quantisation, with a number of scales other than 1 and the number of
  // channels, with scales along another axis, or with a scale that is negative or not finite.
  TfLiteStatus Prepare(TfLiteContext* context, const TfLiteTensor* weights, int channel_axis);
  bool per_channel() const { return scales_.size() > 1; }
  // Returns true if there are several scales and not all are equal.
  bool differ() const;
  float operator[](int channel) const {
    return scales_[per_channel() ? static_cast<size_t>(channel) : 0];
  }

 private:
  std::span<const float> scales_;  // memory of the weights tensor, not owned
};

// Checks that all zero points of the weights are 0.
TfLiteStatus CheckNoZeroPoints(TfLiteContext* context, const TfLiteTensor* weights);

// Checks that the bias's scale differs from the input's times the weights' by at most 2 % of the
// output's scale, for weights with a single scale.
TfLiteStatus CheckBiasScale(TfLiteContext* context, const TfLiteTensor* input,
                            const TfLiteTensor* weights, const TfLiteTensor* bias,
                            const TfLiteTensor* output);

class ChannelScaling {
 public:
  // Reads and checks the quantisation of all three tensors; output channels are along
  // `channel_axis` of the weights.
  TfLiteStatus Prepare(TfLiteContext* context, const TfLiteTensor* input,
                       const TfLiteTensor* weights, int channel_axis, const TfLiteTensor* output,
                       TfLiteFusedActivation activation, ExactRounding exact_rounding);

  // Requantises the 32-bit sum of one channel.
  int32_t Requantize(Arithmetic arithmetic, int32_t sum, int channel) const;

  // Requantises the sum of one channel for int16 inputs. The default arithmetic rounds once. The
  // reference arithmetic follows TensorFlow Lite: if `wide` is false, sums wrap to 32 bits; with
  // ExactRounding::kTwice, wide sums are multiplied by a multiplier of 15 bits and rounded once.
  int16_t RequantizeInt16(int64_t sum, bool wide, int channel) const;

  // Function that requantises a tile of sums to int8 outputs, or to uint8 outputs less 128.
  using TileFunction = void (*)(const RequantizeTile& tile);
  TileFunction TileFunctionOf(const CpuKernels& cpu, Arithmetic arithmetic) const;
  // Returns the argument of that function for channels from `first` on; the caller sets its size,
  // sums and output.
  RequantizeTile Tile(int first) const;

  int32_t input_zero_point() const { return input_zero_point_; }
  // Returns 128 if the output is uint8, otherwise 0.
  int32_t output_offset() const { return output_offset_; }
  bool per_channel() const { return per_channel_; }

 private:
  float* factors() const { return reinterpret_cast<float*>(block_.data()); }
  int32_t* mantissas() const { return reinterpret_cast<int32_t*>(factors() + channels_); }
  int32_t* shifts() const { return mantissas() + channels_; }

  Block block_;  // factors, mantissas and shifts, one of each per channel
  int channels_ = 0;
  bool per_channel_ = false;
  ExactRounding exact_rounding_ = ExactRounding::kTwice;
  Arithmetic arithmetic_ = Arithmetic::kDefault;
  int32_t input_zero_point_ = 0, zero_point_ = 0, output_offset_ = 0;
  IntRange range_;
};

// Converts int8 to uint8 by adding 128, or back, in place.
void FlipSigns(int8_t* values, int64_t count);
// Converts the outputs of a tile from int8 to uint8.
void FlipSigns(const RequantizeTile& tile);

}  // namespace deputy

#endif  // DEPUTY_KERNELS_LINALG_CHANNEL_SCALING_H_
