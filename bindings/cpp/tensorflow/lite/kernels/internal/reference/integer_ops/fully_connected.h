// SPDX-License-Identifier: Apache-2.0
//
// FULLY_CONNECTED of int8 and int16 elements. Sums have the type of the bias: int32 or int64.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_INTEGER_OPS_FULLY_CONNECTED_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_INTEGER_OPS_FULLY_CONNECTED_H_

#include <cstdint>

#include "tensorflow/lite/kernels/internal/common.h"
#include "tensorflow/lite/kernels/internal/reference/conv_loops.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace reference_integer_ops {

// Requantises with one multiplier per channel; the filters' zero point is 0.
template <typename InputType, typename WeightType, typename OutputType, typename BiasType>
inline void FullyConnectedPerChannel(const FullyConnectedParams& params,
                                     const int32_t* output_multiplier, const int* output_shift,
                                     const RuntimeShape& input_shape, const InputType* input_data,
                                     const RuntimeShape& filter_shape,
                                     const WeightType* filter_data, const RuntimeShape& bias_shape,
                                     const BiasType* bias_data, const RuntimeShape& output_shape,
                                     OutputType* output_data) {
  (void)input_shape, (void)bias_shape;
  conv_loops::FullyConnected<BiasType>(
      input_data, filter_shape, filter_data, output_shape,
      [&](int32_t in, int32_t filter) { return filter * (in + params.input_offset); },
      [&](int position, int channel, BiasType sum) {
        if (bias_data != nullptr) sum += bias_data[channel];
        output_data[position] = conv_loops::Requantize<OutputType>(
            params, sum, output_multiplier[channel], output_shift[channel]);
      });
}

// Requantises all channels with the multiplier of `params`.
template <typename InputType, typename WeightType, typename OutputType, typename BiasType>
inline void FullyConnected(const FullyConnectedParams& params, const RuntimeShape& input_shape,
                           const InputType* input_data, const RuntimeShape& filter_shape,
                           const WeightType* filter_data, const RuntimeShape& bias_shape,
                           const BiasType* bias_data, const RuntimeShape& output_shape,
                           OutputType* output_data) {
  (void)input_shape, (void)bias_shape;
  conv_loops::FullyConnected<BiasType>(
      input_data, filter_shape, filter_data, output_shape,
      [&](int32_t in, int32_t filter) {
        return (in + params.input_offset) * (filter + params.weights_offset);
      },
      [&](int position, int channel, BiasType sum) {
        if (bias_data != nullptr) sum += bias_data[channel];
        output_data[position] = conv_loops::Requantize<OutputType>(
            params, sum, params.output_multiplier, params.output_shift);
      });
}

}  // namespace reference_integer_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_INTEGER_OPS_FULLY_CONNECTED_H_
