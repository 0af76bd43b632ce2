// SPDX-License-Identifier: Apache-2.0
//
// QUANTIZE of quantised elements: changes scale, zero point and type.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_REQUANTIZE_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_REQUANTIZE_H_

#include <algorithm>
#include <cstdint>
#include <limits>

#include "tensorflow/lite/kernels/internal/common.h"

namespace tflite {
namespace reference_ops {

template <typename input_type, typename output_type>
inline void Requantize(const input_type* input_data, int32_t size,
                       int32_t effective_scale_multiplier, int32_t effective_scale_shift,
                       int32_t input_zeropoint, int32_t output_zeropoint,
                       output_type* output_data) {
  constexpr int32_t kMin = std::numeric_limits<output_type>::min();
  constexpr int32_t kMax = std::numeric_limits<output_type>::max();
  for (int32_t i = 0; i < size; ++i) {
    const int32_t steps = static_cast<int32_t>(input_data[i]) - input_zeropoint;
    const int32_t value =
        MultiplyByQuantizedMultiplier(steps, effective_scale_multiplier, effective_scale_shift) +
        output_zeropoint;
    output_data[i] = static_cast<output_type>(std::min(std::max(value, kMin), kMax));
  }
}

}  // namespace reference_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_REQUANTIZE_H_
