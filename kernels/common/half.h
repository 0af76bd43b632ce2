// SPDX-License-Identifier: Apache-2.0
//
// IEEE half precision for code that is compiled without F16C, and bfloat16. Both conversions use
// nothing but normal float numbers, so they are right whether or not the processor flushes
// denormals. Without branches, so that loops over them become vector code; always inlined, for
// files that are compiled for one instruction set.
#ifndef DEPUTY_KERNELS_COMMON_HALF_H_
#define DEPUTY_KERNELS_COMMON_HALF_H_

#include <bit>
#include <cstdint>
#include <type_traits>

namespace deputy {

[[gnu::always_inline]] inline float HalfToFloat(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
  const uint32_t magnitude = static_cast<uint32_t>(half & 0x7fff) << 13;
  constexpr uint32_t kSmallestNormal = 113u << 23;  // 2^-14
  const uint32_t denormal = std::bit_cast<uint32_t>(
      std::bit_cast<float>(magnitude + kSmallestNormal) - std::bit_cast<float>(kSmallestNormal));
  uint32_t bits = magnitude + (112u << 23);
  bits = magnitude >= 31u << 23 ? magnitude + (224u << 23) : bits;  // infinity and NaN
  bits = magnitude < 1u << 23 ? denormal : bits;
  return std::bit_cast<float>(bits | sign);
}

// The first where `condition`, else the second: by bits, of which compilers make no jumps.
[[gnu::always_inline]] inline uint32_t ChooseBits(bool condition, uint32_t first, uint32_t second) {
  const uint32_t mask = 0u - static_cast<uint32_t>(condition);
  return (first & mask) | (second & ~mask);
}

// To nearest, ties to even; what is too large becomes infinity.
[[gnu::always_inline]] inline uint16_t FloatToHalf(float value) {
  const uint32_t all = std::bit_cast<uint32_t>(value);
  const uint32_t bits = all & 0x7fffffff;
  // The unit in the last place of 1/2 is the smallest half.
  const uint32_t denormal =
      std::bit_cast<uint32_t>(std::bit_cast<float>(bits) + 0.5f) - 0x3f000000u;
  uint32_t half = (bits + 0xc8000fffu + (bits >> 13 & 1)) >> 13;
  half = ChooseBits(bits < 113u << 23, denormal, half);
  half = ChooseBits(bits >= 0x477ff000, 0x7c00, half);  // 65520
  half = ChooseBits(bits > 0x7f800000, 0x7e00, half);
  return static_cast<uint16_t>(half | (all >> 16 & 0x8000));
}

// An element of a float16 tensor: reads as float, is rounded when written.
class Half {
 public:
  Half() = default;
  [[gnu::always_inline]] explicit Half(float value) : bits_(FloatToHalf(value)) {}
  [[gnu::always_inline]] operator float() const {  // NOLINT: arithmetic is float's
    return HalfToFloat(bits_);
  }

 private:
  uint16_t bits_ = 0;
};
static_assert(sizeof(Half) == 2);

// The same of a bfloat16 tensor, which is the upper half of a float; ties to even.
class BFloat16 {
 public:
  BFloat16() = default;
  [[gnu::always_inline]] explicit BFloat16(float value) {
    const uint32_t all = std::bit_cast<uint32_t>(value);
    const uint32_t rounded = (all + 0x7fff + (all >> 16 & 1)) >> 16;
    bits_ = static_cast<uint16_t>(value == value ? rounded : 0x7fc0);
  }
  [[gnu::always_inline]] operator float() const {  // NOLINT: arithmetic is float's
    return std::bit_cast<float>(uint32_t{bits_} << 16);
  }

 private:
  uint16_t bits_ = 0;
};
static_assert(sizeof(BFloat16) == 2);

// Elements that are computed with as float.
template <typename T>
inline constexpr bool kIsShortFloat = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

}  // namespace deputy

#endif  // DEPUTY_KERNELS_COMMON_HALF_H_
