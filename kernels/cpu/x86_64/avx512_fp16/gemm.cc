// SPDX-License-Identifier: Apache-2.0
//
// float16 products for x86-64 with AVX-512 FP16 (VFMADD231PH): tiles of 16 rows and 32 columns.
// This folder is compiled with flags for this instruction set, so everything is in the unnamed
// namespace and no inline function of a shared header is used.
//
// Sums of up to kChain products are float16; they are added to float32 sums. Every sum is one chain
// of multiply-adds in ascending order of the depth, and the chains begin at the positions at which
// those of kernels/cpu/aarch64/neon_fp16 begin: results do not depend on the tile, and are those of
// that kernel.
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__) && \
    defined(__AVX512FP16__)

#include "kernels/cpu/x86_64/avx512/rows_of_16_bits.inc"

namespace deputy {
namespace {

constexpr int kRows = 16, kColumns = 32;
// Number of products that are added in float16.
constexpr int kChain = 64;

// Multiply-add of float16 lanes with a broadcast memory operand as the left factor. It keeps its
// accumulator in place: g++ 12 otherwise keeps copies of a whole tile on the stack. The float type
// of the lanes has no numeric meaning.
inline void AddProductsAt(__m512* sum, const uint16_t* a, __m512 b) {
  __asm__("vfmadd231ph %2%{1to32%}, %1, %0" : "+v"(*sum) : "v"(b), "m"(*a));
}

// Adjacent rows of the left operand. One pointer serves four rows, to save general registers.
template <int kCount>
struct LeftRows {
  const uint16_t* fours[(kCount + 3) / 4];
  size_t stride, three;

