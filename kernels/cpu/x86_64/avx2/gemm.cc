// SPDX-License-Identifier: Apache-2.0
//
// Float GEMM, requantisation, sums of quantised tensors and conversion of half floats for x86-64
// with AVX2, FMA and F16C. This folder is compiled with flags for these features, so it must not
// emit a function that a file for any processor could call: everything is in the unnamed namespace,
// and no inline function of a shared header is used.
#include "kernels/cpu/x86_64/avx2/epilogue.inc"

#if defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)

#include <cstring>

namespace deputy {
namespace {

constexpr int kRowsF32 = 6, kColumnsF32 = 16;

// ---- Float GEMM -------------------------------------------------------------------------------

// Adjacent rows of the left operand. One pointer serves three rows, to save general registers.
template <int kRows>
struct LeftRows {
  static constexpr int kPointers = (kRows + 2) / 3;
  const float* threes[kPointers];
  size_t stride;

  LeftRows(const float* first, size_t row_stride) : stride(row_stride) {
#pragma GCC unroll 4
    for (int i = 0; i < kPointers; ++i) threes[i] = first + static_cast<size_t>(i) * 3 * stride;
  }
  const float* At(int row) const { return threes[row / 3] + static_cast<size_t>(row % 3) * stride; }
  void Advance(int count) {
#pragma GCC unroll 4
    for (const float*& three : threes) three += count;
  }
};

// Adds the products of a value and kVectors vectors of weights. Up to three vectors are one piece
// of assembler code, because a tile of twelve sums leaves one register for the value: g++ 12 would
// load the next value early and copy sums.
template <int kVectors>
[[gnu::always_inline]] inline void MultiplyValue(const float* value,
                                                 const __m256 (&weights)[kVectors],
                                                 __m256 (&sums)[kVectors]) {
  __m256 lanes;
  if constexpr (kVectors == 1) {
    __asm__("vbroadcastss %2, %1\n\tvfmadd231ps %3, %1, %0"
            : "+x"(sums[0]), "=&x"(lanes)
            : "m"(*value), "x"(weights[0]));
  } else if constexpr (kVectors == 2) {
    __asm__("vbroadcastss %3, %2\n\tvfmadd231ps %4, %2, %0\n\tvfmadd231ps %5, %2, %1"
            : "+x"(sums[0]), "+x"(sums[1]), "=&x"(lanes)
            : "m"(*value), "x"(weights[0]), "x"(weights[1]));
  } else if constexpr (kVectors == 3) {
    __asm__(
        "vbroadcastss %4, %3\n\tvfmadd231ps %5, %3, %0\n\tvfmadd231ps %6, %3, %1\n\t"
        "vfmadd231ps %7, %3, %2"
        : "+x"(sums[0]), "+x"(sums[1]), "+x"(sums[2]), "=&x"(lanes)
        : "m"(*value), "x"(weights[0]), "x"(weights[1]), "x"(weights[2]));
  } else {
    lanes = _mm256_broadcast_ss(value);
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) MultiplyAdd(&sums[v], lanes, weights[v]);
  }
}

// Adds the products of one value of each row, at `column` of the left operand, with a row of
// weights.
template <int kRows, int kVectors>
[[gnu::always_inline]] inline void MultiplyColumn(const LeftRows<kRows>& a, int column,
                                                  const float* b, size_t panel_stride,
                                                  __m256 (&sums)[kRows][kVectors]) {
  __m256 weights[kVectors];
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) {
    weights[v] = _mm256_loadu_ps(b + static_cast<size_t>(v / 2) * panel_stride + 8 * (v % 2));
  }
#pragma GCC unroll 12
  for (int r = 0; r < kRows; ++r) MultiplyValue(a.At(r) + column, weights, sums[r]);
}

