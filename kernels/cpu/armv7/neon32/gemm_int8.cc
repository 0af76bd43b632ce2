// SPDX-License-Identifier: Apache-2.0
//
// int8 products for 32-bit ARM with NEON: tiles of 4 rows and 8 columns. The left operand has 16
// bits; weights are widened to 16 bits and multiplied by lane into 32-bit sums (VMLAL).
#include <arm_neon.h>

#include "kernels/cpu/groups.h"

namespace deputy {
namespace {

constexpr int kRowsS8 = 4, kColumnsS8 = 8;

// ---- Tiles --------------------------------------------------------------------------------------

// The sums of kRows rows and a panel's columns.
template <int kRows>
class Sums {
 public:
  [[gnu::always_inline]] explicit Sums(const int32_t* bias) {
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      sums_[r][0] = vld1q_s32(bias);
      sums_[r][1] = vld1q_s32(bias + 4);
    }
  }

  // Adds the products of `depth` values of each row with a panel.
  [[gnu::always_inline]] void Add(const int16_t* const (&rows)[kRows], int depth, const int8_t* b) {
    int d = 0;
    for (; d + 4 <= depth; d += 4, b += 4 * kColumnsS8) {
      int16x4_t values[kRows];
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) values[r] = vld1_s16(rows[r] + d);
      AddLane<0>(values, b);
      AddLane<1>(values, b + kColumnsS8);
      AddLane<2>(values, b + 2 * kColumnsS8);
      AddLane<3>(values, b + 3 * kColumnsS8);
    }
    for (; d < depth; ++d, b += kColumnsS8) {
      int16x4_t values[kRows];
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) values[r] = vld1_dup_s16(rows[r] + d);
      AddLane<0>(values, b);
    }
  }

  // Stores the sums of a row: kColumnsS8 values.
  [[gnu::always_inline]] void Store(int row, int32_t* out) const {
    vst1q_s32(out, sums_[row][0]);
    vst1q_s32(out + 4, sums_[row][1]);
  }

 private:
  // Adds the products of lane kLane of each row's values with a row of the panel.
  template <int kLane>
  [[gnu::always_inline]] void AddLane(const int16x4_t (&values)[kRows], const int8_t* b) {
    const int16x8_t weights = vmovl_s8(vld1_s8(b));
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      sums_[r][0] = vmlal_lane_s16(sums_[r][0], vget_low_s16(weights), values[r], kLane);
      sums_[r][1] = vmlal_lane_s16(sums_[r][1], vget_high_s16(weights), values[r], kLane);
    }
  }

  int32x4_t sums_[kRows][2];
};

template <int kRows>
void GemmS8Rows(const GemmTileS8& tile) {
  const int16_t* rows[kRows];
  for (int r = 0; r < kRows; ++r) {
    rows[r] = reinterpret_cast<const int16_t*>(tile.a + static_cast<size_t>(r) * tile.a_stride);
  }
  for (int first = 0; first < tile.columns; first += kColumnsS8) {
    Sums<kRows> sums(tile.bias + first);
    sums.Add(rows, tile.depth,
             tile.b + static_cast<size_t>(first) * static_cast<size_t>(tile.depth));
    int32_t* out = tile.sums + first;
    for (int r = 0; r < kRows; ++r, out += tile.sums_stride) sums.Store(r, out);
  }
}

void GemmS8(const GemmTileS8& tile) {
  constexpr void (*kBySize[])(const GemmTileS8&) = {&GemmS8Rows<1>, &GemmS8Rows<2>, &GemmS8Rows<3>,
                                                    &GemmS8Rows<4>};
  kBySize[tile.rows - 1](tile);
}

// ---- Left operand -------------------------------------------------------------------------------

void LeftFromS8(const int8_t* values, size_t count, void* out) {
  auto* wide = static_cast<int16_t*>(out);
  size_t i = 0;
  for (; i + 8 <= count; i += 8) vst1q_s16(wide + i, vmovl_s8(vld1_s8(values + i)));
  for (; i < count; ++i) wide[i] = values[i];
}

void LeftFromU8(const uint8_t* values, size_t count, void* out) {
  auto* wide = static_cast<int16_t*>(out);
  const uint8x8_t offset = vdup_n_u8(128);
  size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    // The difference is modulo 2^16, the bits of a signed value.
    vst1q_s16(wide + i, vreinterpretq_s16_u16(vsubl_u8(vld1_u8(values + i), offset)));
  }
  for (; i < count; ++i) wide[i] = static_cast<int16_t>(values[i] - 128);
}

}  // namespace

constexpr GemmS8Kernels kGemmS8Neon32 = {.name = "neon32",
                                         .rows = kRowsS8,
                                         .columns = kColumnsS8,
                                         .run = 1,
                                         .left = LhsEncoding::kInt16,
                                         .left_from_s8 = &LeftFromS8,
                                         .left_from_u8 = &LeftFromU8,
                                         .tile = &GemmS8};

}  // namespace deputy
