// SPDX-License-Identifier: Apache-2.0
//
// Conversions between float16 and float32. Conversions to float16 round to nearest, ties to even,
// and every NaN becomes the quiet NaN 0x7e00 with its sign. Conversions to float32 are exact.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_TYPES_FP16_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_TYPES_FP16_H_

#include <cmath>
#include <cstdint>

#include "tensorflow/lite/types/bit_cast.h"

namespace tflite {

inline float fp32_from_bits(uint32_t bits) { return bit_cast<float>(bits); }
inline uint32_t fp32_to_bits(float value) { return bit_cast<uint32_t>(value); }

inline float fp16_ieee_to_fp32_value(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
  const uint32_t exponent = (half >> 10) & 0x1f;
  const uint32_t mantissa = half & 0x3ff;
  if (exponent == 0) {  // zero or subnormal: a multiple of 2^-24
    const float magnitude = std::ldexp(static_cast<float>(mantissa), -24);
    return fp32_from_bits(fp32_to_bits(magnitude) | sign);
  }
  const uint32_t wide_exponent = exponent == 31 ? 255 : exponent + (127 - 15);
  return fp32_from_bits(sign | wide_exponent << 23 | mantissa << 13);
}

inline uint16_t fp16_ieee_from_fp32_value(float value) {
  const uint32_t bits = fp32_to_bits(value);
  const uint32_t sign = (bits >> 16) & 0x8000;
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return static_cast<uint16_t>(sign | 0x7e00);
  if (magnitude >= 0x47800000) return static_cast<uint16_t>(sign | 0x7c00);
  // The result is `kept` without its `dropped` lowest bits, rounded. A normal float16 drops 13
  // bits; a subnormal one drops more, and its mantissa includes the leading bit of the float32.
  uint32_t dropped = 13;
  uint32_t kept = magnitude - ((127 - 15) << 23);
  if (magnitude < 0x38800000) {
    dropped = 126 - (magnitude >> 23);
    if (dropped > 24) return static_cast<uint16_t>(sign);
    kept = (magnitude & 0x7fffff) | 0x800000;
  }
  const uint32_t odd = (kept >> dropped) & 1;
  const uint32_t rounded = (kept + (1u << (dropped - 1)) - 1 + odd) >> dropped;
  return static_cast<uint16_t>(sign | rounded);
}

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_TYPES_FP16_H_