// Multiplies rows [row, last), in whole blocks of kRows rows, by kVectors vectors of columns from
// the first column of a panel on, and stores at most `columns` columns. An odd kVectors ends with
// the first half of a panel. kPrefetch: every block prefetches a part of the next call's panel into
// the second-level cache.
template <int kRows, int kVectors, bool kPrefetch = false>
void GemmF32Blocks(const GemmTileF32& tile, int row, int last, int first, int columns) {
  const int parts = tile.parts, depth = tile.depth;
  const size_t a_stride = tile.a_stride;
  const size_t panel_stride = static_cast<size_t>(parts) * static_cast<size_t>(depth) * kColumnsF32;
  const float* const panel = tile.b + static_cast<size_t>(first / kColumnsF32) * panel_stride;
  const float* const bias = tile.bias + first;
  const float* const* const a_parts = tile.a;
  size_t offset = static_cast<size_t>(row) * a_stride;
  float* out = tile.out + static_cast<size_t>(row) * tile.out_stride + first;
  const char* prefetch = reinterpret_cast<const char*>(tile.prefetch);
  // Number of bytes that are prefetched for each pair of values.
  const size_t prefetch_step =
      kPrefetch ? 2 * kColumnsF32 * sizeof(float) / static_cast<unsigned>((last - row) / kRows) : 0;
  for (; row < last; row += kRows, offset += kRows * a_stride, out += kRows * tile.out_stride) {
    __m256 sums[kRows][kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      const __m256 start = _mm256_loadu_ps(bias + 8 * v);
#pragma GCC unroll 12
      for (int r = 0; r < kRows; ++r) sums[r][v] = start;
    }
    const float* b = panel;
    for (int part = 0; part < parts; ++part) {
      LeftRows<kRows> a(a_parts[part] + offset, a_stride);
      // The loop is unrolled by two: fewer loop instructions per product, which helps the other
      // hyper-thread.
      for (int pairs = depth / 2; pairs > 0; --pairs, b += 2 * kColumnsF32, a.Advance(2)) {
        if constexpr (kPrefetch) {
          _mm_prefetch(prefetch, _MM_HINT_T1);
          prefetch += prefetch_step;
        }
        MultiplyColumn(a, 0, b, panel_stride, sums);
        MultiplyColumn(a, 1, b + kColumnsF32, panel_stride, sums);
      }
      if (depth % 2 != 0) {
        MultiplyColumn(a, 0, b, panel_stride, sums);
        b += kColumnsF32;
      }
    }
    FinishTile(out, tile.out_stride, tile.low, tile.high, tile.epilogue, row, first, columns, sums);
  }
}

// Number of rows of the next block, indexed by the number of remaining rows minus one. The
// remainder is split evenly, because latency dominates the accumulations of a block of very few
// rows.
constexpr int kLastOfSix[] = {1, 2, 3, 4, 5, 6, 4, 4, 5, 6, 6, 6, 5};
constexpr int kLastOfFour[] = {1, 2, 3, 4, 3, 3};
constexpr int kLastOfTwelve[] = {1, 2, 3, 4, 5, 6, 6, 6, 6, 6, 6};

// Multiplies all rows by kVectors vectors that begin at a panel, in blocks of kMax rows. When at
// most as many rows remain as kLast has entries, kLast gives the size of the next block.
template <int kMax, int kVectors, const auto& kLast>
void GemmF32Panel(const GemmTileF32& tile, int first) {
  constexpr int kLasts = sizeof(kLast) / sizeof(kLast[0]);
  constexpr void (*kBlocks[])(const GemmTileF32&, int, int, int, int) = {
      &GemmF32Blocks<1, kVectors>,
      &GemmF32Blocks<2, kVectors>,
      &GemmF32Blocks<3, kVectors>,
      &GemmF32Blocks<4, kVectors>,
      &GemmF32Blocks<Min(5, kMax), kVectors>,
      &GemmF32Blocks<Min(6, kMax), kVectors>};
  const int columns = tile.columns - first;
  int row = 0;
  if (tile.rows > kLasts) {
    row = (tile.rows - kLasts + kMax - 1) / kMax * kMax;
    if (kVectors == 2 && tile.prefetch != nullptr) {
      GemmF32Blocks<kMax, kVectors, kVectors == 2>(tile, 0, row, first, columns);
    } else {
      GemmF32Blocks<kMax, kVectors>(tile, 0, row, first, columns);
    }
  }
  while (row < tile.rows) {
    const int rows = kLast[tile.rows - row - 1];
    kBlocks[rows - 1](tile, row, row + rows, first, columns);
    row += rows;
  }
}

