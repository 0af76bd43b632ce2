// SPDX-License-Identifier: Apache-2.0
//
// bfloat16 products for x86-64 with AVX-512 BF16 (VDPBF16PS). This folder is compiled with flags
// for this instruction set, so everything is in the unnamed namespace and no inline function of a
// shared header is used.
//
// One instruction adds the products of a pair to a float32 sum, the odd one first. It rounds to
// nearest and flushes denormals whatever the processor's settings are. Every sum is one chain of
// these instructions in ascending order of pairs, so that it does not depend on the tile it is in.
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__) && \
    defined(__AVX512BF16__)

#include "kernels/cpu/x86_64/avx512_bf16/bf16.inc"

namespace deputy {
namespace {

constexpr int kRows = 12, kColumns = 32;

// Two adjacent bfloat16 values of a row, loaded as one 32-bit value.
using Pair [[gnu::may_alias]] = float;

// Product instruction that keeps its accumulator in place: g++ 12 otherwise keeps copies of a whole
// tile on the stack. The float type of pairs has no numeric meaning.
inline void AddProducts(__m512* sum, __m512 a, __m512 b) {
  __asm__("vdpbf16ps %2, %1, %0" : "+v"(*sum) : "v"(a), "v"(b));
}
inline void AddProducts(__m256* sum, __m256 a, __m256 b) {
  __asm__("vdpbf16ps %2, %1, %0" : "+v"(*sum) : "v"(a), "v"(b));
}
// Product instruction with a broadcast memory operand as the left pair, for pairs that are used
// once.
inline void AddProductsAt(__m512* sum, const Pair* a, __m512 b) {
  __asm__("vdpbf16ps %2%{1to16%}, %1, %0" : "+v"(*sum) : "v"(b), "m"(*a));
}
inline void AddProductsAt(__m256* sum, const Pair* a, __m256 b) {
  __asm__("vdpbf16ps %2%{1to8%}, %1, %0" : "+v"(*sum) : "v"(b), "m"(*a));
}

// Adjacent rows of the left operand, in pairs of values. One pointer serves four rows, to save
// general registers.
template <int kCount>
struct LeftRows {
  const Pair* fours[(kCount + 3) / 4];
  size_t stride, three;

  LeftRows(const uint16_t* first, size_t row_stride)
      : stride(row_stride / 2), three(3 * (row_stride / 2)) {
#pragma GCC unroll 4
    for (int i = 0; i < (kCount + 3) / 4; ++i) {
      fours[i] = reinterpret_cast<const Pair*>(first) + static_cast<size_t>(i) * 4 * stride;
    }
  }
  const Pair* At(int row) const {
    const int remainder = row % 4;
    return fours[row / 4] + (remainder == 3 ? three : static_cast<size_t>(remainder) * stride);
  }
  void Advance() {
#pragma GCC unroll 4
    for (const Pair*& four : fours) ++four;
  }
};

size_t PanelPairs(const GemmTileBf16& tile) {
  return static_cast<size_t>(tile.parts) * static_cast<size_t>(tile.depth / 2) * kColumns;
}

const Pair* PanelOf(const GemmTileBf16& tile, int first) {
  return reinterpret_cast<const Pair*>(tile.b) +
         static_cast<size_t>(first / kColumns) * PanelPairs(tile);
}

// The part of a PendingBf16Conversion that is done during a tile's products, one run in each step
// of depth: the products leave the conversion and store units almost idle.
class Rounding {
 public:
  explicit Rounding(PendingBf16Conversion* conversion) : conversion_(conversion) {
    if (conversion != nullptr) job_ = *conversion;
  }
  void Step() {
    if (job_.runs == 0) return;
#pragma GCC unroll 2
    for (int i = 0; i < kConvertedAtOnce; i += 16) {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(job_.out + i),
                          Convert(_mm512_loadu_ps(job_.values + i)));
    }
    job_.values += kConvertedAtOnce;
    job_.out += kConvertedAtOnce;
    --job_.runs;
  }
  void Finish() {
    if (conversion_ != nullptr) *conversion_ = job_;
  }

