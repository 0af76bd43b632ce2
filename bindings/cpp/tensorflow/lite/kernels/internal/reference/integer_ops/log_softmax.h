// SPDX-License-Identifier: Apache-2.0
//
// LOG_SOFTMAX of int8, with the parameters as arguments.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_INTEGER_OPS_LOG_SOFTMAX_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_INTEGER_OPS_LOG_SOFTMAX_H_

#include <cstdint>

#include "tensorflow/lite/kernels/internal/reference/log_softmax.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace reference_integer_ops {

inline void LogSoftmax(int32_t input_multiplier, int32_t input_shift, int32_t reverse_multiplier,
                       int32_t reverse_shift, int32_t diff_min, int32_t outer_size, int32_t depth,
                       const int8_t* input_data, int8_t* output_data) {
  SoftmaxParams params = {};
  params.input_multiplier = input_multiplier;
  params.input_left_shift = input_shift;
  params.reverse_scaling_divisor = reverse_multiplier;
  params.reverse_scaling_right_shift = -reverse_shift;
  params.diff_min = diff_min;
  const RuntimeShape shape({outer_size, depth});
  reference_ops::LogSoftmaxQuantized(params, static_cast<size_t>(outer_size),
                                     static_cast<size_t>(depth), shape, input_data, shape,
                                     output_data);
}

}  // namespace reference_integer_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_INTEGER_OPS_LOG_SOFTMAX_H_
