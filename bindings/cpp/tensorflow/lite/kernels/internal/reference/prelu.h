// SPDX-License-Identifier: Apache-2.0
//
// PRELU of quantised elements.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_PRELU_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_PRELU_H_

#include <algorithm>
#include <cstdint>
#include <limits>

#include "tensorflow/lite/kernels/internal/common.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace reference_ops {

template <typename T, typename U>
inline T PreluElement(const PreluParams& params, T input, U alpha) {
  constexpr int32_t kMin = std::numeric_limits<T>::min();
  constexpr int32_t kMax = std::numeric_limits<T>::max();
  const int32_t steps = params.input_offset + input;
  const int32_t scaled =
      steps >= 0
          ? MultiplyByQuantizedMultiplier(steps, params.output_multiplier_1, params.output_shift_1)
          : MultiplyByQuantizedMultiplier(steps * (params.alpha_offset + alpha),
                                          params.output_multiplier_2, params.output_shift_2);
  return static_cast<T>(std::min(std::max(scaled + params.output_offset, kMin), kMax));
}

// Broadcasts the slopes, `alpha_data`, to the shape of the input.
template <typename T, typename U>
inline void BroadcastPrelu4DSlow(const PreluParams& params, const RuntimeShape& input_shape,
                                 const T* input_data, const RuntimeShape& alpha_shape,
                                 const U* alpha_data, const RuntimeShape& output_shape,
                                 T* output_data) {
  BroadcastBinary(input_shape, input_data, alpha_shape, alpha_data, output_shape, output_data,
                  [&](T input, U alpha) { return PreluElement(params, input, alpha); });
}

template <typename T, typename U>
inline void Prelu(const PreluParams& params, const RuntimeShape& input_shape, const T* input_data,
                  const RuntimeShape& alpha_shape, const U* alpha_data,
                  const RuntimeShape& output_shape, T* output_data) {
  MatchingFlatSize(input_shape, alpha_shape, output_shape);
  BroadcastPrelu4DSlow(params, input_shape, input_data, alpha_shape, alpha_data, output_shape,
                       output_data);
}

}  // namespace reference_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_PRELU_H_