 private:
  PendingBf16Conversion* const conversion_;
  PendingBf16Conversion job_ = {nullptr, nullptr, 0};
};

// Clamps rows of eight contiguous columns, adds a contiguous addend, and stores vectors of two
// rows. Returns false, and stores nothing, if the layout or the epilogue is different.
template <int kCount>
[[gnu::always_inline]] inline bool StorePairs(const GemmTileBf16& tile, int row,
                                              const __m256 (&sums)[kCount]) {
  constexpr int kEight = 8;
  const EpilogueF32& epilogue = *tile.epilogue;
  if (tile.columns != kEight || tile.out_stride != kEight || epilogue.addend == nullptr ||
      epilogue.addend_stride != kEight || epilogue.addend_columns < kEight ||
      epilogue.activation != EpilogueF32::Activation::kNone) {
    return false;
  }
  const Bounds clamp(tile.low, tile.high), also(epilogue.low, epilogue.high);
  const float* addend = epilogue.addend + static_cast<ptrdiff_t>(row) * kEight;
  float* out = tile.out + static_cast<ptrdiff_t>(row) * kEight;
#pragma GCC unroll 8
  for (int r = 0; r < kCount; r += 2, addend += 2 * kEight, out += 2 * kEight) {
    const __mmask16 lanes = FirstLanes((kCount - r) * kEight);
    const __m256 next = r + 1 < kCount ? sums[r + 1 < kCount ? r + 1 : r] : _mm256_setzero_ps();
    const __m512 both = _mm512_insertf32x8(_mm512_castps256_ps512(sums[r]), next, 1);
    const __m512 sum = _mm512_add_ps(clamp(both), _mm512_maskz_loadu_ps(lanes, addend));
    _mm512_mask_storeu_ps(out, lanes, also(sum));
  }
  return true;
}

// Clamps the sums of rows [row, row + kCount), kWide vectors and, with kHalf, a half vector per
// row, applies the epilogue, if any, and stores the results.
template <int kWide, bool kHalf, int kCount, int kVectors>
[[gnu::always_inline]] inline void StoreBlock(const GemmTileBf16& tile, int row, int first,
                                              int columns, const __m512 (&sums)[kCount][kVectors],
                                              const __m256 (&halves)[kCount]) {
  if (tile.epilogue != nullptr) {
    if constexpr (kWide == 0) {
      if (StorePairs(tile, row, halves)) return;
    }
    constexpr int kWidth = 16 * kWide + (kHalf ? 8 : 0);
    alignas(64) float kept[kCount][kColumns];
#pragma GCC unroll 16
    for (int r = 0; r < kCount; ++r) {
#pragma GCC unroll 2
      for (int v = 0; v < kWide; ++v) _mm512_store_ps(kept[r] + 16 * v, sums[r][v]);
      if constexpr (kHalf) {
        _mm512_store_ps(kept[r] + 16 * kWide, _mm512_zextps256_ps512(halves[r]));
      }
    }
    StoreRowsWithEpilogue(tile, row, kCount, first, columns < kWidth ? columns : kWidth, kept[0],
                          kColumns);
    return;
  }
  const __m512 low = _mm512_set1_ps(tile.low), high = _mm512_set1_ps(tile.high);
  float* out = tile.out + static_cast<size_t>(row) * tile.out_stride + first;
#pragma GCC unroll 16
  for (int r = 0; r < kCount; ++r, out += tile.out_stride) {
#pragma GCC unroll 2
    for (int v = 0; v < kWide; ++v) {
      StoreClamped(sums[r][v], low, high, out + 16 * v, columns - 16 * v);
    }
    if constexpr (kHalf) {
      StoreClamped(_mm512_castps256_ps512(halves[r]), low, high, out + 16 * kWide,
                   columns - 16 * kWide);
    }
  }
}

// Multiplies rows [row, row + kCount) by kWide vectors of a panel and, with kHalf, a following half
// vector; stores `columns` of the result.
template <int kCount, int kWide, bool kHalf>
inline void Block(const GemmTileBf16& tile, int row, int first, int columns) {
  constexpr int kVectors = kWide + (kWide == 0);  // at least 1, because arrays cannot be empty
  const Pair* b = PanelOf(tile, first);
  __m512 sums[kCount][kVectors];
  __m256 halves[kCount];
  FetchAddend(tile, row, kCount, first);
#pragma GCC unroll 16
  for (int r = 0; r < kCount; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < kWide; ++v) sums[r][v] = _mm512_loadu_ps(tile.bias + first + 16 * v);
    if constexpr (kHalf) halves[r] = _mm256_loadu_ps(tile.bias + first + 16 * kWide);
  }
  const size_t offset = static_cast<size_t>(row) * tile.a_stride;
  Rounding rounding(tile.conversion);
  for (int part = 0; part < tile.parts; ++part) {
    LeftRows<kCount> a(tile.a[part] + offset, tile.a_stride);
    for (int d = 0; d < tile.depth; d += 2, b += kColumns, a.Advance()) {
      rounding.Step();
      __m512 weights[kVectors];
      __m256 half_weights;
#pragma GCC unroll 2
      for (int v = 0; v < kWide; ++v) weights[v] = _mm512_loadu_ps(b + 16 * v);
      if constexpr (kHalf) half_weights = _mm256_loadu_ps(b + 16 * kWide);
#pragma GCC unroll 16
      for (int r = 0; r < kCount; ++r) {
        if constexpr (kWide == 1 && !kHalf) {
          AddProductsAt(&sums[r][0], a.At(r), weights[0]);
        } else if constexpr (kWide == 0) {
          AddProductsAt(&halves[r], a.At(r), half_weights);
        } else {
          const __m512 value = _mm512_set1_ps(*a.At(r));
#pragma GCC unroll 2
          for (int v = 0; v < kWide; ++v) AddProducts(&sums[r][v], value, weights[v]);
          if constexpr (kHalf) AddProducts(&halves[r], _mm512_castps512_ps256(value), half_weights);
        }
      }
    }
  }
  rounding.Finish();
  StoreBlock<kWide, kHalf>(tile, row, first, columns, sums, halves);
}

