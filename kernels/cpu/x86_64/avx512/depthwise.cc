// SPDX-License-Identifier: Apache-2.0
//
// float32 depthwise convolutions for x86-64 with AVX-512. Everything is in the unnamed namespace,
// and no inline function of a shared header is used; gemm.cc states the reason.
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__) && defined(__AVX512DQ__)

#include "kernels/cpu/common/depthwise_f32.inc"
#include "kernels/cpu/x86_64/avx512/epilogue.inc"

namespace deputy {
namespace {

constexpr __mmask16 kAllLanes = 0xffff;

// ---- Any columns ------------------------------------------------------------------------------

// Computes kColumns columns of 16 * kVectors channels from `first` on or, if kVectors is 1, of the
// channels in `lanes`. Weights are loaded once for all columns.
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

// ---- Lines of adjacent windows ------------------------------------------------------------------

// Applies the epilogue to a tile's sums in memory and stores them. Shared by all tiles of a size:
// inlined, it would be most of their code.
template <int kColumns, int kVectors>
[[gnu::noinline]] void StoreTileWithEpilogue(const DepthwiseLinesF32& in, int pixel, int first,
                                             const float* sums, float* out) {
  __m512 values[kColumns][kVectors];
#pragma GCC unroll 16
  for (int i = 0; i < kColumns; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v, sums += 16) values[i][v] = _mm512_loadu_ps(sums);
  }
  FinishTile(out, static_cast<size_t>(in.channels), Bounds(in.low, in.high), in.epilogue, pixel,
             first, in.channels - first, values);
}

// Clamps a tile's sums, applies the epilogue, if any, and stores the results from pixel `pixel` of
// the output on.
template <int kColumns, int kVectors>
[[gnu::always_inline]] inline void StoreTile(const DepthwiseLinesF32& in, int pixel, int first,
                                             __mmask16 lanes,
                                             const __m512 (&sums)[kColumns][kVectors]) {
  const auto step = static_cast<size_t>(in.channels);
  float* out = in.out + static_cast<size_t>(pixel) * step + first;
  if (in.epilogue != nullptr) {
    float values[kColumns * kVectors * 16];
#pragma GCC unroll 16
    for (int i = 0; i < kColumns; ++i) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        _mm512_storeu_ps(values + 16 * (i * kVectors + v), sums[i][v]);
      }
    }
    return StoreTileWithEpilogue<kColumns, kVectors>(in, pixel, first, values, out);
  }
  const Bounds clamp(in.low, in.high);
#pragma GCC unroll 16
  for (int i = 0; i < kColumns; ++i, out += step) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const __mmask16 mask = v == kVectors - 1 ? lanes : kAllLanes;
      _mm512_mask_storeu_ps(out + 16 * v, mask, clamp(sums[i][v]));
    }
  }
}

// Computes kColumns adjacent columns of a line in kVectors vectors of channels from `first` on;
// only `lanes` of the last vector are stored. Inputs shared by several columns are loaded once.
template <int kColumns, int kTaps, int kStride, int kVectors>
[[gnu::noinline]] void LineTile(const DepthwiseLinesF32& in, int line, const Piece& piece,
                                int first, __mmask16 lanes) {
  // Number of input columns that the windows cover, and maximum number of these columns that lie
  // outside the input on each side.
  constexpr int kEnd = (kColumns - 1) * kStride + kTaps, kMaxOutside = kTaps / 2;
  const auto step = static_cast<size_t>(in.channels);
  const int64_t start = int64_t{piece.column * kStride - in.before} * in.channels + first;
  const int left = piece.left, end = kEnd - piece.right;
  __m512 sums[kColumns][kVectors];
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) {
    const __mmask16 mask = v == kVectors - 1 ? lanes : kAllLanes;
    const __m512 bias = _mm512_maskz_loadu_ps(mask, in.bias + first + 16 * v);
#pragma GCC unroll 16
    for (int i = 0; i < kColumns; ++i) sums[i][v] = bias;
  }
  const float* const* inputs = in.inputs + static_cast<size_t>(line) * static_cast<size_t>(in.rows);
  for (int row = 0; row < in.rows; ++row) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const __mmask16 mask = v == kVectors - 1 ? lanes : kAllLanes;
      const float* value_at = inputs[row] + start + 16 * v;
      const float* weight_at = in.weights[row] + first + 16 * v;
      __m512 weights[kTaps];
