// SPDX-License-Identifier: Apache-2.0
//
// float32 depthwise convolutions of the AVX-512 table (see simd_avx512.cc). Everything is in the
// unnamed namespace, and no inline function of a shared header is used.
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__) && defined(__AVX512DQ__)

#include "kernels/cpu/simd_avx512_finish.inc"

namespace deputy {
namespace {

// kColumns columns of 16 * kVectors channels from `first` on, or, if kVectors is 1, of those in
// `lanes`. Weights are loaded once for all columns.
template <int kColumns, int kVectors>
inline void DepthwiseF32Tile(const DepthwiseColumnsF32& in, int column, int first,
                             __mmask16 lanes) {
  __m512 sums[kColumns][kVectors];
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) {
    const __m512 bias = _mm512_maskz_loadu_ps(lanes, in.bias + first + 16 * v);
#pragma GCC unroll 8
    for (int i = 0; i < kColumns; ++i) sums[i][v] = bias;
  }
  for (int row = 0; row < in.rows; ++row) {
    const float* input = in.inputs[row] + static_cast<size_t>(column) * in.column_step + first;
    const float* weights = in.weights[row] + first;
    for (int tap = 0; tap < in.taps; ++tap, input += in.tap_step, weights += in.weight_step) {
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) {
        const __m512 weight = _mm512_maskz_loadu_ps(lanes, weights + 16 * v);
#pragma GCC unroll 8
        for (int i = 0; i < kColumns; ++i) {
          const float* value = input + static_cast<size_t>(i) * in.column_step + 16 * v;
          MultiplyAdd(&sums[i][v], _mm512_maskz_loadu_ps(lanes, value), weight);
        }
      }
    }
  }
  const auto stride = static_cast<size_t>(in.channels);
  float* out = in.out + static_cast<size_t>(column) * stride + first;
  FinishTile(out, stride, Bounds(in.low, in.high), in.epilogue, column, first, in.channels - first,
             sums);
}

constexpr __mmask16 kAllLanes = 0xffff;

// All channels of kColumns columns. Few columns take several vectors at once: a single sum would
// wait for itself.
template <int kColumns>
void DepthwiseF32Columns(const DepthwiseColumnsF32& in, int column) {
  constexpr int kVectors = kColumns >= 5 ? 1 : kColumns >= 3 ? 2 : 4;
  int first = 0;
  for (; first + 16 * kVectors <= in.channels; first += 16 * kVectors) {
    DepthwiseF32Tile<kColumns, kVectors>(in, column, first, kAllLanes);
  }
  for (; first < in.channels; first += 16) {
    DepthwiseF32Tile<kColumns, 1>(in, column, first, FirstLanes(in.channels - first));
  }
}

// kColumns neighbouring columns that are kStride taps apart, of kVectors vectors of channels: what
// several columns see is loaded once. Taps come in the same order as above.
template <int kColumns, int kTaps, int kStride, int kVectors>
inline void DepthwiseF32Shared(const DepthwiseColumnsF32& in, int column, int first,
                               __mmask16 lanes) {
  __m512 sums[kColumns][kVectors];
#pragma GCC unroll 2
  for (int v = 0; v < kVectors; ++v) {
    const __m512 bias = _mm512_maskz_loadu_ps(lanes, in.bias + first + 16 * v);
#pragma GCC unroll 8
    for (int i = 0; i < kColumns; ++i) sums[i][v] = bias;
  }
  for (int row = 0; row < in.rows; ++row) {
    const float* input = in.inputs[row] + static_cast<size_t>(column) * in.column_step + first;
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      __m512 weights[kTaps];
#pragma GCC unroll 8
      for (int tap = 0; tap < kTaps; ++tap) {
        const float* from = in.weights[row] + first + 16 * v;
        weights[tap] =
            _mm512_maskz_loadu_ps(lanes, from + static_cast<size_t>(tap) * in.weight_step);
      }
      const float* value_at = input + 16 * v;
#pragma GCC unroll 32
      for (int seen = 0; seen < (kColumns - 1) * kStride + kTaps; ++seen) {
        const __m512 value = _mm512_maskz_loadu_ps(lanes, value_at);
        value_at += in.tap_step;
#pragma GCC unroll 8
        for (int i = 0; i < kColumns; ++i) {
          const int tap = seen - i * kStride;
          if (tap >= 0 && tap < kTaps) MultiplyAdd(&sums[i][v], value, weights[tap]);
        }
      }
    }
  }
  const auto stride = static_cast<size_t>(in.channels);
  float* out = in.out + static_cast<size_t>(column) * stride + first;
  FinishTile(out, stride, Bounds(in.low, in.high), in.epilogue, column, first, in.channels - first,
             sums);
}

