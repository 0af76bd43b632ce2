// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic that kernels share: activations, requantisation, saturation, bits. With
// TFLITE_SINGLE_ROUNDING, products are rounded once; without, as the library's kernels, twice.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_COMMON_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_COMMON_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "tensorflow/lite/core/macros.h"
#include "tensorflow/lite/kernels/internal/broadcast.h"  // IWYU pragma: export
#include "tensorflow/lite/kernels/internal/cppmath.h"    // IWYU pragma: export
#include "tensorflow/lite/kernels/internal/fixed_point.h"
#include "tensorflow/lite/kernels/internal/lookup_table.h"  // IWYU pragma: export
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {

// Factor that turns the left shifts of these functions into right shifts.
constexpr int kReverseShift = -1;

// Return the sum and the product; integers wrap on overflow.
template <typename T>
inline T WrappingAdd(T a, T b) {
  if constexpr (std::is_integral<T>::value) {
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  } else {
    return a + b;
  }
}

template <typename T>
inline T WrappingMul(T a, T b) {
  if constexpr (std::is_integral<T>::value) {
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  } else {
    return a * b;
  }
}

template <typename T>
inline T AddTensorValuesWithExpectedOverflow(T a, T b) {
  return WrappingAdd(a, b);
}

template <typename T>
inline T MulTensorValuesWithExpectedOverflow(T a, T b) {
  return WrappingMul(a, b);
}

inline void GetActivationMinMax(FusedActivationFunctionType ac, float* output_activation_min,
                                float* output_activation_max) {
  *output_activation_min = std::numeric_limits<float>::lowest();
  *output_activation_max = std::numeric_limits<float>::max();
  if (ac == FusedActivationFunctionType::kNone) return;
  *output_activation_min = ac == FusedActivationFunctionType::kRelu1 ? -1.0f : 0.0f;
  if (ac == FusedActivationFunctionType::kRelu1) *output_activation_max = 1.0f;
  if (ac == FusedActivationFunctionType::kRelu6) *output_activation_max = 6.0f;
}

template <typename T>
inline T ActivationFunctionWithMinMax(T x, T output_activation_min, T output_activation_max) {
  return std::min(std::max(x, output_activation_min), output_activation_max);
}

template <FusedActivationFunctionType Ac>
inline float ActivationFunction(float x) {
  float min = 0;
  float max = 0;
  GetActivationMinMax(Ac, &min, &max);
  return ActivationFunctionWithMinMax(x, min, max);
}

// Adds a bias to each row of `array_data` and clamps the sums. Has no effect if `bias_size` is 0.
inline void BiasAndClamp(float clamp_min, float clamp_max, int bias_size, const float* bias_data,
                         int array_size, float* array_data) {
  if (bias_size == 0) return;
  TFLITE_DCHECK_EQ(array_size % bias_size, 0);
  for (int i = 0; i < array_size; ++i) {
    array_data[i] = ActivationFunctionWithMinMax(array_data[i] + bias_data[i % bias_size],
                                                 clamp_min, clamp_max);
  }
}

// Returns x * quantized_multiplier * 2^(shift - 31), rounded; see QuantizeMultiplier().
inline int32_t MultiplyByQuantizedMultiplier(int32_t x, int32_t quantized_multiplier, int shift) {
#if TFLITE_SINGLE_ROUNDING
  TFLITE_DCHECK(quantized_multiplier >= 0 && shift >= -31 && shift <= 30);
  const int64_t half = int64_t{1} << (30 - shift);
  return static_cast<int32_t>((x * int64_t{quantized_multiplier} + half) >> (31 - shift));
#else
  const int32_t shifted = WrappingMul(x, int32_t{1} << (shift > 0 ? shift : 0));
  return fixed_point::RoundingDivideByPOT(
      fixed_point::SaturatingRoundingDoublingHighMul(shifted, quantized_multiplier),
      shift > 0 ? 0 : -shift);
#endif
}

// Overload for 64-bit sums, of 48 bits at most, with a multiplier that is rounded to 15 bits. The
// result must fit in 32 bits; -31 <= shift <= 7.
inline int32_t MultiplyByQuantizedMultiplier(int64_t x, int32_t quantized_multiplier, int shift) {
  TFLITE_DCHECK(quantized_multiplier >= 0 && shift >= -31 && shift < 8);
  TFLITE_DCHECK(x >= -(int64_t{1} << 47) && x < (int64_t{1} << 47));
  const int64_t multiplier =
      quantized_multiplier < 0x7fff0000 ? (quantized_multiplier + (1 << 15)) >> 16 : 0x7fff;
  const int total_shift = 15 - shift;
  const int64_t rounded = WrappingAdd(WrappingMul(x, multiplier), int64_t{1} << (total_shift - 1));
  return static_cast<int32_t>(rounded >> total_shift);
}

// Variants for left_shift <= 0 and for left_shift >= 0.
inline int32_t MultiplyByQuantizedMultiplierSmallerThanOneExp(int32_t x,
                                                              int32_t quantized_multiplier,
                                                              int left_shift) {
  TFLITE_DCHECK_LE(left_shift, 0);
  return MultiplyByQuantizedMultiplier(x, quantized_multiplier, left_shift);
}

inline int32_t MultiplyByQuantizedMultiplierGreaterThanOne(int32_t x, int32_t quantized_multiplier,
                                                           int left_shift) {
  TFLITE_DCHECK_GE(left_shift, 0);
  return MultiplyByQuantizedMultiplier(x, quantized_multiplier, left_shift);
}

template <typename T>
inline int CountLeadingZeros(T integer_input) {
  static_assert(std::is_unsigned<T>::value, "the type must be unsigned");
  int zeros = std::numeric_limits<T>::digits;
  for (; integer_input != 0; integer_input = static_cast<T>(integer_input >> 1)) --zeros;
  return zeros;
}

// Returns the number of bits after the sign bit that are equal to it.
template <typename T>
inline int CountLeadingSignBits(T integer_input) {
  static_assert(std::is_signed<T>::value, "the type must be signed");
  using Unsigned = typename std::make_unsigned<T>::type;
  const T magnitude = integer_input < 0 ? static_cast<T>(~integer_input) : integer_input;
  return CountLeadingZeros(static_cast<Unsigned>(magnitude)) - 1;
}

// Returns the logarithm of a positive number to base 2, rounded down.
template <typename Integer>
inline Integer FloorLog2(Integer n) {
  static_assert(std::is_signed<Integer>::value && sizeof(Integer) >= 4, "int32_t or int64_t");
  TFLITE_CHECK_GT(n, 0);
  return static_cast<Integer>(std::numeric_limits<Integer>::digits - 1 - CountLeadingSignBits(n));
}

template <typename IntegerType>
inline IntegerType SaturatingAddNonGemmlowp(IntegerType a, IntegerType b) {
  static_assert(sizeof(IntegerType) <= 4, "sums must fit in 64 bits");
  return fixed_point::Saturate<IntegerType>(int64_t{a} + int64_t{b});
}

template <typename IntegerType>
inline IntegerType SaturatingSub(IntegerType a, IntegerType b) {
  static_assert(sizeof(IntegerType) <= 4, "differences must fit in 64 bits");
  return fixed_point::Saturate<IntegerType>(int64_t{a} - int64_t{b});
}

template <typename IntegerType>
inline IntegerType SaturatingRoundingMultiplyByPOTParam(IntegerType x, int exponent) {
  return fixed_point::SaturatingRoundingMultiplyByPOT(x, exponent);
}

// Rounds a multiplier to 16 bits.
inline void DownScaleInt32ToInt16Multiplier(int32_t multiplier_int32_t,
                                            int16_t* multiplier_int16_t) {
  TFLITE_DCHECK_GE(multiplier_int32_t, 0);
  const int64_t rounded = (int64_t{multiplier_int32_t} + (1 << 15)) >> 16;
  *multiplier_int16_t = fixed_point::Saturate<int16_t>(rounded);
}

// Returns the integer bits that a logarithm of numbers with `input_bits` integer bits needs.
constexpr int min_log_x_output_bits(int input_bits) {
  constexpr int kLargestInput[] = {1, 4, 10, 21, 44, 90};
  int bits = 1;
  for (int largest : kLargestInput) bits += input_bits > largest ? 1 : 0;
  return bits;
}

// Returns the mantissa of 1 / x with 31 fraction bits for x > 0 with `x_integer_digits` integer
// bits, and the number of bits by which the mantissa is to be shifted right.
inline int32_t GetReciprocal(int32_t x, int x_integer_digits, int* num_bits_over_unit) {
  const int headroom = CountLeadingZeros(static_cast<uint32_t>(x));
  *num_bits_over_unit = x_integer_digits - headroom;
  const uint32_t normalized = static_cast<uint32_t>(x) << headroom;
  return fixed_point::ReciprocalOfOnePlus(static_cast<int32_t>(normalized - (uint32_t{1} << 31)));
}

// Stores the multiplier and shift of 1 / sqrt(input), by five Newton steps from 1. 0 is treated as
// 1. The shift is a left shift, multiplied by `reverse_shift`: 1 or kReverseShift.
inline void GetInvSqrtQuantizedMultiplierExp(int32_t input, int reverse_shift,
                                             int32_t* output_inv_sqrt, int* output_shift) {
  using fixed_point::SaturatingRoundingDoublingHighMul;
  using fixed_point::SaturatingRoundingMultiplyByPOT;
  TFLITE_DCHECK_GE(input, 0);
  constexpr int32_t kOneQ3 = 1 << 28;
  constexpr int32_t kThreeHalvesQ3 = kOneQ3 + (kOneQ3 >> 1);
  constexpr int32_t kHalfSqrt2Q0 = 1518500250;
  if (input <= 1) {
    *output_inv_sqrt = std::numeric_limits<int32_t>::max();
    *output_shift = 0;
    return;
  }
  int right_shift = 11;
  for (; input >= 1 << 29; input /= 4) ++right_shift;
  const int pairs = (CountLeadingZeros(static_cast<uint32_t>(input)) - 1) / 2 - 1;
  right_shift -= pairs;
  const int32_t half_input = fixed_point::RoundingDivideByPOT((input << (2 * pairs)) >> 1, 1);
  int32_t root = kOneQ3;
  for (int i = 0; i < 5; ++i) {
    const int32_t square = SaturatingRoundingDoublingHighMul(root, root);
    const int32_t cube =
        SaturatingRoundingMultiplyByPOT(SaturatingRoundingDoublingHighMul(square, root), 6);
    root = SaturatingRoundingMultiplyByPOT(SaturatingRoundingDoublingHighMul(kThreeHalvesQ3, root) -
                                               SaturatingRoundingDoublingHighMul(half_input, cube),
                                           3);
  }
  root = SaturatingRoundingDoublingHighMul(root, kHalfSqrt2Q0);
  if (right_shift < 0) {
    root = WrappingMul(root, int32_t{1} << -right_shift);
    right_shift = 0;
  }
  *output_inv_sqrt = root;
  *output_shift = right_shift * reverse_shift;
}

template <unsigned Modulus, typename Integer>
inline Integer RoundDown(Integer i) {
  return i - (i % Modulus);
}

template <unsigned Modulus, typename Integer>
inline Integer RoundUp(Integer i) {
  return RoundDown<Modulus>(i + Modulus - 1);
}

template <typename Integer>
inline Integer CeilQuotient(Integer a, Integer b) {
  return (a + b - 1) / b;
}

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_COMMON_H_
