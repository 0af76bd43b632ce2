// SPDX-License-Identifier: Apache-2.0
//
// TANH.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_TANH_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_TANH_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "tensorflow/lite/kernels/internal/common.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace reference_ops {

template <typename T>
inline void Tanh(const RuntimeShape& input_shape, const T* input_data,
                 const RuntimeShape& output_shape, T* output_data) {
  const int count = MatchingFlatSize(input_shape, output_shape);
  for (int i = 0; i < count; ++i)
    output_data[i] = static_cast<T>(std::tanh(static_cast<float>(input_data[i])));
}

inline void Tanh(const TanhParams&, const RuntimeShape& input_shape, const float* input_data,
                 const RuntimeShape& output_shape, float* output_data) {
  Tanh(input_shape, input_data, output_shape, output_data);
}

// uint8 outputs have the scale 1/128 and the zero point 128.
inline void Tanh(const TanhParams& params, const RuntimeShape& input_shape,
                 const uint8_t* input_data, const RuntimeShape& output_shape,
                 uint8_t* output_data) {
  const int count = MatchingFlatSize(input_shape, output_shape);
  for (int i = 0; i < count; ++i) {
    const int32_t input = input_data[i] - params.input_zero_point;
    if (input <= -params.input_range_radius || input >= params.input_range_radius) {
      output_data[i] = input < 0 ? 0 : 255;
      continue;
    }
    const int32_t scaled = MultiplyByQuantizedMultiplierGreaterThanOne(
        input, params.input_multiplier, params.input_left_shift);
    const int32_t value = fixed_point::RoundingDivideByPOT(fixed_point::Tanh<4>(scaled), 24) + 128;
    output_data[i] = static_cast<uint8_t>(std::min(value, 255));
  }
}

}  // namespace reference_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_TANH_H_
