// SPDX-License-Identifier: Apache-2.0
//
// Fixed-point functions of gemmlowp, for operators whose integer algorithms use them. Numbers are
// 32-bit integers with a given number of integer bits: Q5 means value = raw / 2^26. Every constant
// and every rounding is part of the algorithm.
#ifndef DEPUTY_KERNELS_COMMON_FIXED_POINT_H_
#define DEPUTY_KERNELS_COMMON_FIXED_POINT_H_

#include <cstdint>
#include <limits>

#include "kernels/common/requantize.h"

namespace deputy {

// x * 2^exponent, saturating.
[[gnu::always_inline]] inline int32_t SaturatingShiftLeft(int32_t x, int exponent) {
  const int64_t wide = static_cast<int64_t>(x) * (int64_t{1} << exponent);
  if (wide > std::numeric_limits<int32_t>::max()) return std::numeric_limits<int32_t>::max();
  if (wide < std::numeric_limits<int32_t>::min()) return std::numeric_limits<int32_t>::min();
  return static_cast<int32_t>(wide);
}

// exp(x) for x <= 0 in Q5, as Q0.
int32_t ExpOfNegativeQ5(int32_t x);

// 1 / x for x > 0 with `integer_bits`: returns the mantissa in Q0, and in `out_excess_bits` the
// number of bits by which the result is to be shifted right.
int32_t Reciprocal(int32_t x, int integer_bits, int* out_excess_bits);

// 1 / sqrt(x) as a multiplier for Multiply(). 0 is treated as 1.
FixedMultiplier InverseSqrt(int32_t x);

// log(x) in Q5 for x >= 1 in Q12.
int32_t LogOfQ12InQ5(int32_t x);

}  // namespace deputy

#endif  // DEPUTY_KERNELS_COMMON_FIXED_POINT_H_
