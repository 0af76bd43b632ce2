// SPDX-License-Identifier: Apache-2.0
//
// Float GEMM, requantisation and conversion of half floats for x86-64 with AVX-512 (F, BW, DQ, VL).
// This folder is compiled with flags for this instruction set, so everything is in the unnamed
// namespace and no inline function of a shared header is used.
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__) && defined(__AVX512DQ__)

#include "kernels/cpu/x86_64/avx512/epilogue.inc"

namespace deputy {
namespace {

constexpr int kRowsF32 = 12, kColumnsF32 = 32;

// ---- Float GEMM -------------------------------------------------------------------------------

inline void MultiplyAdd(__m256* sum, __m256 a, __m256 b) {
  __asm__("vfmadd231ps %2, %1, %0" : "+v"(*sum) : "v"(a), "v"(b));
}

// Multiply-add with a broadcast memory operand as the left factor, for values that are used once: a
// separate load would cost as much as the product.
inline void MultiplyAddAt(__m512* sum, const float* a, __m512 b) {
  __asm__("vfmadd231ps %2%{1to16%}, %1, %0" : "+v"(*sum) : "v"(b), "m"(*a));
}
inline void MultiplyAddAt(__m256* sum, const float* a, __m256 b) {
  __asm__("vfmadd231ps %2%{1to8%}, %1, %0" : "+v"(*sum) : "v"(b), "m"(*a));
}

// Adjacent rows of the left operand. One pointer serves four rows, to save general registers.
template <int kRows>
struct LeftRows {
  const float* fours[(kRows + 3) / 4];
  size_t stride, three;

  LeftRows(const float* first, size_t row_stride) : stride(row_stride), three(3 * row_stride) {
#pragma GCC unroll 4
    for (int i = 0; i < (kRows + 3) / 4; ++i)
      fours[i] = first + static_cast<size_t>(i) * 4 * stride;
  }
  const float* At(int row) const {
    const int remainder = row % 4;
    return fours[row / 4] + (remainder == 3 ? three : static_cast<size_t>(remainder) * stride);
  }
  void Advance() {
#pragma GCC unroll 4
    for (const float*& four : fours) ++four;
  }
};

// Prefetches the next call's panel into the second-level cache, a part of it in each step of depth,
// distributed over `passes` blocks of rows.
struct PanelPrefetch {
  const char* at;
  size_t step;

