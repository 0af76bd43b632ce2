// SPDX-License-Identifier: Apache-2.0
//
// float32 products for 32-bit ARM with NEON: tiles of 4 rows and 8 columns, whose sums stay in 8 of
// the 16 registers.
//
// VMLA rounds the product and the sum, so that the bits are those of the generic table, which adds
// in the same order. NEON treats denormal numbers as zero, and its NaN has no payload: results that
// depend on denormals or on payloads differ.
#include <arm_neon.h>

#include "kernels/cpu/groups.h"

namespace deputy {
namespace {

constexpr int kRowsF32 = 4, kColumnsF32 = 8;

// ---- Epilogues ----------------------------------------------------------------------------------

// NEON has no division, and a comparison of vectors treats denormals as zero. Epilogues are scalar.

float ClampTo(float value, float low, float high) {
  value = value < low ? low : value;
  return high < value ? high : value;
}

float HardSwish(float value) {
  const float raised = 0.0f < value + 3.0f ? value + 3.0f : 0.0f;
  return value * (raised < 6.0f ? raised : 6.0f) / 6.0f;
}

// Applies the epilogue to `count` values of a row from a column on.
void ApplyEpilogue(const EpilogueF32& epilogue, int row, int column, int count, float* values) {
  if (epilogue.addend != nullptr) {
    const float* addend =
        epilogue.addend + static_cast<size_t>(row) * epilogue.addend_stride + column;
    for (int c = 0; c < count; ++c) {
      const float term = column + c < epilogue.addend_columns ? addend[c] : 0.0f;
      values[c] = ClampTo(values[c] + term, epilogue.low, epilogue.high);
    }
  }
  if (epilogue.activation == EpilogueF32::Activation::kPrelu) {
    const float* slopes = epilogue.slopes + column;
    for (int c = 0; c < count; ++c) {
      values[c] = values[c] >= 0.0f ? values[c] : values[c] * slopes[c];
    }
  }
  if (epilogue.activation == EpilogueF32::Activation::kHardSwish) {
    for (int c = 0; c < count; ++c) values[c] = HardSwish(values[c]);
  }
}

// ---- Tiles --------------------------------------------------------------------------------------

// The sums of kRows rows and a panel's columns.
template <int kRows>
class Sums {
 public:
  [[gnu::always_inline]] explicit Sums(const float* bias) {
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      sums_[r][0] = vld1q_f32(bias);
      sums_[r][1] = vld1q_f32(bias + 4);
    }
  }

  // Adds the products of `depth` values of each row with a panel; returns the panel's end.
  [[gnu::always_inline]] const float* Add(const float* a, size_t stride, int depth,
                                          const float* b) {
    const float* rows[kRows];
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r, a += stride) rows[r] = a;
    for (; depth >= 2; depth -= 2, b += 2 * kColumnsF32) {
      float32x2_t values[kRows];
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r, rows[r - 1] += 2) values[r] = vld1_f32(rows[r]);
      AddLane<0>(values, b);
      AddLane<1>(values, b + kColumnsF32);
    }
    if (depth == 0) return b;
    float32x2_t values[kRows];
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) values[r] = vld1_dup_f32(rows[r]);
    AddLane<0>(values, b);
    return b + kColumnsF32;
  }

  // Stores the sums of a row: kColumnsF32 values.
  [[gnu::always_inline]] void Store(int row, float* out) const {
    vst1q_f32(out, sums_[row][0]);
    vst1q_f32(out + 4, sums_[row][1]);
  }

 private:
  // Adds the products of lane kLane of each row's values with a row of the panel.
  template <int kLane>
  [[gnu::always_inline]] void AddLane(const float32x2_t (&values)[kRows], const float* b) {
    const float32x4_t low = vld1q_f32(b), high = vld1q_f32(b + 4);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      sums_[r][0] = vmlaq_lane_f32(sums_[r][0], low, values[r], kLane);
      sums_[r][1] = vmlaq_lane_f32(sums_[r][1], high, values[r], kLane);
    }
  }

  float32x4_t sums_[kRows][2];
};