#pragma GCC unroll 8
      for (int tap = 0; tap < kTaps; ++tap) {
        weights[tap] = _mm512_maskz_loadu_ps(mask, weight_at + static_cast<size_t>(tap % 3) * step);
        if (tap % 3 == 2) weight_at += 3 * step;
      }
#pragma GCC unroll 40
      for (int input_column = 0; input_column < kEnd; ++input_column) {
        const float* from = value_at + static_cast<size_t>(input_column % 3) * step;
        const bool exists = input_column < kMaxOutside
                                ? input_column >= left
                                : input_column < kEnd - kMaxOutside || input_column < end;
        if (exists) {
          const __m512 value = _mm512_maskz_loadu_ps(mask, from);
#pragma GCC unroll 16
          for (int i = 0; i < kColumns; ++i) {
            const int tap = input_column - i * kStride;
            if (tap >= 0 && tap < kTaps) MultiplyAdd(&sums[i][v], value, weights[tap]);
          }
        }
        if (input_column % 3 == 2) value_at += 3 * step;
      }
    }
  }
  StoreTile(in, line * in.columns + piece.column, first, lanes, sums);
}

using TileFunction = void (*)(const DepthwiseLinesF32& in, int line, const Piece& piece, int first,
                              __mmask16 lanes);

// Tile functions for a number of columns: for one vector, and for two at once if there are fewer
// than eight columns, whose sums would be bound by latency.
struct LineTiles {
  int columns;
  TileFunction one, two;
};

// Tiles for AVX-512, for use by common/depthwise_f32.inc.
struct Avx512Depthwise {
  static constexpr int kVector = 16;
  using Tiles = LineTiles;

  static constexpr PieceWidths<10> Widths(int /*taps*/) {
    return {{16, 14, 12, 8, 7, 6, 5, 4, 3, 2}};
  }
  static constexpr int PieceCycles(int taps, int width) {
    return 8 + width * (taps * taps + 1) / 2;
  }

  // Computes all channels of kColumns columns. With few columns, several vectors are processed at
  // once: a single sum would be bound by latency.
  template <int kColumns>
  static void Columns(const DepthwiseColumnsF32& in, int column) {
    constexpr int kVectors = kColumns >= 5 ? 1 : kColumns >= 3 ? 2 : 4;
    int first = 0;
    for (; first + 16 * kVectors <= in.channels; first += 16 * kVectors) {
      DepthwiseF32Tile<kColumns, kVectors>(in, column, first, kAllLanes);
    }
    for (; first < in.channels; first += 16) {
      DepthwiseF32Tile<kColumns, 1>(in, column, first, FirstLanes(in.channels - first));
    }
  }

  template <int kTaps, int kStride, int kColumns>
  static constexpr Tiles TilesOf() {
    Tiles tiles = {kColumns, &LineTile<kColumns, kTaps, kStride, 1>, nullptr};
    if constexpr (kColumns < 8) tiles.two = &LineTile<kColumns, kTaps, kStride, 2>;
    return tiles;
  }

  [[gnu::noinline]] static void RunPiece(const DepthwiseLinesF32& in, const Tiles& tiles,
                                         const Piece& piece) {
    for (int together = 0; together < in.channels; together += kTogether) {
      const int last = MinOf(together + kTogether, in.channels);
      for (int line = 0; line < in.lines; ++line) {
        int first = together;
        for (; tiles.two != nullptr && last - first > 16; first += 32) {
          tiles.two(in, line, piece, first, FirstLanes(last - first - 16));
        }
        for (; first < last; first += 16) {
          tiles.one(in, line, piece, first, FirstLanes(last - first));
        }
      }
    }
  }

