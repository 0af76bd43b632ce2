// SPDX-License-Identifier: Apache-2.0
//
// SUB.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_SUB_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_SUB_H_

#include <cstdint>
#include <limits>

#include "tensorflow/lite/kernels/internal/common.h"
#include "tensorflow/lite/kernels/internal/reference/quantized_binary.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace reference_ops {

// Subtracts and clamps elements; inputs are broadcast.
template <typename T>
inline void BroadcastSubSlow(const ArithmeticParams& params, const RuntimeShape& input1_shape,
                             const T* input1_data, const RuntimeShape& input2_shape,
                             const T* input2_data, const RuntimeShape& output_shape,
                             T* output_data) {
  T min, max;
  GetActivationParams(params, &min, &max);
  BroadcastBinary(
      input1_shape, input1_data, input2_shape, input2_data, output_shape, output_data,
      [&](T a, T b) { return ActivationFunctionWithMinMax(static_cast<T>(a - b), min, max); });
}

// Subtracts quantised elements; inputs are broadcast.
template <typename T>
inline void BroadcastQuantSubSlow(const ArithmeticParams& params, const RuntimeShape& input1_shape,
                                  const T* input1_data, const RuntimeShape& input2_shape,
                                  const T* input2_data, const RuntimeShape& output_shape,
                                  T* output_data) {
  BroadcastBinary(input1_shape, input1_data, input2_shape, input2_data, output_shape, output_data,
                  [&](T a, T b) { return quantized_binary::SubQuantized(params, a, b); });
}

// Subtracts int16 elements whose scales are powers of two: the shift of one input is 0, that of the
// other 0 or negative. The difference saturates.
inline int16_t SubtractPowerOfTwoScales(const ArithmeticParams& params, int16_t a, int16_t b) {
  return quantized_binary::ClampToActivation<int16_t>(
      params, SaturatingSub(fixed_point::RoundingDivideByPOT(a, -params.input1_shift),
                            fixed_point::RoundingDivideByPOT(b, -params.input2_shift)));
}

inline void BroadcastSub16POTSlow(const ArithmeticParams& params, const RuntimeShape& input1_shape,
                                  const int16_t* input1_data, const RuntimeShape& input2_shape,
                                  const int16_t* input2_data, const RuntimeShape& output_shape,
                                  int16_t* output_data) {
  BroadcastBinary(input1_shape, input1_data, input2_shape, input2_data, output_shape, output_data,
                  [&](int16_t a, int16_t b) { return SubtractPowerOfTwoScales(params, a, b); });
}

inline void Sub16(const ArithmeticParams& params, const RuntimeShape& input1_shape,
                  const int16_t* input1_data, const RuntimeShape& input2_shape,
                  const int16_t* input2_data, const RuntimeShape& output_shape,
                  int16_t* output_data) {
  const int count = MatchingFlatSize(input1_shape, input2_shape, output_shape);
  for (int i = 0; i < count; ++i) {
    output_data[i] = SubtractPowerOfTwoScales(params, input1_data[i], input2_data[i]);
  }
}

// Subtracts quantised elements.
template <typename T>
inline void SubElementwise(int size, const ArithmeticParams& params, const T* input1_data,
                           const T* input2_data, T* output_data) {
  for (int i = 0; i < size; ++i) {
    output_data[i] = quantized_binary::SubQuantized(params, input1_data[i], input2_data[i]);
  }
}

// Subtracts inputs of equal shapes, if elements are 8-bit or 16-bit and quantised; other elements
// are broadcast and not clamped.
template <typename T>
inline void Sub(const ArithmeticParams& params, const RuntimeShape& input1_shape,
                const T* input1_data, const RuntimeShape& input2_shape, const T* input2_data,
                const RuntimeShape& output_shape, T* output_data) {
  if constexpr (is_small_integer<T>::value) {
    SubElementwise(MatchingFlatSize(input1_shape, input2_shape, output_shape), params, input1_data,
                   input2_data, output_data);
  } else {
    BroadcastBinary(input1_shape, input1_data, input2_shape, input2_data, output_shape, output_data,
                    [](T a, T b) { return static_cast<T>(a - b); });
  }
}

inline void SetActivationMinMax(const ArithmeticParams& params, int32_t* activation_min,
                                int32_t* activation_max) {
  GetActivationParams(params, activation_min, activation_max);
}
inline void SetActivationMinMax(const ArithmeticParams& params, float* activation_min,
                                float* activation_max) {
  GetActivationParams(params, activation_min, activation_max);
}
inline void SetActivationMinMax(const ArithmeticParams& params, int64_t* activation_min,
                                int64_t* activation_max) {
  GetActivationParams(params, activation_min, activation_max);
}

// Subtracts and clamps elements of inputs of equal shapes.
template <typename T>
inline void SubWithActivation(const ArithmeticParams& params, const RuntimeShape& input1_shape,
                              const T* input1_data, const RuntimeShape& input2_shape,
                              const T* input2_data, const RuntimeShape& output_shape,
                              T* output_data) {
  MatchingFlatSize(input1_shape, input2_shape, output_shape);
  BroadcastSubSlow(params, input1_shape, input1_data, input2_shape, input2_data, output_shape,
                   output_data);
}

}  // namespace reference_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_SUB_H_
