// SPDX-License-Identifier: Apache-2.0
//
// The table for x86-64 with AVX2, FMA and F16C. This file alone is compiled for them, so it must
// not emit any function that another file might end up calling: everything is in the unnamed
// namespace, and no inline function of a shared header is used.
// The groups of int8 products are in simd_avx2_int8.cc.
#include "kernels/cpu/groups.h"

#if defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)

#include <immintrin.h>

#include <cstring>

namespace deputy {
namespace {

constexpr int kRowsF32 = 6, kColumnsF32 = 16;

inline int Smaller(int a, int b) { return a < b ? a : b; }

// A mask for the first `count` of 8 lanes.
inline __m256i FirstLanes(int count) {
  const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), lanes);
}

inline __m256 LoadLanes(const float* values, __m256i lanes, bool all) {
  return all ? _mm256_loadu_ps(values) : _mm256_maskload_ps(values, lanes);
}

// With these operand orders NaN passes, as in the plain code.
inline __m256 ClampTo(__m256 value, __m256 low, __m256 high) {
  return _mm256_min_ps(high, _mm256_max_ps(low, value));
}

inline void StoreLanes(__m256 value, float* out, int count) {
  if (count >= 8) {
    _mm256_storeu_ps(out, value);
  } else if (count > 0) {
    _mm256_maskstore_ps(out, FirstLanes(count), value);
  }
}

// ---- What follows a layer ---------------------------------------------------------------------

// x * min(max(x + 3, 0), 6) / 6 of what lies in rows of `columns`, just stored: it need not be in
// every tile.
[[gnu::noinline]] void HardSwishRows(float* rows, size_t stride, int count, int columns) {
  const __m256 three = _mm256_set1_ps(3.0f), six = _mm256_set1_ps(6.0f);
  for (int c = 0; c < columns; c += 8) {
    const int left = columns - c;
    const __m256i lanes = FirstLanes(left);
    float* at = rows + c;
    for (int r = 0; r < count; ++r, at += stride) {
      const __m256 x = LoadLanes(at, lanes, left >= 8);
      const __m256 raised = _mm256_max_ps(_mm256_add_ps(x, three), _mm256_setzero_ps());
      const __m256 product = _mm256_mul_ps(x, _mm256_min_ps(raised, six));
      StoreLanes(_mm256_div_ps(product, six), at, left);
    }
  }
}

// Values of rows [row, row + kRows) in kVectors vectors of columns from `first` on, of which
// `columns` count.
template <int kRows, int kVectors>
[[gnu::always_inline]] inline void Follow(const EpilogueF32& epilogue, int row, int first,
                                          int columns, __m256 (&values)[kRows][kVectors]) {
  if (epilogue.addend != nullptr) {
    const __m256 low = _mm256_set1_ps(epilogue.low), high = _mm256_set1_ps(epilogue.high);
    const float* addend = epilogue.addend + static_cast<size_t>(row) * epilogue.addend_stride;
    const int behind = Smaller(first + columns, epilogue.addend_columns);
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r, addend += epilogue.addend_stride) {
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) {
        const int column = first + 8 * v, count = behind - column;
        const __m256 term = LoadLanes(addend + column, FirstLanes(count), count >= 8);
        values[r][v] = ClampTo(_mm256_add_ps(values[r][v], term), low, high);
      }
    }
  }
  if (epilogue.curve == EpilogueF32::Curve::kPrelu) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      const int count = columns - 8 * v;
      const __m256 slopes =
          LoadLanes(epilogue.slopes + first + 8 * v, FirstLanes(count), count >= 8);
#pragma GCC unroll 12
      for (int r = 0; r < kRows; ++r) {
        const __m256 x = values[r][v];
        const __m256 below = _mm256_cmp_ps(x, _mm256_setzero_ps(), _CMP_NGE_UQ);
        values[r][v] = _mm256_blendv_ps(x, _mm256_mul_ps(x, slopes), below);
      }
    }
  }
}

