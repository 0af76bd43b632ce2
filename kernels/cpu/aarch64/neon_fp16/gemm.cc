// SPDX-License-Identifier: Apache-2.0
//
// float16 products for AArch64 with multiply-adds of eight float16 values (FEAT_FP16): tiles of 8
// rows and 8 columns.
//
// Sums of up to kChunk products are float16; they are added to float32 sums. Every sum is one chain
// of multiply-adds in ascending order of the depth, so that it does not depend on the tile it is
// in.
#include "kernels/cpu/aarch64/neon/neon.inc"

namespace deputy {
namespace {

constexpr int kRowsF16 = 8;
// Number of products that are added in float16.
constexpr int kChunk = 64;
// Number of values of two adjacent positions of the depth in a panel.
constexpr int kPairValues = 2 * kPanelColumns;

// Adds the products of b and lane kLane of a. With the intrinsic g++ 12 moves sums between
// registers. Instructions by lane of float16 accept the registers 0 to 15 only.
template <int kLane>
[[gnu::always_inline]] inline void MultiplyLane(float16x8_t b, float16x8_t a, float16x8_t* sum) {
#if defined(__clang__)
  *sum = vfmaq_laneq_f16(*sum, b, a, kLane);
#else
  __asm__("fmla %0.8h, %1.8h, %2.h[%3]" : "+w"(*sum) : "w"(b), "x"(a), "i"(kLane));
#endif
}

[[gnu::always_inline]] inline float16x8_t LoadHalves(const uint16_t* from) {
  return vreinterpretq_f16_u16(vld1q_u16(from));
}

// Loads two values into the lowest lanes; the others are zero.
inline float16x8_t LoadTwo(const uint16_t* values) {
  uint32_t both;
  std::memcpy(&both, values, sizeof both);
  return vreinterpretq_f16_u32(vsetq_lane_u32(both, vdupq_n_u32(0), 0));
}

// The float16 sums of kRows rows and kPanels panels. It is no class: g++ 12 would store its member
// to memory in each iteration of a loop.
template <int kRows, int kPanels>
using SumsF16 = float16x8_t[kRows][kPanels];

template <int kRows, int kPanels>
[[gnu::always_inline]] inline void Clear(SumsF16<kRows, kPanels>& sums) {
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int p = 0; p < kPanels; ++p) sums[r][p] = vreinterpretq_f16_u16(vdupq_n_u16(0));
  }
}

// The float32 sums that the float16 sums are added to: the bias, later the totals of each row.
template <int kRows, int kPanels>
struct Totals {
  const float* base;  // values of the first row
  size_t stride = 0;  // distance between the values of adjacent rows
  float values[kRows][kPanels * kPanelColumns];

  // Returns row r of a panel plus its float16 sums.
  [[gnu::always_inline]] float32x4x2_t Plus(float16x8_t sums, int r, int panel) const {
    const float* from = base + static_cast<size_t>(r) * stride + panel * kPanelColumns;
    return {{vaddq_f32(vld1q_f32(from), vcvt_f32_f16(vget_low_f16(sums))),
             vaddq_f32(vld1q_f32(from + 4), vcvt_high_f32_f16(sums))}};
  }

  // Adds the float16 sums and sets them to zero.
  [[gnu::always_inline]] void Flush(SumsF16<kRows, kPanels>& sums) {
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
      for (int p = 0; p < kPanels; ++p) {
        const float32x4x2_t total = Plus(sums[r][p], r, p);
        vst1q_f32(values[r] + p * kPanelColumns, total.val[0]);
        vst1q_f32(values[r] + p * kPanelColumns + 4, total.val[1]);
      }
    }
    base = values[0];
    stride = kPanels * kPanelColumns;
    Clear<kRows, kPanels>(sums);
  }
};

// Two rows of a panel, which belong to adjacent positions of the depth.
struct PanelPair {
  float16x8_t even, odd;

  [[gnu::always_inline]] explicit PanelPair(const uint16_t* b) {
    const float16x8_t first = LoadHalves(b), second = LoadHalves(b + kPanelColumns);
    even = vuzp1q_f16(first, second);
    odd = vuzp2q_f16(first, second);
  }
};

