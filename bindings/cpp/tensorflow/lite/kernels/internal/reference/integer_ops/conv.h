// SPDX-License-Identifier: Apache-2.0
//
// CONV_2D with int8 filters that have a scale per channel and a zero point of 0.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_INTEGER_OPS_CONV_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_INTEGER_OPS_CONV_H_

#include <cstdint>

#include "tensorflow/lite/kernels/internal/common.h"
#include "tensorflow/lite/kernels/internal/reference/conv_loops.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace reference_integer_ops {

inline void ConvPerChannel(const ConvParams& params, const int32_t* output_multiplier,
                           const int32_t* output_shift, const RuntimeShape& input_shape,
                           const int8_t* input_data, const RuntimeShape& filter_shape,
                           const int8_t* filter_data, const RuntimeShape& bias_shape,
                           const int32_t* bias_data, const RuntimeShape& output_shape,
                           int8_t* output_data) {
  (void)bias_shape;
  conv_loops::Conv<int32_t>(
      params, input_shape, input_data, filter_shape, filter_data, output_shape,
      [&](int32_t in, int32_t filter) { return filter * (in + params.input_offset); },
      [&](int position, int channel, int32_t sum) {
        if (bias_data != nullptr) sum += bias_data[channel];
        output_data[position] = conv_loops::Requantize<int8_t>(
            params, sum, output_multiplier[channel], output_shift[channel]);
      });
}

// Convolves int16 inputs, whose zero point is 0, with biases and sums of int32 or int64.
template <typename AccumScalar>
inline void ConvPerChannel(const ConvParams& params, const int32_t* output_multiplier,
                           const int32_t* output_shift, const RuntimeShape& input_shape,
                           const int16_t* input_data, const RuntimeShape& filter_shape,
                           const int8_t* filter_data, const RuntimeShape& bias_shape,
                           const AccumScalar* bias_data, const RuntimeShape& output_shape,
                           int16_t* output_data) {
  (void)bias_shape;
  conv_loops::Conv<AccumScalar>(
      params, input_shape, input_data, filter_shape, filter_data, output_shape,
      [](int32_t in, int32_t filter) { return filter * in; },
      [&](int position, int channel, AccumScalar sum) {
        if (bias_data != nullptr) sum += bias_data[channel];
        output_data[position] = conv_loops::Requantize<int16_t>(
            params, sum, output_multiplier[channel], output_shift[channel]);
      });
}

}  // namespace reference_integer_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_INTEGER_OPS_CONV_H_