  PanelPrefetch(const float* panel, int passes)
      : at(reinterpret_cast<const char*>(panel)),
        step(kColumnsF32 * sizeof(float) / static_cast<unsigned>(passes)) {}
  void Next() {
    _mm_prefetch(at, _MM_HINT_T1);
    at += step;
  }
};
// Replaces PanelPrefetch if nothing is prefetched.
struct NoPrefetch {
  void Next() {}
};

// Multiplies rows [row, row + kRows) by kWide vectors of a panel and, with kHalf, a following half
// vector, which some processors multiply in half the time. Stores `columns` of the result.
template <int kRows, int kWide, bool kHalf, typename Prefetch>
inline void GemmF32Block(const GemmTileF32& tile, int row, int first, int columns,
                         Prefetch* prefetch_state) {
  Prefetch prefetch = *prefetch_state;            // local copy that stays in registers
  constexpr int kVectors = kWide + (kWide == 0);  // at least 1, because arrays cannot be empty
  const float* b = tile.b + static_cast<size_t>(first / kColumnsF32) *
                                static_cast<size_t>(tile.parts) * static_cast<size_t>(tile.depth) *
                                kColumnsF32;
  __m512 sums[kRows][kVectors];
  __m256 halves[kRows];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < kWide; ++v) sums[r][v] = _mm512_loadu_ps(tile.bias + first + 16 * v);
    if constexpr (kHalf) halves[r] = _mm256_loadu_ps(tile.bias + first + 16 * kWide);
  }
  const size_t offset = static_cast<size_t>(row) * tile.a_stride;
  for (int part = 0; part < tile.parts; ++part) {
    LeftRows<kRows> a(tile.a[part] + offset, tile.a_stride);
    for (int d = 0; d < tile.depth; ++d, b += kColumnsF32, a.Advance()) {
      prefetch.Next();
      __m512 weights[kVectors];
      __m256 half_weights;
#pragma GCC unroll 2
      for (int v = 0; v < kWide; ++v) weights[v] = _mm512_loadu_ps(b + 16 * v);
      if constexpr (kHalf) half_weights = _mm256_loadu_ps(b + 16 * kWide);
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        if constexpr (kWide == 1 && !kHalf) {
          MultiplyAddAt(&sums[r][0], a.At(r), weights[0]);
        } else if constexpr (kWide == 0) {
          MultiplyAddAt(&halves[r], a.At(r), half_weights);
        } else {
          const __m512 value = _mm512_set1_ps(*a.At(r));
#pragma GCC unroll 2
          for (int v = 0; v < kWide; ++v) MultiplyAdd(&sums[r][v], value, weights[v]);
          if constexpr (kHalf) MultiplyAdd(&halves[r], _mm512_castps512_ps256(value), half_weights);
        }
      }
    }
  }
  *prefetch_state = prefetch;
  const Bounds clamp(tile.low, tile.high);
  float* out = tile.out + static_cast<size_t>(row) * tile.out_stride + first;
  if constexpr (kHalf) {
    __m512 values[kRows][kWide + 1];
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
      for (int v = 0; v < kWide; ++v) values[r][v] = sums[r][v];
      values[r][kWide] = _mm512_castps256_ps512(halves[r]);
    }
    FinishTile(out, tile.out_stride, clamp, tile.epilogue, row, first, columns, values);
  } else {
    FinishTile(out, tile.out_stride, clamp, tile.epilogue, row, first, columns, sums);
  }
}

// ---- Half vectors of two rows in one vector ----

// Combines the left factors of two adjacent rows, one in each half of the lanes.
inline __m512 TwoRows(__m512 even, __m512 odd) { return _mm512_mask_blend_ps(0xff00, even, odd); }

// Adds the products of one of the four depths that `fours` holds, selected by kWhich.
template <int kWhich, int kPairs>
inline void AddSpread(const __m512 (&fours)[kPairs], __m512 weights, __m512 (&sums)[kPairs]) {
#pragma GCC unroll 16
  for (int i = 0; i < kPairs; ++i) {
    MultiplyAdd(&sums[i], _mm512_permute_ps(fours[i], kWhich), weights);
  }
}

// Adds the products of kRows rows and eight columns; each vector has the sums of two rows. Four
// depths of a row are loaded together and spread by shuffles, which do not use the multiplication
// units.
template <int kRows>
inline void AddEightColumns(LeftRows<kRows>& a, int depth, const float* b,
                            __m512 (&sums)[kRows / 2]) {
  const auto weights_at = [&](int d) {
    return _mm512_broadcast_f32x8(_mm256_loadu_ps(b + d * kColumnsF32));
  };
  int d = 0;
  for (; d + 4 <= depth; d += 4, b += 4 * kColumnsF32) {
    __m512 fours[kRows / 2];
#pragma GCC unroll 16
    for (int r = 0; r < kRows; r += 2) {
      const __m512 even = _mm512_broadcast_f32x4(_mm_loadu_ps(a.At(r)));
      fours[r / 2] = _mm512_mask_broadcast_f32x4(even, 0xff00, _mm_loadu_ps(a.At(r + 1)));
    }
    AddSpread<0x00>(fours, weights_at(0), sums);
    AddSpread<0x55>(fours, weights_at(1), sums);
    AddSpread<0xaa>(fours, weights_at(2), sums);
    AddSpread<0xff>(fours, weights_at(3), sums);
    for (int i = 0; i < 4; ++i) a.Advance();
  }
  for (; d < depth; ++d, b += kColumnsF32, a.Advance()) {
    const __m512 weights = weights_at(0);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; r += 2) {
      const __m512 even = _mm512_set1_ps(*a.At(r)), odd = _mm512_set1_ps(*a.At(r + 1));
      MultiplyAdd(&sums[r / 2], TwoRows(even, odd), weights);
    }
  }
}