// Adds the products of lanes kLane and kLane + 1 of kCount rows' values with a pair of a panel's
// rows.
template <int kLane, int kCount, int kPanels>
[[gnu::always_inline]] inline void AddPair(const float16x8_t (&values)[kCount], PanelPair b,
                                           float16x8_t (*sums)[kPanels], int panel) {
#pragma GCC unroll 8
  for (int r = 0; r < kCount; ++r) MultiplyLane<kLane>(b.even, values[r], &sums[r][panel]);
#pragma GCC unroll 8
  for (int r = 0; r < kCount; ++r) MultiplyLane<kLane + 1>(b.odd, values[r], &sums[r][panel]);
}

// Adds the products of the eight values at `d` of kCount rows with a panel.
template <int kCount>
[[gnu::always_inline]] inline void AddEight(const uint16_t* const* rows, size_t d,
                                            const PanelPair (&b)[4], float16x8_t (*sums)[1]) {
  float16x8_t values[kCount];
#pragma GCC unroll 4
  for (int r = 0; r < kCount; ++r) values[r] = LoadHalves(rows[r] + d);
  AddPair<0>(values, b[0], sums, 0);
  AddPair<2>(values, b[1], sums, 0);
  AddPair<4>(values, b[2], sums, 0);
  AddPair<6>(values, b[3], sums, 0);
}

// Adds the products of the values [d, end) of each row, a multiple of eight, with a panel.
// Four rows at a time leave enough of the registers that MultiplyLane accepts.
template <int kRows>
[[gnu::always_inline]] inline void AddEights(const uint16_t* const (&rows)[kRows], size_t d,
                                             size_t end, const uint16_t* const (&panels)[1],
                                             SumsF16<kRows, 1>& sums) {
  for (; d < end; d += 8) {
    const uint16_t* const b = panels[0] + d * kPanelColumns;
    const PanelPair pairs[4] = {PanelPair(b), PanelPair(b + kPairValues),
                                PanelPair(b + 2 * kPairValues), PanelPair(b + 3 * kPairValues)};
    constexpr int kFirst = Min(kRows, 4);
    AddEight<kFirst>(rows, d, pairs, sums);
    if constexpr (kRows > kFirst) AddEight<kRows - kFirst>(rows + kFirst, d, pairs, sums + kFirst);
  }
}

// Adds the products of the values [d, end) of a row, a multiple of eight, with several panels.
template <int kPanels>
[[gnu::always_inline]] inline void AddEightsOfRow(const uint16_t* row, size_t d, size_t end,
                                                  const uint16_t* const (&panels)[kPanels],
                                                  SumsF16<1, kPanels>& sums) {
  for (; d < end; d += 8) {
    const float16x8_t values[1] = {LoadHalves(row + d)};
#pragma GCC unroll 4
    for (int p = 0; p < kPanels; ++p) {
      const uint16_t* const b = panels[p] + d * kPanelColumns;
      AddPair<0>(values, PanelPair(b), sums, p);
      AddPair<2>(values, PanelPair(b + kPairValues), sums, p);
      AddPair<4>(values, PanelPair(b + 2 * kPairValues), sums, p);
      AddPair<6>(values, PanelPair(b + 3 * kPairValues), sums, p);
    }
  }
}

// Adds the products of one part of each row with the panels, whose part begins at `b`. `left` is
// the number of products that may still be added to `sums`.
template <int kRows, int kPanels>
[[gnu::always_inline]] inline void AddPart(const uint16_t* const (&rows)[kRows], int depth,
                                           const uint16_t* const (&b)[kPanels], int* left,
                                           SumsF16<kRows, kPanels>& sums,
                                           Totals<kRows, kPanels>& totals) {
  int d = 0;
  while (d + 8 <= depth) {
    if (*left < 8) {
      totals.Flush(sums);
      *left = kChunk;
    }
    const int count = Min(depth - d, *left) / 8 * 8;
    const auto from = static_cast<size_t>(d), end = static_cast<size_t>(d + count);
    if constexpr (kPanels == 1) {
      AddEights<kRows>(rows, from, end, b, sums);
    } else {
      AddEightsOfRow<kPanels>(rows[0], from, end, b, sums);
    }
    *left -= count;
    d += count;
  }
  for (; d < depth; d += 2, *left -= 2) {
    if (*left < 2) {
      totals.Flush(sums);
      *left = kChunk;
    }
    float16x8_t values[kRows];
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) values[r] = LoadTwo(rows[r] + d);
#pragma GCC unroll 4
    for (int p = 0; p < kPanels; ++p) {
      AddPair<0>(values, PanelPair(b[p] + static_cast<size_t>(d) * kPanelColumns), sums, p);
    }
  }
}

