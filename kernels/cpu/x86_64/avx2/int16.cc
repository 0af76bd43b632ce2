// SPDX-License-Identifier: Apache-2.0
//
// Dot products of int16 for x86-64 with AVX2. Everything is in the unnamed namespace, and no inline
// function of a shared header is used.
//
// vpmaddwd adds the products of two pairs in 32 bits. The sum is in [-2147418112, 2^31]; 2^31, from
// four factors of -2^15, wraps. Adding 2^31 - 1 modulo 2^32 makes it an unsigned 32-bit
// number; even and odd lanes are then accumulated separately in 64 bits.
#include "kernels/cpu/groups.h"

#if defined(__AVX2__)

#include <immintrin.h>

#include <cstring>

namespace deputy {
namespace {

constexpr int kStep = 16, kColumns = 4;

inline __m256i Load(const int16_t* from) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}

struct Sum {
  __m256i even = _mm256_setzero_si256(), odd = _mm256_setzero_si256();

  [[gnu::always_inline]] void Add(__m256i a, __m256i b) {
    const __m256i biased = _mm256_add_epi32(_mm256_madd_epi16(a, b), _mm256_set1_epi32(0x7fffffff));
    even = _mm256_add_epi64(even, _mm256_and_si256(biased, _mm256_set1_epi64x(0xffffffff)));
    odd = _mm256_add_epi64(odd, _mm256_srli_epi64(biased, 32));
  }
};

// Total bias in a sum of `additions` biased 32-bit values.
inline int64_t Bias(int64_t additions) { return additions * 0x7fffffff; }

inline void Store(__m256i from, int64_t* to) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), from);
}

// Computes the dot products of four columns; entries of `b` may repeat the last column.
void DotColumns(const DotsS16& dots, const int16_t* const (&b)[kColumns], int64_t* out) {
  Sum sums[kColumns];
  const int64_t whole = dots.depth / kStep * kStep;
  for (int64_t d = 0; d < whole; d += kStep) {
    const __m256i a = Load(dots.a + d);
#pragma GCC unroll 4
    for (int c = 0; c < kColumns; ++c) sums[c].Add(a, Load(b[c] + d));
  }
  const auto left = static_cast<size_t>(dots.depth - whole);
  if (left > 0) {
    int16_t a[kStep] = {}, column[kStep] = {};
    std::memcpy(a, dots.a + whole, left * sizeof *a);
#pragma GCC unroll 4
    for (int c = 0; c < kColumns; ++c) {
      std::memcpy(column, b[c] + whole, left * sizeof *a);
      sums[c].Add(Load(a), Load(column));
    }
  }
  const int64_t bias = Bias((whole / kStep + (left > 0 ? 1 : 0)) * 8);
#pragma GCC unroll 4
  for (int c = 0; c < kColumns; ++c) {
    int64_t lanes[4];
    Store(_mm256_add_epi64(sums[c].even, sums[c].odd), lanes);
    out[c] = lanes[0] + lanes[1] + lanes[2] + lanes[3] - bias;
  }
}

void OfColumns(const DotsS16& dots) {
  for (int first = 0; first < dots.columns; first += kColumns) {
    const int16_t* columns[kColumns];
    for (int c = 0; c < kColumns; ++c) {
      const int column = first + c < dots.columns ? first + c : dots.columns - 1;
      columns[c] = dots.b + column * dots.stride;
    }
    int64_t sums[kColumns];
    DotColumns(dots, columns, sums);
    for (int c = 0; c < kColumns && first + c < dots.columns; ++c) dots.sums[first + c] = sums[c];
  }
}

// Computes the dot products of 16 columns, of which `count` exist. Two rows are interleaved at a
// time, so that vpmaddwd multiplies pairs of one column.
void SumRows(const DotsS16& dots, int first, int count) {
  const auto bytes = static_cast<size_t>(count) * sizeof(int16_t);
  int16_t rows[2][kStep] = {};
  Sum sums[2];
  for (int64_t d = 0; d < dots.depth; d += 2) {
    const bool pair = d + 1 < dots.depth;
    const int16_t* even = dots.b + d * dots.stride + first;
    const int16_t* odd = pair ? even + dots.stride : even;
    if (count < kStep) {
      std::memcpy(rows[0], even, bytes);
      std::memcpy(rows[1], odd, bytes);
      even = rows[0];
      odd = rows[1];
    }
    const auto low = static_cast<uint16_t>(dots.a[d]);
    const auto high = static_cast<uint16_t>(pair ? dots.a[d + 1] : 0);
    const __m256i a =
        _mm256_set1_epi32(static_cast<int32_t>(low | static_cast<uint32_t>(high) << 16));
    const __m256i x = Load(even), y = Load(odd);
    sums[0].Add(a, _mm256_unpacklo_epi16(x, y));
    sums[1].Add(a, _mm256_unpackhi_epi16(x, y));
  }
  // sums[0] holds columns 0 to 3 and 8 to 11 (vpunpcklwd), sums[1] holds columns 4 to 7 and 12 to
  // 15.
  int64_t lanes[2][2][4];
  for (int half = 0; half < 2; ++half) {
    Store(sums[half].even, lanes[half][0]);
    Store(sums[half].odd, lanes[half][1]);
  }
  const int64_t bias = Bias((dots.depth + 1) / 2);
  for (int c = 0; c < count; ++c) {
    const int lane = c / 8 * 2 + c % 4 / 2;
    dots.sums[first + c] = lanes[c % 8 / 4][c % 2][lane] - bias;
  }
}

void OfRows(const DotsS16& dots) {
  for (int first = 0; first < dots.columns; first += kStep) {
    const int left = dots.columns - first;
    SumRows(dots, first, left < kStep ? left : kStep);
  }
}

}  // namespace

constexpr DotsS16Kernels kDotsS16Avx2 = {
    .name = "avx2", .of_columns = &OfColumns, .of_rows = &OfRows};

}  // namespace deputy

#else
#error "compile this file with -mavx2"
#endif
