// SPDX-License-Identifier: Apache-2.0
//
// DEQUANTIZE with a product in float64.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_INTEGER_OPS_DEQUANTIZE_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_INTEGER_OPS_DEQUANTIZE_H_

#include <cstdint>

#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace reference_integer_ops {

template <typename T>
inline void Dequantize(const DequantizationParams& op_params, const RuntimeShape& input_shape,
                       const T* input_data, const RuntimeShape& output_shape, float* output_data) {
  const int count = MatchingFlatSize(input_shape, output_shape);
  for (int i = 0; i < count; ++i) {
    const int32_t steps = static_cast<int32_t>(input_data[i]) - op_params.zero_point;
    output_data[i] = static_cast<float>(op_params.scale * steps);
  }
}

}  // namespace reference_integer_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_INTEGER_OPS_DEQUANTIZE_H_