// Adds the products of kRows rows and 24 columns: 16 columns of each row are a vector, eight
// columns of two rows another one.
template <int kRows>
inline void AddColumns(LeftRows<kRows>& a, int depth, const float* b, __m512 (&wide)[kRows],
                       __m512 (&sums)[kRows / 2]) {
  for (int d = 0; d < depth; ++d, b += kColumnsF32, a.Advance()) {
    const __m512 weights = _mm512_loadu_ps(b);
    const __m512 half_weights = _mm512_broadcast_f32x8(_mm256_loadu_ps(b + 16));
#pragma GCC unroll 16
    for (int r = 0; r < kRows; r += 2) {
      const __m512 even = _mm512_set1_ps(*a.At(r)), odd = _mm512_set1_ps(*a.At(r + 1));
      MultiplyAdd(&wide[r], even, weights);
      MultiplyAdd(&wide[r + 1], odd, weights);
      MultiplyAdd(&sums[r / 2], TwoRows(even, odd), half_weights);
    }
  }
}

// If rows of eight output columns are contiguous and the epilogue applies to pairs of rows, stores
// pairs of rows as rows of 16 and returns true; otherwise returns false.
template <int kPairs>
inline bool StorePairs(const GemmTileF32& tile, int row, int columns,
                       const __m512 (&sums)[kPairs]) {
  if (columns != 8 || tile.out_stride != 8) return false;
  EpilogueF32 paired;
  if (tile.epilogue != nullptr) {
    paired = *tile.epilogue;
    const bool adds = paired.addend != nullptr;
    if (paired.activation == EpilogueF32::Activation::kPrelu) return false;
    if (adds && (paired.addend_stride != 8 || paired.addend_columns < 8)) return false;
    paired.addend_stride = paired.addend_columns = 16;
    if (adds) paired.addend += static_cast<size_t>(row) * 8;
  }
  __m512 values[kPairs][1];
#pragma GCC unroll 16
  for (int i = 0; i < kPairs; ++i) values[i][0] = sums[i];
  FinishTile(tile.out + static_cast<size_t>(row) * 8, 16, Bounds(tile.low, tile.high),
             tile.epilogue == nullptr ? nullptr : &paired, 0, 0, 16, values);
  return true;
}

// Multiplies rows [row, row + kRows) by kWide (0 or 1) vectors of a panel and the following half
// vector.
template <int kRows, int kWide>
inline void GemmF32Paired(const GemmTileF32& tile, int row, int first, int columns) {
  const float* b = tile.b + static_cast<size_t>(first / kColumnsF32) *
                                static_cast<size_t>(tile.parts) * static_cast<size_t>(tile.depth) *
                                kColumnsF32;
  __m512 wide[kRows], sums[kRows / 2];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    if constexpr (kWide == 1) wide[r] = _mm512_loadu_ps(tile.bias + first);
    sums[r / 2] = _mm512_broadcast_f32x8(_mm256_loadu_ps(tile.bias + first + 16 * kWide));
  }
  const size_t offset = static_cast<size_t>(row) * tile.a_stride;
  const size_t part_values = static_cast<size_t>(tile.depth) * kColumnsF32;
  for (int part = 0; part < tile.parts; ++part, b += part_values) {
    LeftRows<kRows> a(tile.a[part] + offset, tile.a_stride);
    if constexpr (kWide == 1) {
      AddColumns<kRows>(a, tile.depth, b, wide, sums);
    } else {
      AddEightColumns<kRows>(a, tile.depth, b, sums);
    }
  }
  if constexpr (kWide == 0) {
    if (first == 0 && StorePairs(tile, row, columns, sums)) return;
  }
  __m512 values[kRows][kWide + 1];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    if constexpr (kWide == 1) values[r][0] = wide[r];
    values[r][kWide] =
        r % 2 == 0 ? sums[r / 2] : _mm512_castps256_ps512(_mm512_extractf32x8_ps(sums[r / 2], 1));
  }
  FinishTile(tile.out + static_cast<size_t>(row) * tile.out_stride + first, tile.out_stride,
             Bounds(tile.low, tile.high), tile.epilogue, row, first, columns, values);
}