// Computes rows [row, row + kRows) of kPanels panels whose first column is `first`.
template <int kRows, int kPanels>
[[gnu::always_inline]] inline void RowsOfPanels(const GemmTileBf16& tile, int row, int first) {
  const auto depth = static_cast<size_t>(tile.depth);
  const size_t panel = depth * static_cast<size_t>(tile.parts) * kPanelColumns;
  const uint16_t* b[kPanels];
#pragma GCC unroll 4
  for (int p = 0; p < kPanels; ++p) {
    b[p] = tile.b + (static_cast<size_t>(first / kPanelColumns) + static_cast<size_t>(p)) * panel;
  }
  Totals<kRows, kPanels> totals;
  totals.base = tile.bias + first;
  SumsF16<kRows, kPanels> sums;
  Clear<kRows, kPanels>(sums);
  int left = kChunk;
  for (int part = 0; part < tile.parts; ++part) {
    const uint16_t* rows[kRows];
    rows[0] = tile.a[part] + static_cast<size_t>(row) * tile.a_stride;
#pragma GCC unroll 8
    for (int r = 1; r < kRows; ++r) rows[r] = rows[r - 1] + tile.a_stride;
    AddPart<kRows, kPanels>(rows, tile.depth, b, &left, sums, totals);
#pragma GCC unroll 4
    for (int p = 0; p < kPanels; ++p) b[p] += depth * kPanelColumns;
  }
#pragma GCC unroll 4
  for (int p = 0; p < kPanels; ++p) {
    const int column = first + p * kPanelColumns;
    if (column >= tile.columns) return;
    float32x4_t results[kRows][2];
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const float32x4x2_t total = totals.Plus(sums[r][p], r, p);
      results[r][0] = total.val[0];
      results[r][1] = total.val[1];
    }
    StoreRows(tile, row, column, results);
  }
}

// Computes rows [row, end), a multiple of kRows, of kPanels panels whose first column is `first`.
template <int kRows, int kPanels>
void PanelRows(const GemmTileBf16& tile, int row, int end, int first) {
  for (; row < end; row += kRows) RowsOfPanels<kRows, kPanels>(tile, row, first);
}

void Multiply(const GemmTileBf16& tile) {
  constexpr void (*kBySize[])(const GemmTileBf16&, int, int, int) = {
      &PanelRows<1, 1>, &PanelRows<2, 1>, &PanelRows<3, 1>, &PanelRows<4, 1>,
      &PanelRows<5, 1>, &PanelRows<6, 1>, &PanelRows<7, 1>};
  constexpr int kPanels = 4;  // panels that are multiplied by a single row at once
  const int remainder = tile.rows % kRowsF16, whole = tile.rows - remainder;
  int first = 0;
  if (tile.rows == 1) {
    for (; tile.columns - first > (kPanels - 1) * kPanelColumns; first += kPanels * kPanelColumns) {
      PanelRows<1, kPanels>(tile, 0, 1, first);
    }
  }
  for (; first < tile.columns; first += kPanelColumns) {
    PanelRows<kRowsF16, 1>(tile, 0, whole, first);
    if (remainder > 0) kBySize[remainder - 1](tile, whole, tile.rows, first);
  }
}

// ---- Conversion ---------------------------------------------------------------------------------

[[gnu::always_inline]] inline uint16x8_t Convert(float32x4_t first, float32x4_t second) {
  return vreinterpretq_u16_f16(vcvt_high_f16_f32(vcvt_f16_f32(first), second));
}

void FromFloat(const RowsToBf16& job) { ConvertRows<&Convert>(job); }

}  // namespace

constexpr GemmBf16Kernels kGemmF16Neon = {.name = "neon_fp16",
                                          .rows = kRowsF16,
                                          .columns = kPanelColumns,
                                          .is_float16 = true,
                                          .tile = &Multiply,
                                          .from_float = &FromFloat};

}  // namespace deputy
