// SPDX-License-Identifier: Apache-2.0
//
// AVERAGE_POOL_2D and MAX_POOL_2D of int8 and int16. Averages return false if a window is outside
// the image.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_INTEGER_OPS_POOLING_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_INTEGER_OPS_POOLING_H_

#include <cstdint>

#include "tensorflow/lite/kernels/internal/reference/pool_loops.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace reference_integer_ops {

inline bool AveragePool(const PoolParams& params, const RuntimeShape& input_shape,
                        const int8_t* input_data, const RuntimeShape& output_shape,
                        int8_t* output_data) {
  return pool_loops::AverageIntegers(params, input_shape, input_data, output_shape, output_data);
}

inline void MaxPool(const PoolParams& params, const RuntimeShape& input_shape,
                    const int8_t* input_data, const RuntimeShape& output_shape,
                    int8_t* output_data) {
  pool_loops::Maximum(params, input_shape, input_data, output_shape, output_data,
                      params.quantized_activation_min, params.quantized_activation_max);
}

inline bool AveragePool(const PoolParams& params, const RuntimeShape& input_shape,
                        const int16_t* input_data, const RuntimeShape& output_shape,
                        int16_t* output_data) {
  return pool_loops::AverageIntegers(params, input_shape, input_data, output_shape, output_data);
}

inline void MaxPool(const PoolParams& params, const RuntimeShape& input_shape,
                    const int16_t* input_data, const RuntimeShape& output_shape,
                    int16_t* output_data) {
  pool_loops::Maximum(params, input_shape, input_data, output_shape, output_data,
                      params.quantized_activation_min, params.quantized_activation_max);
}

}  // namespace reference_integer_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_INTEGER_OPS_POOLING_H_
