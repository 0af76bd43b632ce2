// SPDX-License-Identifier: Apache-2.0
//
// float32 depthwise convolutions for x86-64 with AVX2 and FMA. Everything is in the unnamed
// namespace, and no inline function of a shared header is used; gemm.cc states the reason.
#include "kernels/cpu/common/depthwise_f32.inc"
#include "kernels/cpu/x86_64/avx2/epilogue.inc"

#if defined(__AVX2__) && defined(__FMA__)

namespace deputy {
namespace {

// ---- Any columns ------------------------------------------------------------------------------

// Computes kColumns columns of 8 * kVectors channels from `first` on. Only `count` channels of the
// last vector are read and stored.
template <int kColumns, int kVectors, bool kAll>
inline void DepthwiseF32Tile(const DepthwiseColumnsF32& in, int column, int first, int count) {
  const __m256i lanes = FirstLanes(count);
  __m256 sums[kColumns][kVectors];
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) {
    const __m256 bias = LoadLanes(in.bias + first + 8 * v, lanes, kAll);
#pragma GCC unroll 8
    for (int i = 0; i < kColumns; ++i) sums[i][v] = bias;
  }
  for (int row = 0; row < in.rows; ++row) {
    const float* input = in.inputs[row] + static_cast<size_t>(column) * in.column_step + first;
    const float* weights = in.weights[row] + first;
    for (int tap = 0; tap < in.taps; ++tap, input += in.tap_step, weights += in.weight_step) {
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) {
        const __m256 weight = LoadLanes(weights + 8 * v, lanes, kAll);
#pragma GCC unroll 8
        for (int i = 0; i < kColumns; ++i) {
          const float* value = input + static_cast<size_t>(i) * in.column_step + 8 * v;
          sums[i][v] = _mm256_fmadd_ps(LoadLanes(value, lanes, kAll), weight, sums[i][v]);
        }
      }
    }
  }
  const auto stride = static_cast<size_t>(in.channels);
  float* out = in.out + static_cast<size_t>(column) * stride + first;
  FinishTile(out, stride, in.low, in.high, in.epilogue, column, first, 8 * (kVectors - 1) + count,
             sums);
}

// ---- Lines of adjacent windows ------------------------------------------------------------------

// Computes kColumns adjacent columns of a line, 8 * kVectors channels from `first` on. Inputs
// shared by several columns are loaded once. Twelve sums are best: an addition has a latency of
// four cycles at two per cycle, and out-of-order execution does not reach far into the next tile.
template <int kColumns, int kTaps, int kStride, int kVectors>
[[gnu::noinline]] void LineTile(const DepthwiseLinesF32& in, int line, const Piece& piece,
                                int first) {
  // Number of input columns that the windows cover, and maximum number of these columns that lie
  // outside the input on each side.
  constexpr int kEnd = (kColumns - 1) * kStride + kTaps, kMaxOutside = kTaps / 2;
  const auto step = static_cast<size_t>(in.channels);
  const int64_t start = int64_t{piece.column * kStride - in.before} * in.channels + first;
  const int left = piece.left, end = kEnd - piece.right;
  __m256 sums[kColumns][kVectors];
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) {
    const __m256 bias = _mm256_loadu_ps(in.bias + first + 8 * v);
#pragma GCC unroll 12
    for (int i = 0; i < kColumns; ++i) sums[i][v] = bias;
  }
  const float* const* inputs = in.inputs + static_cast<size_t>(line) * static_cast<size_t>(in.rows);
  for (int row = 0; row < in.rows; ++row) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const float* value_at = inputs[row] + start + 8 * v;
      const float* weight_at = in.weights[row] + first + 8 * v;
      __m256 weights[kTaps];
#pragma GCC unroll 8
      for (int tap = 0; tap < kTaps; ++tap) {
        weights[tap] = _mm256_loadu_ps(weight_at + static_cast<size_t>(tap % 3) * step);
        if (tap % 3 == 2) weight_at += 3 * step;
      }
#pragma GCC unroll 32
      for (int input_column = 0; input_column < kEnd; ++input_column) {
        const float* from = value_at + static_cast<size_t>(input_column % 3) * step;
        const bool exists = input_column < kMaxOutside
                                ? input_column >= left
                                : input_column < kEnd - kMaxOutside || input_column < end;
        if (exists) {
          const __m256 value = _mm256_loadu_ps(from);
#pragma GCC unroll 12
          for (int i = 0; i < kColumns; ++i) {
            const int tap = input_column - i * kStride;
            if (tap >= 0 && tap < kTaps) MultiplyAdd(&sums[i][v], value, weights[tap]);
          }
        }
        if (input_column % 3 == 2) value_at += 3 * step;
      }
    }
  }
  ClampRows(in.low, in.high, sums);
  const int pixel = line * in.columns + piece.column;
  float* out = in.out + static_cast<size_t>(pixel) * step + first;
  StoreTile(out, step, in.epilogue, pixel, first, 8 * kVectors, sums);
}

// Tile functions for a number of columns: for one vector of channels, and for several at once if
// there are few columns.
struct LineTiles {
  int columns, vectors;
  void (*one)(const DepthwiseLinesF32& in, int line, const Piece& piece, int first);
  void (*several)(const DepthwiseLinesF32& in, int line, const Piece& piece, int first);
};

