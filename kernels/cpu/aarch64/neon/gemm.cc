// SPDX-License-Identifier: Apache-2.0
//
// float32 products for AArch64: tiles of 8 rows and 8 columns, whose sums stay in 16 registers, and
// multiply-adds by lane.
#include "kernels/cpu/aarch64/neon/neon.inc"

namespace deputy {
namespace {

constexpr int kRowsF32 = 8, kColumnsF32 = kPanelColumns;

// ---- Tiles --------------------------------------------------------------------------------------

// This file is compiled without instruction scheduling: loads precede their use by a few products,
// as in-order processors require.

// Adds the products of b and lane kLane of a. With the intrinsic, g++ 12 moves sums between
// registers in each round of a loop, which then takes 20 instead of 16 cycles of a Neoverse V1.
template <int kLane>
[[gnu::always_inline]] inline void MultiplyLane(float32x4_t b, float32x4_t a, float32x4_t* sum) {
#if defined(__clang__)
  *sum = vfmaq_laneq_f32(*sum, b, a, kLane);
#else
  asm("fmla %0.4s, %1.4s, %2.s[%3]" : "+w"(*sum) : "w"(b), "w"(a), "i"(kLane));
#endif
}

// Adds the products of b and a.
[[gnu::always_inline]] inline void MultiplyScalar(float32x4_t b, float a, float32x4_t* sum) {
#if defined(__clang__)
  *sum = vfmaq_n_f32(*sum, b, a);
#else
  asm("fmla %0.4s, %1.4s, %2.s[0]" : "+w"(*sum) : "w"(b), "w"(a));
#endif
}

// Adds the products of lane kLane of each row's values with a row of the panel.
template <int kLane, int kRows>
[[gnu::always_inline]] inline void MultiplyRow(const float32x4_t (&values)[kRows], float32x4x2_t b,
                                               float32x4_t (&sums)[kRows][2]) {
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
    MultiplyLane<kLane>(b.val[0], values[r], &sums[r][0]);
    MultiplyLane<kLane>(b.val[1], values[r], &sums[r][1]);
  }
}

[[gnu::always_inline]] inline float32x4x2_t LoadPair(const float* from) {
  return {{vld1q_f32(from), vld1q_f32(from + 4)}};
}

[[gnu::always_inline]] inline float32x4_t LoadNext(const float** from) {
  const float32x4_t values = vld1q_f32(*from);
  *from += 4;
  return values;
}

// Adds the products of `depth` values of each row with a panel; returns the panel's end.
template <int kRows>
[[gnu::always_inline]] inline const float* MultiplyRows(const float* a, size_t stride, int depth,
                                                        const float* b,
                                                        float32x4_t (&sums)[kRows][2]) {
  const float* rows[kRows];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r, a += stride) rows[r] = a;
  for (; depth >= 4; depth -= 4, b += 4 * kColumnsF32) {
    // Number of rows whose values are loaded before the first product.
    constexpr int kAhead = Min(kRows, 3);
    float32x4_t values[kRows];
    const float32x4x2_t b0 = LoadPair(b);
#pragma GCC unroll 8
    for (int r = 0; r < kAhead; ++r) values[r] = LoadNext(&rows[r]);
    const float32x4x2_t b1 = LoadPair(b + kColumnsF32);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      MultiplyLane<0>(b0.val[0], values[r], &sums[r][0]);
      if (r + kAhead < kRows) values[r + kAhead] = LoadNext(&rows[r + kAhead]);
      MultiplyLane<0>(b0.val[1], values[r], &sums[r][1]);
    }
    const float32x4x2_t b2 = LoadPair(b + 2 * kColumnsF32);
    MultiplyRow<1>(values, b1, sums);
    const float32x4x2_t b3 = LoadPair(b + 3 * kColumnsF32);
    MultiplyRow<2>(values, b2, sums);
    MultiplyRow<3>(values, b3, sums);
  }
  for (; depth > 0; --depth, b += kColumnsF32) {
    const float32x4x2_t b0 = LoadPair(b);
    float values[kRows];
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) values[r] = *rows[r]++;
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      MultiplyScalar(b0.val[0], values[r], &sums[r][0]);
      MultiplyScalar(b0.val[1], values[r], &sums[r][1]);
    }
  }
  return b;
}

