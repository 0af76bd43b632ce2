// SPDX-License-Identifier: Apache-2.0
//
// The quantised side of convolutions and fully connected layers: one factor per output channel,
// from sums of int8 products to steps of the output. The factors come from the scales of input,
// weights and output alone; the bias's own scale is not used.
#ifndef DEPUTY_KERNELS_CHANNEL_SCALING_H_
#define DEPUTY_KERNELS_CHANNEL_SCALING_H_

#include "kernels/activation_range.h"
#include "kernels/cpu.h"
#include "kernels/kernel.h"
#include "kernels/requantize.h"

namespace deputy {

// How Arithmetic::kReference rounds. TensorFlow Lite's convolutions round twice, as gemmlowp does;
// its fully connected layers round once, even in the reference resolver.
enum class ExactRounding { kTwice, kOnce };

class ChannelScaling {
 public:
  // Reads and checks the quantisation of all three tensors for `channels` output channels, which
  // lie along `channel_axis` of the weights.
  TfLiteStatus Prepare(TfLiteContext* context, const TfLiteTensor* input,
                       const TfLiteTensor* weights, int channel_axis, const TfLiteTensor* output,
                       TfLiteFusedActivation activation, ExactRounding exact_rounding);

  // The sum of one channel as a step of the output.
  int8_t Requantize(Arithmetic arithmetic, int32_t sum, int channel) const;

  // The same for rows: what to call, and a row of all channels from `first` on to call it with.
  using RowFunction = void (*)(const RequantizeRow& row);
  RowFunction RowFunctionOf(const CpuKernels& cpu, Arithmetic arithmetic) const;
  RequantizeRow Row(int first) const;

  int32_t input_zero_point() const { return input_zero_point_; }
  bool per_channel() const { return per_channel_; }

 private:
  float* factors() const { return reinterpret_cast<float*>(block_.data()); }
  int32_t* mantissas() const { return reinterpret_cast<int32_t*>(factors() + channels_); }
  int32_t* shifts() const { return mantissas() + channels_; }

  Block block_;  // factors, mantissas, shifts
  int channels_ = 0;
  bool per_channel_ = false;
  ExactRounding exact_rounding_ = ExactRounding::kTwice;
  int32_t input_zero_point_ = 0, zero_point_ = 0;
  IntRange range_;
};

}  // namespace deputy

#endif  // DEPUTY_KERNELS_CHANNEL_SCALING_H_
