// SPDX-License-Identifier: Apache-2.0
#include "kernels/rnn/fixed16.h"

namespace deputy {
namespace {

// Truncates a sum that does not saturate to 16 bits, so that it wraps.
int16_t Wrap16(int32_t x) { return static_cast<int16_t>(x); }

int16_t ShiftRight16(int16_t x, int exponent) {
  return static_cast<int16_t>(RoundingShiftRight(x, exponent));
}

int16_t ShiftLeft16(int16_t x, int exponent) { return Saturate16(x * (1 << exponent)); }

// Rounds a constant of the 32-bit algorithm to 16 bits.
constexpr int16_t Constant16(int64_t raw) {
  return static_cast<int16_t>((raw + (1 << 15) - (raw < 0 ? 1 : 0)) >> 16);
}

constexpr int16_t kOneQ0 = 32767, kOneQ2 = 1 << 13;

// e^x for x in [-1/4, 0), argument and result in Q0. Uses the series around -1/8 up to the fourth
// power.
int16_t ExpNearZero(int16_t x) {
  constexpr int16_t kExpOfMinusEighth = Constant16(1895147668), kThird = Constant16(715827883);
  const int16_t t = Wrap16(x + (1 << 12));
  const int16_t t2 = Multiply16(t, t), t3 = Multiply16(t2, t), t4 = Multiply16(t2, t2);
  const int16_t higher = Multiply16(Wrap16(ShiftRight16(t4, 2) + t3), kThird);
  const int16_t series = Wrap16(t + ShiftRight16(Wrap16(higher + t2), 1));
  return Saturate16(kExpOfMinusEighth + Multiply16(kExpOfMinusEighth, series));
}

// e^x for x <= 0 with the given number of integer bits, result in Q0. Uses the series for the part
// of x below 1/4, and a multiplication for every power of two from 1/4 on in the remainder.
int16_t ExpOfNegative(int16_t x, int integer_bits) {
  constexpr int16_t kExpOfMinusPower[] = {
      Constant16(1672461947), Constant16(1302514674), Constant16(790015084), Constant16(290630308),
      Constant16(39332535),   Constant16(720401),     Constant16(242)};
  if (x == 0) return kOneQ0;
  if (integer_bits > 5 && x < -(1 << (20 - integer_bits))) return 0;
  const int fraction_bits = 15 - integer_bits;
  const int16_t quarter = static_cast<int16_t>(1 << (fraction_bits - 2));
  const int16_t below = Wrap16((x & (quarter - 1)) - quarter);
  const int16_t remainder = Wrap16(below - x);
  int16_t result = ExpNearZero(ShiftLeft16(below, integer_bits));
  for (int power = -2; power < std::min(integer_bits, 5); ++power) {
    if ((remainder & (1 << (fraction_bits + power))) != 0) {
      result = Multiply16(result, kExpOfMinusPower[power + 2]);
    }
  }
  return result;
}

// 2 / (1 + x) in Q2 for x in (0, 1). Uses three Newton steps.
int16_t TwiceReciprocalOfOnePlus(int16_t x) {
  constexpr int16_t k48Over17 = Constant16(1515870810), kMinus32Over17 = Constant16(-1010580540);
  const int32_t sum = int32_t{x} + kOneQ0;
  const int16_t half = static_cast<int16_t>((sum + (sum >= 0 ? 1 : -1)) / 2);
  int16_t guess = Wrap16(k48Over17 + Multiply16(half, kMinus32Over17));
  for (int i = 0; i < 3; ++i) {
    const int16_t error = Wrap16(kOneQ2 - Multiply16(half, guess));
    guess = Wrap16(guess + ShiftLeft16(Multiply16(guess, error), 2));
  }
  return guess;
}

}  // namespace

int16_t LogisticOfQ3(int16_t x) {
  if (x == 0) return 1 << 14;
  const int16_t negative = x > 0 ? Wrap16(-x) : x;
  const int16_t twice = TwiceReciprocalOfOnePlus(ExpOfNegative(negative, 3));
  const int16_t result = ShiftLeft16(twice, 1);
  return x > 0 ? result : Wrap16(kOneQ0 - result);
}

int16_t Tanh16(int16_t x, int integer_bits) {
  if (x == 0) return 0;
  const int16_t negative = x < 0 ? x : Wrap16(-x);
  // The result is (1 - e) / (1 + e) with e = exp(2x); x is doubled by counting one more integer
  // bit.
  const int16_t twice = TwiceReciprocalOfOnePlus(ExpOfNegative(negative, integer_bits + 1));
  const int16_t result = ShiftLeft16(Wrap16(twice - kOneQ2), 2);
  return x < 0 ? Wrap16(-result) : result;
}

}  // namespace deputy
