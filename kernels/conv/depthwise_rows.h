// SPDX-License-Identifier: Apache-2.0
//
// float32 DEPTHWISE_CONV_2D, a row at a time.
#ifndef DEPUTY_KERNELS_CONV_DEPTHWISE_ROWS_H_
#define DEPUTY_KERNELS_CONV_DEPTHWISE_ROWS_H_

#include "kernels/conv/depthwise.h"

namespace deputy {

// Weights and bias repeated for vectors that span pixels.
struct FlatWeights {
  // Lanes of the widest vectors.
  static constexpr int kLanes = 16;

  static int Period(const ConvShape& shape) { return FlatPeriod(shape, kLanes, 4 * kLanes); }
  static size_t Values(const ConvShape& shape) {
    return static_cast<size_t>(Period(shape)) * (DepthwiseTaps(shape) + 1);
  }

  int period;
  const float* weights;  // [taps][period]
  const float* bias;     // [period]

  // `room` holds Values().
  FlatWeights(const ConvShape& shape, const float* from, const float* from_bias, float* room)
      : period(Period(shape)), weights(room), bias(room) {
    if (period == 0) return;
    const size_t taps = DepthwiseTaps(shape), channels = static_cast<size_t>(shape.output_channels);
    for (size_t tap = 0; tap < taps; ++tap, room += period) {
      Repeat(from + tap * channels, channels, room);
    }
    Repeat(from_bias, channels, room);
    bias = room;
  }

 private:
  void Repeat(const float* values, size_t count, float* out) const {
    for (int i = 0; i < period; i += static_cast<int>(count)) std::copy_n(values, count, out + i);
  }
};

// What the rows of a convolution have in common.
struct DepthwiseRows {
  const ConvShape& shape;
  const CpuKernels& cpu;
  const float* weights;
  const float* bias;
  FloatRange range;
  Interior interior;
  FlatWeights flat;
  const EpilogueF32* epilogue;  // of all pixels; null: none

  // Two pointers per row of the filter.
  static size_t ScratchBytes(const ConvShape& shape) {
    return AlignedBytes(2 * static_cast<size_t>(std::min(shape.y.filter, shape.y.input)) *
                        sizeof(void*));
  }

  // Row `row` of a batch, whose input is `input`. Called from several threads.
  void Run(const RowRing<const float>& input, int64_t batch, int row, char* scratch,
           float* out) const;
};

}  // namespace deputy

#endif  // DEPUTY_KERNELS_CONV_DEPTHWISE_ROWS_H_
