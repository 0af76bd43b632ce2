// SPDX-License-Identifier: Apache-2.0
//
// MUL of quantised elements.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_INTEGER_OPS_MUL_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_INTEGER_OPS_MUL_H_

#include <cstdint>

#include "tensorflow/lite/kernels/internal/common.h"
#include "tensorflow/lite/kernels/internal/reference/quantized_binary.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace reference_integer_ops {

template <typename InputType, typename OutputType>
inline void MulElementwise(int size, const ArithmeticParams& params, const InputType* input1_data,
                           const InputType* input2_data, OutputType* output_data) {
  for (int i = 0; i < size; ++i) {
    output_data[i] =
        quantized_binary::MulQuantized<OutputType>(params, input1_data[i], input2_data[i]);
  }
}

// Multiply inputs of equal shapes.
template <typename T>
inline void Mul(const ArithmeticParams& params, const RuntimeShape& input1_shape,
                const T* input1_data, const RuntimeShape& input2_shape, const T* input2_data,
                const RuntimeShape& output_shape, T* output_data) {
  MulElementwise(MatchingFlatSize(input1_shape, input2_shape, output_shape), params, input1_data,
                 input2_data, output_data);
}

inline void Mul(const ArithmeticParams& params, const RuntimeShape& input1_shape,
                const int16_t* input1_data, const RuntimeShape& input2_shape,
                const int16_t* input2_data, const RuntimeShape& output_shape, int8_t* output_data) {
  MulElementwise(MatchingFlatSize(input1_shape, input2_shape, output_shape), params, input1_data,
                 input2_data, output_data);
}

template <typename T>
inline void BroadcastMul6DSlow(const ArithmeticParams& params, const RuntimeShape& input1_shape,
                               const T* input1_data, const RuntimeShape& input2_shape,
                               const T* input2_data, const RuntimeShape& output_shape,
                               T* output_data) {
  BroadcastBinary(input1_shape, input1_data, input2_shape, input2_data, output_shape, output_data,
                  [&](T a, T b) { return quantized_binary::MulQuantized<T>(params, a, b); });
}

template <typename T>
inline void BroadcastMul4DSlow(const ArithmeticParams& params, const RuntimeShape& input1_shape,
                               const T* input1_data, const RuntimeShape& input2_shape,
                               const T* input2_data, const RuntimeShape& output_shape,
                               T* output_data) {
  BroadcastMul6DSlow<T>(params, input1_shape, input1_data, input2_shape, input2_data, output_shape,
                        output_data);
}

}  // namespace reference_integer_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_INTEGER_OPS_MUL_H_