// Returns how many of the remaining `left` rows to process at once: kMax, or at most 8. The last
// rows are divided evenly, because latency dominates the time of a block of very few rows.
template <int kMax>
int RowsAtOnce(int left) {
  if (left == kMax || left >= kMax + 4) return kMax;
  if (left <= 8) return left;
  return left < 16 ? (left + 1) / 2 : 8;
}

// Returns how many blocks of kMax rows are processed before the remaining rows; at least 1.
template <int kMax>
int WholeTiles(int rows) {
  const int tiles = rows % kMax == 0 ? rows / kMax : (rows - 4) / kMax;
  return tiles < 1 ? 1 : tiles;
}

template <int kMax, int kWide, bool kHalf, typename Prefetch>
void GemmF32Panel(const GemmTileF32& tile, int first, Prefetch prefetch_state) {
  // The rows after the whole tiles prefetch nothing: that would require eight more functions.
  NoPrefetch nothing;
  constexpr void (*kBySize[])(const GemmTileF32&, int, int, int, NoPrefetch*) = {
      &GemmF32Block<1, kWide, kHalf, NoPrefetch>, &GemmF32Block<2, kWide, kHalf, NoPrefetch>,
      &GemmF32Block<3, kWide, kHalf, NoPrefetch>, &GemmF32Block<4, kWide, kHalf, NoPrefetch>,
      &GemmF32Block<5, kWide, kHalf, NoPrefetch>, &GemmF32Block<6, kWide, kHalf, NoPrefetch>,
      &GemmF32Block<7, kWide, kHalf, NoPrefetch>, &GemmF32Block<8, kWide, kHalf, NoPrefetch>};
  const int columns = tile.columns - first;
  for (int row = 0, rows; row < tile.rows; row += rows) {
    rows = RowsAtOnce<kMax>(tile.rows - row);
    if (rows == kMax) {
      if constexpr (kHalf) {
        GemmF32Paired<kMax, kWide>(tile, row, first, columns);
      } else {
        GemmF32Block<kMax, kWide, kHalf>(tile, row, first, columns, &prefetch_state);
      }
    } else {
      kBySize[rows - 1](tile, row, first, columns, &nothing);
    }
  }
}

// Multiplies one or two rows by two panels: a single panel would be bound by latency.
template <int kRows>
void GemmF32Few(const GemmTileF32& tile, int first) {
  const size_t panel_stride =
      static_cast<size_t>(tile.parts) * static_cast<size_t>(tile.depth) * kColumnsF32;
  const float* b = tile.b + static_cast<size_t>(first / kColumnsF32) * panel_stride;
  constexpr int kVectors = 4;
  __m512 sums[kRows][kVectors];
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) {
#pragma GCC unroll 2
    for (int r = 0; r < kRows; ++r) sums[r][v] = _mm512_loadu_ps(tile.bias + first + 16 * v);
  }
  for (int part = 0; part < tile.parts; ++part) {
    const float* a = tile.a[part];
    for (int d = 0; d < tile.depth; ++d, b += kColumnsF32) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        const __m512 weights =
            _mm512_loadu_ps(b + static_cast<size_t>(v / 2) * panel_stride + 16 * (v % 2));
#pragma GCC unroll 2
        for (int r = 0; r < kRows; ++r) {
          const __m512 value = _mm512_set1_ps(a[static_cast<size_t>(r) * tile.a_stride + d]);
          MultiplyAdd(&sums[r][v], value, weights);
        }
      }
    }
  }
  FinishTile(tile.out + first, tile.out_stride, Bounds(tile.low, tile.high), tile.epilogue, 0,
             first, tile.columns - first, sums);
}