// Returns how many of the remaining `left` rows to process at once: kMax, or at most 8. The last
// rows are divided evenly, because latency dominates the time of a block of very few rows.
template <int kMax>
int RowsAtOnce(int left) {
  if (left == kMax || left >= kMax + 4) return kMax;
  if (left <= 8) return left;
  return left < 16 ? (left + 1) / 2 : 8;
}

template <int kMax, int kWide, bool kHalf>
void Panel(const GemmTileBf16& tile, int first) {
  constexpr void (*kBySize[])(const GemmTileBf16&, int, int, int) = {
      &Block<1, kWide, kHalf>, &Block<2, kWide, kHalf>, &Block<3, kWide, kHalf>,
      &Block<4, kWide, kHalf>, &Block<5, kWide, kHalf>, &Block<6, kWide, kHalf>,
      &Block<7, kWide, kHalf>, &Block<8, kWide, kHalf>};
  const int columns = tile.columns - first;
  for (int row = 0, rows; row < tile.rows; row += rows) {
    rows = RowsAtOnce<kMax>(tile.rows - row);
    if (rows == kMax) {
      Block<kMax, kWide, kHalf>(tile, row, first, columns);
    } else {
      kBySize[rows - 1](tile, row, first, columns);
    }
  }
}

// Multiplies one or two rows by two panels: a single panel would be bound by latency.
template <int kCount>
void Few(const GemmTileBf16& tile, int first) {
  constexpr int kVectors = 4;
  const size_t panel_pairs = PanelPairs(tile);
  const Pair* b = PanelOf(tile, first);
  __m512 sums[kCount][kVectors];
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) {
#pragma GCC unroll 2
    for (int r = 0; r < kCount; ++r) sums[r][v] = _mm512_loadu_ps(tile.bias + first + 16 * v);
  }
  for (int part = 0; part < tile.parts; ++part) {
    const Pair* a = reinterpret_cast<const Pair*>(tile.a[part]);
    for (int d = 0; d < tile.depth / 2; ++d, b += kColumns) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        const __m512 weights =
            _mm512_loadu_ps(b + static_cast<size_t>(v / 2) * panel_pairs + 16 * (v % 2));
#pragma GCC unroll 2
        for (int r = 0; r < kCount; ++r) {
          const __m512 value = _mm512_set1_ps(a[static_cast<size_t>(r) * (tile.a_stride / 2) + d]);
          AddProducts(&sums[r][v], value, weights);
        }
      }
    }
  }
  if (tile.epilogue != nullptr) {
    alignas(64) float kept[kCount][16 * kVectors];
#pragma GCC unroll 2
    for (int r = 0; r < kCount; ++r) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) _mm512_store_ps(kept[r] + 16 * v, sums[r][v]);
    }
    const int left = tile.columns - first;
    StoreRowsWithEpilogue(tile, 0, kCount, first, left < 16 * kVectors ? left : 16 * kVectors,
                          kept[0], 16 * kVectors);
    return;
  }
  const __m512 low = _mm512_set1_ps(tile.low), high = _mm512_set1_ps(tile.high);
#pragma GCC unroll 2
  for (int r = 0; r < kCount; ++r) {
    float* out = tile.out + static_cast<size_t>(r) * tile.out_stride + first;
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      StoreClamped(sums[r][v], low, high, out + 16 * v, tile.columns - first - 16 * v);
    }
  }
}

void Multiply(const GemmTileBf16& tile) {
  int first = 0;
  if (tile.rows <= 2) {
    for (; tile.columns - first > kColumns; first += 2 * kColumns) {
      tile.rows == 1 ? Few<1>(tile, first) : Few<2>(tile, first);
    }
  }
  for (; first < tile.columns; first += kColumns) {
    const int left = tile.columns - first;
    if (left > 24) {
      Panel<kRows, 2, false>(tile, first);
    } else if (left > 16) {
      Panel<kRows, 1, true>(tile, first);
    } else if (left > 8) {
      Panel<16, 1, false>(tile, first);
    } else {
      Panel<16, 0, true>(tile, first);
    }
  }
}

}  // namespace

constexpr GemmBf16Kernels kGemmBf16Avx512 = {.name = "avx512_bf16",
                                             .rows = kRows,
                                             .columns = kColumns,
                                             .tile = &Multiply,
                                             .from_float = &FromFloat};

}  // namespace deputy

#else
#error "compile this file with -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512bf16"
#endif
