// SPDX-License-Identifier: Apache-2.0
//
// int8 products for AArch64 with products of 2 x 8 by 8 x 2 matrices (SMMLA).
#include "kernels/cpu/aarch64/neon/gemm_int8.inc"

namespace deputy {
namespace {

constexpr int kRun = 8;
// Bytes of a run of the depth in a panel.
constexpr int kRunBytes = kRun * kColumnsS8;

// The sums of pairs of rows; the last row of an odd number of rows is computed twice.
template <int kRows>
class Sums {
 public:
  static constexpr int kGatheredDepth = 2048;

  [[gnu::always_inline]] explicit Sums(int32x4x2_t bias) {
#pragma GCC unroll 4
    for (int j = 0; j < kColumnPairs; ++j) {
      const int64x2_t columns = vreinterpretq_s64_s32(bias.val[j / 2]);
      const int64x2_t both =
          j % 2 == 0 ? vzip1q_s64(columns, columns) : vzip2q_s64(columns, columns);
#pragma GCC unroll 4
      for (int p = 0; p < kRowPairs; ++p) sums_[p][j] = vreinterpretq_s32_s64(both);
    }
  }

  [[gnu::always_inline]] void Add(const int8_t* const (&a)[kRows], int depth, const int8_t* b) {
    int d = 0;
    for (; d + 2 * kRun <= depth; d += 2 * kRun, b += 2 * kRunBytes) {
      int8x16_t run0[kRowPairs], run1[kRowPairs];
#pragma GCC unroll 4
      for (int p = 0; p < kRowPairs; ++p) {
        const int64x2_t first = vreinterpretq_s64_s8(vld1q_s8(a[2 * p] + d));
        const int64x2_t second = vreinterpretq_s64_s8(vld1q_s8(a[SecondOf(p)] + d));
        run0[p] = vreinterpretq_s8_s64(vzip1q_s64(first, second));
        run1[p] = vreinterpretq_s8_s64(vzip2q_s64(first, second));
      }
      AddRun(run0, b);
      AddRun(run1, b + kRunBytes);
    }
    if (d < depth) {
      int8x16_t run[kRowPairs];
#pragma GCC unroll 4
      for (int p = 0; p < kRowPairs; ++p) {
        run[p] = vcombine_s8(vld1_s8(a[2 * p] + d), vld1_s8(a[SecondOf(p)] + d));
      }
      AddRun(run, b);
    }
  }

  // Interleaves pairs of rows: [run][pair][two rows][values].
  static void Gather(const int8_t* const (&a)[kRows], int depth, int8_t* out) {
    int d = 0;
    for (; d + 2 * kRun <= depth; d += 2 * kRun, out += 2 * kGatheredBytes) {
#pragma GCC unroll 4
      for (int p = 0; p < kRowPairs; ++p) {
        const int64x2_t first = vreinterpretq_s64_s8(vld1q_s8(a[2 * p] + d));
        const int64x2_t second = vreinterpretq_s64_s8(vld1q_s8(a[SecondOf(p)] + d));
        int8_t* const to = out + 2 * kRun * p;
        vst1q_s8(to, vreinterpretq_s8_s64(vzip1q_s64(first, second)));
        vst1q_s8(to + kGatheredBytes, vreinterpretq_s8_s64(vzip2q_s64(first, second)));
      }
    }
    if (d == depth) return;
#pragma GCC unroll 4
    for (int p = 0; p < kRowPairs; ++p) {
      vst1q_s8(out + 2 * kRun * p, vcombine_s8(vld1_s8(a[2 * p] + d), vld1_s8(a[SecondOf(p)] + d)));
    }
  }

  [[gnu::always_inline]] void AddGathered(const int8_t* gathered, int depth, const int8_t* b) {
    const int8_t* const end = gathered + static_cast<size_t>(depth / kRun) * kGatheredBytes;
    if (depth % (2 * kRun) != 0) {
      AddGatheredRun(gathered, b);
      gathered += kGatheredBytes;
      b += kRunBytes;
    }
    for (; gathered != end; gathered += 2 * kGatheredBytes, b += 2 * kRunBytes) {
      AddGatheredRun(gathered, b);
      AddGatheredRun(gathered + kGatheredBytes, b + kRunBytes);
    }
  }

  int32x4x2_t Row(int r) const {
    const int32x4_t(&pairs)[kColumnPairs] = sums_[r / 2];
    if (r % 2 == 0) {
      return {{vcombine_s32(vget_low_s32(pairs[0]), vget_low_s32(pairs[1])),
               vcombine_s32(vget_low_s32(pairs[2]), vget_low_s32(pairs[3]))}};
    }
    return {{vcombine_s32(vget_high_s32(pairs[0]), vget_high_s32(pairs[1])),
             vcombine_s32(vget_high_s32(pairs[2]), vget_high_s32(pairs[3]))}};
  }

  int32x4x4_t Pair(int pair) const {
    const int32x4_t(&columns)[kColumnPairs] = sums_[pair];
    return {{columns[0], columns[1], columns[2], columns[3]}};
  }
  static float32x4x4_t Factors(float32x4x2_t factors) {
    const float64x2_t low = vreinterpretq_f64_f32(factors.val[0]);
    const float64x2_t high = vreinterpretq_f64_f32(factors.val[1]);
    return {{vreinterpretq_f32_f64(vzip1q_f64(low, low)),
             vreinterpretq_f32_f64(vzip2q_f64(low, low)),
             vreinterpretq_f32_f64(vzip1q_f64(high, high)),
             vreinterpretq_f32_f64(vzip2q_f64(high, high))}};
  }
  static int8x16_t Bytes(int8x16_t results) {
    constexpr uint8_t kOrder[16] = {0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15};
    return vqtbl1q_s8(results, vld1q_u8(kOrder));
  }

 private:
  static constexpr int kRowPairs = (kRows + 1) / 2, kColumnPairs = kColumnsS8 / 2;
  // Bytes of a run of all rows after Gather.
  static constexpr int kGatheredBytes = 2 * kRun * kRowPairs;

  // Returns the second row of a pair.
  static constexpr int SecondOf(int pair) { return Min(2 * pair + 1, kRows - 1); }

  [[gnu::always_inline]] void AddGatheredRun(const int8_t* gathered, const int8_t* b) {
    int8x16_t run[kRowPairs];
#pragma GCC unroll 4
    for (int p = 0; p < kRowPairs; ++p) run[p] = vld1q_s8(gathered + 2 * kRun * p);
    AddRun(run, b);
  }

  [[gnu::always_inline]] void AddRun(const int8x16_t (&rows)[kRowPairs], const int8_t* b) {
#pragma GCC unroll 4
    for (int j = 0; j < kColumnPairs; ++j) {
      const int8x16_t columns = vld1q_s8(b + 2 * kRun * j);
#pragma GCC unroll 4
      for (int p = 0; p < kRowPairs; ++p) {
        sums_[p][j] = vmmlaq_s32(sums_[p][j], rows[p], columns);
      }
    }
  }

  // The four sums of each element: the first row's two columns, then the second row's.
  int32x4_t sums_[kRowPairs][kColumnPairs];
};

}  // namespace

constexpr GemmS8Kernels kGemmS8NeonI8mm = GemmS8Named<Sums>("neon_i8mm", kRun);

}  // namespace deputy
