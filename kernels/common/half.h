// SPDX-License-Identifier: Apache-2.0
//
// Conversions of IEEE half precision, for code compiled without F16C, and of bfloat16. They compute
// with normal floats only, so they are correct whether or not the processor flushes denormals. They
// have no branches, so that compilers vectorise loops over them, and are always inlined, for files
// compiled for one instruction set.
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

// Returns `first` if `condition`, else `second`, with bit operations, which compilers do not turn
// into branches.
[[gnu::always_inline]] inline uint32_t ChooseBits(bool condition, uint32_t first, uint32_t second) {
  const uint32_t mask = 0u - static_cast<uint32_t>(condition);
  return (first & mask) | (second & ~mask);
}

// Rounds to nearest, ties to even; overflow becomes infinity.
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

// An element of a float16 tensor: reads convert to float, writes round.
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

// An element of a bfloat16 tensor, the upper half of a float; writes round to nearest, ties to
// even.
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

// True for element types that are computed in float.
template <typename T>
inline constexpr bool kIsShortFloat = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

}  // namespace deputy

#endif  // DEPUTY_KERNELS_COMMON_HALF_H_
