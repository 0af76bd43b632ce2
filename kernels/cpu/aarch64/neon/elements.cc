// SPDX-License-Identifier: Apache-2.0
//
// Kernels for AArch64 that compute element by element: requantisation, sums of quantised arrays,
// and conversion of float16.
#include "kernels/cpu/aarch64/neon/neon.inc"

namespace deputy {
namespace {

// ---- Requantisation -----------------------------------------------------------------------------

// Requantises `count` columns, fewer than 8.
void RequantizeSome(const Requantization& requantization, const int32_t* sums, const float* factors,
                    int count, int8_t* out) {
  const auto n = static_cast<size_t>(count);
  int32_t values[8] = {};
  float scales[8] = {};
  int8_t bytes[8];
  std::memcpy(values, sums, n * sizeof(int32_t));
  std::memcpy(scales, factors, n * sizeof(float));
  vst1_s8(bytes, requantization.Apply(vld1q_s32(values), vld1q_s32(values + 4), vld1q_f32(scales),
                                      vld1q_f32(scales + 4)));
  std::memcpy(out, bytes, n);
}

void RequantizeFloat(const RequantizeTile& tile) {
  const Requantization requantization(tile);
  for (int r = 0; r < tile.rows; ++r) {
    const int32_t* sums = tile.sums + static_cast<size_t>(r) * tile.sums_stride;
    const float* f = tile.factors;
    int8_t* out = tile.out + static_cast<size_t>(r) * tile.out_stride;
    int c = 0;
    for (; c + 8 <= tile.columns; c += 8) {
      vst1_s8(out + c, requantization.Apply(vld1q_s32(sums + c), vld1q_s32(sums + c + 4),
                                            vld1q_f32(f + c), vld1q_f32(f + c + 4)));
    }
    if (c < tile.columns) {
      RequantizeSome(requantization, sums + c, f + c, tile.columns - c, out + c);
    }
  }
}

// Applies each column's FixedMultiplier in integers. Uses the generic loop, which the compiler
// vectorises.
void RequantizeExact(const RequantizeTile& tile) { kRequantizeGeneric.exact(tile); }

// ---- Sums of quantised arrays -------------------------------------------------------------------

class StepSum {
 public:
  explicit StepSum(const StepSumS8& sum)
      : factor_a_(vdupq_n_f32(sum.factor_a)),
        factor_b_(vdupq_n_f32(sum.factor_b)),
        offset_(vdupq_n_f32(sum.offset)),
        low_(vdupq_n_f32(sum.low)),
        high_(vdupq_n_f32(sum.high)),
        zero_point_(vdupq_n_s16(static_cast<int16_t>(sum.zero_point))) {}

  // Adds 8 values.
  void Run(const int8_t* a, const int8_t* b, int8_t* out) const {
    const int16x8_t wide_a = vmovl_s8(vld1_s8(a)), wide_b = vmovl_s8(vld1_s8(b));
    const int32x4_t low = Rounded(vget_low_s16(wide_a), vget_low_s16(wide_b));
    const int32x4_t high = Rounded(vget_high_s16(wide_a), vget_high_s16(wide_b));
    const int16x8_t values = vqmovn_high_s32(vqmovn_s32(low), high);
    vst1_s8(out, vqmovn_s16(vqaddq_s16(values, zero_point_)));
  }

 private:
  int32x4_t Rounded(int16x4_t a, int16x4_t b) const {
    // The products are rounded one by one, as in the plain code: no multiply-add.
    const float32x4_t term_a = vmulq_f32(vcvtq_f32_s32(vmovl_s16(a)), factor_a_);
    const float32x4_t term_b = vmulq_f32(vcvtq_f32_s32(vmovl_s16(b)), factor_b_);
    const float32x4_t sum = vaddq_f32(vaddq_f32(term_a, term_b), offset_);
    return vcvtnq_s32_f32(ClampTo(sum, low_, high_));
  }

  float32x4_t factor_a_, factor_b_, offset_, low_, high_;
  int16x8_t zero_point_;
};

void SumSteps(const StepSumS8& sum) {
  const StepSum step(sum);
  int64_t i = 0;
  for (; i + 8 <= sum.count; i += 8) step.Run(sum.a + i, sum.b + i, sum.out + i);
  if (i == sum.count) return;
  int8_t a[8] = {}, b[8] = {}, out[8];
  const auto count = static_cast<size_t>(sum.count - i);
  std::memcpy(a, sum.a + i, count);
  std::memcpy(b, sum.b + i, count);
  step.Run(a, b, out);
  std::memcpy(sum.out + i, out, count);
}

// ---- float16 ------------------------------------------------------------------------------------

void HalfToFloat(const uint16_t* values, size_t count, float* out) {
  size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    vst1q_f32(out + i, vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(values + i))));
  }
  if (i == count) return;
  uint16_t halves[4] = {};
  float floats[4];
  std::memcpy(halves, values + i, (count - i) * sizeof(uint16_t));
  vst1q_f32(floats, vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(halves))));
  std::memcpy(out + i, floats, (count - i) * sizeof(float));
}

}  // namespace

constexpr RequantizeKernels kRequantizeNeon = {
    .name = "neon", .in_float = &RequantizeFloat, .exact = &RequantizeExact};
constexpr StepSumKernels kStepSumNeon = {.name = "neon", .s8 = &SumSteps};
constexpr HalfKernels kHalfNeon = {.name = "neon", .to_float = &HalfToFloat};

}  // namespace deputy
