// SPDX-License-Identifier: Apache-2.0
//
// AVERAGE_POOL_2D, MAX_POOL_2D and L2_POOL_2D of float32 and uint8. AveragePool returns false if a
// window is outside the image.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_POOLING_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_POOLING_H_

#include <cmath>
#include <cstdint>

#include "tensorflow/lite/kernels/internal/common.h"
#include "tensorflow/lite/kernels/internal/reference/pool_loops.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace reference_ops {

inline bool AveragePool(const PoolParams& params, const RuntimeShape& input_shape,
                        const float* input_data, const RuntimeShape& output_shape,
                        float* output_data) {
  bool success = true;
  pool_loops::Pool<float>(
      params, input_shape, input_data, output_shape, 0.0f,
      [](float sum, float value) { return sum + value; },
      [&](int position, float sum, int count) {
        success = success && count != 0;
        if (count == 0) return;
        output_data[position] =
            ActivationFunctionWithMinMax(sum / static_cast<float>(count),
                                         params.float_activation_min, params.float_activation_max);
      });
  return success;
}

inline bool AveragePool(const PoolParams& params, const RuntimeShape& input_shape,
                        const uint8_t* input_data, const RuntimeShape& output_shape,
                        uint8_t* output_data) {
  return pool_loops::AverageIntegers(params, input_shape, input_data, output_shape, output_data);
}

// Stores the square root of the mean of the squares of each window.
inline void L2Pool(const PoolParams& params, const RuntimeShape& input_shape,
                   const float* input_data, const RuntimeShape& output_shape, float* output_data) {
  pool_loops::Pool<float>(
      params, input_shape, input_data, output_shape, 0.0f,
      [](float sum, float value) { return sum + value * value; },
      [&](int position, float sum, int count) {
        output_data[position] =
            ActivationFunctionWithMinMax(std::sqrt(sum / static_cast<float>(count)),
                                         params.float_activation_min, params.float_activation_max);
      });
}

inline void MaxPool(const PoolParams& params, const RuntimeShape& input_shape,
                    const float* input_data, const RuntimeShape& output_shape, float* output_data) {
  pool_loops::Maximum(params, input_shape, input_data, output_shape, output_data,
                      params.float_activation_min, params.float_activation_max);
}

inline void MaxPool(const PoolParams& params, const RuntimeShape& input_shape,
                    const uint8_t* input_data, const RuntimeShape& output_shape,
                    uint8_t* output_data) {
  pool_loops::Maximum(params, input_shape, input_data, output_shape, output_data,
                      params.quantized_activation_min, params.quantized_activation_max);
}

}  // namespace reference_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_POOLING_H_
