// SPDX-License-Identifier: Apache-2.0
//
// float32 depthwise convolutions for AArch64: four adjacent columns of four channels at once.
#include "kernels/cpu/aarch64/neon/neon.inc"

namespace deputy {
namespace {

// Adds a filter row of three taps to kColumns adjacent columns that are kStride taps apart. Each
// input pixel is loaded once.
template <int kColumns, int kStride>
[[gnu::always_inline]] inline void AddThreeTaps(const DepthwiseColumnsF32& in, const float* input,
                                                const float* weights, int count,
                                                float32x4_t (&sums)[kColumns]) {
  float32x4_t taps[3];
#pragma GCC unroll 3
  for (int t = 0; t < 3; ++t) {
    taps[t] = LoadLanes(weights + static_cast<size_t>(t) * in.weight_step, count);
  }
  constexpr int kPixels = (kColumns - 1) * kStride + 3;
#pragma GCC unroll 9
  for (int p = 0; p < kPixels; ++p) {
    const float32x4_t pixel = LoadLanes(input + static_cast<size_t>(p) * in.tap_step, count);
#pragma GCC unroll 4
    for (int i = 0; i < kColumns; ++i) {
      const int t = p - i * kStride;
      if (t >= 0 && t < 3) sums[i] = vfmaq_f32(sums[i], pixel, taps[t]);
    }
  }
}

// Adds a filter row of any number of taps to kColumns adjacent columns.
template <int kColumns>
[[gnu::always_inline]] inline void AddTaps(const DepthwiseColumnsF32& in, const float* input,
                                           const float* weights, int count,
                                           float32x4_t (&sums)[kColumns]) {
  for (int t = 0; t < in.taps; ++t, input += in.tap_step, weights += in.weight_step) {
    const float32x4_t weight = LoadLanes(weights, count);
#pragma GCC unroll 4
    for (int i = 0; i < kColumns; ++i) {
      const float* at = input + static_cast<size_t>(i) * in.column_step;
      sums[i] = vfmaq_f32(sums[i], LoadLanes(at, count), weight);
    }
  }
}

// Computes `count` of four channels from c on, of kColumns adjacent columns. A kStride of 0 stands
// for any filter.
template <int kColumns, int kStride>
[[gnu::always_inline]] inline void DepthwiseBlock(const DepthwiseColumnsF32& in, int column, int c,
                                                  int count) {
  const float32x4_t bias = LoadLanes(in.bias + c, count);
  float32x4_t sums[kColumns];
#pragma GCC unroll 4
  for (float32x4_t& sum : sums) sum = bias;
  for (int row = 0; row < in.rows; ++row) {
    const float* input = in.inputs[row] + static_cast<size_t>(column) * in.column_step + c;
    if constexpr (kStride != 0) {
      AddThreeTaps<kColumns, kStride>(in, input, in.weights[row] + c, count, sums);
    } else {
      AddTaps(in, input, in.weights[row] + c, count, sums);
    }
  }
  const float32x4_t low = vdupq_n_f32(in.low), high = vdupq_n_f32(in.high);
  const auto channels = static_cast<size_t>(in.channels);
  float* out = in.out + static_cast<size_t>(column) * channels + c;
#pragma GCC unroll 4
  for (int i = 0; i < kColumns; ++i, out += channels) {
    float32x4_t value = ClampTo(sums[i], low, high);
    if (in.epilogue != nullptr) value = ApplyEpilogue(*in.epilogue, column + i, c, count, value);
    StoreLanes(value, out, count);
  }
}

// Computes all channels of kColumns columns, so that their input stays in the first-level cache.
template <int kColumns, int kStride>
void DepthwiseChannels(const DepthwiseColumnsF32& in, int column) {
  int c = 0;
  for (; c + 4 <= in.channels; c += 4) DepthwiseBlock<kColumns, kStride>(in, column, c, 4);
  if (c < in.channels) DepthwiseBlock<kColumns, kStride>(in, column, c, in.channels - c);
}

template <int kStride>
void DepthwiseColumns(const DepthwiseColumnsF32& in) {
  int column = 0;
  for (; column + 4 <= in.columns; column += 4) DepthwiseChannels<4, kStride>(in, column);
  for (; column < in.columns; ++column) DepthwiseChannels<1, kStride>(in, column);
}

void DepthwiseF32(const DepthwiseColumnsF32& in) {
  if (in.taps == 3 && in.column_step == in.tap_step) return DepthwiseColumns<1>(in);
  if (in.taps == 3 && in.column_step == 2 * in.tap_step) return DepthwiseColumns<2>(in);
  DepthwiseColumns<0>(in);
}

}  // namespace

constexpr DepthwiseF32Kernels kDepthwiseF32Neon = {.name = "neon", .columns = &DepthwiseF32};

}  // namespace deputy
