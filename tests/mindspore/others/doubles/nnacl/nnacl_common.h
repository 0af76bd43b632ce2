// SPDX-License-Identifier: Apache-2.0
//
// Replaces a header of MindSpore Lite's kernels: the conversion of half precision.
#ifndef DEPUTY_TESTS_MINDSPORE_OTHERS_DOUBLES_NNACL_NNACL_COMMON_H_
#define DEPUTY_TESTS_MINDSPORE_OTHERS_DOUBLES_NNACL_NNACL_COMMON_H_

#include <cmath>
#include <cstdint>

inline float ShortToFloat32(uint16_t half) {
  const int exponent = half >> 10 & 31, mantissa = half & 1023;
  const float sign = half >> 15 != 0 ? -1.0F : 1.0F;
  if (exponent == 31) return mantissa == 0 ? sign * INFINITY : NAN;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(mantissa), -24);
  return sign * std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
}

#endif  // DEPUTY_TESTS_MINDSPORE_OTHERS_DOUBLES_NNACL_NNACL_COMMON_H_