void GemmF32(const GemmTileF32& tile) {
  int first = 0;
  if (tile.rows <= 2) {
    for (; tile.columns - first > kColumnsF32; first += 2 * kColumnsF32) {
      tile.rows == 1 ? GemmF32Few<1>(tile, first) : GemmF32Few<2>(tile, first);
    }
  }
  for (; first < tile.columns; first += kColumnsF32) {
    const int left = tile.columns - first;
    if (left > 24 && tile.prefetch != nullptr) {
      GemmF32Panel<kRowsF32, 2, false>(
          tile, first, PanelPrefetch(tile.prefetch, WholeTiles<kRowsF32>(tile.rows)));
    } else if (left > 24) {
      GemmF32Panel<kRowsF32, 2, false>(tile, first, NoPrefetch());
    } else if (left > 16) {
      GemmF32Panel<kRowsF32, 1, true>(tile, first, NoPrefetch());
    } else if (left > 8) {
      GemmF32Panel<16, 1, false>(tile, first, NoPrefetch());
    } else {
      GemmF32Panel<16, 0, true>(tile, first, NoPrefetch());
    }
  }
}

// ---- Dot products -----------------------------------------------------------------------------

// Adds the four lanes of each 128-bit quarter of four vectors; quarter q of the result has the four
// sums of the vectors' quarters q. The first value is added to the third and the second to the
// fourth, then both sums are added: the order is the same for every vector.
inline __m512 SumQuarters(__m512 a, __m512 b, __m512 c, __m512 d) {
  const __m512 ab = _mm512_add_ps(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
  const __m512 cd = _mm512_add_ps(_mm512_unpacklo_ps(c, d), _mm512_unpackhi_ps(c, d));
  return _mm512_add_ps(_mm512_shuffle_ps(ab, cd, _MM_SHUFFLE(1, 0, 1, 0)),
                       _mm512_shuffle_ps(ab, cd, _MM_SHUFFLE(3, 2, 3, 2)));
}
inline __m128 SumLanes(__m512 quarters) {
  const __m256 halves =
      _mm256_add_ps(_mm512_castps512_ps256(quarters), _mm512_extractf32x8_ps(quarters, 1));
  return _mm_add_ps(_mm256_castps256_ps128(halves), _mm256_extractf128_ps(halves, 1));
}
// Adds the quarters of four vectors, each quarter with four sums, into 16 sums.
inline __m512 SumLanes(const __m512 (&quarters)[4]) {
  __m512 halves[2];
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i) {
    const __m512 &a = quarters[2 * i], &b = quarters[2 * i + 1];
    halves[i] = _mm512_add_ps(_mm512_shuffle_f32x4(a, b, _MM_SHUFFLE(1, 0, 1, 0)),
                              _mm512_shuffle_f32x4(a, b, _MM_SHUFFLE(3, 2, 3, 2)));
  }
  return _mm512_add_ps(_mm512_shuffle_f32x4(halves[0], halves[1], _MM_SHUFFLE(2, 0, 2, 0)),
                       _mm512_shuffle_f32x4(halves[0], halves[1], _MM_SHUFFLE(3, 1, 3, 1)));
}

// Loads the values of a part after its last whole vector, padded with zeros. For at most eight
// values only half a vector is accessed, which seldom crosses a cache line.
template <bool kHalf>
inline __m512 LoadRemainder(__mmask16 lanes, const float* values) {
  if constexpr (!kHalf) return _mm512_maskz_loadu_ps(lanes, values);
#ifdef __clang__  // clang 22 selects a mask register for the output of the instruction below
  return _mm512_zextps256_ps512(_mm256_maskz_loadu_ps(static_cast<__mmask8>(lanes), values));
#else
  using Eight = const float[8];
  __m512 remainder;
  __asm__("vmovups %1, %t0%{%2%}%{z%}"
          : "=v"(remainder)
          : "m"(*reinterpret_cast<Eight*>(values)), "Yk"(lanes));
  return remainder;
#endif
}

