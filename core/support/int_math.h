// SPDX-License-Identifier: Apache-2.0
//
// Integer division that rounds up, and rounding up to a multiple, in 64 bits for all argument
// types.
#ifndef DEPUTY_CORE_SUPPORT_INT_MATH_H_
#define DEPUTY_CORE_SUPPORT_INT_MATH_H_

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace deputy {

// Type of a quotient: int64_t if the common type of the arguments is signed, else uint64_t.
template <std::integral A, std::integral B>
using WideInteger =
    std::conditional_t<std::is_signed_v<std::common_type_t<A, B>>, int64_t, uint64_t>;

// Returns a / b rounded up. Requires a >= 0, b > 0, and that a + b - 1 does not overflow.
template <std::integral A, std::integral B>
[[gnu::always_inline]] constexpr WideInteger<A, B> CeilDiv(A a, B b) {
  using Wide = WideInteger<A, B>;
  return (static_cast<Wide>(a) + static_cast<Wide>(b) - 1) / static_cast<Wide>(b);
}

// Returns the smallest multiple of `multiple` that is at least `value`. Requires value >= 0,
// multiple > 0, and that value + multiple - 1 does not overflow.
template <std::integral A, std::integral B>
[[gnu::always_inline]] constexpr WideInteger<A, B> RoundUp(A value, B multiple) {
  return CeilDiv(value, multiple) * static_cast<WideInteger<A, B>>(multiple);
}

}  // namespace deputy

#endif  // DEPUTY_CORE_SUPPORT_INT_MATH_H_
