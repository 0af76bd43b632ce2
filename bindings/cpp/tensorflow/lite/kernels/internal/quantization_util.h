// SPDX-License-Identifier: Apache-2.0
//
// Conversions between real numbers and the integers of quantised kernels. Every rounding is part of
// the definition: kernels' results must be equal in all bits.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_QUANTIZATION_UTIL_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_QUANTIZATION_UTIL_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "tensorflow/lite/kernels/internal/compatibility.h"
#include "tensorflow/lite/kernels/internal/cppmath.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {

// Returns parameters that map [rmin, rmax], which must contain 0, to the range of T, in which 0 is
// exact. Aborts if the range does not contain 0. `narrow_range` leaves out T's lowest value.
template <typename T>
QuantizationParams ChooseQuantizationParams(double rmin, double rmax, bool narrow_range) {
  TFLITE_CHECK(rmin <= 0.0 && rmax >= 0.0);
  QuantizationParams params;
  if (rmin == rmax) return params;
  const double qmin = static_cast<double>(std::numeric_limits<T>::min()) + (narrow_range ? 1 : 0);
  const double qmax = static_cast<double>(std::numeric_limits<T>::max());
  params.scale = (rmax - rmin) / (qmax - qmin);
  // Both ends of the range give the zero point. The end with the smaller terms has the smaller
  // rounding error.
  const double rmin_steps = rmin / params.scale;
  const double rmax_steps = rmax / params.scale;
  const bool min_is_better =
      std::abs(qmin) + std::abs(rmin_steps) < std::abs(qmax) + std::abs(rmax_steps);
  const double zero_point = min_is_better ? qmin - rmin_steps : qmax - rmax_steps;
  params.zero_point = static_cast<int32_t>(std::round(std::min(std::max(zero_point, qmin), qmax)));
  return params;
}

template <typename T>
QuantizationParams ChooseQuantizationParams(double rmin, double rmax) {
  return ChooseQuantizationParams<T>(rmin, rmax, false);
}

// Truncates towards zero. Saturates values that IntOut cannot represent.
template <class IntOut, class FloatIn>
IntOut SafeCast(FloatIn x, IntOut nan_result = IntOut{0}) {
  using Limits = std::numeric_limits<IntOut>;
  static_assert(!std::numeric_limits<FloatIn>::is_integer, "FloatIn is an integer");
  static_assert(Limits::is_integer, "IntOut is not an integer");
  static_assert(std::numeric_limits<FloatIn>::max_exponent > Limits::digits,
                "FloatIn cannot represent the range of IntOut");
  if (std::isnan(x)) return nan_result;
  if (x < static_cast<FloatIn>(Limits::min())) return Limits::min();
  // max + 1 is a power of two, so FloatIn represents it.
  if (x >= static_cast<FloatIn>(Limits::max() / 2 + 1) * FloatIn{2}) return Limits::max();
  return static_cast<IntOut>(x);
}

// Splits a factor: double_multiplier ~ quantized_multiplier * 2^(shift - 31), with a multiplier in
// [2^30, 2^31). Factors below 2^-32 become 0.
inline void QuantizeMultiplier(double double_multiplier, int32_t* quantized_multiplier,
                               int* shift) {
  if (double_multiplier == 0.0) {
    *quantized_multiplier = 0;
    *shift = 0;
    return;
  }
  const double fraction = std::frexp(double_multiplier, shift);
  auto fixed = static_cast<int64_t>(std::round(fraction * static_cast<double>(int64_t{1} << 31)));
  TFLITE_CHECK_LE(fixed, int64_t{1} << 31);
  if (fixed == int64_t{1} << 31) {
    fixed /= 2;
    ++*shift;
  }
  if (*shift < -31) {
    *shift = 0;
    fixed = 0;
  }
#if TFLITE_SINGLE_ROUNDING
  if (*shift > 30) {  // the limit of MultiplyByQuantizedMultiplier()
    *shift = 30;
    fixed = std::numeric_limits<int32_t>::max();
  }
#endif
  *quantized_multiplier = static_cast<int32_t>(fixed);
}