template <int kRows>
void GemmF32Rows(const GemmTileF32& tile, int row) {
  for (int first = 0; first < tile.columns; first += kColumnsF32) {
    Sums<kRows> sums(tile.bias + first);
    const float* b = tile.b + static_cast<size_t>(first) * static_cast<size_t>(tile.parts) *
                                  static_cast<size_t>(tile.depth);
    for (int part = 0; part < tile.parts; ++part) {
      const float* a = tile.a[part] + static_cast<size_t>(row) * tile.a_stride;
      b = sums.Add(a, tile.a_stride, tile.depth, b);
    }
    const int left = tile.columns - first, count = left < kColumnsF32 ? left : kColumnsF32;
    for (int r = 0; r < kRows; ++r) {
      float values[kColumnsF32];
      sums.Store(r, values);
      for (float& value : values) value = ClampTo(value, tile.low, tile.high);
      if (tile.epilogue != nullptr) ApplyEpilogue(*tile.epilogue, row + r, first, count, values);
      float* out = tile.out + static_cast<size_t>(row + r) * tile.out_stride + first;
      for (int c = 0; c < count; ++c) out[c] = values[c];
    }
  }
}

void GemmF32(const GemmTileF32& tile) {
  constexpr void (*kRemainder[])(const GemmTileF32&, int) = {&GemmF32Rows<1>, &GemmF32Rows<2>,
                                                             &GemmF32Rows<3>};
  int row = 0;
  for (; row + kRowsF32 <= tile.rows; row += kRowsF32) GemmF32Rows<kRowsF32>(tile, row);
  if (row < tile.rows) kRemainder[tile.rows - row - 1](tile, row);
}

// ---- Few columns --------------------------------------------------------------------------------

// Sums of a dot product in eight lanes. The remainder of each part is added to the lowest lanes;
// the others add +0, which changes no sum: a sum that starts at +0 is never -0.
class DotSums {
 public:
  void Add(const float* a, const float* b, int depth) {
    int d = 0;
    for (; d + 8 <= depth; d += 8) AddEight(a + d, b + d);
    if (d == depth) return;
    float last_a[8] = {}, last_b[8] = {};
    for (int i = 0; d < depth; ++d, ++i) {
      last_a[i] = a[d];
      last_b[i] = b[d];
    }
    AddEight(last_a, last_b);
  }

  // Returns `bias` plus the lanes in ascending order.
  float Total(float bias) const {
    float lanes[8];
    vst1q_f32(lanes, low_);
    vst1q_f32(lanes + 4, high_);
    for (const float lane : lanes) bias += lane;
    return bias;
  }

 private:
  void AddEight(const float* a, const float* b) {
    low_ = vmlaq_f32(low_, vld1q_f32(a), vld1q_f32(b));
    high_ = vmlaq_f32(high_, vld1q_f32(a + 4), vld1q_f32(b + 4));
  }

  float32x4_t low_ = vdupq_n_f32(0.0f), high_ = vdupq_n_f32(0.0f);
};

void Dots(const DotTileF32& tile) {
  for (int row = 0; row < tile.rows; ++row) {
    for (int column = 0; column < tile.columns; ++column) {
      DotSums sums;
      const float* b = tile.b + static_cast<size_t>(column) * tile.b_stride;
      for (int part = 0; part < tile.parts; ++part, b += tile.depth) {
        sums.Add(tile.a[part] + static_cast<size_t>(row) * tile.a_stride, b, tile.depth);
      }
      const float sum = sums.Total(tile.bias == nullptr ? 0.0f : tile.bias[column]);
      tile.out[static_cast<size_t>(row) * tile.out_stride + static_cast<size_t>(column)] =
          ClampTo(sum, tile.low, tile.high);
    }
  }
}

}  // namespace

constexpr GemmF32Kernels kGemmF32Neon32 = {
    .name = "neon32", .rows = kRowsF32, .columns = kColumnsF32, .tile = &GemmF32, .dots = &Dots};

}  // namespace deputy
