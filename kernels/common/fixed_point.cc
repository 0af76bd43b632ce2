// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/fixed_point.h"

#include <algorithm>
#include <bit>

namespace deputy {
namespace {

// exp(x) for x in [-1/4, 0); argument and result in Q0. Uses the series around -1/8 up to the
// fourth power.
int32_t ExpNearZeroQ0(int32_t x) {
  constexpr int32_t kExpOfMinusEighth = 1895147668;
  constexpr int32_t kThird = 715827883;
  const int32_t t = x + (1 << 28);
  const int32_t t2 = DoublingHighMultiply(t, t);
  const int32_t t3 = DoublingHighMultiply(t2, t);
  const int32_t t4 = DoublingHighMultiply(t2, t2);
  const int32_t higher_terms =
      RoundingShiftRight(DoublingHighMultiply(RoundingShiftRight(t4, 2) + t3, kThird) + t2, 1);
  return kExpOfMinusEighth + DoublingHighMultiply(kExpOfMinusEighth, t + higher_terms);
}

// 1 / (1 + x) for x in [0, 1); argument and result in Q0. Uses three Newton steps.
int32_t ReciprocalOfOnePlusQ0(int32_t x) {
  constexpr int32_t k48Over17Q2 = 1515870810;
  constexpr int32_t kMinus32Over17Q2 = -1010580540;
  constexpr int32_t kOneQ2 = 1 << 29;
  constexpr int32_t kOneQ0 = std::numeric_limits<int32_t>::max();
  const int32_t half_denominator = static_cast<int32_t>((static_cast<int64_t>(x) + kOneQ0 + 1) / 2);
  int32_t guess = k48Over17Q2 + DoublingHighMultiply(half_denominator, kMinus32Over17Q2);
  for (int i = 0; i < 3; ++i) {
    const int32_t error = kOneQ2 - DoublingHighMultiply(half_denominator, guess);
    guess += SaturatingShiftLeft(DoublingHighMultiply(guess, error), 2);
  }
  return SaturatingShiftLeft(guess, 1);
}

}  // namespace

// exp(x) for x <= 0. Uses the series for the part of x below 1/4, and a multiplication for every
// power of two from 1/4 to 16 in the remainder.
int32_t ExpOfNegativeQ5(int32_t x) {
  constexpr int kFractionBits = 26;
  constexpr int32_t kQuarter = 1 << (kFractionBits - 2);
  constexpr int32_t kExpOfMinusPower[] = {1672461947, 1302514674, 790015084, 290630308,
                                          39332535,   720401,     242};
  if (x == 0) return std::numeric_limits<int32_t>::max();
  const int32_t below_quarter = (x & (kQuarter - 1)) - kQuarter;
  const uint32_t remainder = static_cast<uint32_t>(below_quarter) - static_cast<uint32_t>(x);
  int32_t result = ExpNearZeroQ0(SaturatingShiftLeft(below_quarter, 5));
  for (int i = 0; i < 7; ++i) {
    if ((remainder & (uint32_t{1} << (kFractionBits - 2 + i))) != 0) {
      result = DoublingHighMultiply(result, kExpOfMinusPower[i]);
    }
  }
  return result;
}

int32_t Reciprocal(int32_t x, int integer_bits, int* out_excess_bits) {
  const int headroom = std::countl_zero(static_cast<uint32_t>(x));
  *out_excess_bits = integer_bits - headroom;
  const uint32_t normalized = static_cast<uint32_t>(x) << headroom;
  return ReciprocalOfOnePlusQ0(static_cast<int32_t>(normalized - (uint32_t{1} << 31)));
}

// 1 / sqrt(x), computed by five Newton steps from 1.
FixedMultiplier InverseSqrt(int32_t x) {
  constexpr int32_t kOneQ3 = 1 << 28;
  constexpr int32_t kThreeHalvesQ3 = (1 << 28) + (1 << 27);
  constexpr int32_t kHalfSqrt2Q0 = 1518500250;
  if (x <= 1) return {std::numeric_limits<int32_t>::max(), 0};
  int right_shift = 11;
  for (; x >= 1 << 29; x /= 4) ++right_shift;
  const int pairs = (std::countl_zero(static_cast<uint32_t>(x)) - 1) / 2 - 1;
  right_shift -= pairs;
  const int32_t half_x = RoundingShiftRight((x << (2 * pairs)) >> 1, 1);
  int32_t root = kOneQ3;
  for (int i = 0; i < 5; ++i) {
    const int32_t cube =
        SaturatingShiftLeft(DoublingHighMultiply(DoublingHighMultiply(root, root), root), 6);
    root = SaturatingShiftLeft(
        DoublingHighMultiply(kThreeHalvesQ3, root) - DoublingHighMultiply(half_x, cube), 3);
  }
  root = DoublingHighMultiply(root, kHalfSqrt2Q0);
  if (right_shift < 0) return {WrappingShiftLeft(root, -right_shift), 0};
  return {root, -right_shift};
}

// log(x). Tries two normalisations of x that bring it within a factor of sqrt(2) of
// fourthroot(1/2), and uses a rational approximation around that point.
int32_t LogOfQ12InQ5(int32_t x) {
  constexpr int32_t kLog2 = 1488522236, kSqrtHalf = 1518500250, kFourthRootHalf = 1805811301;
  constexpr int32_t kAlphaN = 117049297, kAlphaD = 127690142, kAlphaI = 1057819769,
                    kAlphaF = 638450708;
  constexpr int kInputBits = 12, kAccumulatorBits = 6;
  constexpr int32_t kQuarter = 1 << (29 - kAccumulatorBits);
  x = x > 0 ? x : std::numeric_limits<int32_t>::max();  // x <= 0 is a sum that overflowed
  const auto multiply = [](int32_t a, int32_t b) { return DoublingHighMultiply(a, b); };
  const auto power = [](int exponent) {
    return SaturatingShiftLeft(exponent, 31 - kAccumulatorBits);
  };
  const int headroom_a = std::countl_zero(static_cast<uint32_t>(x)) - 1;
  const int32_t r_a =
      SaturatingShiftLeft(multiply(SaturatingShiftLeft(x, headroom_a), kSqrtHalf), 1);
  const int32_t power_a = power(kInputBits - headroom_a - 1) + kQuarter;
  const int headroom_b = std::countl_zero(static_cast<uint32_t>(multiply(x, kSqrtHalf))) - 1;
  const int32_t r_b = SaturatingShiftLeft(x, headroom_b);
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
      multiply(RoundingShiftRight(numerator, kAccumulatorBits), ReciprocalOfOnePlusQ0(denominator));
  return SaturatingShiftLeft(multiply(std::max(power_a, power_b), kLog2) + fraction, 1);
}

}  // namespace deputy