// Clamps the sums of rows [row, row + kRows), in vectors of columns from `first` on, computes what
// follows, and stores `columns` of it at `out`.
template <int kRows, int kVectors>
[[gnu::always_inline]] inline void FinishTile(float* out, size_t stride, __m256 low, __m256 high,
                                              const EpilogueF32* epilogue, int row, int first,
                                              int columns, const __m256 (&sums)[kRows][kVectors]) {
  if (epilogue == nullptr) {
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r, out += stride) {
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) {
        StoreLanes(ClampTo(sums[r][v], low, high), out + 8 * v, columns - 8 * v);
      }
    }
    return;
  }
  __m256 values[kRows][kVectors];
#pragma GCC unroll 12
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) values[r][v] = ClampTo(sums[r][v], low, high);
  }
  Follow(*epilogue, row, first, columns, values);
  float* to = out;
#pragma GCC unroll 12
  for (int r = 0; r < kRows; ++r, to += stride) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) StoreLanes(values[r][v], to + 8 * v, columns - 8 * v);
  }
  if (epilogue->curve == EpilogueF32::Curve::kHardSwish) {
    HardSwishRows(out, stride, kRows, Smaller(columns, 8 * kVectors));
  }
}

// ---- Float GEMM -------------------------------------------------------------------------------

// A product that leaves its accumulator where it is: g++ 12 may otherwise keep copies of a whole
// tile on the stack.
inline void MultiplyAdd(__m256* sum, __m256 a, __m256 b) {
  __asm__("vfmadd231ps %2, %1, %0" : "+x"(*sum) : "x"(a), "x"(b));
}

// Neighbouring rows of a left side. A pointer for every three of them: general registers are few.
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
  void Advance() {
#pragma GCC unroll 4
    for (const float*& three : threes) ++three;
  }
};

// kRows rows against kVectors vectors of columns, of the first half of a panel or of panels;
// `columns` of them are stored.
template <int kRows, int kVectors>
inline void GemmF32Block(const GemmTileF32& tile, int row, int first, int columns) {
  const size_t panel_stride =
      static_cast<size_t>(tile.parts) * static_cast<size_t>(tile.depth) * kColumnsF32;
  const float* b = tile.b + static_cast<size_t>(first / kColumnsF32) * panel_stride;
  __m256 sums[kRows][kVectors];
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) {
    const __m256 bias = _mm256_loadu_ps(tile.bias + first + 8 * v);
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r) sums[r][v] = bias;
  }
  const size_t offset = static_cast<size_t>(row) * tile.a_stride;
  for (int part = 0; part < tile.parts; ++part) {
    LeftRows<kRows> a(tile.a[part] + offset, tile.a_stride);
    for (int d = 0; d < tile.depth; ++d, b += kColumnsF32, a.Advance()) {
      __m256 weights[kVectors];
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) {
        weights[v] = _mm256_loadu_ps(b + static_cast<size_t>(v / 2) * panel_stride + 8 * (v % 2));
      }
#pragma GCC unroll 12
      for (int r = 0; r < kRows; ++r) {
        const __m256 value = _mm256_broadcast_ss(a.At(r));
#pragma GCC unroll 8
        for (int v = 0; v < kVectors; ++v) MultiplyAdd(&sums[r][v], value, weights[v]);
      }
    }
  }
  const __m256 low = _mm256_set1_ps(tile.low), high = _mm256_set1_ps(tile.high);
  float* out = tile.out + static_cast<size_t>(row) * tile.out_stride + first;
  FinishTile(out, tile.out_stride, low, high, tile.epilogue, row, first, columns, sums);
}

// All rows, kMost at a time, against kVectors vectors of one panel.
template <int kMost, int kVectors>
void GemmF32Panel(const GemmTileF32& tile, int first) {
  constexpr void (*kRest[])(const GemmTileF32&, int, int, int) = {
      &GemmF32Block<1, kVectors>, &GemmF32Block<2, kVectors>, &GemmF32Block<3, kVectors>,
      &GemmF32Block<4, kVectors>, &GemmF32Block<5, kVectors>, &GemmF32Block<6, kVectors>};
  const int columns = tile.columns - first;
  int row = 0;
  for (; row + kMost <= tile.rows; row += kMost) {
    GemmF32Block<kMost, kVectors>(tile, row, first, columns);
  }
  while (row < tile.rows) {
    const int rows = Smaller(tile.rows - row, kRowsF32);
    kRest[rows - 1](tile, row, first, columns);
    row += rows;
  }
}