void GemmF32(const GemmTileF32& tile) {
  int first = 0;
  if (tile.rows == 1) {
    // A single row would be bound by latency: four panels at once keep eight sums in flight.
    for (; tile.columns - first > 3 * kColumnsF32; first += 4 * kColumnsF32) {
      GemmF32Blocks<1, 8>(tile, 0, 1, first, tile.columns - first);
    }
  }
  for (; first < tile.columns; first += kColumnsF32) {
    const int left = tile.columns - first;
    if (left > kColumnsF32 && left <= kColumnsF32 + 8)
      return GemmF32Panel<4, 3, kLastOfFour>(tile, first);
    if (left > 8) {
      GemmF32Panel<kRowsF32, 2, kLastOfSix>(tile, first);
    } else {
      GemmF32Panel<2 * kRowsF32, 1, kLastOfTwelve>(tile, first);
    }
  }
}

// ---- Dot products -----------------------------------------------------------------------------

// Adds the lanes of each of four rows: lower and upper half, then lanes two apart, then the
// remaining two.
inline __m128 SumLanes(const __m256 (&rows)[4]) {
  __m128 halves[4];
#pragma GCC unroll 4
  for (int r = 0; r < 4; ++r) {
    halves[r] = _mm_add_ps(_mm256_castps256_ps128(rows[r]), _mm256_extractf128_ps(rows[r], 1));
  }
  _MM_TRANSPOSE4_PS(halves[0], halves[1], halves[2], halves[3]);
  return _mm_add_ps(_mm_add_ps(halves[0], halves[2]), _mm_add_ps(halves[1], halves[3]));
}

// Computes kRows (at most four) dot products with one row of weights.
template <int kRows>
inline void DotRows(const DotTileF32& tile, int row, int column) {
  __m256 sums[4];
#pragma GCC unroll 4
  for (int r = 0; r < 4; ++r) sums[r] = _mm256_setzero_ps();
  const float* b = tile.b + static_cast<size_t>(column) * tile.b_stride;
  const int whole = tile.depth / 8 * 8;
  const __m256i remainder = FirstLanes(tile.depth - whole);
  for (int part = 0; part < tile.parts; ++part, b += tile.depth) {
    const float* a = tile.a[part] + static_cast<size_t>(row) * tile.a_stride;
    for (int d = 0; d < whole; d += 8) {
      const __m256 weights = _mm256_loadu_ps(b + d);
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) {
        const float* values = a + static_cast<size_t>(r) * tile.a_stride + d;
        sums[r] = _mm256_fmadd_ps(_mm256_loadu_ps(values), weights, sums[r]);
      }
    }
    if (whole == tile.depth) continue;
    const __m256 weights = _mm256_maskload_ps(b + whole, remainder);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      const float* values = a + static_cast<size_t>(r) * tile.a_stride + whole;
      sums[r] = _mm256_fmadd_ps(_mm256_maskload_ps(values, remainder), weights, sums[r]);
    }
  }
  const __m128 bias = _mm_set1_ps(tile.bias == nullptr ? 0.0f : tile.bias[column]);
  // The order of operands passes NaN through, as the plain code does.
  const __m128 raised = _mm_max_ps(_mm_set1_ps(tile.low), _mm_add_ps(bias, SumLanes(sums)));
  alignas(16) float values[4];
  _mm_store_ps(values, _mm_min_ps(_mm_set1_ps(tile.high), raised));
  float* out = tile.out + static_cast<size_t>(row) * tile.out_stride + static_cast<size_t>(column);
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r, out += tile.out_stride) *out = values[r];
}

void Dots(const DotTileF32& tile) {
  for (int column = 0; column < tile.columns; ++column) {
    int row = 0;
    for (; row + 4 <= tile.rows; row += 4) DotRows<4>(tile, row, column);
    for (; row < tile.rows; ++row) DotRows<1>(tile, row, column);
  }
}

// ---- Requantisation ---------------------------------------------------------------------------