// Computes kRows (1 or 4) dot products with one row of weights, before their lanes are added;
// `remainder` is the mask of a part's remainder.
template <int kRows, bool kHalf>
[[gnu::always_inline]] inline __m512 DotQuarters(const DotTileF32& tile, int row, int column,
                                                 __mmask16 remainder) {
  __m512 sums[kRows];
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) sums[r] = _mm512_setzero_ps();
  const float* b = tile.b + static_cast<size_t>(column) * tile.b_stride;
  for (int part = 0; part < tile.parts; ++part, b += tile.depth) {
    const float* a = tile.a[part] + static_cast<size_t>(row) * tile.a_stride;
    int d = 0;
    for (; d + 16 <= tile.depth; d += 16) {
      const __m512 weights = _mm512_loadu_ps(b + d);
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) {
        const float* values = a + static_cast<size_t>(r) * tile.a_stride + d;
        MultiplyAdd(&sums[r], _mm512_loadu_ps(values), weights);
      }
    }
    if (remainder == 0) continue;
    const __m512 weights = LoadRemainder<kHalf>(remainder, b + d);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      const float* values = a + static_cast<size_t>(r) * tile.a_stride + d;
      MultiplyAdd(&sums[r], LoadRemainder<kHalf>(remainder, values), weights);
    }
  }
  constexpr int kLast = kRows - 1;
  return SumQuarters(sums[0], sums[kLast > 0 ? 1 : 0], sums[kLast > 1 ? 2 : 0], sums[kLast]);
}

inline float DotBias(const DotTileF32& tile, int column) {
  return tile.bias == nullptr ? 0.0f : tile.bias[column];
}
inline float* DotOut(const DotTileF32& tile, int row, int column) {
  return tile.out + static_cast<size_t>(row) * tile.out_stride + static_cast<size_t>(column);
}

template <int kRows, bool kHalf>
inline void DotRows(const DotTileF32& tile, int row, int column, __mmask16 remainder) {
  const __m128 totals = SumLanes(DotQuarters<kRows, kHalf>(tile, row, column, remainder));
  const __m128 biased = _mm_add_ps(_mm_set1_ps(DotBias(tile, column)), totals);
  // The order of operands passes NaN through, as in ClampTo.
  const __m128 clamped =
      _mm_min_ps(_mm_set1_ps(tile.high), _mm_max_ps(_mm_set1_ps(tile.low), biased));
  float results[4];
  _mm_storeu_ps(results, clamped);
  float* out = DotOut(tile, row, column);
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r, out += tile.out_stride) *out = results[r];
}

// Adds the lanes of 16 dot products, clamps and stores them. With that many, adding lanes costs
// less than the products.
inline void FinishDots(const DotTileF32& tile, int row, int column, const __m512 (&quarters)[4]) {
  const __m512 biased = _mm512_add_ps(_mm512_set1_ps(DotBias(tile, column)), SumLanes(quarters));
  const __m512 clamped = Bounds(tile.low, tile.high)(biased);
  float* out = DotOut(tile, row, column);
  if (tile.out_stride == 1) return _mm512_storeu_ps(out, clamped);
  float results[16];
  _mm512_storeu_ps(results, clamped);
#pragma GCC unroll 16
  for (int r = 0; r < 16; ++r, out += tile.out_stride) *out = results[r];
}

// Computes the dot products of rows in blocks of sixteen; returns the first remaining row.
template <bool kHalf>
int DotManyRows(const DotTileF32& tile, int column, __mmask16 remainder) {
  int row = 0;
  for (; row + 16 <= tile.rows; row += 16) {
    __m512 quarters[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      quarters[i] = DotQuarters<4, kHalf>(tile, row + 4 * i, column, remainder);
    }
    FinishDots(tile, row, column, quarters);
  }
  return row;
}

