// SPDX-License-Identifier: Apache-2.0
//
// Requantisation of 32-bit sums in the two variants of Arithmetic (core/kernel_api/runtime.h). The
// exact variant is a 31-bit fixed-point multiplication with gemmlowp's two roundings and must not
// be "improved": its results are compared bit by bit. The float variant rounds once, to nearest
// even.
#ifndef DEPUTY_KERNELS_COMMON_REQUANTIZE_H_
#define DEPUTY_KERNELS_COMMON_REQUANTIZE_H_

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/common/activation_range.h"

namespace deputy {

// A real number, 0 or more, as mantissa * 2^(shift - 31), mantissa in [2^30, 2^31) or, for zero, 0.
struct FixedMultiplier {
  int32_t mantissa = 0;
  int shift = 0;
};

// Returns the closest fixed-point multiplier; zero for values below 2^-32, and the maximum for
// infinity and for values of 2^30 or more, whose shift would overflow any 32-bit result. `value`
// must not be negative.
inline FixedMultiplier ToFixedMultiplier(double value) {
  if (value == 0.0) return {};
  if (!std::isfinite(value)) return {std::numeric_limits<int32_t>::max(), 30};
  // A normal value is (2^52 + fraction) * 2^(exponent - 1075); subnormal ones have exponent 0 and
  // become zero. std::frexp would take half of the time of preparing a layer's scales.
  const auto bits = std::bit_cast<int64_t>(value);
  constexpr int64_t kOne = int64_t{1} << 52;
  int shift = static_cast<int>(bits >> 52 & 0x7ff) - 1022;
  int64_t mantissa = ((bits & (kOne - 1)) + kOne + (1 << 21)) >> 22;
  if (bits < 0) mantissa = -mantissa;
  if (mantissa == int64_t{1} << 31) {
    mantissa /= 2;
    ++shift;
  }
  if (shift < -31) return {};
  if (shift > 30) return {std::numeric_limits<int32_t>::max(), 30};
  return {static_cast<int32_t>(mantissa), shift};
}

// (a * b) / 2^31, rounded to nearest with ties upwards; the only overflow saturates. Always
// inlined, like the other functions for single elements: -Os would emit calls.
[[gnu::always_inline]] inline int32_t DoublingHighMultiply(int32_t a, int32_t b) {
  if (a == b && a == std::numeric_limits<int32_t>::min()) {
    return std::numeric_limits<int32_t>::max();
  }
  // The arithmetic shift of (product + 2^30) equals gemmlowp's nudge and truncating division.
  return static_cast<int32_t>((static_cast<int64_t>(a) * b + (int64_t{1} << 30)) >> 31);
}

// x / 2^exponent, rounded to nearest with ties away from zero. 0 <= exponent <= 31.
[[gnu::always_inline]] inline int32_t RoundingShiftRight(int32_t x, int exponent) {
  const int64_t half = exponent == 0 ? 0 : int64_t{1} << (exponent - 1);
  const int64_t tie_correction = exponent != 0 && x < 0 ? 1 : 0;
  return static_cast<int32_t>((x + half - tie_correction) >> exponent);
}

// x << shift with two's complement wrapping.
inline int32_t WrappingShiftLeft(int32_t x, int shift) {
  return static_cast<int32_t>(static_cast<uint32_t>(x) << shift);
}

// Adds integers with two's complement wrapping, like vector units: a hostile model may overflow a
// sum, which must not be undefined behaviour.
inline void Accumulate(int32_t* sum, int32_t value) {
  *sum = static_cast<int32_t>(static_cast<uint32_t>(*sum) + static_cast<uint32_t>(value));
}
inline void Accumulate(int64_t* sum, int64_t value) {
  *sum = static_cast<int64_t>(static_cast<uint64_t>(*sum) + static_cast<uint64_t>(value));
}
inline void Accumulate(float* sum, float value) { *sum += value; }

inline int32_t Multiply(int32_t x, FixedMultiplier by) {
  const int left = by.shift > 0 ? by.shift : 0;
  const int right = by.shift > 0 ? 0 : -by.shift;
  return RoundingShiftRight(DoublingHighMultiply(WrappingShiftLeft(x, left), by.mantissa), right);
}

// Returns x times `by` (from ToFixedMultiplier), rounded once, to nearest with ties away from zero.
// x may have 63 bits; results that do not fit in 32 bits become some value outside the int32 range.
inline int64_t MultiplyRoundingOnce(int64_t x, FixedMultiplier by) {
  const int shift = 31 - by.shift;
  const int64_t half = (int64_t{1} << (shift - 1)) - (x < 0 ? 1 : 0);
  // `half` is at most 2^61 and the product at most 2^62, so that their sum does not overflow.
  if (x >= -(int64_t{1} << 31) && x <= int64_t{1} << 31) return (x * by.mantissa + half) >> shift;
  if (shift < 31) return x < 0 ? -(int64_t{1} << 32) : int64_t{1} << 32;
  // The multiplication is done in two halves, because the product has up to 94 bits.
  const int64_t high = x >> 31, low = x & 0x7fffffff;
  return (high * by.mantissa + ((low * by.mantissa + half) >> 31)) >> (shift - 31);
}

// Returns x times `by` for 64-bit sums (int16 activations): the mantissa is reduced to 15 bits,
// then the product is rounded once, ties upwards. Products of more than 63 bits wrap.
inline int64_t MultiplyWide(int64_t x, FixedMultiplier by) {
  const int64_t mantissa = by.mantissa < 0x7fff0000 ? (by.mantissa + (1 << 15)) >> 16 : 0x7fff;
  const int shift = 15 - by.shift;
  if (shift <= 0)
    return static_cast<int64_t>((static_cast<uint64_t>(x) << -shift) *
                                static_cast<uint64_t>(mantissa));
  const uint64_t product = static_cast<uint64_t>(x) * static_cast<uint64_t>(mantissa);
  return static_cast<int64_t>(product + (uint64_t{1} << (shift - 1))) >> shift;
}

// Requantises a sum in exact arithmetic, with a real factor, the output's zero point and its range.
// Like FloatRequantizer it is a copyable function object, so that loops are written once for both.
class ExactRequantizer {
 public:
  ExactRequantizer(double factor, int32_t zero_point, const IntRange& range)
      : multiplier_(ToFixedMultiplier(factor)), zero_point_(zero_point), range_(range) {}