// Aborts unless the factor is greater than 1.
inline void QuantizeMultiplierGreaterThanOne(double double_multiplier,
                                             int32_t* quantized_multiplier, int* left_shift) {
  TFLITE_CHECK_GT(double_multiplier, 1.0);
  QuantizeMultiplier(double_multiplier, quantized_multiplier, left_shift);
  TFLITE_CHECK_GE(*left_shift, 0);
}

// Aborts unless the factor is in (0, 1). The shift is 0 or negative.
inline void QuantizeMultiplierSmallerThanOneExp(double double_multiplier,
                                                int32_t* quantized_multiplier, int* left_shift) {
  TFLITE_CHECK(double_multiplier > 0.0 && double_multiplier < 1.0);
  QuantizeMultiplier(double_multiplier, quantized_multiplier, left_shift);
  TFLITE_CHECK_LE(*left_shift, 0);
}

inline void QuantizeMultiplierArray(const double* effective_scales, size_t size,
                                    int32_t* effective_scale_significand, int* effective_shift) {
  for (size_t i = 0; i < size; ++i) {
    QuantizeMultiplier(effective_scales[i], &effective_scale_significand[i], &effective_shift[i]);
  }
}

// Splits `input` as fraction * 2^(shift - 31), with a magnitude of the fraction in [2^30, 2^31] or
// 0 for 0, rounded to nearest and ties towards zero. NaN and infinities have the shift INT_MAX;
// their fractions are 0 and the limits of int64_t.
inline int64_t IntegerFrExp(double input, int* shift) {
  if (!std::isfinite(input)) {
    *shift = std::numeric_limits<int>::max();
    if (std::isnan(input)) return 0;
    return input > 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
  }
  const double scaled = std::ldexp(std::frexp(std::abs(input), shift), 31);
  const auto fraction = static_cast<int64_t>(std::ceil(scaled - 0.5));
  return input < 0 ? -fraction : fraction;
}

// The inverse of IntegerFrExp().
inline double DoubleFromFractionAndShift(int64_t fraction, int shift) {
  if (shift == std::numeric_limits<int>::max()) {
    if (fraction == 0) return std::numeric_limits<double>::quiet_NaN();
    const double infinity = std::numeric_limits<double>::infinity();
    return fraction > 0 ? infinity : -infinity;
  }
  return std::ldexp(static_cast<double>(fraction), shift - 31);
}

// Multiplies with the precision of IntegerFrExp(), rounding down. NaN unless both are finite.
inline double IntegerDoubleMultiply(double a, double b) {
  if (!std::isfinite(a) || !std::isfinite(b)) return std::numeric_limits<double>::quiet_NaN();
  int a_shift = 0;
  int b_shift = 0;
  const int64_t product = IntegerFrExp(a, &a_shift) * IntegerFrExp(b, &b_shift);
  return DoubleFromFractionAndShift(product >> 32, a_shift + b_shift + 1);
}

// Returns -1, 0 or 1 for a < b, a == b and a > b in the precision of IntegerFrExp(); 1 unless both
// are finite.
inline int IntegerDoubleCompare(double a, double b) {
  if (!std::isfinite(a) || !std::isfinite(b)) return 1;
  int shift = 0;
  const int64_t a_fraction = IntegerFrExp(a, &shift);
  const double rounded_a = DoubleFromFractionAndShift(a_fraction, shift);
  const int64_t b_fraction = IntegerFrExp(b, &shift);
  const double rounded_b = DoubleFromFractionAndShift(b_fraction, shift);
  return (rounded_a > rounded_b ? 1 : 0) - (rounded_a < rounded_b ? 1 : 0);
}