// Computes the dot products of rows as DotManyRows does, for kParts parts of kWhole whole vectors
// and a remainder each, with the weights in registers.
template <bool kHalf, int kParts, int kWhole>
int ShallowRows(const DotTileF32& tile, int column, __mmask16 remainder) {
  const auto load = [remainder](const float* values, int v) {
    return v < kWhole ? _mm512_loadu_ps(values) : LoadRemainder<kHalf>(remainder, values);
  };
  const float* b = tile.b + static_cast<size_t>(column) * tile.b_stride;
  __m512 weights[kParts][kWhole + 1];
#pragma GCC unroll 4
  for (int part = 0; part < kParts; ++part, b += tile.depth) {
#pragma GCC unroll 4
    for (int v = 0; v <= kWhole; ++v) weights[part][v] = load(b + 16 * v, v);
  }
  int row = 0;
  for (; row + 16 <= tile.rows; row += 16) {
    __m512 quarters[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      __m512 sums[4];
#pragma GCC unroll 4
      for (__m512& sum : sums) sum = _mm512_setzero_ps();
#pragma GCC unroll 4
      for (int part = 0; part < kParts; ++part) {
        const float* a = tile.a[part] + static_cast<size_t>(row + 4 * i) * tile.a_stride;
#pragma GCC unroll 4
        for (int v = 0; v <= kWhole; ++v) {
#pragma GCC unroll 4
          for (int r = 0; r < 4; ++r) {
            const float* values = a + static_cast<size_t>(r) * tile.a_stride + 16 * v;
            MultiplyAdd(&sums[r], load(values, v), weights[part][v]);
          }
        }
      }
      quarters[i] = SumQuarters(sums[0], sums[1], sums[2], sums[3]);
    }
    FinishDots(tile, row, column, quarters);
  }
  return row;
}

template <bool kHalf>
void DotColumns(const DotTileF32& tile, __mmask16 remainder) {
  const auto many = tile.parts == 3 && tile.depth > 16 && tile.depth < 32
                        ? &ShallowRows<kHalf, 3, 1>
                        : &DotManyRows<kHalf>;
  for (int column = 0; column < tile.columns; ++column) {
    int row = many(tile, column, remainder);
    for (; row + 4 <= tile.rows; row += 4) DotRows<4, kHalf>(tile, row, column, remainder);
    for (; row < tile.rows; ++row) DotRows<1, kHalf>(tile, row, column, remainder);
  }
}

void Dots(const DotTileF32& tile) {
  const int remainder = tile.depth % 16;
  remainder <= 8 ? DotColumns<true>(tile, FirstLanes(remainder))
                 : DotColumns<false>(tile, FirstLanes(remainder));
}

// ---- Requantisation ---------------------------------------------------------------------------

// Requantises a tile of sums, 16 columns at a time. `Requantize` is constructed with the columns'
// factors and converts sums to clamped quantised values, to which the zero point is added.
template <typename Requantize>
inline void RequantizeColumns(const RequantizeTile& tile) {
  const __m512i zero_point = _mm512_set1_epi32(tile.zero_point);
  for (int c = 0; c < tile.columns; c += 16) {
    const __mmask16 lanes = FirstLanes(tile.columns - c);
    const Requantize finish(tile, c, lanes);
    const int32_t* sums = tile.sums + c;
    int8_t* out = tile.out + c;
    for (int r = 0; r < tile.rows; ++r, sums += tile.sums_stride, out += tile.out_stride) {
      const __m512i steps = finish(_mm512_maskz_loadu_epi32(lanes, sums));
      _mm512_mask_cvtepi32_storeu_epi8(out, lanes, _mm512_add_epi32(steps, zero_point));
    }
  }
}

struct FinishFloat {
  __m512 factors, low, high;

  FinishFloat(const RequantizeTile& tile, int column, __mmask16 lanes)
      : factors(_mm512_maskz_loadu_ps(lanes, tile.factors + column)),
        low(_mm512_set1_ps(static_cast<float>(tile.low - tile.zero_point))),
        high(_mm512_set1_ps(static_cast<float>(tile.high - tile.zero_point))) {}
  __m512i operator()(__m512i sums) const {
    const __m512 steps = _mm512_mul_ps(_mm512_cvtepi32_ps(sums), factors);
    return _mm512_cvtps_epi32(_mm512_min_ps(_mm512_max_ps(steps, low), high));
  }
};