void GemmF32(const GemmTileF32& tile) {
  int first = 0;
  if (tile.rows == 1) {
    // A single row would wait for its own sums: four panels keep eight of them in flight.
    for (; tile.columns - first > 3 * kColumnsF32; first += 4 * kColumnsF32) {
      GemmF32Block<1, 8>(tile, 0, first, tile.columns - first);
    }
  }
  for (; first < tile.columns; first += kColumnsF32) {
    if (tile.columns - first > 8) {
      GemmF32Panel<kRowsF32, 2>(tile, first);
    } else {
      GemmF32Panel<2 * kRowsF32, 1>(tile, first);
    }
  }
}

// ---- Dot products -----------------------------------------------------------------------------

inline float SumLanes(__m256 values) {
  __m128 sums = _mm_add_ps(_mm256_castps256_ps128(values), _mm256_extractf128_ps(values, 1));
  sums = _mm_add_ps(sums, _mm_movehl_ps(sums, sums));
  return _mm_cvtss_f32(_mm_add_ss(sums, _mm_movehdup_ps(sums)));
}

// kRows dot products with one row of weights.
template <int kRows>
inline void DotRows(const DotTileF32& tile, int row, int column) {
  __m256 sums[kRows];
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) sums[r] = _mm256_setzero_ps();
  const float* b = tile.b + static_cast<size_t>(column) * tile.b_stride;
  for (int part = 0; part < tile.parts; ++part, b += tile.depth) {
    const float* a = tile.a[part] + static_cast<size_t>(row) * tile.a_stride;
    for (int d = 0; d < tile.depth; d += 8) {
      const bool all = tile.depth - d >= 8;
      const __m256i lanes = FirstLanes(tile.depth - d);
      const __m256 weights = LoadLanes(b + d, lanes, all);
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) {
        const float* values = a + static_cast<size_t>(r) * tile.a_stride + d;
        sums[r] = _mm256_fmadd_ps(LoadLanes(values, lanes, all), weights, sums[r]);
      }
    }
  }
  const float bias = tile.bias == nullptr ? 0.0f : tile.bias[column];
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
    const float sum = bias + SumLanes(sums[r]);
    const float raised = sum < tile.low ? tile.low : sum;
    tile.out[static_cast<size_t>(row + r) * tile.out_stride + static_cast<size_t>(column)] =
        raised > tile.high ? tile.high : raised;
  }
}

void Dots(const DotTileF32& tile) {
  for (int column = 0; column < tile.columns; ++column) {
    int row = 0;
    for (; row + 4 <= tile.rows; row += 4) DotRows<4>(tile, row, column);
    for (; row < tile.rows; ++row) DotRows<1>(tile, row, column);
  }
}

// ---- Requantisation ---------------------------------------------------------------------------

// Stores the first `count` of 8 steps, to which the zero point is added.
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

// Eight columns at a time; `Finish` is made for the factors of eight columns and turns eight sums
// into clamped steps.
template <typename Finish>
inline void RequantizeColumns(const RequantizeTile& tile) {
  const __m256i zero_point = _mm256_set1_epi32(tile.zero_point);
  for (int c = 0; c < tile.columns; c += 8) {
    const int count = Smaller(8, tile.columns - c);
    const __m256i lanes = FirstLanes(count);
    const Finish finish(tile, c, lanes);
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

// (a * b + 2^30) >> 31 in each lane; b is never negative, so nothing saturates.
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
    // Rounding shift to the right, ties away from zero.
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

// ---- Sums of steps ----------------------------------------------------------------------------

struct StepSum {
  __m256 factor_a, factor_b, offset, low, high;
  __m256i zero_point;  // of 16 bits

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
    // Products are rounded by themselves: the compiler must not make a multiply-add of it.
    __asm__("" : "+x"(scaled));
    return scaled;
  }
  // Eight steps less the zero point.
  __m256i operator()(const int8_t* a, const int8_t* b) const {
    const __m256 steps =
        _mm256_add_ps(_mm256_add_ps(Scaled(a, factor_a), Scaled(b, factor_b)), offset);
    return _mm256_cvtps_epi32(_mm256_min_ps(_mm256_max_ps(steps, low), high));
  }
  // Sixteen steps, in the order of packed vectors.
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
  const auto rest = static_cast<size_t>(sum.count - i);
  std::memcpy(a, sum.a + i, rest);
  std::memcpy(b, sum.b + i, rest);
  block(a, b, out);
  std::memcpy(sum.out + i, out, rest);
}

// ---- Depthwise --------------------------------------------------------------------------------

// kColumns columns of 8 * kVectors channels from `first` on; `count` of the last vector are stored,
// and only those are read.
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
  const __m256 low = _mm256_set1_ps(in.low), high = _mm256_set1_ps(in.high);
  const auto stride = static_cast<size_t>(in.channels);
  float* out = in.out + static_cast<size_t>(column) * stride + first;
  FinishTile(out, stride, low, high, in.epilogue, column, first, 8 * (kVectors - 1) + count, sums);
}

