// SPDX-License-Identifier: Apache-2.0
//
// LEAKY_RELU.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_LEAKY_RELU_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_LEAKY_RELU_H_

#include <algorithm>
#include <cstdint>
#include <limits>

#include "tensorflow/lite/kernels/internal/common.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace reference_ops {

inline void LeakyRelu(const LeakyReluParams& params, const RuntimeShape& input_shape,
                      const float* input_data, const RuntimeShape& output_shape,
                      float* output_data) {
  const int count = MatchingFlatSize(input_shape, output_shape);
  for (int i = 0; i < count; ++i)
    output_data[i] = input_data[i] > 0 ? input_data[i] : input_data[i] * params.alpha;
}

template <typename T>
inline void QuantizeLeakyRelu(const LeakyReluParams& params, const RuntimeShape& input_shape,
                              const T* input_data, const RuntimeShape& output_shape,
                              T* output_data) {
  constexpr int32_t kMin = std::numeric_limits<T>::min();
  constexpr int32_t kMax = std::numeric_limits<T>::max();
  const int32_t sign = params.output_multiplier_alpha < 0 ? -1 : 1;
  const int count = MatchingFlatSize(input_shape, output_shape);
  for (int i = 0; i < count; ++i) {
    const int32_t steps = input_data[i] - params.input_offset;
    const int32_t scaled =
        steps >= 0
            ? MultiplyByQuantizedMultiplier(steps, params.output_multiplier_identity,
                                            params.output_shift_identity)
            : sign * MultiplyByQuantizedMultiplier(steps, sign * params.output_multiplier_alpha,
                                                   params.output_shift_alpha);
    output_data[i] = static_cast<T>(std::min(std::max(scaled + params.output_offset, kMin), kMax));
  }
}

}  // namespace reference_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_LEAKY_RELU_H_
