// SPDX-License-Identifier: Apache-2.0
//
// Winograd transforms of int8 convolutions for x86-64 with AVX2, and their product: F(2x2, 3x3)
// with the points 0, 1, -1 and infinity. The weights are multiplied by 2 along each axis, so that
// all values are integers: planes of inputs are within +-512, those of weights within +-1152.
// Everything is in the unnamed namespace, and no inline function of a shared header is used.
#include "kernels/cpu/groups.h"

#if defined(__AVX2__)

#include <immintrin.h>

#include <cstring>

namespace deputy {
namespace {

constexpr int kVector = 16;   // number of 16-bit values per vector
constexpr int kColumns = 16;  // number of columns per panel
constexpr int kRows = 6;
constexpr int kPoints = 4;

inline int Min(int a, int b) { return a < b ? a : b; }

// Loads 16 bytes and sign-extends them to 16 bits.
inline __m256i Widened(const int8_t* values) {
  return _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(values)));
}

inline void Store(__m256i values, void* to) {
  _mm256_storeu_si256(static_cast<__m256i*>(to), values);
}

// ---- One-dimensional transforms ---------------------------------------------------------------

inline void InputAxis(const __m256i (&x)[4], __m256i (&out)[4]) {
  out[0] = _mm256_sub_epi16(x[0], x[2]);
  out[1] = _mm256_add_epi16(x[1], x[2]);
  out[2] = _mm256_sub_epi16(x[2], x[1]);
  out[3] = _mm256_sub_epi16(x[3], x[1]);
}

inline void FilterAxis(const __m256i (&g)[3], __m256i (&out)[4]) {
  const __m256i even = _mm256_add_epi16(g[0], g[2]);
  out[0] = _mm256_add_epi16(g[0], g[0]);
  out[1] = _mm256_add_epi16(even, g[1]);
  out[2] = _mm256_sub_epi16(even, g[1]);
  out[3] = _mm256_add_epi16(g[2], g[2]);
}

inline void OutputAxis(const __m256i (&m)[4], __m256i (&out)[2]) {
  out[0] = _mm256_add_epi32(m[0], _mm256_add_epi32(m[1], m[2]));
  out[1] = _mm256_add_epi32(m[3], _mm256_sub_epi32(m[1], m[2]));
}

// ---- Tiles ------------------------------------------------------------------------------------

void WinogradInput(const int8_t* const* pixels, int channels, int16_t* planes,
                   size_t plane_stride) {
  for (int c = 0; c < channels; c += kVector) {
    __m256i rows[kPoints][kPoints];
#pragma GCC unroll 4
    for (int x = 0; x < kPoints; ++x) {
      __m256i column[kPoints], points[kPoints];
#pragma GCC unroll 4
      for (int y = 0; y < kPoints; ++y) column[y] = Widened(pixels[y * kPoints + x] + c);
      InputAxis(column, points);
#pragma GCC unroll 4
      for (int y = 0; y < kPoints; ++y) rows[y][x] = points[y];
    }
    int16_t* out = planes + c;
#pragma GCC unroll 4
    for (int y = 0; y < kPoints; ++y) {
      __m256i points[kPoints];
      InputAxis(rows[y], points);
#pragma GCC unroll 4
      for (int x = 0; x < kPoints; ++x, out += plane_stride) Store(points[x], out);
    }
  }
}

void WinogradFilter(const int8_t* taps, size_t tap_stride, int count, int16_t* planes,
                    size_t plane_stride) {
  for (int c = 0; c < count; c += kVector) {
    __m256i rows[kPoints][3];
#pragma GCC unroll 3
    for (int x = 0; x < 3; ++x) {
      __m256i column[3], points[kPoints];
#pragma GCC unroll 3
      for (int y = 0; y < 3; ++y) {
        column[y] = Widened(taps + static_cast<size_t>(y * 3 + x) * tap_stride + c);
      }
      FilterAxis(column, points);
#pragma GCC unroll 4
      for (int y = 0; y < kPoints; ++y) rows[y][x] = points[y];
    }
    int16_t* out = planes + c;
#pragma GCC unroll 4
    for (int y = 0; y < kPoints; ++y) {
      __m256i points[kPoints];
      FilterAxis(rows[y], points);
#pragma GCC unroll 4
      for (int x = 0; x < kPoints; ++x, out += plane_stride) Store(points[x], out);
    }
  }
}

