// SPDX-License-Identifier: Apache-2.0
//
// ADD of int8 elements.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_INTEGER_OPS_ADD_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_INTEGER_OPS_ADD_H_

#include <cstdint>

#include "tensorflow/lite/kernels/internal/reference/add.h"
#include "tensorflow/lite/kernels/internal/reference/quantized_binary.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace reference_integer_ops {

inline void CheckArithmeticParams(const ArithmeticParams& params) {
  TFLITE_DCHECK_LE(params.quantized_activation_min, params.quantized_activation_max);
  TFLITE_DCHECK(params.input1_offset > -256 && params.input1_offset < 256);
  TFLITE_DCHECK(params.input2_offset > -256 && params.input2_offset < 256);
}

inline int8_t AddFunc(int8_t x, int8_t y, const ArithmeticParams& params) {
  return quantized_binary::AddQuantized(params, x, y);
}

inline void AddElementwise(int size, const ArithmeticParams& params, const int8_t* input1_data,
                           const int8_t* input2_data, int8_t* output_data) {
  reference_ops::AddElementwise(size, params, input1_data, input2_data, output_data);
}

// Adds inputs of equal shapes.
inline void Add(const ArithmeticParams& params, const RuntimeShape& input1_shape,
                const int8_t* input1_data, const RuntimeShape& input2_shape,
                const int8_t* input2_data, const RuntimeShape& output_shape, int8_t* output_data) {
  CheckArithmeticParams(params);
  AddElementwise(MatchingElementsSize(input1_shape, input2_shape, output_shape), params,
                 input1_data, input2_data, output_data);
}

inline void BroadcastAdd6DSlow(const ArithmeticParams& params, const RuntimeShape& input1_shape,
                               const int8_t* input1_data, const RuntimeShape& input2_shape,
                               const int8_t* input2_data, const RuntimeShape& output_shape,
                               int8_t* output_data) {
  CheckArithmeticParams(params);
  reference_ops::BroadcastAdd6DSlow<int8_t>(params, input1_shape, input1_data, input2_shape,
                                            input2_data, output_shape, output_data);
}

inline void BroadcastAdd4DSlow(const ArithmeticParams& params, const RuntimeShape& input1_shape,
                               const int8_t* input1_data, const RuntimeShape& input2_shape,
                               const int8_t* input2_data, const RuntimeShape& output_shape,
                               int8_t* output_data) {
  BroadcastAdd6DSlow(params, input1_shape, input1_data, input2_shape, input2_data, output_shape,
                     output_data);
}

}  // namespace reference_integer_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_INTEGER_OPS_ADD_H_
