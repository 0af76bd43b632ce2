// SPDX-License-Identifier: Apache-2.0
//
// DEPTHWISE_CONV_2D of uint8.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_DEPTHWISECONV_UINT8_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_DEPTHWISECONV_UINT8_H_

#include <cstdint>

#include "tensorflow/lite/kernels/internal/common.h"
#include "tensorflow/lite/kernels/internal/reference/conv_loops.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace reference_ops {

inline void DepthwiseConv(const DepthwiseParams& params, const RuntimeShape& input_shape,
                          const uint8_t* input_data, const RuntimeShape& filter_shape,
                          const uint8_t* filter_data, const RuntimeShape& bias_shape,
                          const int32_t* bias_data, const RuntimeShape& output_shape,
                          uint8_t* output_data) {
  (void)bias_shape;
  conv_loops::DepthwiseConv<int32_t>(
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

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_DEPTHWISECONV_UINT8_H_
