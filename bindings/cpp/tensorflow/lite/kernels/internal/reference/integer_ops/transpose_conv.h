// SPDX-License-Identifier: Apache-2.0
//
// TRANSPOSE_CONV with int8 filters that have a scale per channel and a zero point of 0. The im2col
// buffers are not used; scratch buffers have the output's shape.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_INTEGER_OPS_TRANSPOSE_CONV_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_INTEGER_OPS_TRANSPOSE_CONV_H_

#include <cstdint>

#include "tensorflow/lite/kernels/internal/common.h"
#include "tensorflow/lite/kernels/internal/reference/conv_loops.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace reference_integer_ops {

inline void TransposeConv(const ConvParams& params, const int32_t* output_multiplier,
                          const int32_t* output_shift, const RuntimeShape& input_shape,
                          const int8_t* input_data, const RuntimeShape& filter_shape,
                          const int8_t* filter_data, const RuntimeShape& bias_shape,
                          const int32_t* bias_data, const RuntimeShape& output_shape,
                          int8_t* output_data, const RuntimeShape& im2col_shape,
                          int8_t* im2col_data, int32_t* scratch_buffer) {
  (void)bias_shape, (void)im2col_shape, (void)im2col_data;
  conv_loops::TransposeConv(
      params, input_shape, input_data, filter_shape, filter_data, output_shape, scratch_buffer,
      [&](int32_t in, int32_t filter) { return filter * (in + params.input_offset); });
  const int depth = output_shape.Dims(3);
  for (int i = 0; i < output_shape.FlatSize(); ++i) {
    const int channel = i % depth;
    const int32_t sum = scratch_buffer[i] + (bias_data != nullptr ? bias_data[channel] : 0);
    output_data[i] = conv_loops::Requantize<int8_t>(params, sum, output_multiplier[channel],
                                                    output_shift[channel]);
  }
}

// Convolves int16 inputs, whose zero point is 0, with biases and sums of int32 or int64.
template <typename Scalar>
inline void TransposeConv(const ConvParams& params, const int32_t* output_multiplier,
                          const int32_t* output_shift, const RuntimeShape& input_shape,
                          const int16_t* input_data, const RuntimeShape& filter_shape,
                          const int8_t* filter_data, const RuntimeShape& bias_shape,
                          const Scalar* bias_data, const RuntimeShape& output_shape,
                          int16_t* output_data, const RuntimeShape& im2col_shape,
                          int8_t* im2col_data, Scalar* scratch_buffer) {
  (void)bias_shape, (void)im2col_shape, (void)im2col_data;
  conv_loops::TransposeConv(params, input_shape, input_data, filter_shape, filter_data,
                            output_shape, scratch_buffer,
                            [](int32_t in, int32_t filter) { return filter * in; });
  const int depth = output_shape.Dims(3);
  for (int i = 0; i < output_shape.FlatSize(); ++i) {
    const int channel = i % depth;
    const Scalar sum = scratch_buffer[i] + (bias_data != nullptr ? bias_data[channel] : Scalar{0});
    output_data[i] = conv_loops::Requantize<int16_t>(params, sum, output_multiplier[channel],
                                                     output_shift[channel]);
  }
}

}  // namespace reference_integer_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_INTEGER_OPS_TRANSPOSE_CONV_H_
