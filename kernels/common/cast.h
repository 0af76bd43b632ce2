// SPDX-License-Identifier: Apache-2.0
//
// CAST of a single value. Always inlined, because kernels/vector compiles it for several
// instruction sets.
#ifndef DEPUTY_KERNELS_COMMON_CAST_H_
#define DEPUTY_KERNELS_COMMON_CAST_H_

#include <limits>
#include <type_traits>

#include "kernels/common/half.h"

namespace deputy {

// Casts one value. Float to integer saturates, and NaN becomes the maximum; integer to integer
// wraps.
template <typename To, typename From>
[[gnu::always_inline]] inline To CastNumber(From value) {
  if constexpr (std::is_same_v<From, To>) {
    return value;
  } else if constexpr (kIsShortFloat<From>) {
    return CastNumber<To>(static_cast<float>(value));
  } else if constexpr (kIsShortFloat<To>) {
    return To(static_cast<float>(value));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    // Limits of wide integers round up to values that are just out of range.
    constexpr To kMin = std::numeric_limits<To>::min(), kMax = std::numeric_limits<To>::max();
    constexpr From kLow = static_cast<From>(kMin), kHigh = static_cast<From>(kMax);
    if (!(value < kHigh)) return kMax;
    return value > kLow ? static_cast<To>(value) : kMin;
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace deputy

#endif  // DEPUTY_KERNELS_COMMON_CAST_H_
