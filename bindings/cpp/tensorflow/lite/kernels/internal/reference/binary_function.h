// SPDX-License-Identifier: Apache-2.0
//
// Element-wise functions of two inputs.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_BINARY_FUNCTION_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_BINARY_FUNCTION_H_

#include "tensorflow/lite/kernels/internal/common.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace reference_ops {

template <typename R, typename T1, typename T2>
inline void BroadcastBinaryFunction4DSlow(const RuntimeShape& input1_shape, const T1* input1_data,
                                          const RuntimeShape& input2_shape, const T2* input2_data,
                                          const RuntimeShape& output_shape, R* output_data,
                                          R (*func)(T1, T2)) {
  BroadcastBinary(input1_shape, input1_data, input2_shape, input2_data, output_shape, output_data,
                  func);
}

// Takes inputs of equal shapes.
template <typename R, typename T1, typename T2>
inline void BinaryFunction(const RuntimeShape& input1_shape, const T1* input1_data,
                           const RuntimeShape& input2_shape, const T2* input2_data,
                           const RuntimeShape& output_shape, R* output_data, R (*func)(T1, T2)) {
  const int count = MatchingFlatSize(input1_shape, input2_shape, output_shape);
  for (int i = 0; i < count; ++i) output_data[i] = func(input1_data[i], input2_data[i]);
}

}  // namespace reference_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_BINARY_FUNCTION_H_
