// SPDX-License-Identifier: Apache-2.0
//
// bfloat16 products for AArch64 with products of 2 x 4 by 4 x 2 matrices (BFMMLA).
//
// One instruction adds the products of four values of the depth to a float32 sum. It rounds
// intermediate results to odd and flushes denormals, independently of the modes in FPCR. Every sum
// is one chain of these instructions in ascending order of the depth, so that it does not depend on
// its tile.
#include "kernels/cpu/aarch64/neon/neon.inc"

namespace deputy {
namespace {

constexpr int kRowsBf16 = 8;
// Number of values of a panel for two consecutive positions of the depth, a pair.
constexpr int kPairValues = 2 * kPanelColumns;

// Adds the products of four values of two rows and two columns. With the intrinsic, g++ 12 moves
// sums between registers.
[[gnu::always_inline]] inline void AddProducts(uint16x8_t rows, uint16x8_t columns,
                                               float32x4_t* sums) {
#if defined(__clang__)
  *sums = vbfmmlaq_f32(*sums, vreinterpretq_bf16_u16(rows), vreinterpretq_bf16_u16(columns));
#else
  __asm__("bfmmla %0.4s, %1.8h, %2.8h" : "+w"(*sums) : "w"(rows), "w"(columns));
#endif
}

[[gnu::always_inline]] inline uint16x8_t FirstHalves(uint16x8_t a, uint16x8_t b) {
  return vreinterpretq_u16_u64(vzip1q_u64(vreinterpretq_u64_u16(a), vreinterpretq_u64_u16(b)));
}
[[gnu::always_inline]] inline uint16x8_t SecondHalves(uint16x8_t a, uint16x8_t b) {
  return vreinterpretq_u16_u64(vzip2q_u64(vreinterpretq_u64_u16(a), vreinterpretq_u64_u16(b)));
}

// Interleaves two pairs of the depth of four columns: two columns per vector.
struct ColumnsOfFour {
  uint16x8_t first, second;

  [[gnu::always_inline]] ColumnsOfFour(uint16x8_t pair0, uint16x8_t pair1) {
    const uint32x4_t a = vreinterpretq_u32_u16(pair0), b = vreinterpretq_u32_u16(pair1);
    first = vreinterpretq_u16_u32(vzip1q_u32(a, b));
    second = vreinterpretq_u16_u32(vzip2q_u32(a, b));
  }
};

// Loads two values into the lowest lanes; the others are zero.
inline uint16x8_t LoadTwo(const uint16_t* values) {
  uint32_t both;
  std::memcpy(&both, values, sizeof both);
  return vreinterpretq_u16_u32(vsetq_lane_u32(both, vdupq_n_u32(0), 0));
}

// The sums of kRows rows and a panel's columns. The last row of an odd number of rows is computed
// twice.
template <int kRows>
class Sums {
 public:
  [[gnu::always_inline]] explicit Sums(const float* bias) {
#pragma GCC unroll 4
    for (int j = 0; j < kColumnPairs; ++j) {
      const float32x2_t two = vld1_f32(bias + 2 * j);
#pragma GCC unroll 4
      for (int p = 0; p < kRowPairs; ++p) sums_[p][j] = vcombine_f32(two, two);
    }
  }

  // Adds the products of `depth` values of each row, an even number, with a panel; returns the
  // panel's end.
  [[gnu::always_inline]] const uint16_t* Add(const uint16_t* a, size_t stride, int depth,
                                             const uint16_t* b) {
    const uint16_t* rows[kRows];
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r, a += stride) rows[r] = a;
    for (; depth >= 8; depth -= 8, b += 4 * kPairValues) {
      uint16x8_t low[kRowPairs], high[kRowPairs];
#pragma GCC unroll 4
      for (int p = 0; p < kRowPairs; ++p) {
        const uint16x8_t first = vld1q_u16(rows[2 * p]), second = vld1q_u16(rows[SecondOf(p)]);
        low[p] = FirstHalves(first, second);
        high[p] = SecondHalves(first, second);
      }
      AddFour(low, b, b + kPairValues);
      AddFour(high, b + 2 * kPairValues, b + 3 * kPairValues);
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) rows[r] += 8;
    }
    if (depth >= 4) {
      uint16x8_t four[kRowPairs];
#pragma GCC unroll 4
      for (int p = 0; p < kRowPairs; ++p) {
        four[p] = vcombine_u16(vld1_u16(rows[2 * p]), vld1_u16(rows[SecondOf(p)]));
      }
      AddFour(four, b, b + kPairValues);
      b += 2 * kPairValues;
    }
    if (depth % 4 == 0) return b;
    constexpr uint16_t kZeros[kPairValues] = {};
    const int done = depth & 4;
    uint16x8_t two[kRowPairs];
#pragma GCC unroll 4
    for (int p = 0; p < kRowPairs; ++p) {
      two[p] = FirstHalves(LoadTwo(rows[2 * p] + done), LoadTwo(rows[SecondOf(p)] + done));
    }
    AddFour(two, b, kZeros);
    return b + kPairValues;
  }

