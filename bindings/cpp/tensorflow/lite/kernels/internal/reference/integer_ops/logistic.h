// SPDX-License-Identifier: Apache-2.0
//
// LOGISTIC of int8 and int16.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_INTEGER_OPS_LOGISTIC_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_INTEGER_OPS_LOGISTIC_H_

#include <algorithm>
#include <cstdint>

#include "tensorflow/lite/kernels/internal/common.h"
#include "tensorflow/lite/kernels/internal/logistic_table.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace reference_integer_ops {

// int8 outputs have the scale 1/256 and the zero point -128.
inline void Logistic(int32_t input_zero_point, int32_t input_range_radius, int32_t input_multiplier,
                     int32_t input_left_shift, int32_t input_size, const int8_t* input_data,
                     int8_t* output_data) {
  for (int32_t i = 0; i < input_size; ++i) {
    const int32_t input = input_data[i] - input_zero_point;
    if (input <= -input_range_radius || input >= input_range_radius) {
      output_data[i] = input < 0 ? -128 : 127;
      continue;
    }
    const int32_t scaled = MultiplyByQuantizedMultiplier(input, input_multiplier, input_left_shift);
    const int32_t value =
        fixed_point::RoundingDivideByPOT(fixed_point::Logistic<4>(scaled), 23) - 128;
    output_data[i] = static_cast<int8_t>(std::min(value, 127));
  }
}

// int16 outputs have the scale 2^-15.
inline void Logistic(int32_t input_multiplier, int32_t input_left_shift, int32_t input_size,
                     const int16_t* ptr_input_data, int16_t* ptr_output_data) {
  for (int32_t i = 0; i < input_size; ++i) {
    const int32_t scaled =
        ScaleToLogisticTable(ptr_input_data[i], input_multiplier, input_left_shift);
    const uint32_t value =
        LogisticTableAt(static_cast<uint32_t>(std::abs(scaled)), 9, uint32_t{0x7fff} << 10);
    const uint32_t rounded = scaled >= 0 ? value + (1u << 9) : (1u << 25) - value + (1u << 9) - 1;
    ptr_output_data[i] = static_cast<int16_t>(rounded >> 10);
  }
}

}  // namespace reference_integer_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_INTEGER_OPS_LOGISTIC_H_