  LeftRows(const uint16_t* first, size_t row_stride) : stride(row_stride), three(3 * row_stride) {
#pragma GCC unroll 4
    for (int i = 0; i < (kCount + 3) / 4; ++i) {
      fours[i] = first + static_cast<size_t>(i) * 4 * stride;
    }
  }
  const uint16_t* At(int row) const {
    const int remainder = row % 4;
    return fours[row / 4] + (remainder == 3 ? three : static_cast<size_t>(remainder) * stride);
  }
  void Advance() {
#pragma GCC unroll 4
    for (const uint16_t*& four : fours) ++four;
  }
};

// The float32 sums to which float16 sums are added: the bias for all rows, later the totals of
// each.
struct Base {
  const float* values;
  size_t stride;
};

// Returns 16 of the columns of a row of `base` plus the float16 sums of these.
inline __m512 Plus(const Base& base, int row, int column, const __m512* sums) {
  const auto* halves = reinterpret_cast<const __m256i*>(sums + row) + column / 16;
  const float* from = base.values + static_cast<size_t>(row) * base.stride + column;
  return _mm512_add_ps(_mm512_loadu_ps(from), _mm512_cvtph_ps(_mm256_load_si256(halves)));
}

// Computes the totals of `count` rows, which may be the values of `base`.
[[gnu::noinline]] void AddToBase(const Base& base, const __m512* sums, int count, float* totals) {
  for (int r = 0; r < count; ++r, totals += kColumns) {
    _mm512_store_ps(totals, Plus(base, r, 0, sums));
    _mm512_store_ps(totals + 16, Plus(base, r, 16, sums));
  }
}

// Stores the results of `count` rows of a panel that begins at column `first`.
[[gnu::noinline]] void StoreSums(const GemmTileBf16& tile, int row, int first, const Base& base,
                                 const __m512* sums, int count) {
  const int left = tile.columns - first, columns = left < kColumns ? left : kColumns;
  if (tile.epilogue != nullptr) {
    alignas(64) float totals[kRows * kColumns];
    AddToBase(base, sums, count, totals);
    StoreRowsWithEpilogue(tile, row, count, first, columns, totals, kColumns);
    return;
  }
  const __m512 low = _mm512_set1_ps(tile.low), high = _mm512_set1_ps(tile.high);
  float* out = tile.out + static_cast<size_t>(row) * tile.out_stride + first;
  for (int r = 0; r < count; ++r, out += tile.out_stride) {
    StoreClamped(Plus(base, r, 0, sums), low, high, out, columns);
    if (columns > 16) StoreClamped(Plus(base, r, 16, sums), low, high, out + 16, columns - 16);
  }
}

template <int kCount>
[[gnu::always_inline]] inline void Clear(__m512 (&chains)[kCount]) {
#pragma GCC unroll 16
  for (int r = 0; r < kCount; ++r) chains[r] = _mm512_setzero_ps();
}

// Copies the sums from registers to memory. A loop that adds to an array in memory would store it
// in each iteration (g++ 12).
template <int kCount>
[[gnu::always_inline]] inline void Copy(const __m512 (&chains)[kCount], __m512* out) {
#pragma GCC unroll 16
  for (int r = 0; r < kCount; ++r) out[r] = chains[r];
}

// Multiplies rows [row, row + kCount) by the panel that begins at column `first`.
template <int kCount>
void Block(const GemmTileBf16& tile, int row, int first) {
  FetchAddend(tile, row, kCount, first);
  Base base = {tile.bias + first, 0};
  alignas(64) float totals[kCount * kColumns];
  __m512 chains[kCount], sums[kCount];
  Clear(chains);
  const uint16_t* b = tile.b + static_cast<size_t>(first) * static_cast<size_t>(tile.parts) *
                                   static_cast<size_t>(tile.depth);
  int free = kChain;  // number of products that may still be added to the chains
  for (int part = 0; part < tile.parts; ++part) {
    LeftRows<kCount> a(tile.a[part] + static_cast<size_t>(row) * tile.a_stride, tile.a_stride);
    for (int left = tile.depth, count; left > 0; left -= count, free -= count) {
      // A chain contains whole groups of products: of eight, and of two at the end of a part.
      const int group = left >= 8 ? 8 : 2;
      if (free < group) {
        Copy(chains, sums);
        Clear(chains);
        AddToBase(base, sums, kCount, totals);
        base = {totals, kColumns};
        free = kChain;
      }
      count = (left < free ? left : free) / group * group;
      for (int d = 0; d < count; ++d, b += kColumns, a.Advance()) {
        const __m512 weights = _mm512_loadu_ps(b);
#pragma GCC unroll 16
        for (int r = 0; r < kCount; ++r) AddProductsAt(&chains[r], a.At(r), weights);
      }
    }
  }
  Copy(chains, sums);
  StoreSums(tile, row, first, base, sums, kCount);
}

// Returns how many of the remaining `left` rows to process at once: 16, or at most 8. The last rows
// are divided evenly, because latency dominates the time of a block of very few rows.
int RowsAtOnce(int left) {
  if (left == kRows || left >= kRows + 4) return kRows;
  if (left <= 8) return left;
  return left < kRows ? (left + 1) / 2 : 8;
}

void Multiply(const GemmTileBf16& tile) {
  constexpr void (*kBySize[])(const GemmTileBf16&, int, int) = {
      &Block<1>, &Block<2>, &Block<3>, &Block<4>, &Block<5>, &Block<6>, &Block<7>, &Block<8>};
  for (int first = 0; first < tile.columns; first += kColumns) {
    for (int row = 0, rows; row < tile.rows; row += rows) {
      rows = RowsAtOnce(tile.rows - row);
      rows == kRows ? Block<kRows>(tile, row, first) : kBySize[rows - 1](tile, row, first);
    }
  }
}

inline __m256i Convert(__m512 values) {
  return _mm512_cvtps_ph(values, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

void FromFloat(const RowsToBf16& job) { ConvertRows<&Convert>(job); }

}  // namespace

constexpr GemmBf16Kernels kGemmF16Avx512 = {.name = "avx512_fp16",
                                            .rows = kRows,
                                            .columns = kColumns,
                                            .run = 1,
                                            .is_float16 = true,
                                            .tile = &Multiply,
                                            .from_float = &FromFloat};

}  // namespace deputy

#else
#error "compile this file with -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512fp16"
#endif