  template <int kLines, int kVectors>
  [[gnu::always_inline]] static inline void SingleTile(const DepthwiseLinesF32& in,
                                                       const Single& at, int first) {
    const auto step = static_cast<size_t>(in.channels), rows = static_cast<size_t>(in.rows);
    const int input_start = at.column * in.stride - in.before + at.first_tap;
    const float* const* const inputs = in.inputs + static_cast<size_t>(at.line) * rows;
    const int left = in.channels - first;
    const __mmask16 lanes = FirstLanes(left - 16 * (kVectors - 1));
    __m512 sums[kLines][kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const __mmask16 mask = v == kVectors - 1 ? lanes : kAllLanes;
      const __m512 bias = _mm512_maskz_loadu_ps(mask, in.bias + first + 16 * v);
#pragma GCC unroll 4
      for (int i = 0; i < kLines; ++i) sums[i][v] = bias;
    }
    for (size_t row = 0; row < rows; ++row) {
      size_t value = static_cast<size_t>(input_start) * step + static_cast<size_t>(first);
      const float* weight_at = in.weights[row] + static_cast<size_t>(at.first_tap) * step + first;
      for (int tap = at.first_tap; tap < at.last_tap; ++tap, value += step, weight_at += step) {
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) {
          const __mmask16 mask = v == kVectors - 1 ? lanes : kAllLanes;
          const __m512 weight = _mm512_maskz_loadu_ps(mask, weight_at + 16 * v);
#pragma GCC unroll 4
          for (size_t i = 0; i < kLines; ++i) {
            const float* from = inputs[i * rows + row] + value + 16 * v;
            MultiplyAdd(&sums[i][v], _mm512_maskz_loadu_ps(mask, from), weight);
          }
        }
      }
    }
    const Bounds clamp(in.low, in.high);
    const int pixel = at.line * in.columns + at.column;
    float* out = in.out + static_cast<size_t>(pixel) * step + first;
#pragma GCC unroll 4
    for (int i = 0; i < kLines; ++i, out += static_cast<size_t>(in.columns) * step) {
      __m512 sum[1][kVectors];
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sum[0][v] = sums[i][v];
      FinishTile(out, step, clamp, in.epilogue, pixel + i * in.columns, first, left, sum);
    }
  }
};

// ---- Lines of pairs -----------------------------------------------------------------------------

// Lines with 8 or 24 channels are computed in pairs of adjacent pixels, which fill kOfPair = 1 or 3
// vectors. The inputs of adjacent taps are kOfPair half vectors apart. Inputs that span two vectors
// are assembled in registers, because a load that crosses a cache line takes as long as two.

// Number of taps in a filter row of these lines.
constexpr int kPairTaps = 3;

// Loads vector `vector` of a pair of pixels from per-channel `values`, repeated for both pixels.
template <int kOfPair>
inline __m512 LoadPair(const float* values, int vector) {
  constexpr int kChannels = 8 * kOfPair;
  if constexpr (kOfPair == 1) return _mm512_broadcast_f32x8(_mm256_loadu_ps(values));
  if (vector == 0) return _mm512_loadu_ps(values);
  if (vector == 2) return _mm512_loadu_ps(values + 32 - kChannels);
  const __m512 front = _mm512_maskz_loadu_ps(0x00ff, values + 16);
  return _mm512_mask_loadu_ps(front, 0xff00, values + 16 - kChannels);
}

// Clamps the sums of pairs of pixels, which are contiguous vectors, applies the epilogue, and
// stores the results.
template <int kVectors>
[[gnu::noinline]] void StorePairsWithEpilogue(const DepthwiseLinesF32& in, int pixel,
                                              const float* sums, float* out) {
  __m512 values[kVectors][1];
#pragma GCC unroll 16
  for (int i = 0; i < kVectors; ++i) values[i][0] = _mm512_loadu_ps(sums + 16 * i);
  EpilogueF32 epilogue = *in.epilogue;
  if (epilogue.addend != nullptr) {
    epilogue.addend += static_cast<size_t>(pixel) * epilogue.addend_stride;
    epilogue.addend_stride = 16;
    epilogue.addend_columns = 16;
  }
  FinishTile(out, 16, Bounds(in.low, in.high), &epilogue, 0, 0, 16, values);
}

