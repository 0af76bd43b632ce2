// SPDX-License-Identifier: Apache-2.0
//
// Elementary functions without calls and branches, so that compilers vectorise loops over them.
// Errors are a few units in the last place unless the function's comment says otherwise; infinities
// and NaN are handled correctly. Always inlined: files compiled for one instruction set must not
// emit copies that other files could use.
#ifndef DEPUTY_KERNELS_COMMON_FLOAT_MATH_H_
#define DEPUTY_KERNELS_COMMON_FLOAT_MATH_H_

#include <algorithm>
#include <bit>
#include <cstdint>

namespace deputy {

// Decomposition of x into a multiple of log(2), for the exponent, and a remainder in [-log(2)/2,
// log(2)/2], for a polynomial.
struct PartsOfExponent {
  float whole, remainder;
};
[[gnu::always_inline]] inline PartsOfExponent SplitExponent(float x) {
  constexpr float kLog2E = 1.44269504f;
  constexpr float kLog2High = 0.693359375f, kLog2Low = -2.12194440e-4f;
  // 1.5 * 2^23: adding and subtracting it rounds to a whole number
  constexpr float kMagic = 12582912.0f;
  const float whole = x * kLog2E + kMagic - kMagic;
  return {whole, (x - whole * kLog2High) - whole * kLog2Low};
}

// e^remainder - 1. T is float or a vector of floats.
template <typename T>
[[gnu::always_inline]] inline T ExpSeries(T remainder) {
  T series = remainder * 1.9875691500e-4f + 1.3981999507e-3f;
  series = series * remainder + 8.3334519073e-3f;
  series = series * remainder + 4.1665795894e-2f;
  series = series * remainder + 1.6666665459e-1f;
  series = series * remainder + 5.0000001201e-1f;
  return series * remainder * remainder + remainder;
}

// e^x, for any x.
[[gnu::always_inline]] inline float FastExp(float x) {
  const float below = 89.0f < x ? 89.0f : x;
  const PartsOfExponent parts = SplitExponent(-104.0f < below ? below : -104.0f);
  const float series = ExpSeries(parts.remainder) + 1.0f;
  // The exponent is applied in two halves, because results may be denormal or infinite.
  const auto exponent = static_cast<int32_t>(parts.whole);
  const int32_t half = exponent >> 1;
  const float value = series * std::bit_cast<float>((half + 127) << 23) *
                      std::bit_cast<float>((exponent - half + 127) << 23);
  return x != x ? x : value;
}

// ELU: x, or e^x - 1 if x is negative.
[[gnu::always_inline]] inline float FastElu(float x) {
  const float below = x < 0.0f ? x : 0.0f;
  const PartsOfExponent parts = SplitExponent(-87.0f < below ? below : -87.0f);
  const float power = std::bit_cast<float>((static_cast<int32_t>(parts.whole) + 127) << 23);
  const float value = power * ExpSeries(parts.remainder) + (power - 1.0f);
  return x < 0.0f ? value : x;
}

// erfc(x); for negative x, 2 - erfc(-x). With t = 2.5 / (2.5 + x) it is e^(-x^2) * t *
// polynomial(t), fitted with a relative error below 2^-26. x^2 is split into two parts, the first
// of which is exact, because an absolute error in x^2 is a relative error of the result.
[[gnu::always_inline]] inline float FastErfc(float x) {
  constexpr float kZeroBeyond = 12.0f;
  const float size = std::bit_cast<float>(std::bit_cast<uint32_t>(x) & 0x7fffffff);
  const float bounded = kZeroBeyond < size ? kZeroBeyond : size;
  const float high = std::bit_cast<float>(std::bit_cast<uint32_t>(bounded) & 0xfffff000);
  const float low_of_square = (bounded - high) * (bounded + high);
  const float t = 2.5f / (2.5f + bounded);
  float series = -2.7723756231290572e-2f;
  series = series * t + 1.879010954680323e-1f;
  series = series * t - 4.7515883580677026e-1f;
  series = series * t + 5.160848592912871e-1f;
  series = series * t - 2.5847542649280497e-1f;
  series = series * t + 2.582814731537589e-1f;
  series = series * t + 1.3440036565600472e-1f;
  series = series * t + 2.1391839072344554e-1f;
  series = series * t + 2.2507096829221643e-1f;
  series = series * t + 2.2570087623248136e-1f;
  const float power = FastExp(-high * high) * (1.0f + ExpSeries(-low_of_square));
  const float value = series * t * power;
  return x < 0.0f ? 2.0f - value : value;
}

// GELU: x times the cumulative normal distribution at x. Uses erfc, because 1 + erf would cancel
// for large negative x.
[[gnu::always_inline]] inline float FastGelu(float x) {
  return 0.5f * x * FastErfc(x * -0.707106781f);
}

// ---- For floats, and for several vectors of floats --------------------------------------------
//
// T of the templates below is float or a type with float's operators, RaisedTo, LoweredTo,
// ChooseBelow and PowerOf (kernels/vector/wide.inc), with bit-identical results. Independent
// operations are placed side by side to keep dependency chains short.

// Maximum (RaisedTo) and minimum (LoweredTo) of x and a bound; NaN passes through.
[[gnu::always_inline]] inline float RaisedTo(float x, float low) { return x < low ? low : x; }
[[gnu::always_inline]] inline float LoweredTo(float x, float high) { return high < x ? high : x; }
// Returns `below` if x is below the bound, else `other`.
[[gnu::always_inline]] inline float ChooseBelow(float x, float bound, float below, float other) {
  return x < bound ? below : other;
}

// Adding this number to a float rounds it to an integer n; n + 127 is then in the low bits of the
// sum.
inline constexpr float kRoundForPower = 12582912.0f + 127.0f;
// Returns 2^n for such a sum.
[[gnu::always_inline]] inline float PowerOf(float rounded) {
  return std::bit_cast<float>(std::bit_cast<uint32_t>(rounded) << 23);
}

// 2^x for x <= 0; results below about 2^-126.5 become 0. The relative error is as large as the
// absolute error of x, so small results have fewer correct digits than those near 1.
template <typename T>
[[gnu::always_inline]] inline T FastPowerOfNegative(T x) {
  const T bounded = RaisedTo(x, -127.0f);
  const T rounded = bounded + kRoundForPower;
  const T remainder = bounded - (rounded - kRoundForPower);
  const T square = remainder * remainder;
  const T low = remainder * 5.5507339537e-2f + 2.4022242427e-1f;
  const T high = remainder * 1.3264700538e-3f + 9.6715344116e-3f;
  const T series = (low + square * high) * square + remainder * 6.9314700365e-1f;
  return (series + 1.0f) * PowerOf(rounded);
}

// e^x for x >= -87; smaller x give e^-87, and x above about 88.4 give infinity.
template <typename T>
[[gnu::always_inline]] inline T FastExpWithin(T x) {
  constexpr float kLog2E = 1.44269504f;
  constexpr float kLog2High = 0.693359375f, kLog2Low = -2.12194440e-4f;
  const T bounded = LoweredTo(RaisedTo(x, -87.0f), 89.0f);
  const T rounded = bounded * kLog2E + kRoundForPower;
  const T whole = rounded - kRoundForPower;
  const T remainder = (bounded - whole * kLog2High) - whole * kLog2Low;
  const T square = remainder * remainder;
  const T low = remainder * 1.6667114198e-1f + 4.9999231100e-1f;
  const T high = remainder * 8.3125205711e-3f + 4.1890159249e-2f;
  const T series = (low + square * high) * square + remainder;
  return (series + 1.0f) * PowerOf(rounded);
}

template <typename T>
[[gnu::always_inline]] inline T FastLogistic(T x) {
  return 1.0f / (FastExpWithin(x * -1.0f) + 1.0f);
}

// tanh(x). The error is small in the absolute sense, and for |x| < 1/8, where a series is used,
// also in the relative sense. Hybrid recurrent layers quantise the result, which amplifies last-bit
// differences; golden rows pass with these approximations.
template <typename T>
[[gnu::always_inline]] inline T FastTanh(T x) {
  constexpr float kRound = 12582912.0f;
  const T bounded = LoweredTo(RaisedTo(x * 2.0f, -87.0f), 89.0f);
  const T rounded = bounded * 1.44269504f + kRound;
  const T whole = rounded - kRound;
  const T remainder = (bounded - whole * 0.693359375f) - whole * -2.12194440e-4f;
  const T power = (ExpSeries(remainder) + 1.0f) * PowerOf(rounded + 127.0f);
  const T square = x * x;
  const T series = (square * -0.0539682540f + 0.133333333f) * square + -0.333333333f;
  return ChooseBelow(square, 0.015625f, x * square * series + x, 1.0f - 2.0f / (power + 1.0f));
}

// GELU in its tanh approximation.
template <typename T>
[[gnu::always_inline]] inline T FastGeluByTanh(T x) {
  return x * 0.5f * (FastTanh((x * 0.044715f * x * x + x) * 0.797884561f) + 1.0f);
}

}  // namespace deputy

#endif  // DEPUTY_KERNELS_COMMON_FLOAT_MATH_H_