// Adds the zero point to 8 quantised values and stores the first `count`.
inline void StoreSteps(__m256i steps, __m256i zero_point, int8_t* out, int count) {
  steps = _mm256_add_epi32(steps, zero_point);
  const __m128i words =
      _mm_packs_epi32(_mm256_castsi256_si128(steps), _mm256_extracti128_si256(steps, 1));
  const __m128i bytes = _mm_packs_epi16(words, words);
  if (count >= 8) {
    _mm_storel_epi64(reinterpret_cast<__m128i*>(out), bytes);
  } else {
    alignas(16) int8_t buffer[16];
    _mm_store_si128(reinterpret_cast<__m128i*>(buffer), bytes);
    std::memcpy(out, buffer, static_cast<size_t>(count));
  }
}

// Requantises a tile of sums, eight columns at a time. `Requantize` is constructed with the factors
// of eight columns and converts eight sums to clamped quantised values.
template <typename Requantize>
inline void RequantizeColumns(const RequantizeTile& tile) {
  const __m256i zero_point = _mm256_set1_epi32(tile.zero_point);
  for (int c = 0; c < tile.columns; c += 8) {
    const int count = Min(8, tile.columns - c);
    const __m256i lanes = FirstLanes(count);
    const Requantize finish(tile, c, lanes);
    const int32_t* sums = tile.sums + c;
    int8_t* out = tile.out + c;
    for (int r = 0; r < tile.rows; ++r, sums += tile.sums_stride, out += tile.out_stride) {
      StoreSteps(finish(_mm256_maskload_epi32(sums, lanes)), zero_point, out, count);
    }
  }
}

struct FinishFloat {
  __m256 factors, low, high;

  FinishFloat(const RequantizeTile& tile, int column, __m256i lanes)
      : factors(_mm256_maskload_ps(tile.factors + column, lanes)),
        low(_mm256_set1_ps(static_cast<float>(tile.low - tile.zero_point))),
        high(_mm256_set1_ps(static_cast<float>(tile.high - tile.zero_point))) {}
  __m256i operator()(__m256i sums) const {
    const __m256 steps = _mm256_mul_ps(_mm256_cvtepi32_ps(sums), factors);
    return _mm256_cvtps_epi32(_mm256_min_ps(_mm256_max_ps(steps, low), high));
  }
};

// Computes (a * b + 2^30) >> 31 in each lane; b is never negative, so nothing saturates.
inline __m256i DoublingHighMultiply(__m256i a, __m256i b) {
  const __m256i nudge = _mm256_set1_epi64x(int64_t{1} << 30);
  const __m256i even = _mm256_add_epi64(_mm256_mul_epi32(a, b), nudge);
  const __m256i odd =
      _mm256_add_epi64(_mm256_mul_epi32(_mm256_srli_epi64(a, 32), _mm256_srli_epi64(b, 32)), nudge);
  return _mm256_blend_epi32(_mm256_srli_epi64(even, 31), _mm256_slli_epi64(odd, 1), 0xaa);
}

struct FinishExact {
  __m256i mantissas, left, right, mask, low, high;

  FinishExact(const RequantizeTile& tile, int column, __m256i lanes)
      : mantissas(_mm256_maskload_epi32(tile.mantissas + column, lanes)),
        low(_mm256_set1_epi32(tile.low - tile.zero_point)),
        high(_mm256_set1_epi32(tile.high - tile.zero_point)) {
    const __m256i shifts = _mm256_maskload_epi32(tile.shifts + column, lanes);
    const __m256i one = _mm256_set1_epi32(1);
    left = _mm256_max_epi32(shifts, _mm256_setzero_si256());
    right = _mm256_sub_epi32(left, shifts);
    mask = _mm256_sub_epi32(_mm256_sllv_epi32(one, right), one);
  }
  __m256i operator()(__m256i sums) const {
    const __m256i product = DoublingHighMultiply(_mm256_sllv_epi32(sums, left), mantissas);
    // The shift to the right rounds to nearest, ties away from zero.
    const __m256i remainder = _mm256_and_si256(product, mask);
    const __m256i negative = _mm256_cmpgt_epi32(_mm256_setzero_si256(), product);
    const __m256i threshold = _mm256_sub_epi32(_mm256_srli_epi32(mask, 1), negative);
    const __m256i steps = _mm256_sub_epi32(_mm256_srav_epi32(product, right),
                                           _mm256_cmpgt_epi32(remainder, threshold));
    return _mm256_min_epi32(_mm256_max_epi32(steps, low), high);
  }
};