// Returns the second half of `first` followed by the first half of `second`. With the intrinsic g++
// 12 would load both vectors again.
inline __m512 ConcatenateHalves(__m512 first, __m512 second) {
  __m512 both;
  __asm__("valignq $4, %1, %2, %0" : "=v"(both) : "v"(first), "v"(second));
  return both;
}

// Multiply-add in the lanes of a constant mask only.
template <int kLanes>
inline void MultiplyAddSome(__m512* sum, __m512 a, __m512 b) {
  if constexpr (kLanes == 0xffff) {
    MultiplyAdd(sum, a, b);
  } else if constexpr (kLanes != 0) {
    *sum = _mm512_mask3_fmadd_ps(a, b, *sum, kLanes);
  }
}

// Computes kPairs adjacent pairs of pixels; at the ends of a line the outer windows lack a tap.
template <int kOfPair, int kPairs, int kSides>
struct PairTile {
  static constexpr int kVectors = kOfPair * kPairs;
  static constexpr bool kAtLeft = (kSides & 1) != 0, kAtRight = (kSides & 2) != 0;

  // Returns the position, in half vectors, of a tap's input for a vector of sums.
  static constexpr int HalfOf(int vector, int tap) { return 2 * vector + (tap - 1) * kOfPair; }
  // Returns the mask of the lanes inside the input of a vector that begins at position `half`.
  static constexpr int LanesAt(int half) {
    if (kAtLeft && half < 0) return half == -1 ? 0xff00 : 0;
    if (kAtRight && half > 2 * kVectors - 2) return half == 2 * kVectors - 1 ? 0x00ff : 0;
    return 0xffff;
  }
  static constexpr bool Has(int vector) {
    return !(kAtLeft && vector < 0) && !(kAtRight && vector >= kVectors);
  }

  __m512 sums[kVectors];
  __m512 weights[kOfPair][kPairTaps];

  // Adds all products whose input is at half vector kHalf.
  template <int kHalf, int kVector = 0, int kTap = 0>
  [[gnu::always_inline]] inline void Multiply(__m512 value) {
    if constexpr (kVector < kVectors) {
      if constexpr (HalfOf(kVector, kTap) == kHalf) {
        MultiplyAddSome<LanesAt(kHalf)>(&sums[kVector], value, weights[kVector % kOfPair][kTap]);
      }
      constexpr bool kLast = kTap + 1 == kPairTaps;
      Multiply<kHalf, kVector + (kLast ? 1 : 0), kLast ? 0 : kTap + 1>(value);
    }
  }
  // Adds the products of an input row's vectors from kVector on; `before` is the previous vector.
  template <int kVector>
  [[gnu::always_inline]] inline void Row(const float* values, __m512 before) {
    constexpr int kEnd = (HalfOf(kVectors - 1, kPairTaps - 1) + 1) / 2;
    if constexpr (kVector <= kEnd) {
      __m512 value = before;
      if constexpr (Has(kVector)) value = _mm512_loadu_ps(values + 16 * kVector);
      Multiply<2 * kVector - 1>(ConcatenateHalves(before, value));
      Multiply<2 * kVector>(value);
      Row<kVector + 1>(values, value);
    }
  }
};

