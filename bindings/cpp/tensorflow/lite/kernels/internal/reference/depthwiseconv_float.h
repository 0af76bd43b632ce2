// SPDX-License-Identifier: Apache-2.0
//
// DEPTHWISE_CONV_2D of float32.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_DEPTHWISECONV_FLOAT_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_DEPTHWISECONV_FLOAT_H_

#include "tensorflow/lite/kernels/internal/common.h"
#include "tensorflow/lite/kernels/internal/reference/conv_loops.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace reference_ops {

inline void DepthwiseConv(const DepthwiseParams& params, const RuntimeShape& input_shape,
                          const float* input_data, const RuntimeShape& filter_shape,
                          const float* filter_data, const RuntimeShape& bias_shape,
                          const float* bias_data, const RuntimeShape& output_shape,
                          float* output_data) {
  (void)bias_shape;
  conv_loops::DepthwiseConv<float>(
      params, input_shape, input_data, filter_shape, filter_data, output_shape,
      [](float in, float filter) { return in * filter; },
      [&](int position, int channel, float sum) {
        const float bias = bias_data != nullptr ? bias_data[channel] : 0.0f;
        output_data[position] = ActivationFunctionWithMinMax(
            sum + bias, params.float_activation_min, params.float_activation_max);
      });
}

}  // namespace reference_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_DEPTHWISECONV_FLOAT_H_