// Computes (a * b + 2^30) >> 31 in each lane; b is never negative, so nothing saturates.
inline __m512i DoublingHighMultiply(__m512i a, __m512i b) {
  const __m512i nudge = _mm512_set1_epi64(int64_t{1} << 30);
  const __m512i even = _mm512_add_epi64(_mm512_mul_epi32(a, b), nudge);
  const __m512i odd =
      _mm512_add_epi64(_mm512_mul_epi32(_mm512_srli_epi64(a, 32), _mm512_srli_epi64(b, 32)), nudge);
  return _mm512_mask_blend_epi32(0xaaaa, _mm512_srli_epi64(even, 31), _mm512_slli_epi64(odd, 1));
}

struct FinishExact {
  __m512i mantissas, left, right, mask, low, high;

  FinishExact(const RequantizeTile& tile, int column, __mmask16 lanes)
      : mantissas(_mm512_maskz_loadu_epi32(lanes, tile.mantissas + column)),
        low(_mm512_set1_epi32(tile.low - tile.zero_point)),
        high(_mm512_set1_epi32(tile.high - tile.zero_point)) {
    const __m512i shifts = _mm512_maskz_loadu_epi32(lanes, tile.shifts + column);
    const __m512i one = _mm512_set1_epi32(1);
    left = _mm512_max_epi32(shifts, _mm512_setzero_si512());
    right = _mm512_sub_epi32(left, shifts);
    mask = _mm512_sub_epi32(_mm512_sllv_epi32(one, right), one);
  }
  __m512i operator()(__m512i sums) const {
    const __m512i product = DoublingHighMultiply(_mm512_sllv_epi32(sums, left), mantissas);
    // The shift to the right rounds to nearest, ties away from zero.
    const __m512i remainder = _mm512_and_si512(product, mask);
    const __m512i negative = _mm512_srli_epi32(product, 31);
    const __m512i threshold = _mm512_add_epi32(_mm512_srli_epi32(mask, 1), negative);
    const __mmask16 up = _mm512_cmpgt_epi32_mask(remainder, threshold);
    const __m512i shifted = _mm512_srav_epi32(product, right);
    const __m512i steps = _mm512_mask_add_epi32(shifted, up, shifted, _mm512_set1_epi32(1));
    return _mm512_min_epi32(_mm512_max_epi32(steps, low), high);
  }
};

void RequantizeFloat(const RequantizeTile& tile) { RequantizeColumns<FinishFloat>(tile); }
void RequantizeExact(const RequantizeTile& tile) { RequantizeColumns<FinishExact>(tile); }

// ---- Half precision ---------------------------------------------------------------------------

void HalfToFloat(const uint16_t* values, size_t count, float* out) {
  for (size_t i = 0; i < count; i += 16) {
    const size_t left = count - i;
    const __mmask16 lanes = FirstLanes(left >= 16 ? 16 : static_cast<int>(left));
    const __m256i halves = _mm256_maskz_loadu_epi16(lanes, values + i);
    _mm512_mask_storeu_ps(out + i, lanes, _mm512_cvtph_ps(halves));
  }
}

}  // namespace

constexpr GemmF32Kernels kGemmF32Avx512 = {
    .name = "avx512", .rows = kRowsF32, .columns = kColumnsF32, .tile = &GemmF32, .dots = &Dots};
constexpr RequantizeKernels kRequantizeAvx512 = {
    .name = "avx512", .in_float = &RequantizeFloat, .exact = &RequantizeExact};
constexpr HalfKernels kHalfAvx512 = {.name = "avx512", .to_float = &HalfToFloat};

}  // namespace deputy

#else
#error "compile this file with -mavx512f -mavx512bw -mavx512dq -mavx512vl"
#endif
