// SPDX-License-Identifier: Apache-2.0
//
// MUL. Functions without "Broadcast" in their names take inputs of equal shapes.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_MUL_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_MUL_H_

#include <complex>
#include <cstdint>

#include "tensorflow/lite/kernels/internal/common.h"
#include "tensorflow/lite/kernels/internal/reference/quantized_binary.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace reference_ops {

// Multiplies and clamps elements of float, int32 or int64.
template <typename T>
inline void Mul(const ArithmeticParams& params, const RuntimeShape& input1_shape,
                const T* input1_data, const RuntimeShape& input2_shape, const T* input2_data,
                const RuntimeShape& output_shape, T* output_data) {
  T min, max;
  GetActivationParams(params, &min, &max);
  const int count = MatchingExtendedShapeFlatSize(input1_shape, input2_shape, output_shape);
  for (int i = 0; i < count; ++i) {
    output_data[i] =
        ActivationFunctionWithMinMax(WrappingMul(input1_data[i], input2_data[i]), min, max);
  }
}

inline void Mul(const ArithmeticParams&, const RuntimeShape& input1_shape,
                const std::complex<float>* input1_data, const RuntimeShape& input2_shape,
                const std::complex<float>* input2_data, const RuntimeShape& output_shape,
                std::complex<float>* output_data) {
  const int count = MatchingExtendedShapeFlatSize(input1_shape, input2_shape, output_shape);
  for (int i = 0; i < count; ++i) output_data[i] = input1_data[i] * input2_data[i];
}

// Multiplies quantised elements.
template <typename T>
inline void MulElementwise(int size, const ArithmeticParams& params, const T* input1_data,
                           const T* input2_data, T* output_data) {
  for (int i = 0; i < size; ++i) {
    output_data[i] = quantized_binary::MulQuantized<T>(params, input1_data[i], input2_data[i]);
  }
}

inline void Mul(const ArithmeticParams& params, const RuntimeShape& input1_shape,
                const uint8_t* input1_data, const RuntimeShape& input2_shape,
                const uint8_t* input2_data, const RuntimeShape& output_shape,
                uint8_t* output_data) {
  MulElementwise(MatchingFlatSize(input1_shape, input2_shape, output_shape), params, input1_data,
                 input2_data, output_data);
}

// Multiplies and clamps elements; those of 8 and 16 bits are quantised unless
// `enable_for_short_integers` is true.
template <typename T, bool enable_for_short_integers = false>
inline void BroadcastMul6DSlow(const ArithmeticParams& params, const RuntimeShape& input1_shape,
                               const T* input1_data, const RuntimeShape& input2_shape,
                               const T* input2_data, const RuntimeShape& output_shape,
                               T* output_data) {
  if constexpr (is_small_integer<T>::value && !enable_for_short_integers) {
    BroadcastBinary(input1_shape, input1_data, input2_shape, input2_data, output_shape, output_data,
                    [&](T a, T b) { return quantized_binary::MulQuantized<T>(params, a, b); });
  } else {
    T min, max;
    GetActivationParams(params, &min, &max);
    BroadcastBinary(
        input1_shape, input1_data, input2_shape, input2_data, output_shape, output_data,
        [&](T a, T b) { return ActivationFunctionWithMinMax(WrappingMul(a, b), min, max); });
  }
}

inline void BroadcastMul6DSlow(const ArithmeticParams&, const RuntimeShape& input1_shape,
                               const std::complex<float>* input1_data,
                               const RuntimeShape& input2_shape,
                               const std::complex<float>* input2_data,
                               const RuntimeShape& output_shape, std::complex<float>* output_data) {
  BroadcastBinary(input1_shape, input1_data, input2_shape, input2_data, output_shape, output_data,
                  [](std::complex<float> a, std::complex<float> b) { return a * b; });
}

template <typename T>
inline void BroadcastMul4DSlow(const ArithmeticParams& params, const RuntimeShape& input1_shape,
                               const T* input1_data, const RuntimeShape& input2_shape,
                               const T* input2_data, const RuntimeShape& output_shape,
                               T* output_data) {
  BroadcastMul6DSlow<T>(params, input1_shape, input1_data, input2_shape, input2_data, output_shape,
                        output_data);
}

}  // namespace reference_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_MUL_H_
