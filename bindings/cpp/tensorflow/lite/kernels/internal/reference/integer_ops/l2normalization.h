// SPDX-License-Identifier: Apache-2.0
//
// L2_NORMALIZATION of int8.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_INTEGER_OPS_L2NORMALIZATION_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_INTEGER_OPS_L2NORMALIZATION_H_

#include <algorithm>
#include <cstdint>

#include "tensorflow/lite/kernels/internal/common.h"

namespace tflite {
namespace reference_integer_ops {

// Outputs have the scale 1/128 and the zero point 0.
inline void L2Normalization(int32_t input_zero_point, int32_t outer_size, int32_t depth,
                            const int8_t* input_data, int8_t* output_data) {
  for (int32_t row = 0; row < outer_size; ++row) {
    const int8_t* in = input_data + row * depth;
    int32_t squares = 0;
    for (int32_t i = 0; i < depth; ++i) {
      const int32_t steps = in[i] - input_zero_point;
      squares += steps * steps;
    }
    int32_t multiplier;
    int shift;
    GetInvSqrtQuantizedMultiplierExp(squares, kReverseShift, &multiplier, &shift);
    for (int32_t i = 0; i < depth; ++i) {
      const int32_t value =
          MultiplyByQuantizedMultiplier(in[i] - input_zero_point, multiplier, shift + 7);
      output_data[row * depth + i] = static_cast<int8_t>(std::min(std::max(value, -128), 127));
    }
  }
}

}  // namespace reference_integer_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_INTEGER_OPS_L2NORMALIZATION_H_