// All channels of kColumns columns from `column` on; of few columns two vectors at once.
template <int kColumns, int kTaps, int kStride>
void DepthwiseF32SharedColumns(const DepthwiseColumnsF32& in, int column) {
  int first = 0;
  if constexpr (kColumns < 8) {
    for (; first + 32 <= in.channels; first += 32) {
      DepthwiseF32Shared<kColumns, kTaps, kStride, 2>(in, column, first, kAllLanes);
    }
  }
  for (; first + 16 <= in.channels; first += 16) {
    DepthwiseF32Shared<kColumns, kTaps, kStride, 1>(in, column, first, kAllLanes);
  }
  if (first < in.channels) {
    DepthwiseF32Shared<kColumns, kTaps, kStride, 1>(in, column, first,
                                                    FirstLanes(in.channels - first));
  }
}

// Columns by eights and fours, as many as there are; returns how many were done. What eight
// columns cost is less than what five to seven do: some are then computed twice.
template <int kTaps, int kStride>
int DepthwiseF32BySize(const DepthwiseColumnsF32& in) {
  int column = 0;
  for (; column + 8 <= in.columns; column += 8) {
    DepthwiseF32SharedColumns<8, kTaps, kStride>(in, column);
  }
  const int left = in.columns - column;
  // Not where the first results may lie where the addend was.
  const bool twice = in.epilogue == nullptr || in.epilogue->addend == nullptr;
  if (left > 4 && column > 0 && twice) {
    DepthwiseF32SharedColumns<8, kTaps, kStride>(in, in.columns - 8);
    return in.columns;
  }
  if (left < 4) return column;
  DepthwiseF32SharedColumns<4, kTaps, kStride>(in, column);
  return column + 4;
}

int DepthwiseF32WithSharing(const DepthwiseColumnsF32& in) {
  const bool one = in.column_step == in.tap_step, two = in.column_step == 2 * in.tap_step;
  if (in.taps == 3 && one) return DepthwiseF32BySize<3, 1>(in);
  if (in.taps == 3 && two) return DepthwiseF32BySize<3, 2>(in);
  if (in.taps == 5 && one) return DepthwiseF32BySize<5, 1>(in);
  if (in.taps == 5 && two) return DepthwiseF32BySize<5, 2>(in);
  return 0;
}

void DepthwiseF32(const DepthwiseColumnsF32& in) {
  constexpr void (*kRest[])(const DepthwiseColumnsF32&, int) = {
      &DepthwiseF32Columns<1>, &DepthwiseF32Columns<2>, &DepthwiseF32Columns<3>,
      &DepthwiseF32Columns<4>, &DepthwiseF32Columns<5>, &DepthwiseF32Columns<6>,
      &DepthwiseF32Columns<7>};
  int column = DepthwiseF32WithSharing(in);
  for (; column + 8 <= in.columns; column += 8) DepthwiseF32Columns<8>(in, column);
  if (column < in.columns) kRest[in.columns - column - 1](in, column);
}

}  // namespace

constexpr DepthwiseF32Kernels kDepthwiseF32Avx512 = {.name = "avx512", .columns = &DepthwiseF32};

}  // namespace deputy

#else
#error "compile this file with -mavx512f -mavx512bw -mavx512dq -mavx512vl"
#endif
