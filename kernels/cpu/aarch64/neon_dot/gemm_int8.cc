// SPDX-License-Identifier: Apache-2.0
//
// int8 products for AArch64 with dot products of four values (SDOT).
#include "kernels/cpu/aarch64/neon/gemm_int8.inc"

namespace deputy {
namespace {

constexpr int kRun = 4;
// Bytes of a run of the depth in a panel.
constexpr int kRunBytes = kRun * kColumnsS8;

template <int kRows>
class Sums : public RowSums<kRows> {
 public:
  using RowSums<kRows>::RowSums;

  [[gnu::always_inline]] void Add(const int8_t* const (&a)[kRows], int depth, const int8_t* b) {
    int d = 0;
    for (; d + 4 * kRun <= depth; d += 4 * kRun, b += 4 * kRunBytes) {
      int8x16_t values[kRows];
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) values[r] = vld1q_s8(a[r] + d);
      AddLane<0>(values, b);
      AddLane<1>(values, b + kRunBytes);
      AddLane<2>(values, b + 2 * kRunBytes);
      AddLane<3>(values, b + 3 * kRunBytes);
    }
    if ((depth & (2 * kRun)) != 0) {
      int8x8_t values[kRows];
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) values[r] = vld1_s8(a[r] + d);
      AddShortLane<0>(values, b);
      AddShortLane<1>(values, b + kRunBytes);
      d += 2 * kRun;
      b += 2 * kRunBytes;
    }
    if ((depth & kRun) != 0) {
      int8x8_t values[kRows];
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) {
        // g++ 12 loads the four bytes with two instructions.
        __asm__("ldr %s0, %1" : "=w"(values[r]) : "m"(*FourBytes(a[r] + d)));
      }
      AddShortLane<0>(values, b);
    }
  }

 private:
  using RowSums<kRows>::sums_;

  using Four = int8_t[kRun];
  static const Four* FourBytes(const int8_t* from) { return reinterpret_cast<const Four*>(from); }

  // Adds the products of run kLane of each row's 8 values with a run of the panel.
  template <int kLane>
  [[gnu::always_inline]] void AddShortLane(const int8x8_t (&values)[kRows], const int8_t* b) {
    const int8x16_t weights0 = vld1q_s8(b), weights1 = vld1q_s8(b + kRunBytes / 2);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      sums_[r][0] = vdotq_lane_s32(sums_[r][0], weights0, values[r], kLane);
      sums_[r][1] = vdotq_lane_s32(sums_[r][1], weights1, values[r], kLane);
    }
  }

  // Adds the products of run kLane of each row's values with a run of the panel.
  template <int kLane>
  [[gnu::always_inline]] void AddLane(const int8x16_t (&values)[kRows], const int8_t* b) {
    const int8x16_t weights0 = vld1q_s8(b), weights1 = vld1q_s8(b + kRunBytes / 2);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      sums_[r][0] = vdotq_laneq_s32(sums_[r][0], weights0, values[r], kLane);
      sums_[r][1] = vdotq_laneq_s32(sums_[r][1], weights1, values[r], kLane);
    }
  }
};

}  // namespace

constexpr GemmS8Kernels kGemmS8NeonDot = GemmS8Named<Sums>("neon_dot", kRun);

}  // namespace deputy
