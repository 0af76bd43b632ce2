// SPDX-License-Identifier: Apache-2.0
//
// DIV. Quantised inputs must not divide by zero.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_DIV_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_DIV_H_

#include <cstdint>
#include <type_traits>

#include "tensorflow/lite/kernels/internal/common.h"
#include "tensorflow/lite/kernels/internal/reference/quantized_binary.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace reference_ops {

// Divides quantised elements: the quotient is a product with the divisor's reciprocal in 31 bits.
template <typename T>
inline T DivQuantized(const ArithmeticParams& params, T a, T b) {
  int32_t dividend = params.input1_offset + a;
  int32_t divisor = params.input2_offset + b;
  TFLITE_DCHECK_NE(divisor, 0);
  if (divisor < 0) {
    dividend = -dividend;
    divisor = -divisor;
  }
  int reciprocal_shift = 0;
  const int32_t reciprocal = GetReciprocal(divisor, 31, &reciprocal_shift);
  const int headroom = CountLeadingSignBits(dividend);
  const int32_t quotient =
      MultiplyByQuantizedMultiplierGreaterThanOne(dividend, reciprocal, headroom);
  return quantized_binary::ClampToActivation<T>(
      params, params.output_offset +
                  MultiplyByQuantizedMultiplier(quotient, params.output_multiplier,
                                                params.output_shift - reciprocal_shift - headroom));
}

template <typename T>
inline T DivElement(const ArithmeticParams& params, T a, T b) {
  if constexpr (is_small_integer<T>::value) {
    return DivQuantized(params, a, b);
  } else {
    T min, max;
    GetActivationParams(params, &min, &max);
    return ActivationFunctionWithMinMax(static_cast<T>(a / b), min, max);
  }
}

// Divides elements; 8-bit and 16-bit ones are quantised.
template <typename T>
inline void DivElementwise(int size, const ArithmeticParams& params, const T* input1_data,
                           const T* input2_data, T* output_data) {
  for (int i = 0; i < size; ++i) {
    output_data[i] = DivElement(params, input1_data[i], input2_data[i]);
  }
}

template <typename T>
inline void Div(const ArithmeticParams& params, const RuntimeShape& input1_shape,
                const T* input1_data, const RuntimeShape& input2_shape, const T* input2_data,
                const RuntimeShape& output_shape, T* output_data) {
  DivElementwise(MatchingFlatSize(input1_shape, input2_shape, output_shape), params, input1_data,
                 input2_data, output_data);
}

template <typename T, int N = 5>
inline void BroadcastDivSlow(const ArithmeticParams& params, const RuntimeShape& input1_shape,
                             const T* input1_data, const RuntimeShape& input2_shape,
                             const T* input2_data, const RuntimeShape& output_shape,
                             T* output_data) {
  BroadcastBinary(input1_shape, input1_data, input2_shape, input2_data, output_shape, output_data,
                  [&](T a, T b) { return DivElement(params, a, b); });
}

}  // namespace reference_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_DIV_H_
