// SPDX-License-Identifier: Apache-2.0
//
// CheckedInt: an integer that records overflow. util.h includes it.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CHECKED_INT_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CHECKED_INT_H_

#include <limits>
#include <type_traits>

#include "tensorflow/lite/core/c/c_api_types.h"

namespace tflite {

template <class T>
class CheckedInt;

namespace checked_int_internal {

// Integer type of an operand: T for T and for CheckedInt<T>; void for other types.
template <class T>
struct Operand {
  using Type = std::conditional_t<std::is_integral_v<T>, T, void>;
  static constexpr bool kIsChecked = false;
};
template <class T>
struct Operand<CheckedInt<T>> {
  using Type = T;
  static constexpr bool kIsChecked = true;
};

// Enables an operator for two integers of which at least one is checked.
template <class A, class B>
using EnableFor = std::enable_if_t<(Operand<A>::kIsChecked || Operand<B>::kIsChecked) &&
                                   !std::is_void_v<typename Operand<A>::Type> &&
                                   !std::is_void_v<typename Operand<B>::Type>>;

template <class A, class B>
using Result = CheckedInt<std::common_type_t<typename Operand<A>::Type, typename Operand<B>::Type>>;

template <class T>
constexpr T ValueOf(T value) {
  return value;
}
template <class T>
constexpr T ValueOf(const CheckedInt<T>& value) {
  return value.Value();
}

template <class T>
constexpr bool HasOverflow(T /*value*/) {
  return false;
}
template <class T>
constexpr bool HasOverflow(const CheckedInt<T>& value) {
  return value.Overflow();
}

// Compares the mathematical values: negative, 0 or positive as a < b, a == b, a > b.
template <class A, class B>
constexpr int Compare(A a, B b) {
  if constexpr (std::is_signed_v<A> == std::is_signed_v<B>) {
    return a < b ? -1 : static_cast<int>(a > b);
  } else if constexpr (std::is_signed_v<A>) {
    return a < 0 ? -1 : Compare(static_cast<std::make_unsigned_t<A>>(a), b);
  } else {
    return -Compare(b, a);
  }
}

template <class To, class From>
constexpr bool Fits(From value) {
  if constexpr (std::is_floating_point_v<From>) {
    // The maximum of To is rounded up if From has fewer digits, and is then out of range itself.
    using Limits = std::numeric_limits<To>;
    const From max = static_cast<From>(Limits::max());
    const bool below =
        Limits::digits <= std::numeric_limits<From>::digits ? value <= max : value < max;
    return value >= static_cast<From>(Limits::lowest()) && below;
  } else {
    return Compare(value, std::numeric_limits<To>::lowest()) >= 0 &&
           Compare(value, std::numeric_limits<To>::max()) <= 0;
  }
}

}  // namespace checked_int_internal

// Once an operation has overflowed, Overflow() is true for every value computed from its result.
// Value() is then the wrapped result, or the maximum after a division by 0 and of the lowest value
// by -1. Operands may be CheckedInts and integers of any types; comparisons are exact for mixed
// signs.
template <class T>
class CheckedInt {
 public:
  using type = T;
  static_assert(std::is_integral_v<T>, "CheckedInt needs an integer type.");

  constexpr CheckedInt() = default;

  // Converts a number; overflow if it is out of range.
  template <class U, class = std::enable_if_t<std::is_arithmetic_v<U>>>
  constexpr CheckedInt(U value)  // NOLINT(google-explicit-constructor)
      : value_(static_cast<T>(value)), overflow_(!checked_int_internal::Fits<T>(value)) {}

  template <class U>
  constexpr explicit CheckedInt(const CheckedInt<U>& other) : CheckedInt(other.Value()) {
    overflow_ = overflow_ || other.Overflow();
  }

  template <class U>
  CheckedInt& operator=(const CheckedInt<U>& other) {
    return *this = CheckedInt(other);
  }

  constexpr T Value() const noexcept { return value_; }
  constexpr bool Overflow() const noexcept { return overflow_; }
  TfLiteStatus Status() const noexcept { return overflow_ ? kTfLiteError : kTfLiteOk; }

  template <class U>
  CheckedInt& operator+=(const U& other) noexcept {
    return *this = *this + other;
  }
  template <class U>
  CheckedInt& operator-=(const U& other) noexcept {
    return *this = *this - other;
  }
  template <class U>
  CheckedInt& operator*=(const U& other) noexcept {
    return *this = *this * other;
  }
  template <class U>
  CheckedInt& operator/=(const U& other) noexcept {
    return *this = *this / other;
  }

  // Returns the value, with overflow if `overflow` is true.
  static constexpr CheckedInt WithOverflow(T value, bool overflow) {
    CheckedInt result(value);
    result.overflow_ = overflow;
    return result;
  }

 private:
  T value_ = 0;
  bool overflow_ = false;
};

template <class T>
CheckedInt(T) -> CheckedInt<T>;

#define DEPUTY_CHECKED_INT_ARITHMETIC(op, builtin)                                           \
  template <class A, class B, class = checked_int_internal::EnableFor<A, B>>                 \
  checked_int_internal::Result<A, B> operator op(const A& a, const B& b) noexcept {          \
    using Result = checked_int_internal::Result<A, B>;                                       \
    typename Result::type value = 0;                                                         \
    const bool overflow =                                                                    \
        builtin(checked_int_internal::ValueOf(a), checked_int_internal::ValueOf(b), &value); \
    return Result::WithOverflow(value, overflow || checked_int_internal::HasOverflow(a) ||   \
                                           checked_int_internal::HasOverflow(b));            \
  }
DEPUTY_CHECKED_INT_ARITHMETIC(+, __builtin_add_overflow)
DEPUTY_CHECKED_INT_ARITHMETIC(-, __builtin_sub_overflow)
DEPUTY_CHECKED_INT_ARITHMETIC(*, __builtin_mul_overflow)
#undef DEPUTY_CHECKED_INT_ARITHMETIC

template <class A, class B, class = checked_int_internal::EnableFor<A, B>>
checked_int_internal::Result<A, B> operator/(const A& a, const B& b) noexcept {
  using Result = checked_int_internal::Result<A, B>;
  using Type = typename Result::type;
  const Result dividend(a);
  const Result divisor(b);
  bool undefined = divisor.Value() == 0;
  if constexpr (std::is_signed_v<Type>) {
    undefined = undefined ||
                (divisor.Value() == -1 && dividend.Value() == std::numeric_limits<Type>::lowest());
  }
  if (undefined) return Result::WithOverflow(std::numeric_limits<Type>::max(), true);
  return Result::WithOverflow(static_cast<Type>(dividend.Value() / divisor.Value()),
                              dividend.Overflow() || divisor.Overflow());
}

#define DEPUTY_CHECKED_INT_COMPARISON(op)                                        \
  template <class A, class B, class = checked_int_internal::EnableFor<A, B>>     \
  constexpr bool operator op(const A& a, const B& b) noexcept {                  \
    return checked_int_internal::Compare(checked_int_internal::ValueOf(a),       \
                                         checked_int_internal::ValueOf(b)) op 0; \
  }
DEPUTY_CHECKED_INT_COMPARISON(==)
DEPUTY_CHECKED_INT_COMPARISON(!=)
DEPUTY_CHECKED_INT_COMPARISON(<)
DEPUTY_CHECKED_INT_COMPARISON(<=)
DEPUTY_CHECKED_INT_COMPARISON(>)
DEPUTY_CHECKED_INT_COMPARISON(>=)
#undef DEPUTY_CHECKED_INT_COMPARISON

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CHECKED_INT_H_
