// SPDX-License-Identifier: Apache-2.0
//
// ADD, SUB and MUL of quantised elements.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_QUANTIZED_BINARY_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_QUANTIZED_BINARY_H_

#include <algorithm>
#include <cstdint>

#include "tensorflow/lite/kernels/internal/common.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace quantized_binary {

template <typename T>
inline T ClampToActivation(const ArithmeticParams& params, int32_t value) {
  return static_cast<T>(
      std::min(params.quantized_activation_max, std::max(params.quantized_activation_min, value)));
}

// Scale an input to the common scale of ADD and SUB.
inline int32_t ScaleInput1(const ArithmeticParams& params, int32_t value) {
  return MultiplyByQuantizedMultiplierSmallerThanOneExp(
      (params.input1_offset + value) * (1 << params.left_shift), params.input1_multiplier,
      params.input1_shift);
}
inline int32_t ScaleInput2(const ArithmeticParams& params, int32_t value) {
  return MultiplyByQuantizedMultiplierSmallerThanOneExp(
      (params.input2_offset + value) * (1 << params.left_shift), params.input2_multiplier,
      params.input2_shift);
}

// Converts a sum in the common scale to the output's scale.
template <typename T>
inline T ScaleOutput(const ArithmeticParams& params, int32_t sum) {
  return ClampToActivation<T>(params, MultiplyByQuantizedMultiplierSmallerThanOneExp(
                                          sum, params.output_multiplier, params.output_shift) +
                                          params.output_offset);
}

template <typename T>
inline T AddQuantized(const ArithmeticParams& params, T a, T b) {
  return ScaleOutput<T>(params, ScaleInput1(params, a) + ScaleInput2(params, b));
}

template <typename T>
inline T SubQuantized(const ArithmeticParams& params, T a, T b) {
  return ScaleOutput<T>(params, ScaleInput1(params, a) - ScaleInput2(params, b));
}

template <typename Output, typename Input>
inline Output MulQuantized(const ArithmeticParams& params, Input a, Input b) {
  const int32_t product = (params.input1_offset + a) * (params.input2_offset + b);
  return ClampToActivation<Output>(
      params,
      MultiplyByQuantizedMultiplier(product, params.output_multiplier, params.output_shift) +
          params.output_offset);
}

}  // namespace quantized_binary
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_QUANTIZED_BINARY_H_