void RequantizeFloat(const RequantizeTile& tile) { RequantizeColumns<FinishFloat>(tile); }
void RequantizeExact(const RequantizeTile& tile) { RequantizeColumns<FinishExact>(tile); }

// ---- Sums of quantised values -----------------------------------------------------------------

struct StepSum {
  __m256 factor_a, factor_b, offset, low, high;
  __m256i zero_point;  // in 16-bit lanes

  explicit StepSum(const StepSumS8& sum)
      : factor_a(_mm256_set1_ps(sum.factor_a)),
        factor_b(_mm256_set1_ps(sum.factor_b)),
        offset(_mm256_set1_ps(sum.offset)),
        low(_mm256_set1_ps(sum.low)),
        high(_mm256_set1_ps(sum.high)),
        zero_point(_mm256_set1_epi16(static_cast<int16_t>(sum.zero_point))) {}

  static __m256 Scaled(const int8_t* values, __m256 factor) {
    const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(values));
    __m256 scaled = _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes)), factor);
    // Each product must be rounded, so the compiler must not contract it into a multiply-add.
    __asm__("" : "+x"(scaled));
    return scaled;
  }
  // Returns eight quantised values, before the zero point is added.
  __m256i operator()(const int8_t* a, const int8_t* b) const {
    const __m256 steps =
        _mm256_add_ps(_mm256_add_ps(Scaled(a, factor_a), Scaled(b, factor_b)), offset);
    return _mm256_cvtps_epi32(_mm256_min_ps(_mm256_max_ps(steps, low), high));
  }
  // Returns sixteen quantised values as 16-bit integers, in the lane order of the pack instruction.
  __m256i Words(const int8_t* a, const int8_t* b) const {
    const __m256i words = _mm256_packs_epi32((*this)(a, b), (*this)(a + 8, b + 8));
    return _mm256_add_epi16(words, zero_point);
  }
};

void SumOfSteps(const StepSumS8& sum) {
  const StepSum steps(sum);
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  int64_t i = 0;
  const auto block = [&](const int8_t* a, const int8_t* b, int8_t* out) {
    const __m256i bytes = _mm256_packs_epi16(steps.Words(a, b), steps.Words(a + 16, b + 16));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm256_permutevar8x32_epi32(bytes, order));
  };
  constexpr int kBlock = 32;
  for (; i + kBlock <= sum.count; i += kBlock) block(sum.a + i, sum.b + i, sum.out + i);
  if (i == sum.count) return;
  int8_t a[kBlock] = {}, b[kBlock] = {}, out[kBlock];
  const auto remainder = static_cast<size_t>(sum.count - i);
  std::memcpy(a, sum.a + i, remainder);
  std::memcpy(b, sum.b + i, remainder);
  block(a, b, out);
  std::memcpy(sum.out + i, out, remainder);
}

// ---- Half precision ---------------------------------------------------------------------------

void HalfToFloat(const uint16_t* values, size_t count, float* out) {
  size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(values + i));
    _mm256_storeu_ps(out + i, _mm256_cvtph_ps(halves));
  }
  for (; i < count; ++i) out[i] = _cvtsh_ss(values[i]);
}

}  // namespace

constexpr GemmF32Kernels kGemmF32Avx2 = {
    .name = "avx2", .rows = kRowsF32, .columns = kColumnsF32, .tile = &GemmF32, .dots = &Dots};
constexpr RequantizeKernels kRequantizeAvx2 = {
    .name = "avx2", .in_float = &RequantizeFloat, .exact = &RequantizeExact};
constexpr StepSumKernels kStepSumAvx2 = {.name = "avx2", .s8 = &SumOfSteps};
constexpr HalfKernels kHalfAvx2 = {.name = "avx2", .to_float = &HalfToFloat};

}  // namespace deputy

#else
#error "compile this file with -mavx2 -mfma -mf16c"
#endif
