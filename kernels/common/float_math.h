// SPDX-License-Identifier: Apache-2.0
//
// Elementary functions without calls and without branches, so that loops over them become vector
// code. Errors are a few units in the last place; infinities and NaN come out as they should.
// Always inlined: files that are compiled for one instruction set must not leave copies behind.
#ifndef DEPUTY_KERNELS_COMMON_FLOAT_MATH_H_
#define DEPUTY_KERNELS_COMMON_FLOAT_MATH_H_

#include <algorithm>
#include <bit>
#include <cstdint>

namespace deputy {

// e^x. The argument is split into a multiple of log(2), which goes into the exponent, and a rest in
// [-log(2)/2, log(2)/2], for which a polynomial serves.
[[gnu::always_inline]] inline float FastExp(float x) {
  constexpr float kLog2E = 1.44269504f;
  constexpr float kLog2High = 0.693359375f, kLog2Low = -2.12194440e-4f;
  constexpr float kMagic = 12582912.0f;  // 1.5 * 2^23: adding it rounds to a whole number
  const float below = 89.0f < x ? 89.0f : x;
  const float bounded = -104.0f < below ? below : -104.0f;
  const float whole = bounded * kLog2E + kMagic - kMagic;
  const float rest = (bounded - whole * kLog2High) - whole * kLog2Low;
  float series = 1.9875691500e-4f;
  series = series * rest + 1.3981999507e-3f;
  series = series * rest + 8.3334519073e-3f;
  series = series * rest + 4.1665795894e-2f;
  series = series * rest + 1.6666665459e-1f;
  series = series * rest + 5.0000001201e-1f;
  series = series * rest * rest + rest + 1.0f;
  // The exponent in two halves: results may be denormal or infinite.
  const auto exponent = static_cast<int32_t>(whole);
  const int32_t half = exponent >> 1;
  const float value = series * std::bit_cast<float>((half + 127) << 23) *
                      std::bit_cast<float>((exponent - half + 127) << 23);
  return x != x ? x : value;
}

[[gnu::always_inline]] inline float FastLogistic(float x) { return 1.0f / (1.0f + FastExp(-x)); }

// Absolutely, not relatively, precise around zero, unless |x| < 1/8, where a series takes over.
[[gnu::always_inline]] inline float FastTanh(float x) {
  const float square = x * x;
  const float series =
      x + x * square * (-0.333333333f + square * (0.133333333f - square * 0.0539682540f));
  const float large = 1.0f - 2.0f / (1.0f + FastExp(2.0f * x));
  return square < 0.015625f ? series : large;
}

}  // namespace deputy

#endif  // DEPUTY_KERNELS_COMMON_FLOAT_MATH_H_
