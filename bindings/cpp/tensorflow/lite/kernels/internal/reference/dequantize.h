// SPDX-License-Identifier: Apache-2.0
//
// DEQUANTIZE to real numbers.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_DEQUANTIZE_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_DEQUANTIZE_H_

#include <cstdint>

#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace reference_ops {

template <typename InputT, typename OutputT>
inline void Dequantize(const DequantizationParams& op_params, const RuntimeShape& input_shape,
                       const InputT* input_data, const RuntimeShape& output_shape,
                       OutputT* output_data) {
  const int count = MatchingFlatSize(input_shape, output_shape);
  for (int i = 0; i < count; ++i) {
    const int32_t steps = static_cast<int32_t>(input_data[i]) - op_params.zero_point;
    output_data[i] = static_cast<OutputT>(op_params.scale * steps);
  }
}

template <typename T>
inline void PerChannelDequantize(const PerChannelDequantizationParams& op_params,
                                 const RuntimeShape& input_shape, const T* input_data,
                                 const RuntimeShape& output_shape, float* output_data) {
  const int count = MatchingFlatSize(input_shape, output_shape);
  const int dimension = op_params.quantized_dimension;
  int inner = 1;
  for (int d = dimension + 1; d < input_shape.DimensionsCount(); ++d) inner *= input_shape.Dims(d);
  for (int i = 0; i < count; ++i) {
    const int channel = i / inner % input_shape.Dims(dimension);
    const int32_t steps = static_cast<int32_t>(input_data[i]) - op_params.zero_point[channel];
    output_data[i] = op_params.scale[channel] * static_cast<float>(steps);
  }
}

// Converts float16 to float32.
inline void Dequantize(const RuntimeShape& input_shape, const half* input_data,
                       const RuntimeShape& output_shape, float* output_data) {
  const int count = MatchingFlatSize(input_shape, output_shape);
  for (int i = 0; i < count; ++i) output_data[i] = input_data[i];
}

}  // namespace reference_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_DEQUANTIZE_H_