// Tiles for AVX2, for use by common/depthwise_f32.inc.
struct Avx2Depthwise {
  static constexpr int kVector = 8;
  using Tiles = LineTiles;

  // Returns the widths of pieces. The maximum is limited by registers for the sums and a row's
  // weights.
  static constexpr PieceWidths<8> Widths(int taps) {
    return {{taps == 3 ? 12 : 10, 8, 7, 6, 5, 4, 3, 2}};
  }
  static constexpr int PieceCycles(int taps, int width) {
    const int sums = taps * taps;
    const int busy = width * (sums + 2) / 2, waiting = 3 * sums + 2 * width;
    // True if several vectors at once, or enough columns, hide the latency.
    const bool hides = width <= 5 || busy > waiting;
    return 8 + (hides ? busy : waiting);
  }

  // Computes all channels of kColumns columns. With few columns, several vectors are processed at
  // once: a single sum would be bound by latency.
  template <int kColumns>
  static void Columns(const DepthwiseColumnsF32& in, int column) {
    constexpr int kVectors = kColumns >= 5 ? 1 : kColumns >= 3 ? 2 : 4;
    int first = 0;
    for (; first + 8 * kVectors <= in.channels; first += 8 * kVectors) {
      DepthwiseF32Tile<kColumns, kVectors, true>(in, column, first, 8);
    }
    for (; first + 8 <= in.channels; first += 8) {
      DepthwiseF32Tile<kColumns, 1, true>(in, column, first, 8);
    }
    if (first < in.channels) {
      DepthwiseF32Tile<kColumns, 1, false>(in, column, first, in.channels - first);
    }
  }

  template <int kTaps, int kStride, int kColumns>
  static constexpr Tiles TilesOf() {
    constexpr int kVectors = kColumns <= 2 ? 4 : kColumns <= 5 ? 2 : 1;
    return {kColumns, kVectors, &LineTile<kColumns, kTaps, kStride, 1>,
            &LineTile<kColumns, kTaps, kStride, kVectors>};
  }

  // Computes a piece of all lines. The last vector may overlap the previous one; shared channels
  // are computed twice.
  static void RunPiece(const DepthwiseLinesF32& in, const Tiles& tiles, const Piece& piece) {
    const int width = 8 * tiles.vectors;
    for (int together = 0; together < in.channels; together += kTogether) {
      const int last = Min(together + kTogether, in.channels);
      for (int line = 0; line < in.lines; ++line) {
        int first = together;
        for (; first + width <= last; first += width) tiles.several(in, line, piece, first);
        for (; first < last; first += 8) tiles.one(in, line, piece, Min(first, last - 8));
      }
    }
  }

  template <int kLines, int kVectors>
  [[gnu::always_inline]] static inline void SingleTile(const DepthwiseLinesF32& in,
                                                       const Single& at, int first) {
    const auto step = static_cast<size_t>(in.channels), rows = static_cast<size_t>(in.rows);
    const int input_start = at.column * in.stride - in.before + at.first_tap;
    const float* const* const inputs = in.inputs + static_cast<size_t>(at.line) * rows;
    const int left = in.channels - first, count = left - 8 * (kVectors - 1);
    const bool all = count >= 8;
    const __m256i lanes = FirstLanes(count);
    __m256 sums[kLines][kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const __m256 bias = LoadLanes(in.bias + first + 8 * v, lanes, all);
#pragma GCC unroll 4
      for (int i = 0; i < kLines; ++i) sums[i][v] = bias;
    }
    for (size_t row = 0; row < rows; ++row) {
      size_t value = static_cast<size_t>(input_start) * step + static_cast<size_t>(first);
      const float* weight_at = in.weights[row] + static_cast<size_t>(at.first_tap) * step + first;
      for (int tap = at.first_tap; tap < at.last_tap; ++tap, value += step, weight_at += step) {
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) {
          const __m256 weight = LoadLanes(weight_at + 8 * v, lanes, all);
#pragma GCC unroll 4
          for (size_t i = 0; i < kLines; ++i) {
            const float* from = inputs[i * rows + row] + value + 8 * v;
            MultiplyAdd(&sums[i][v], LoadLanes(from, lanes, all), weight);
          }
        }
      }
    }
    const int pixel = at.line * in.columns + at.column;
    float* out = in.out + static_cast<size_t>(pixel) * step + first;
#pragma GCC unroll 4
    for (int i = 0; i < kLines; ++i, out += static_cast<size_t>(in.columns) * step) {
      __m256 sum[1][kVectors];
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sum[0][v] = sums[i][v];
      FinishTile(out, step, in.low, in.high, in.epilogue, pixel + i * in.columns, first, left, sum);
    }
  }
};

bool DepthwiseLines(const DepthwiseLinesF32& in) {
  if (!HasIntPositions(in)) return false;
  const bool whole = in.channels % 8 == 0;
  // Overlapping vectors compute channels twice, which requires an addend that the output does not
  // alias.
  const bool adds = in.epilogue != nullptr && in.epilogue->addend != nullptr;
  if (!whole && (in.channels < 8 || adds)) return false;
  return LinesByFilter<Avx2Depthwise>(in);
}

}  // namespace

constexpr DepthwiseF32Kernels kDepthwiseF32Avx2 = {
    .name = "avx2", .columns = &DepthwiseF32<Avx2Depthwise>, .lines = &DepthwiseLines};

}  // namespace deputy

#else
#error "compile this file with -mavx2 -mfma"
#endif
