// SPDX-License-Identifier: Apache-2.0
//
// TANH of int8 and int16.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_INTEGER_OPS_TANH_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_INTEGER_OPS_TANH_H_

#include <algorithm>
#include <cstdint>

#include "tensorflow/lite/kernels/internal/common.h"
#include "tensorflow/lite/kernels/internal/logistic_table.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace reference_integer_ops {

// int8 outputs have the scale 1/128 and the zero point 0.
inline void Tanh(int32_t input_zero_point, int32_t input_range_radius, int32_t input_multiplier,
                 int32_t input_shift, const RuntimeShape& input_shape, const int8_t* input_data,
                 const RuntimeShape& output_shape, int8_t* output_data) {
  const int count = MatchingFlatSize(input_shape, output_shape);
  for (int i = 0; i < count; ++i) {
    const int32_t input = input_data[i] - input_zero_point;
    if (input <= -input_range_radius || input >= input_range_radius) {
      output_data[i] = input < 0 ? -128 : 127;
      continue;
    }
    const int32_t scaled = MultiplyByQuantizedMultiplier(input, input_multiplier, input_shift);
    const int32_t value = fixed_point::RoundingDivideByPOT(fixed_point::Tanh<4>(scaled), 24);
    output_data[i] = static_cast<int8_t>(std::min(std::max(value, -128), 127));
  }
}

// int16 outputs have the scale 2^-15.
inline void Tanh(int32_t input_multiplier, int32_t input_left_shift,
                 const RuntimeShape& input_shape, const int16_t* ptr_input_data,
                 const RuntimeShape& output_shape, int16_t* ptr_output_data) {
  const int count = MatchingFlatSize(input_shape, output_shape);
  for (int i = 0; i < count; ++i) {
    const int32_t scaled =
        ScaleToLogisticTable(ptr_input_data[i], input_multiplier, input_left_shift);
    const auto value = static_cast<int32_t>(
        LogisticTableAt(static_cast<uint32_t>(std::abs(scaled)), 8, uint32_t{0xffff} << 8));
    const int32_t half = 1 << 23;
    const int32_t rounded = scaled >= 0 ? value - half + (1 << 7) : half - value + (1 << 7) - 1;
    ptr_output_data[i] = static_cast<int16_t>(rounded >> 8);
  }
}

}  // namespace reference_integer_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_INTEGER_OPS_TANH_H_