// All channels of kColumns columns. Few columns take several vectors at once: a single sum would
// wait for itself.
template <int kColumns>
void DepthwiseF32Columns(const DepthwiseColumnsF32& in, int column) {
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

// kColumns neighbouring columns that are kStride taps apart, of kVectors vectors of channels: what
// several columns see is loaded once. Taps come in the same order as above.
template <int kColumns, int kTaps, int kStride, int kVectors, bool kAll>
inline void DepthwiseF32Shared(const DepthwiseColumnsF32& in, int column, int first, int count) {
  const __m256i lanes = FirstLanes(count);
  __m256 sums[kColumns][kVectors];
#pragma GCC unroll 2
  for (int v = 0; v < kVectors; ++v) {
    const __m256 bias = LoadLanes(in.bias + first + 8 * v, lanes, kAll);
#pragma GCC unroll 8
    for (int i = 0; i < kColumns; ++i) sums[i][v] = bias;
  }
  for (int row = 0; row < in.rows; ++row) {
    const float* input = in.inputs[row] + static_cast<size_t>(column) * in.column_step + first;
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      __m256 weights[kTaps];
#pragma GCC unroll 8
      for (int tap = 0; tap < kTaps; ++tap) {
        const float* from = in.weights[row] + first + 8 * v;
        weights[tap] = LoadLanes(from + static_cast<size_t>(tap) * in.weight_step, lanes, kAll);
      }
      const float* value_at = input + 8 * v;
#pragma GCC unroll 32
      for (int seen = 0; seen < (kColumns - 1) * kStride + kTaps; ++seen) {
        const __m256 value = LoadLanes(value_at, lanes, kAll);
        value_at += in.tap_step;
#pragma GCC unroll 8
        for (int i = 0; i < kColumns; ++i) {
          const int tap = seen - i * kStride;
          if (tap >= 0 && tap < kTaps) MultiplyAdd(&sums[i][v], value, weights[tap]);
        }
      }
    }
  }
  const __m256 low = _mm256_set1_ps(in.low), high = _mm256_set1_ps(in.high);
  const auto stride = static_cast<size_t>(in.channels);
  float* out = in.out + static_cast<size_t>(column) * stride + first;
  FinishTile(out, stride, low, high, in.epilogue, column, first, 8 * (kVectors - 1) + count, sums);
}

// All channels of kColumns columns from `column` on; of few columns two vectors at once.
template <int kColumns, int kTaps, int kStride>
void DepthwiseF32SharedColumns(const DepthwiseColumnsF32& in, int column) {
  int first = 0;
  if constexpr (kColumns < 8) {
    for (; first + 16 <= in.channels; first += 16) {
      DepthwiseF32Shared<kColumns, kTaps, kStride, 2, true>(in, column, first, 8);
    }
  }
  for (; first + 8 <= in.channels; first += 8) {
    DepthwiseF32Shared<kColumns, kTaps, kStride, 1, true>(in, column, first, 8);
  }
  if (first < in.channels) {
    DepthwiseF32Shared<kColumns, kTaps, kStride, 1, false>(in, column, first, in.channels - first);
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
constexpr DepthwiseF32Kernels kDepthwiseF32Avx2 = {.name = "avx2", .columns = &DepthwiseF32};
constexpr HalfKernels kHalfAvx2 = {.name = "avx2", .to_float = &HalfToFloat};

}  // namespace deputy

#else
#error "compile this file with -mavx2 -mfma -mf16c"
#endif