  // Writes the sums of each row: columns 0 to 3 and 4 to 7.
  [[gnu::always_inline]] void Rows(float32x4_t (&out)[kRows][2]) const {
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const float32x4_t(&pairs)[kColumnPairs] = sums_[r / 2];
#pragma GCC unroll 2
      for (int v = 0; v < 2; ++v) {
        const float64x2_t a = vreinterpretq_f64_f32(pairs[2 * v]);
        const float64x2_t b = vreinterpretq_f64_f32(pairs[2 * v + 1]);
        out[r][v] = vreinterpretq_f32_f64(r % 2 == 0 ? vzip1q_f64(a, b) : vzip2q_f64(a, b));
      }
    }
  }

 private:
  static constexpr int kRowPairs = (kRows + 1) / 2, kColumnPairs = kPanelColumns / 2;

  // Returns the second row of a pair.
  static constexpr int SecondOf(int pair) { return Min(2 * pair + 1, kRows - 1); }

  // Adds the products of four values of the depth, whose weights are two pairs of the panel.
  [[gnu::always_inline]] void AddFour(const uint16x8_t (&rows)[kRowPairs], const uint16_t* pair0,
                                      const uint16_t* pair1) {
#pragma GCC unroll 2
    for (int j = 0; j < kColumnPairs; j += 2) {
      const ColumnsOfFour columns(vld1q_u16(pair0 + 4 * j), vld1q_u16(pair1 + 4 * j));
#pragma GCC unroll 4
      for (int p = 0; p < kRowPairs; ++p) {
        AddProducts(rows[p], columns.first, &sums_[p][j]);
        AddProducts(rows[p], columns.second, &sums_[p][j + 1]);
      }
    }
  }

  // The four sums of each element: the first row's two columns, then the second row's.
  float32x4_t sums_[kRowPairs][kColumnPairs];
};

// Computes rows [row, end), a multiple of kRows, of the panel whose first column is `first`.
template <int kRows>
void PanelRows(const GemmTileBf16& tile, int row, int end, int first) {
  const uint16_t* const panel = tile.b + static_cast<size_t>(first) *
                                             static_cast<size_t>(tile.parts) *
                                             static_cast<size_t>(tile.depth);
  for (; row < end; row += kRows) {
    Sums<kRows> sums(tile.bias + first);
    const uint16_t* b = panel;
    for (int part = 0; part < tile.parts; ++part) {
      const uint16_t* a = tile.a[part] + static_cast<size_t>(row) * tile.a_stride;
      b = sums.Add(a, tile.a_stride, tile.depth, b);
    }
    float32x4_t results[kRows][2];
    sums.Rows(results);
    StoreRows(tile, row, first, results);
  }
}

void Multiply(const GemmTileBf16& tile) {
  constexpr void (*kBySize[])(const GemmTileBf16&, int, int, int) = {
      &PanelRows<1>, &PanelRows<2>, &PanelRows<3>, &PanelRows<4>,
      &PanelRows<5>, &PanelRows<6>, &PanelRows<7>};
  const int remainder = tile.rows % kRowsBf16, whole = tile.rows - remainder;
  for (int first = 0; first < tile.columns; first += kPanelColumns) {
    PanelRows<kRowsBf16>(tile, 0, whole, first);
    if (remainder > 0) kBySize[remainder - 1](tile, whole, tile.rows, first);
  }
}

// ---- Conversion ---------------------------------------------------------------------------------

[[gnu::always_inline]] inline uint16x8_t Convert(float32x4_t first, float32x4_t second) {
  return vreinterpretq_u16_bf16(vcvtq_high_bf16_f32(vcvtq_low_bf16_f32(first), second));
}

void FromFloat(const RowsToBf16& job) { ConvertRows<&Convert>(job); }

}  // namespace

constexpr GemmBf16Kernels kGemmBf16NeonBf16 = {.name = "neon_bf16",
                                               .rows = kRowsBf16,
                                               .columns = kPanelColumns,
                                               .tile = &Multiply,
                                               .from_float = &FromFloat};

}  // namespace deputy