// Returns the multiplier that converts input differences of SOFTMAX, times beta, to fixed-point
// numbers with `input_integer_bits`. It is capped: exp() of larger arguments is 0.
inline void PreprocessSoftmaxScaling(double beta, double input_scale, int input_integer_bits,
                                     int32_t* quantized_multiplier, int* left_shift) {
#if TFLITE_SINGLE_ROUNDING
  const double max_multiplier = static_cast<double>((int64_t{1} << 30) - 1);
#else
  const double max_multiplier = static_cast<double>((int64_t{1} << 31) - 1);
#endif
  const double multiplier =
      beta * input_scale * static_cast<double>(int64_t{1} << (31 - input_integer_bits));
  QuantizeMultiplierGreaterThanOne(std::min(multiplier, max_multiplier), quantized_multiplier,
                                   left_shift);
}

// Returns the multiplier of LOG_SOFTMAX, and its inverse.
inline void PreprocessLogSoftmaxScalingExp(double beta, double input_scale, int input_integer_bits,
                                           int32_t* quantized_multiplier, int* left_shift,
                                           int32_t* reverse_scaling_divisor,
                                           int* reverse_scaling_left_shift) {
  PreprocessSoftmaxScaling(beta, input_scale, input_integer_bits, quantized_multiplier, left_shift);
  const double inverse = static_cast<double>(int64_t{1} << (31 - *left_shift)) /
                         static_cast<double>(*quantized_multiplier);
  QuantizeMultiplierSmallerThanOneExp(inverse, reverse_scaling_divisor, reverse_scaling_left_shift);
}

// Returns the largest input difference that, shifted left, is at most 2^input_integer_bits - 1 as a
// fixed-point number with `input_integer_bits` integer bits and `total_signed_bits` bits in all.
inline int CalculateInputRadius(int input_integer_bits, int input_left_shift,
                                int total_signed_bits = 31) {
  const double max_rescaled =
      static_cast<double>((int64_t{1} << input_integer_bits) - 1) *
      static_cast<double>(int64_t{1} << (total_signed_bits - input_integer_bits)) /
      static_cast<double>(int64_t{1} << input_left_shift);
  return static_cast<int>(std::floor(max_rescaled));
}

// Moves a range of real numbers so that 0 is one of the quantised values.
inline void NudgeQuantizationRange(const float min, const float max, const int quant_min,
                                   const int quant_max, float* nudged_min, float* nudged_max,
                                   float* nudged_scale) {
  const auto lowest = static_cast<float>(quant_min);
  const auto highest = static_cast<float>(quant_max);
  const float scale = (max - min) / (highest - lowest);
  const float zero_point = std::min(std::max(lowest - min / scale, lowest), highest);
  const float nudged_zero_point = TfLiteRound(zero_point);
  *nudged_scale = scale;
  *nudged_min = (lowest - nudged_zero_point) * scale;
  *nudged_max = (highest - nudged_zero_point) * scale;
}

// Rounds values to the quantised values of a range from NudgeQuantizationRange().
inline void FakeQuantizeArray(const float nudged_scale, const float nudged_min,
                              const float nudged_max, const float* input_data, float* output_data,
                              const float size) {
  const float inverse_scale = 1.0f / nudged_scale;
  for (int i = 0; i < static_cast<int>(size); ++i) {
    const float clamped = std::min(nudged_max, std::max(nudged_min, input_data[i]));
    const float steps = TfLiteRound((clamped - nudged_min) * inverse_scale);
    output_data[i] = steps * nudged_scale + nudged_min;
  }
}

// Stores the logarithm to base 2, rounded. Returns true if `x` is a power of two, up to 0.001 in
// the exponent.
inline bool CheckedLog2(const float x, int* log2_result) {
  const float log2 = std::log(x) * (1.0f / std::log(2.0f));
  const float rounded = TfLiteRound(log2);
  *log2_result = static_cast<int>(rounded);
  return std::abs(log2 - rounded) < 1e-3f;
}

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_QUANTIZATION_UTIL_H_