void WinogradOutput(const int32_t* planes, size_t plane_stride, const int32_t* bias, int32_t* sums,
                    size_t line_stride) {
  for (int c = 0; c < kColumns; c += kVector / 2) {
    __m256i rows[2][kPoints];
    const int32_t* from = planes + c;
#pragma GCC unroll 4
    for (int x = 0; x < kPoints; ++x, from += plane_stride) {
      __m256i column[kPoints], points[2];
#pragma GCC unroll 4
      for (int y = 0; y < kPoints; ++y) {
        column[y] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(
            from + static_cast<size_t>(y * kPoints) * plane_stride));
      }
      OutputAxis(column, points);
      rows[0][x] = points[0];
      rows[1][x] = points[1];
    }
    const __m256i start = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bias + c));
#pragma GCC unroll 2
    for (int y = 0; y < 2; ++y) {
      __m256i points[2];
      OutputAxis(rows[y], points);
      int32_t* const out = sums + static_cast<size_t>(y) * line_stride + c;
      Store(_mm256_add_epi32(start, _mm256_srai_epi32(points[0], 2)), out);
      Store(_mm256_add_epi32(start, _mm256_srai_epi32(points[1], 2)), out + kColumns);
    }
  }
}

// ---- The product ------------------------------------------------------------------------------

template <int kCount>
inline void MultiplyRows(const GemmTileS16& tile, int row) {
  const int16_t* a[kCount];
#pragma GCC unroll 6
  for (int r = 0; r < kCount; ++r) a[r] = tile.a + static_cast<size_t>(row + r) * tile.a_stride;
  __m256i sums[kCount][2];
#pragma GCC unroll 6
  for (int r = 0; r < kCount; ++r) sums[r][0] = sums[r][1] = _mm256_setzero_si256();
  const int16_t* b = tile.b;
  for (int d = 0; d < tile.depth; d += 2, b += 2 * kColumns) {
    const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b));
    const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b + kColumns));
#pragma GCC unroll 6
    for (int r = 0; r < kCount; ++r) {
      int32_t pair;
      std::memcpy(&pair, a[r] + d, sizeof pair);
      const __m256i value = _mm256_set1_epi32(pair);
      sums[r][0] = _mm256_add_epi32(sums[r][0], _mm256_madd_epi16(value, low));
      sums[r][1] = _mm256_add_epi32(sums[r][1], _mm256_madd_epi16(value, high));
    }
  }
#pragma GCC unroll 6
  for (int r = 0; r < kCount; ++r) {
    int32_t* const out = tile.sums + static_cast<size_t>(row + r) * tile.sums_stride;
    Store(sums[r][0], out);
    Store(sums[r][1], out + kColumns / 2);
  }
}

void Multiply(const GemmTileS16& tile) {
  constexpr void (*kByCount[])(const GemmTileS16&, int) = {&MultiplyRows<1>, &MultiplyRows<2>,
                                                           &MultiplyRows<3>, &MultiplyRows<4>,
                                                           &MultiplyRows<5>, &MultiplyRows<6>};
  for (int row = 0; row < tile.rows; row += kRows) {
    kByCount[Min(tile.rows - row, kRows) - 1](tile, row);
  }
}

}  // namespace

constexpr WinogradS8Kernels kWinogradS8Avx2 = {.channels = kVector,
                                               .rows = kRows,
                                               .input = &WinogradInput,
                                               .filter = &WinogradFilter,
                                               .multiply = &Multiply,
                                               .output = &WinogradOutput};

}  // namespace deputy

#else
#error "compile this file with -mavx2"
#endif
