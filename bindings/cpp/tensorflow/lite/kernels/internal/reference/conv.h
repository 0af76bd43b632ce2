// SPDX-License-Identifier: Apache-2.0
//
// CONV_2D. The im2col buffers are not used.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_CONV_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_CONV_H_

#include <cstdint>

#include "tensorflow/lite/kernels/internal/common.h"
#include "tensorflow/lite/kernels/internal/reference/conv_loops.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace reference_ops {

inline void Conv(const ConvParams& params, const RuntimeShape& input_shape, const float* input_data,
                 const RuntimeShape& filter_shape, const float* filter_data,
                 const RuntimeShape& bias_shape, const float* bias_data,
                 const RuntimeShape& output_shape, float* output_data,
                 const RuntimeShape& im2col_shape, float* im2col_data) {
  (void)bias_shape, (void)im2col_shape, (void)im2col_data;
  conv_loops::Conv<float>(
      params, input_shape, input_data, filter_shape, filter_data, output_shape,
      [](float in, float filter) { return in * filter; },
      [&](int position, int channel, float sum) {
        const float bias = bias_data != nullptr ? bias_data[channel] : 0.0f;
        output_data[position] = ActivationFunctionWithMinMax(
            sum + bias, params.float_activation_min, params.float_activation_max);
      });
}

inline void Conv(const ConvParams& params, const RuntimeShape& input_shape,
                 const uint8_t* input_data, const RuntimeShape& filter_shape,
                 const uint8_t* filter_data, const RuntimeShape& bias_shape,
                 const int32_t* bias_data, const RuntimeShape& output_shape, uint8_t* output_data,
                 const RuntimeShape& im2col_shape, uint8_t* im2col_data,
                 void* cpu_backend_context) {
  (void)bias_shape, (void)im2col_shape, (void)im2col_data, (void)cpu_backend_context;
  conv_loops::Conv<int32_t>(
      params, input_shape, input_data, filter_shape, filter_data, output_shape,
      [&](int32_t in, int32_t filter) {
        return (in + params.input_offset) * (filter + params.weights_offset);
      },
      [&](int position, int channel, int32_t sum) {
        if (bias_data != nullptr) sum += bias_data[channel];
        output_data[position] = conv_loops::Requantize<uint8_t>(
            params, sum, params.output_multiplier, params.output_shift);
      });
}

}  // namespace reference_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_CONV_H_
