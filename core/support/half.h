// SPDX-License-Identifier: Apache-2.0
//
// Conversions between float32 and float16 (IEEE 754 binary16) or bfloat16. Their results do not
// depend on whether the processor flushes denormals. They have no branches, so that compilers
// vectorise loops over them, and are always inlined, for files compiled for one instruction set.
// Narrowing rounds to nearest, ties to even, overflow becomes infinity, and a NaN the quiet one of
// its sign (of bfloat16: the positive one); widening keeps the payload of a NaN.
#ifndef DEPUTY_CORE_SUPPORT_HALF_H_
#define DEPUTY_CORE_SUPPORT_HALF_H_

#include <bit>
#include <cstdint>

namespace deputy {

// Returns `first` if `condition`, else `second`, with bit operations, which compilers do not turn
// into branches.
[[gnu::always_inline]] inline uint32_t ChooseBits(bool condition, uint32_t first, uint32_t second) {
  const uint32_t mask = 0u - static_cast<uint32_t>(condition);
  return (first & mask) | (second & ~mask);
}

[[gnu::always_inline]] inline float HalfToFloat(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
  const uint32_t magnitude = static_cast<uint32_t>(half & 0x7fff) << 13;
  constexpr uint32_t kSmallestNormal = 113u << 23;  // bits of 2^-14
  const uint32_t denormal = std::bit_cast<uint32_t>(
      std::bit_cast<float>(magnitude + kSmallestNormal) - std::bit_cast<float>(kSmallestNormal));
  uint32_t bits = magnitude + (112u << 23);
  bits = magnitude >= 31u << 23 ? magnitude + (224u << 23) : bits;  // for infinity and NaN
  bits = magnitude < 1u << 23 ? denormal : bits;
  return std::bit_cast<float>(bits | sign);
}

[[gnu::always_inline]] inline uint16_t FloatToHalf(float value) {
  const uint32_t all = std::bit_cast<uint32_t>(value);
  const uint32_t bits = all & 0x7fffffff;
  // The unit in the last place of 0.5 is the smallest half denormal.
  const uint32_t denormal =
      std::bit_cast<uint32_t>(std::bit_cast<float>(bits) + 0.5f) - 0x3f000000u;
  uint32_t half = (bits + 0xc8000fffu + (bits >> 13 & 1)) >> 13;
  half = ChooseBits(bits < 113u << 23, denormal, half);
  half = ChooseBits(bits >= 0x477ff000, 0x7c00, half);  // 65520
  half = ChooseBits(bits > 0x7f800000, 0x7e00, half);
  return static_cast<uint16_t>(half | (all >> 16 & 0x8000));
}

[[gnu::always_inline]] inline float BFloat16ToFloat(uint16_t bits) {
  return std::bit_cast<float>(uint32_t{bits} << 16);
}

[[gnu::always_inline]] inline uint16_t FloatToBFloat16(float value) {
  const uint32_t all = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = (all + 0x7fff + (all >> 16 & 1)) >> 16;
  return static_cast<uint16_t>(value == value ? rounded : 0x7fc0);
}

}  // namespace deputy

#endif  // DEPUTY_CORE_SUPPORT_HALF_H_
