// SPDX-License-Identifier: Apache-2.0
//
// Element types of float16 and bfloat16 tensors.
#ifndef DEPUTY_KERNELS_COMMON_HALF_H_
#define DEPUTY_KERNELS_COMMON_HALF_H_

#include <cstdint>
#include <type_traits>

#include "core/support/half.h"

namespace deputy {

// An element of a float16 tensor: reads convert to float, writes round.
class Half {
 public:
  Half() = default;
  [[gnu::always_inline]] explicit Half(float value) : bits_(FloatToHalf(value)) {}
  [[gnu::always_inline]] operator float() const {  // NOLINT: implicit, for arithmetic in float
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
  [[gnu::always_inline]] explicit BFloat16(float value) : bits_(FloatToBFloat16(value)) {}
  [[gnu::always_inline]] operator float() const {  // NOLINT: implicit, for arithmetic in float
    return BFloat16ToFloat(bits_);
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