  int32_t operator()(int32_t sum) const {
    const int64_t steps = int64_t{Multiply(sum, multiplier_)} + zero_point_;
    return static_cast<int32_t>(
        std::min<int64_t>(std::max<int64_t>(steps, range_.low), range_.high));
  }

  const FixedMultiplier& multiplier() const { return multiplier_; }
  const IntRange& range() const { return range_; }

 private:
  FixedMultiplier multiplier_;
  int32_t zero_point_;
  IntRange range_;
};

// Rounds to nearest even without a library call. Exact for |value| < 2^22: adding 1.5 * 2^23 leaves
// no fraction bits.
inline int32_t RoundToNearestEven(float value) {
  constexpr float kMagic = 12582912.0f;
  return static_cast<int32_t>(value + kMagic - kMagic);
}

class FloatRequantizer {
 public:
  FloatRequantizer(double factor, int32_t zero_point, const IntRange& range)
      // `factor` is not negative; it is limited because an infinite factor times a sum of 0 would
      // be NaN.
      : factor_(static_cast<float>(
            std::min(factor, static_cast<double>(std::numeric_limits<float>::max())))),
        zero_point_(zero_point),
        bounds_{static_cast<float>(range.low - zero_point),
                static_cast<float>(range.high - zero_point)} {}

  float factor() const { return factor_; }
  int32_t zero_point() const { return zero_point_; }
  const FloatRange& bounds() const { return bounds_; }

  // Requantises a sum. Clamps before rounding: the bounds are integers, so the result is the same,
  // and no value is too large to round.
  int32_t operator()(int32_t sum) const {
    return RoundToNearestEven(Clamp(static_cast<float>(sum) * factor_, bounds_)) + zero_point_;
  }

 private:
  float factor_;
  int32_t zero_point_;
  FloatRange bounds_;
};

}  // namespace deputy

#endif  // DEPUTY_KERNELS_COMMON_REQUANTIZE_H_
