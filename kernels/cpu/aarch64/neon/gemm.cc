// SPDX-License-Identifier: Apache-2.0
//
// float32 products for AArch64: tiles of 8 rows and 8 columns, whose sums stay in 16 registers, and
// multiply-adds by lane.
#include "kernels/cpu/aarch64/neon/neon.inc"

namespace deputy {
namespace {

constexpr int kRowsF32 = 8, kColumnsF32 = 8;

// ---- Tiles --------------------------------------------------------------------------------------

// Adds the products of lane kLane of each row's values with a row of the panel.
template <int kLane, int kRows>
[[gnu::always_inline]] inline void MultiplyLane(const float32x4_t (&values)[kRows], const float* b,
                                                float32x4_t (&sums)[kRows][2]) {
  const float32x4_t b0 = vld1q_f32(b), b1 = vld1q_f32(b + 4);
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
    sums[r][0] = vfmaq_laneq_f32(sums[r][0], b0, values[r], kLane);
    sums[r][1] = vfmaq_laneq_f32(sums[r][1], b1, values[r], kLane);
  }
}

// Adds the products of `depth` values of each row with a panel; returns the panel's end.
template <int kRows>
[[gnu::always_inline]] inline const float* MultiplyRows(const float* a, size_t stride, int depth,
                                                        const float* b,
                                                        float32x4_t (&sums)[kRows][2]) {
  const float* rows[kRows];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) rows[r] = a + static_cast<size_t>(r) * stride;
  int d = 0;
  for (; d + 4 <= depth; d += 4, b += 4 * kColumnsF32) {
    float32x4_t values[kRows];
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      values[r] = vld1q_f32(rows[r]);
      rows[r] += 4;
    }
    MultiplyLane<0>(values, b, sums);
    MultiplyLane<1>(values, b + kColumnsF32, sums);
    MultiplyLane<2>(values, b + 2 * kColumnsF32, sums);
    MultiplyLane<3>(values, b + 3 * kColumnsF32, sums);
  }
  for (; d < depth; ++d, b += kColumnsF32) {
    float32x4_t values[kRows];
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) values[r] = vld1q_dup_f32(rows[r]++);
    MultiplyLane<0>(values, b, sums);
  }
  return b;
}

// Computes kRows rows of the panel whose first column is `first`.
template <int kRows>
void GemmF32Block(const GemmTileF32& tile, int row, int first) {
  const float* b = tile.b + static_cast<size_t>(first) * static_cast<size_t>(tile.parts) *
                                static_cast<size_t>(tile.depth);
  float32x4_t sums[kRows][2];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
    sums[r][0] = vld1q_f32(tile.bias + first);
    sums[r][1] = vld1q_f32(tile.bias + first + 4);
  }
  for (int part = 0; part < tile.parts; ++part) {
    const float* a = tile.a[part] + static_cast<size_t>(row) * tile.a_stride;
    b = MultiplyRows(a, tile.a_stride, tile.depth, b, sums);
  }
  const float32x4_t low = vdupq_n_f32(tile.low), high = vdupq_n_f32(tile.high);
  float* out = tile.out + static_cast<size_t>(row) * tile.out_stride + first;
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r, out += tile.out_stride) {
#pragma GCC unroll 2
    for (int v = 0; v < 2; ++v) {
      const int column = first + 4 * v, count = tile.columns - column;
      float32x4_t value = ClampTo(sums[r][v], low, high);
      if (tile.epilogue != nullptr) {
        value = ApplyEpilogue(*tile.epilogue, row + r, column, count, value);
      }
      StoreLanes(value, out + 4 * v, count);
    }
  }
}

void GemmF32(const GemmTileF32& tile) {
  constexpr void (*kRemainder[])(const GemmTileF32&, int, int) = {
      &GemmF32Block<1>, &GemmF32Block<2>, &GemmF32Block<3>, &GemmF32Block<4>,
      &GemmF32Block<5>, &GemmF32Block<6>, &GemmF32Block<7>};
  for (int first = 0; first < tile.columns; first += kColumnsF32) {
    int row = 0;
    for (; row + kRowsF32 <= tile.rows; row += kRowsF32) GemmF32Block<kRowsF32>(tile, row, first);
    if (row < tile.rows) kRemainder[tile.rows - row - 1](tile, row, first);
  }
}

// ---- Few columns --------------------------------------------------------------------------------

// Returns the dot product of a row and a column, without bias.
float Dot(const DotTileF32& tile, int row, int column) {
  float32x4_t sum0 = vdupq_n_f32(0.0f), sum1 = sum0;
  float remainder = 0.0f;
  const float* b = tile.b + static_cast<size_t>(column) * tile.b_stride;
  for (int part = 0; part < tile.parts; ++part, b += tile.depth) {
    const float* a = tile.a[part] + static_cast<size_t>(row) * tile.a_stride;
    int d = 0;
    for (; d + 8 <= tile.depth; d += 8) {
      sum0 = vfmaq_f32(sum0, vld1q_f32(a + d), vld1q_f32(b + d));
      sum1 = vfmaq_f32(sum1, vld1q_f32(a + d + 4), vld1q_f32(b + d + 4));
    }
    for (; d < tile.depth; ++d) remainder = __builtin_fmaf(a[d], b[d], remainder);
  }
  return vaddvq_f32(vaddq_f32(sum0, sum1)) + remainder;
}

void Dots(const DotTileF32& tile) {
  for (int row = 0; row < tile.rows; ++row) {
    float* out = tile.out + static_cast<size_t>(row) * tile.out_stride;
    for (int column = 0; column < tile.columns; ++column) {
      float sum = (tile.bias == nullptr ? 0.0f : tile.bias[column]) + Dot(tile, row, column);
      sum = sum < tile.low ? tile.low : sum;
      out[column] = tile.high < sum ? tile.high : sum;
    }
  }
}

}  // namespace

constexpr GemmF32Kernels kGemmF32Neon = {
    .name = "neon", .rows = kRowsF32, .columns = kColumnsF32, .tile = &GemmF32, .dots = &Dots};

}  // namespace deputy
