// SPDX-License-Identifier: Apache-2.0
//
// TRANSPOSE_CONV. The im2col buffers are not used; scratch buffers have the output's shape.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_TRANSPOSE_CONV_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_TRANSPOSE_CONV_H_

#include <cstdint>

#include "tensorflow/lite/kernels/internal/common.h"
#include "tensorflow/lite/kernels/internal/reference/conv_loops.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace reference_ops {

inline void TransposeConv(const ConvParams& params, const RuntimeShape& input_shape,
                          const float* input_data, const RuntimeShape& filter_shape,
                          const float* filter_data, const RuntimeShape& bias_shape,
                          const float* bias_data, const RuntimeShape& output_shape,
                          float* output_data, const RuntimeShape& im2col_shape,
                          float* im2col_data) {
  (void)bias_shape, (void)im2col_shape, (void)im2col_data;
  conv_loops::TransposeConv(params, input_shape, input_data, filter_shape, filter_data,
                            output_shape, output_data,
                            [](float in, float filter) { return in * filter; });
  const int depth = output_shape.Dims(3);
  for (int i = 0; i < output_shape.FlatSize(); ++i) {
    const float sum = output_data[i] + (bias_data != nullptr ? bias_data[i % depth] : 0.0f);
    output_data[i] =
        ActivationFunctionWithMinMax(sum, params.float_activation_min, params.float_activation_max);
  }
}

inline void TransposeConv(const ConvParams& params, const RuntimeShape& input_shape,
                          const uint8_t* input_data, const RuntimeShape& filter_shape,
                          const uint8_t* filter_data, const RuntimeShape& bias_shape,
                          const int32_t* bias_data, const RuntimeShape& output_shape,
                          uint8_t* output_data, const RuntimeShape& im2col_shape,
                          uint8_t* im2col_data, int32_t* scratch_buffer) {
  (void)bias_shape, (void)im2col_shape, (void)im2col_data;
  conv_loops::TransposeConv(params, input_shape, input_data, filter_shape, filter_data,
                            output_shape, scratch_buffer, [&](int32_t in, int32_t filter) {
                              return (in + params.input_offset) * (filter + params.weights_offset);
                            });
  const int depth = output_shape.Dims(3);
  for (int i = 0; i < output_shape.FlatSize(); ++i) {
    const int32_t sum = scratch_buffer[i] + (bias_data != nullptr ? bias_data[i % depth] : 0);
    output_data[i] =
        conv_loops::Requantize<uint8_t>(params, sum, params.output_multiplier, params.output_shift);
  }
}

}  // namespace reference_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_TRANSPOSE_CONV_H_