// Computes rows [row, end), a multiple of kRows, of the panel whose first column is `first`.
template <int kRows>
void GemmF32Rows(const GemmTileF32& tile, int row, int end, int first) {
  const float* const panel = tile.b + static_cast<size_t>(first) * static_cast<size_t>(tile.parts) *
                                          static_cast<size_t>(tile.depth);
  for (; row < end; row += kRows) {
    float32x4_t sums[kRows][2];
    const float* bias = tile.bias + first;
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      sums[r][0] = vld1q_f32(bias);
      sums[r][1] = vld1q_f32(bias + 4);
    }
    const float* b = panel;
    for (int part = 0; part < tile.parts; ++part) {
      const float* a = tile.a[part] + static_cast<size_t>(row) * tile.a_stride;
      b = MultiplyRows(a, tile.a_stride, tile.depth, b, sums);
    }
    StoreRows(tile, row, first, sums);
  }
}

// Computes all rows of a panel. With a few rows, products are bound by the latency of the sums:
// the last 9 to 11 rows are divided evenly.
void GemmF32Panel(const GemmTileF32& tile, int first) {
  constexpr void (*kRows[])(const GemmTileF32&, int, int, int) = {
      &GemmF32Rows<1>, &GemmF32Rows<2>, &GemmF32Rows<3>, &GemmF32Rows<4>,
      &GemmF32Rows<5>, &GemmF32Rows<6>, &GemmF32Rows<7>};
  const int remainder = tile.rows % kRowsF32;
  const bool divides = remainder > 0 && remainder < 4 && tile.rows > kRowsF32;
  int row = tile.rows - remainder - (divides ? kRowsF32 : 0);
  if (row > 0) GemmF32Rows<kRowsF32>(tile, 0, row, first);
  while (row < tile.rows) {
    const int left = tile.rows - row, count = left > kRowsF32 ? (left + 1) / 2 : left;
    kRows[count - 1](tile, row, row + count, first);
    row += count;
  }
}

// ---- One row
// --------------------------------------------------------------------------------------

// Number of panels that are multiplied by a single row at once: the sums of one panel are bound by
// latency.
constexpr int kPanels = 4;

// Adds the products of `depth` values of a row with kPanels panels; advances the panels.
[[gnu::always_inline]] inline void MultiplyPanels(const float* a, int depth,
                                                  const float* (&b)[kPanels],
                                                  float32x4_t (&sums)[kPanels][2]) {
  for (; depth > 0; --depth, ++a) {
    const float value = *a;
    float32x4x2_t weights[kPanels];
#pragma GCC unroll 4
    for (int p = 0; p < kPanels; ++p, b[p - 1] += kColumnsF32) weights[p] = LoadPair(b[p]);
#pragma GCC unroll 4
    for (int p = 0; p < kPanels; ++p) {
      MultiplyScalar(weights[p].val[0], value, &sums[p][0]);
      MultiplyScalar(weights[p].val[1], value, &sums[p][1]);
    }
  }
}

