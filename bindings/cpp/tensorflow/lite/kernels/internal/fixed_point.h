// SPDX-License-Identifier: Apache-2.0
//
// Fixed-point arithmetic of quantised kernels. A number in Qn is raw / 2^(31 - n); its n integer
// bits give the range [-2^n, 2^n). Every constant and every rounding is part of the algorithm.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_FIXED_POINT_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_FIXED_POINT_H_

#include <algorithm>
#include <cstdint>
#include <limits>

namespace tflite {
namespace fixed_point {

// Returns a * b / 2^31, rounded to nearest with ties upwards. The only overflow, -1 * -1 in
// Q0, saturates.
inline int32_t SaturatingRoundingDoublingHighMul(int32_t a, int32_t b) {
  if (a == b && a == std::numeric_limits<int32_t>::min()) {
    return std::numeric_limits<int32_t>::max();
  }
  return static_cast<int32_t>((int64_t{a} * b + (int64_t{1} << 30)) >> 31);
}

// Returns a * b / 2^15 with the same rounding and saturation.
inline int16_t SaturatingRoundingDoublingHighMul(int16_t a, int16_t b) {
  if (a == b && a == std::numeric_limits<int16_t>::min()) {
    return std::numeric_limits<int16_t>::max();
  }
  return static_cast<int16_t>((int32_t{a} * b + (1 << 14)) >> 15);
}

// Returns x / 2^exponent, rounded to nearest with ties away from zero. 0 <= exponent <= 31.
template <typename Integer>
inline Integer RoundingDivideByPOT(Integer x, int exponent) {
  if (exponent == 0) return x;
  const int64_t half = (int64_t{1} << (exponent - 1)) - (x < 0 ? 1 : 0);
  return static_cast<Integer>((int64_t{x} + half) >> exponent);
}

template <typename Integer>
inline Integer Saturate(int64_t x) {
  using Limits = std::numeric_limits<Integer>;
  return static_cast<Integer>(
      std::min<int64_t>(std::max<int64_t>(x, Limits::min()), Limits::max()));
}

// Returns x * 2^exponent, saturated for positive exponents and rounded for negative ones.
template <typename Integer>
inline Integer SaturatingRoundingMultiplyByPOT(Integer x, int exponent) {
  if (exponent < 0) return RoundingDivideByPOT(x, -exponent);
  return Saturate<Integer>(int64_t{x} * (int64_t{1} << exponent));
}

// Returns exp(x) in Q0 for x in [-1/4, 0) in Q0: four terms of the series around -1/8.
inline int32_t ExpNearZero(int32_t x) {
  constexpr int32_t kExpOfMinusEighth = 1895147668;
  constexpr int32_t kThird = 715827883;
  const auto multiply = [](int32_t a, int32_t b) {
    return SaturatingRoundingDoublingHighMul(a, b);
  };
  const int32_t t = x + (1 << 28);
  const int32_t t2 = multiply(t, t);
  const int32_t t3 = multiply(t2, t);
  const int32_t t4 = multiply(t2, t2);
  const int32_t higher_terms =
      RoundingDivideByPOT(multiply(RoundingDivideByPOT(t4, 2) + t3, kThird) + t2, 1);
  return kExpOfMinusEighth + multiply(kExpOfMinusEighth, t + higher_terms);
}

// Returns exp(x) in Q0 for x <= 0 with kIntegerBits: the series for the part of x below 1/4, and a
// multiplication for each power of two from 1/4 on in the remainder.
template <int kIntegerBits>
inline int32_t ExpOfNegative(int32_t x) {
  constexpr int kFractionBits = 31 - kIntegerBits;
  constexpr int32_t kQuarter = int32_t{1} << (kFractionBits - 2);
  constexpr int32_t kExpOfMinusPower[] = {1672461947, 1302514674, 790015084, 290630308,
                                          39332535,   720401,     242};
  if (x == 0) return std::numeric_limits<int32_t>::max();
  const int32_t below_quarter = (x & (kQuarter - 1)) - kQuarter;
  const uint32_t remainder = static_cast<uint32_t>(below_quarter) - static_cast<uint32_t>(x);
  int32_t result = ExpNearZero(SaturatingRoundingMultiplyByPOT(below_quarter, kIntegerBits));
  for (int i = 0; i < 7 && kFractionBits - 2 + i < 32; ++i) {
    if ((remainder >> (kFractionBits - 2 + i) & 1) != 0) {
      result = SaturatingRoundingDoublingHighMul(result, kExpOfMinusPower[i]);
    }
  }
  return result;
}

// Returns, in Q2, an approximation of 2 / (1 + x) for x in [0, 1] in Q0, by Newton's method.
inline int32_t TwiceReciprocalOfOnePlus(int32_t x) {
  constexpr int32_t k48Over17 = 1515870810;
  constexpr int32_t kMinus32Over17 = -1010580540;
  constexpr int32_t kOne = 1 << 29;
  const auto half_denominator =
      static_cast<int32_t>((int64_t{x} + std::numeric_limits<int32_t>::max() + 1) / 2);
  int32_t guess = k48Over17 + SaturatingRoundingDoublingHighMul(half_denominator, kMinus32Over17);
  for (int i = 0; i < 3; ++i) {
    const int32_t error = kOne - SaturatingRoundingDoublingHighMul(half_denominator, guess);
    guess += SaturatingRoundingMultiplyByPOT(SaturatingRoundingDoublingHighMul(guess, error), 2);
  }
  return guess;
}

// Return 1 / (1 + x) and (1 - x) / (1 + x) in Q0 for x in [0, 1] in Q0.
inline int32_t ReciprocalOfOnePlus(int32_t x) {
  return SaturatingRoundingMultiplyByPOT(TwiceReciprocalOfOnePlus(x), 1);
}
inline int32_t OneMinusOverOnePlus(int32_t x) {
  return SaturatingRoundingMultiplyByPOT(TwiceReciprocalOfOnePlus(x) - (1 << 29), 2);
}

// Return logistic(x) and tanh(x) in Q0 for x with kIntegerBits integer bits.
template <int kIntegerBits>
inline int32_t Logistic(int32_t x) {
  const int32_t of_magnitude = ReciprocalOfOnePlus(ExpOfNegative<kIntegerBits>(x < 0 ? x : -x));
  if (x == 0) return 1 << 30;
  return x > 0 ? of_magnitude : std::numeric_limits<int32_t>::max() - of_magnitude;
}
template <int kIntegerBits>
inline int32_t Tanh(int32_t x) {
  if (x == 0) return 0;
  // exp(-2 |x|): the doubled argument has one integer bit more.
  const int32_t result = OneMinusOverOnePlus(ExpOfNegative<kIntegerBits + 1>(x < 0 ? x : -x));
  return x < 0 ? -result : result;
}

// Returns log(x) in Q5 for x >= 1 in Q12. Tries two normalisations of x that bring it within a
// factor of sqrt(2) of the fourth root of 1/2, and uses a rational approximation around that point.
inline int32_t LogOfQ12InQ5(int32_t x) {
  constexpr int32_t kLog2 = 1488522236, kSqrtHalf = 1518500250, kFourthRootHalf = 1805811301;
  constexpr int32_t kAlphaN = 117049297, kAlphaD = 127690142, kAlphaI = 1057819769,
                    kAlphaF = 638450708;
  constexpr int kInputBits = 12, kAccumulatorBits = 6;
  constexpr int32_t kQuarter = 1 << (29 - kAccumulatorBits);
  const auto multiply = [](int32_t a, int32_t b) {
    return SaturatingRoundingDoublingHighMul(a, b);
  };
  const auto power = [](int exponent) {
    return SaturatingRoundingMultiplyByPOT(exponent, 31 - kAccumulatorBits);
  };
  const auto headroom = [](int32_t value) {
    return __builtin_clz(static_cast<uint32_t>(value)) - 1;
  };
  if (x <= 0) x = std::numeric_limits<int32_t>::max();  // a sum that overflowed
  const int headroom_a = headroom(x);
  const int32_t r_a = SaturatingRoundingMultiplyByPOT(
      multiply(SaturatingRoundingMultiplyByPOT(x, headroom_a), kSqrtHalf), 1);
  const int32_t power_a = power(kInputBits - headroom_a - 1) + kQuarter;
  const int headroom_b = headroom(multiply(x, kSqrtHalf));
  const int32_t r_b = SaturatingRoundingMultiplyByPOT(x, headroom_b);
  const int32_t power_b = power(kInputBits - headroom_b) - kQuarter;
  const int32_t r = std::min(r_a, r_b);
  const int64_t sum = int64_t{r} + kFourthRootHalf;
  const auto p = static_cast<int32_t>((sum + (sum >= 0 ? 1 : -1)) / 2);
  const int32_t q = 2 * (r - kFourthRootHalf);
  const int32_t square = multiply(q, q);
  const int32_t numerator = multiply(q, r) + multiply(multiply(q, square), kAlphaN);
  const int32_t denominator =
      multiply(p, kAlphaI + q + multiply(kAlphaD, square)) + multiply(kAlphaF, q);
  const int32_t fraction =
      multiply(RoundingDivideByPOT(numerator, kAccumulatorBits), ReciprocalOfOnePlus(denominator));
  return SaturatingRoundingMultiplyByPOT(multiply(std::max(power_a, power_b), kLog2) + fraction, 1);
}

}  // namespace fixed_point
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_FIXED_POINT_H_
