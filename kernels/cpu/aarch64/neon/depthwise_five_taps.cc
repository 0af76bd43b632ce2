// SPDX-License-Identifier: Apache-2.0
//
// float32 depthwise convolutions with filters of five taps for AArch64. g++ 12 spills sums if it
// schedules these instructions before the allocation of registers, which is disabled for this file.
#include "kernels/cpu/aarch64/neon/depthwise.inc"

namespace deputy {
namespace {

// Clamps the sums of kColumns adjacent pixels, 4 * kVectors channels from `c` on, applies the
// epilogue, and stores the results.
template <int kColumns, int kVectors>
[[gnu::always_inline]] inline void StoreColumns(const DepthwiseLinesF32& in, int pixel, int c,
                                                float32x4_t (&sums)[kColumns][kVectors]) {
  if (in.epilogue != nullptr) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      float values[4 * kColumns];
#pragma GCC unroll 4
      for (int i = 0; i < kColumns; ++i) vst1q_f32(values + 4 * i, sums[i][v]);
      StoreWithEpilogue<kColumns>(in, pixel, c + 4 * v, values);
    }
    return;
  }
  ClampAll(in.low, in.high, sums);
  const auto step = static_cast<size_t>(in.channels);
  float* out = in.out + static_cast<size_t>(pixel) * step + c;
#pragma GCC unroll 4
  for (int i = 0; i < kColumns; ++i, out += step) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) vst1q_f32(out + 4 * v, sums[i][v]);
  }
}

template <int kColumns, int kVectors>
[[gnu::always_inline]] inline void StartSums(const float* bias,
                                             float32x4_t (&sums)[kColumns][kVectors]) {
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) {
    const float32x4_t values = vld1q_f32(bias + 4 * v);
#pragma GCC unroll 4
    for (int i = 0; i < kColumns; ++i) sums[i][v] = values;
  }
}

// Computes kColumns adjacent columns of a line, 4 * kVectors channels from `c` on. All taps are
// inside of the input, which begins `start` values after the first pixel of each row. Several
// vectors of channels hide the latency of the sums.
template <int kColumns, int kVectors, int kStride>
[[gnu::always_inline]] inline void FiveTaps(const DepthwiseLinesF32& in, int line, int column,
                                            int64_t start, int c) {
  constexpr int kTaps = 5, kPixels = (kColumns - 1) * kStride + kTaps;
  const auto step = static_cast<size_t>(in.channels);
  const float* const* const inputs =
      in.inputs + static_cast<size_t>(line) * static_cast<size_t>(in.rows);
  float32x4_t sums[kColumns][kVectors];
  StartSums(in.bias + c, sums);
  for (int row = 0; row < in.rows; ++row) {
    const float* input = inputs[row] + start + c;
    const float* weights = in.weights[row] + c;
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v, input += 4, weights += 4) {
      float32x4_t taps[kTaps];
#pragma GCC unroll 5
      for (int t = 0; t < kTaps; ++t) taps[t] = vld1q_f32(weights + static_cast<size_t>(t) * step);
      float32x4_t values[kPixels];
#pragma GCC unroll 11
      for (int p = 0; p < kPixels; ++p)
        values[p] = vld1q_f32(input + static_cast<size_t>(p) * step);
#pragma GCC unroll 11
      for (int p = 0; p < kPixels; ++p) {
#pragma GCC unroll 4
        for (int i = 0; i < kColumns; ++i) {
          const int t = p - i * kStride;
          if (t >= 0 && t < kTaps) sums[i][v] = vfmaq_f32(sums[i][v], values[p], taps[t]);
        }
      }
    }
  }
  StoreColumns(in, line * in.columns + column, c, sums);
}

// Computes all channels of kColumns adjacent columns of a line.
template <int kColumns, int kStride>
void FiveTapTile(const DepthwiseLinesF32& in, int line, int column) {
  const int64_t start = int64_t{column * kStride - in.before} * in.channels;
  int c = 0;
  for (; c + 16 <= in.channels; c += 16) FiveTaps<kColumns, 4, kStride>(in, line, column, start, c);
  for (; c < in.channels; c += 4) FiveTaps<kColumns, 1, kStride>(in, line, column, start, c);
}

// Computes 4 * kVectors channels from `c` on of a column of which only taps [first, last) are
// inside of the input.
template <int kVectors>
[[gnu::always_inline]] inline void SomeTaps(const DepthwiseLinesF32& in, int line, int column,
                                            int first, int last, int c) {
  const auto step = static_cast<size_t>(in.channels);
  const int64_t start = int64_t{column * in.stride - in.before + first} * in.channels + c;
  const float* const* const inputs =
      in.inputs + static_cast<size_t>(line) * static_cast<size_t>(in.rows);
  float32x4_t sums[1][kVectors];
  StartSums(in.bias + c, sums);
  for (int row = 0; row < in.rows; ++row) {
    const float* input = inputs[row] + start;
    const float* weights = in.weights[row] + static_cast<size_t>(first) * step + c;
    for (int t = first; t < last; ++t, input += step, weights += step) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        sums[0][v] = vfmaq_f32(sums[0][v], vld1q_f32(input + 4 * v), vld1q_f32(weights + 4 * v));
      }
    }
  }
  StoreColumns(in, line * in.columns + column, c, sums);
}

// Computes all channels of a column whose window may extend beyond the input.
void SingleColumn(const DepthwiseLinesF32& in, int line, int column) {
  const int begin = column * in.stride - in.before;
  const int first = begin < 0 ? -begin : 0, last = Min(in.taps, in.width - begin);
  int c = 0;
  for (; c + 16 <= in.channels; c += 16) SomeTaps<4>(in, line, column, first, last, c);
  for (; c < in.channels; c += 4) SomeTaps<1>(in, line, column, first, last, c);
}

template <int kStride>
void LinesOfFiveTaps(const DepthwiseLinesF32& in) {
  constexpr void (*kTiles[])(const DepthwiseLinesF32&, int, int) = {
      &SingleColumn, &FiveTapTile<2, kStride>, &FiveTapTile<3, kStride>, &FiveTapTile<4, kStride>};
  const int begin = Min((in.before + kStride - 1) / kStride, in.columns);
  int end = in.columns;
  while (end > begin && (end - 1) * kStride - in.before + 5 > in.width) --end;
  for (int line = 0; line < in.lines; ++line) {
    for (int column = 0; column < begin; ++column) SingleColumn(in, line, column);
    for (int column = begin, width; column < end; column += width) {
      width = TileColumns(end - column);
      kTiles[width - 1](in, line, column);
    }
    for (int column = end; column < in.columns; ++column) SingleColumn(in, line, column);
  }
}

}  // namespace

void NeonDepthwiseFiveTaps(const DepthwiseLinesF32& in) {
  in.stride == 1 ? LinesOfFiveTaps<1>(in) : LinesOfFiveTaps<2>(in);
}

}  // namespace deputy