// Computes the only row of kPanels panels from column `first` on.
void GemmF32Row(const GemmTileF32& tile, int first) {
  const size_t depth = static_cast<size_t>(tile.parts) * static_cast<size_t>(tile.depth);
  const float* b[kPanels];
  float32x4_t sums[kPanels][2];
#pragma GCC unroll 4
  for (int p = 0; p < kPanels; ++p) {
    const auto column = static_cast<size_t>(first + p * kColumnsF32);
    b[p] = tile.b + column * depth;
    sums[p][0] = vld1q_f32(tile.bias + column);
    sums[p][1] = vld1q_f32(tile.bias + column + 4);
  }
  for (int part = 0; part < tile.parts; ++part) {
    MultiplyPanels(tile.a[part], tile.depth, b, sums);
  }
#pragma GCC unroll 4
  for (int p = 0; p < kPanels; ++p) {
    float32x4_t row[1][2] = {{sums[p][0], sums[p][1]}};
    StoreRows(tile, 0, first + p * kColumnsF32, row);
  }
}

void GemmF32(const GemmTileF32& tile) {
  int first = 0;
  if (tile.rows == 1) {
    constexpr int kWidth = kPanels * kColumnsF32;
    for (; first + kWidth <= tile.columns; first += kWidth) GemmF32Row(tile, first);
  }
  for (; first < tile.columns; first += kColumnsF32) GemmF32Panel(tile, first);
}

// ---- Few columns --------------------------------------------------------------------------------

// Sums of a column's dot products with kRows rows: two vectors, and the products of the last
// values of each part.
template <int kRows>
struct DotSums {
  float32x4_t vectors[kRows][2];
  float remainders[kRows];

  [[gnu::always_inline]] inline DotSums() {
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      vectors[r][0] = vectors[r][1] = vdupq_n_f32(0.0f);
      remainders[r] = 0.0f;
    }
  }

  // Adds the products of `depth` values.
  [[gnu::always_inline]] inline void Add(const float* a, size_t stride, const float* b, int depth) {
    const float* rows[kRows];
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r, a += stride) rows[r] = a;
    int d = 0;
    for (; d + 8 <= depth; d += 8) {
      const float32x4x2_t weights = LoadPair(b + d);
      float32x4x2_t values[kRows];
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) values[r] = LoadPair(rows[r] + d);
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) {
        vectors[r][0] = vfmaq_f32(vectors[r][0], values[r].val[0], weights.val[0]);
        vectors[r][1] = vfmaq_f32(vectors[r][1], values[r].val[1], weights.val[1]);
      }
    }
    for (; d < depth; ++d) {
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) {
        remainders[r] = __builtin_fmaf(rows[r][d], b[d], remainders[r]);
      }
    }
  }
  [[gnu::always_inline]] inline float Total(int row) const {
    return vaddvq_f32(vaddq_f32(vectors[row][0], vectors[row][1])) + remainders[row];
  }
};

// Computes all columns of kRows rows. Several rows share the loads of a column and hide the latency
// of the sums.
template <int kRows>
void DotRows(const DotTileF32& tile, int row) {
  for (int column = 0; column < tile.columns; ++column) {
    DotSums<kRows> sums;
    const float* b = tile.b + static_cast<size_t>(column) * tile.b_stride;
    for (int part = 0; part < tile.parts; ++part, b += tile.depth) {
      const float* a = tile.a[part] + static_cast<size_t>(row) * tile.a_stride;
      sums.Add(a, tile.a_stride, b, tile.depth);
    }
    const float bias = tile.bias == nullptr ? 0.0f : tile.bias[column];
    float* out = tile.out + static_cast<size_t>(row) * tile.out_stride + column;
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r, out += tile.out_stride) {
      const float sum = bias + sums.Total(r), raised = sum < tile.low ? tile.low : sum;
      *out = tile.high < raised ? tile.high : raised;
    }
  }
}

void Dots(const DotTileF32& tile) {
  constexpr int kRows = 4;
  int row = 0;
  for (; row + kRows <= tile.rows; row += kRows) DotRows<kRows>(tile, row);
  for (; row < tile.rows; ++row) DotRows<1>(tile, row);
}

}  // namespace

constexpr GemmF32Kernels kGemmF32Neon = {
    .name = "neon", .rows = kRowsF32, .columns = kColumnsF32, .tile = &GemmF32, .dots = &Dots};

}  // namespace deputy
