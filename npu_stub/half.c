/* SPDX-License-Identifier: Apache-2.0 */
#include "npu_stub/half.h"

#include <math.h>
#include <string.h>

static float FromHalf(uint16_t half) {
  const int exponent = half >> 10 & 31, fraction = half & 1023;
  float value;
  if (exponent == 31) {
    value = fraction == 0 ? INFINITY : NAN;
  } else if (exponent == 0) {
    value = ldexpf((float)fraction, -24);
  } else {
    value = ldexpf((float)(fraction + 1024), exponent - 25);
  }
  return (half & 0x8000) != 0 ? -value : value;
}

static uint16_t ToHalf(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  const unsigned sign = bits >> 16 & 0x8000u;
  if (isnan(value)) return (uint16_t)(sign | 0x7e00u);
  const float magnitude = fabsf(value);
  if (magnitude >= 65520.0f) return (uint16_t)(sign | 0x7c00u);
  if (magnitude < 6.103515625e-05f) {
    return (uint16_t)(sign | (unsigned)rintf(ldexpf(magnitude, 24)));
  }
  int exponent;
  const float fraction = frexpf(magnitude, &exponent); /* 0.5 <= fraction < 1 */
  /* A carry out of the fraction increments the exponent, which is the correct rounding. */
  const unsigned scaled = (unsigned)rintf(ldexpf(fraction, 11));
  return (uint16_t)(sign | (((unsigned)(exponent + 13) << 10) + scaled));
}

void NpuFromHalf(const uint16_t* from, float* to, size_t count) {
  for (size_t i = 0; i < count; ++i) to[i] = FromHalf(from[i]);
}

void NpuToHalf(const float* from, uint16_t* to, size_t count) {
  for (size_t i = 0; i < count; ++i) to[i] = ToHalf(from[i]);
}
