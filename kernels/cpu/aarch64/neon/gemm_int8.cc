// SPDX-License-Identifier: Apache-2.0
//
// int8 products for every AArch64 processor: values are widened to 16 bits and multiplied by lane
// into 32-bit sums (SMLAL).
#include "kernels/cpu/aarch64/neon/gemm_int8.inc"

namespace deputy {
namespace {

template <int kRows>
class Sums : public RowSums<kRows> {
 public:
  using RowSums<kRows>::RowSums;

  [[gnu::always_inline]] void Add(const int8_t* const (&a)[kRows], int depth, const int8_t* b) {
    int d = 0;
    for (; d + 8 <= depth; d += 8, b += 8 * kColumnsS8) {
      int16x8_t values[kRows];
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) values[r] = vmovl_s8(vld1_s8(a[r] + d));
      AddLane<0>(values, b);
      AddLane<1>(values, b + kColumnsS8);
      AddLane<2>(values, b + 2 * kColumnsS8);
      AddLane<3>(values, b + 3 * kColumnsS8);
      AddLane<4>(values, b + 4 * kColumnsS8);
      AddLane<5>(values, b + 5 * kColumnsS8);
      AddLane<6>(values, b + 6 * kColumnsS8);
      AddLane<7>(values, b + 7 * kColumnsS8);
    }
    for (; d < depth; ++d, b += kColumnsS8) {
      int16x8_t values[kRows];
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) values[r] = vdupq_n_s16(a[r][d]);
      AddLane<0>(values, b);
    }
  }

 private:
  using RowSums<kRows>::sums_;

  // Adds the products of lane kLane of each row's values with a row of the panel.
  template <int kLane>
  [[gnu::always_inline]] void AddLane(const int16x8_t (&values)[kRows], const int8_t* b) {
    const int16x8_t weights = vmovl_s8(vld1_s8(b));
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      sums_[r][0] = vmlal_laneq_s16(sums_[r][0], vget_low_s16(weights), values[r], kLane);
      sums_[r][1] = vmlal_high_laneq_s16(sums_[r][1], weights, values[r], kLane);
    }
  }
};

}  // namespace

constexpr GemmS8Kernels kGemmS8Neon = GemmS8Named<Sums>("neon", 1);

}  // namespace deputy
