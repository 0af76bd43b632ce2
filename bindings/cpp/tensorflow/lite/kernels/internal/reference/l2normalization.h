// SPDX-License-Identifier: Apache-2.0
//
// L2_NORMALIZATION over the last dimension.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_L2NORMALIZATION_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_L2NORMALIZATION_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "tensorflow/lite/kernels/internal/common.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace reference_ops {

inline void L2Normalization(const L2NormalizationParams&, const RuntimeShape& input_shape,
                            const float* input_data, const RuntimeShape& output_shape,
                            float* output_data, float epsilon = 1e-6f) {
  const int last = input_shape.DimensionsCount() - 1;
  const int rows = MatchingFlatSizeSkipDim(input_shape, last, output_shape);
  const int depth = MatchingDim(input_shape, last, output_shape, last);
  for (int row = 0; row < rows; ++row) {
    const float* in = input_data + row * depth;
    float squares = 0;
    for (int i = 0; i < depth; ++i) squares += in[i] * in[i];
    const float norm = std::max(std::sqrt(squares), epsilon);
    for (int i = 0; i < depth; ++i) output_data[row * depth + i] = in[i] / norm;
  }
}

// uint8 outputs have the scale 1/128 and the zero point 128.
inline void L2Normalization(const L2NormalizationParams& op_params, const RuntimeShape& input_shape,
                            const uint8_t* input_data, const RuntimeShape& output_shape,
                            uint8_t* output_data) {
  const int last = input_shape.DimensionsCount() - 1;
  const int rows = MatchingFlatSizeSkipDim(input_shape, last, output_shape);
  const int depth = MatchingDim(input_shape, last, output_shape, last);
  for (int row = 0; row < rows; ++row) {
    const uint8_t* in = input_data + row * depth;
    int32_t squares = 0;
    for (int i = 0; i < depth; ++i) {
      const int32_t steps = in[i] - op_params.input_zero_point;
      squares += steps * steps;
    }
    int32_t multiplier;
    int shift;
    GetInvSqrtQuantizedMultiplierExp(squares, kReverseShift, &multiplier, &shift);
    for (int i = 0; i < depth; ++i) {
      const int32_t scaled = MultiplyByQuantizedMultiplierSmallerThanOneExp(
          128 * (in[i] - op_params.input_zero_point), multiplier, shift);
      output_data[row * depth + i] = static_cast<uint8_t>(std::min(std::max(scaled + 128, 0), 255));
    }
  }
}

}  // namespace reference_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_L2NORMALIZATION_H_
