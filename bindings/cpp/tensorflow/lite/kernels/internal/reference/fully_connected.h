// SPDX-License-Identifier: Apache-2.0
//
// FULLY_CONNECTED.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_FULLY_CONNECTED_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_FULLY_CONNECTED_H_

#include <cstdint>

#include "tensorflow/lite/kernels/internal/common.h"
#include "tensorflow/lite/kernels/internal/reference/conv_loops.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace reference_ops {

inline void FullyConnected(const FullyConnectedParams& params, const RuntimeShape& input_shape,
                           const float* input_data, const RuntimeShape& filter_shape,
                           const float* filter_data, const RuntimeShape& bias_shape,
                           const float* bias_data, const RuntimeShape& output_shape,
                           float* output_data) {
  (void)input_shape, (void)bias_shape;
  conv_loops::FullyConnected<float>(
      input_data, filter_shape, filter_data, output_shape,
      [](float in, float filter) { return in * filter; },
      [&](int position, int channel, float sum) {
        const float bias = bias_data != nullptr ? bias_data[channel] : 0.0f;
        output_data[position] = ActivationFunctionWithMinMax(
            sum + bias, params.float_activation_min, params.float_activation_max);
      });
}

inline void FullyConnected(const FullyConnectedParams& params, const RuntimeShape& input_shape,
                           const uint8_t* input_data, const RuntimeShape& filter_shape,
                           const uint8_t* filter_data, const RuntimeShape& bias_shape,
                           const int32_t* bias_data, const RuntimeShape& output_shape,
                           uint8_t* output_data) {
  (void)input_shape, (void)bias_shape;
  conv_loops::FullyConnected<int32_t>(
      input_data, filter_shape, filter_data, output_shape,
      [&](int32_t in, int32_t filter) {
        return (in + params.input_offset) * (filter + params.weights_offset);
      },
      [&](int position, int channel, int32_t sum) {
        if (bias_data != nullptr) sum += bias_data[channel];
        output_data[position] = conv_loops::Requantize<uint8_t>(
            params, sum, params.output_multiplier, params.output_shift);
      });
}

// Computes int16 outputs, whose zero point is 0, from uint8 inputs and filters.
inline void FullyConnected(const FullyConnectedParams& params, const RuntimeShape& input_shape,
                           const uint8_t* input_data, const RuntimeShape& filter_shape,
                           const uint8_t* filter_data, const RuntimeShape& bias_shape,
                           const int32_t* bias_data, const RuntimeShape& output_shape,
                           int16_t* output_data) {
  (void)input_shape, (void)bias_shape;
  TFLITE_DCHECK_EQ(params.output_offset, 0);
  conv_loops::FullyConnected<int32_t>(
      input_data, filter_shape, filter_data, output_shape,
      [&](int32_t in, int32_t filter) {
        return (in + params.input_offset) * (filter + params.weights_offset);
      },
      [&](int position, int channel, int32_t sum) {
        if (bias_data != nullptr) sum += bias_data[channel];
        output_data[position] = conv_loops::Requantize<int16_t>(
            params, sum, params.output_multiplier, params.output_shift);
      });
}

}  // namespace reference_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_FULLY_CONNECTED_H_