template <int kOfPair, int kPairs, int kSides>
[[gnu::noinline]] void RunPairs(const DepthwiseLinesF32& in, int line, int column) {
  using Tile = PairTile<kOfPair, kPairs, kSides>;
  constexpr int kVectors = Tile::kVectors;
  constexpr size_t kChannels = 8 * kOfPair;
  Tile tile;
#pragma GCC unroll 16
  for (int i = 0; i < kVectors; ++i) tile.sums[i] = LoadPair<kOfPair>(in.bias, i % kOfPair);
  const float* const* inputs = in.inputs + static_cast<size_t>(line) * static_cast<size_t>(in.rows);
  for (int row = 0; row < in.rows; ++row) {
    const float* const values = inputs[row] + static_cast<size_t>(column) * kChannels;
#pragma GCC unroll 4
    for (int vector = 0; vector < kOfPair; ++vector) {
#pragma GCC unroll 4
      for (int tap = 0; tap < kPairTaps; ++tap) {
        const float* const from = in.weights[row] + static_cast<size_t>(tap) * kChannels;
        tile.weights[vector][tap] = LoadPair<kOfPair>(from, vector);
      }
    }
    // Index of the vector that contains the first half vector of input.
    constexpr int kFirst = (Tile::HalfOf(0, 0) - 1) / 2;
    __m512 before = _mm512_setzero_ps();
    if constexpr (Tile::Has(kFirst)) before = _mm512_loadu_ps(values + 16 * kFirst);
    tile.template Row<kFirst + 1>(values, before);
  }
  const int pixel = line * in.columns + column;
  float* const out = in.out + static_cast<size_t>(pixel) * kChannels;
  if (in.epilogue != nullptr) {
    float sums[kVectors * 16];
#pragma GCC unroll 16
    for (int i = 0; i < kVectors; ++i) _mm512_storeu_ps(sums + 16 * i, tile.sums[i]);
    return StorePairsWithEpilogue<kVectors>(in, pixel, sums, out);
  }
  const Bounds clamp(in.low, in.high);
#pragma GCC unroll 16
  for (int i = 0; i < kVectors; ++i) _mm512_storeu_ps(out + 16 * i, clamp(tile.sums[i]));
}

template <int kOfPair>
struct PairLines {
  static constexpr int kMax = kOfPair == 1 ? 16 : 4;

  static bool Fit(const DepthwiseLinesF32& in) {
    const EpilogueF32* const epilogue = in.epilogue;
    return in.channels == 8 * kOfPair && in.taps == kPairTaps && in.stride == 1 && in.before == 1 &&
           in.columns == in.width && in.columns % 2 == 0 &&
           (epilogue == nullptr ||
            (epilogue->activation != EpilogueF32::Activation::kPrelu &&
             (epilogue->addend == nullptr || (epilogue->addend_columns == in.channels &&
                                              epilogue->addend_stride == 8 * kOfPair))));
  }
  template <int kPairs>
  static void Piece(const DepthwiseLinesF32& in, int column) {
    constexpr void (*kBySides[])(const DepthwiseLinesF32&, int, int) = {
        &RunPairs<kOfPair, kPairs, 0>, &RunPairs<kOfPair, kPairs, 1>, &RunPairs<kOfPair, kPairs, 2>,
        &RunPairs<kOfPair, kPairs, 3>};
    const int sides = (column == 0 ? 1 : 0) + (column + 2 * kPairs == in.columns ? 2 : 0);
    for (int line = 0; line < in.lines; ++line) kBySides[sides](in, line, column);
  }
  static void Run(const DepthwiseLinesF32& in) {
    int column = 0;
    for (; in.columns - column >= 2 * kMax; column += 2 * kMax) Piece<kMax>(in, column);
    if constexpr (kOfPair == 1) {
      if (in.columns - column >= 16) Piece<8>(in, column), column += 16;
      if (in.columns - column >= 8) Piece<4>(in, column), column += 8;
    }
    const int left = (in.columns - column) / 2;
    if (left == 3) Piece<3>(in, column);
    if (left == 2) Piece<2>(in, column);
    if (left == 1) Piece<1>(in, column);
  }
};

// ---- Dispatch -----------------------------------------------------------------------------------

bool DepthwiseLines(const DepthwiseLinesF32& in) {
  if (!HasIntPositions(in)) return false;
  if (PairLines<1>::Fit(in)) return PairLines<1>::Run(in), true;
  if (PairLines<3>::Fit(in)) return PairLines<3>::Run(in), true;
  return LinesByFilter<Avx512Depthwise>(in);
}

}  // namespace

constexpr DepthwiseF32Kernels kDepthwiseF32Avx512 = {
    .name = "avx512", .columns = &DepthwiseF32<Avx512Depthwise>, .lines = &DepthwiseLines};

}  // namespace deputy

#else
#error "compile this file with -mavx512f -mavx512bw -mavx512dq -mavx512vl"
#endif
