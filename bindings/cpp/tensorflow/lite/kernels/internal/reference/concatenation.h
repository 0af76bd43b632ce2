// SPDX-License-Identifier: Apache-2.0
//
// CONCATENATION.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_CONCATENATION_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_CONCATENATION_H_

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "tensorflow/lite/kernels/internal/cppmath.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace reference_ops {

// Calls copy(input, first element of the input, first element of the output, count) for the parts
// of the inputs, in the order of the output.
template <typename Copy>
inline void ForEachConcatenatedPart(const ConcatenationParams& params,
                                    const RuntimeShape* const* input_shapes,
                                    const RuntimeShape& output_shape, const Copy& copy) {
  int64_t outer = 1;
  int64_t inner = 1;
  for (int d = 0; d < output_shape.DimensionsCount(); ++d) {
    if (d < params.axis) outer *= output_shape.Dims(d);
    if (d > params.axis) inner *= output_shape.Dims(d);
  }
  int64_t position = 0;
  for (int64_t i = 0; i < outer; ++i) {
    for (int input = 0; input < params.inputs_count; ++input) {
      const int64_t count = input_shapes[input]->Dims(params.axis) * inner;
      copy(input, i * count, position, count);
      position += count;
    }
  }
}

template <typename Scalar>
inline void Concatenation(const ConcatenationParams& params,
                          const RuntimeShape* const* input_shapes, const Scalar* const* input_data,
                          const RuntimeShape& output_shape, Scalar* output_data) {
  ForEachConcatenatedPart(
      params, input_shapes, output_shape, [&](int input, int64_t from, int64_t to, int64_t count) {
        std::copy(input_data[input] + from, input_data[input] + from + count, output_data + to);
      });
}

// Concatenates inputs that have their own scales and zero points.
inline void ConcatenationWithScaling(const ConcatenationParams& params,
                                     const RuntimeShape* const* input_shapes,
                                     const uint8_t* const* input_data,
                                     const RuntimeShape& output_shape, uint8_t* output_data) {
  const float inverse_output_scale = 1.0f / params.output_scale;
  ForEachConcatenatedPart(
      params, input_shapes, output_shape, [&](int input, int64_t from, int64_t to, int64_t count) {
        const int32_t zero_point = params.input_zeropoint[input];
        if (zero_point == params.output_zeropoint &&
            params.input_scale[input] == params.output_scale) {
          std::copy(input_data[input] + from, input_data[input] + from + count, output_data + to);
          return;
        }
        const float scale = params.input_scale[input] * inverse_output_scale;
        const float bias = static_cast<float>(-zero_point) * scale;
        for (int64_t i = 0; i < count; ++i) {
          const float steps =
              TfLiteRound(static_cast<float>(input_data[input][from + i]) * scale + bias);
          const int32_t value = static_cast<int32_t>(steps) + params.output_zeropoint;
          output_data[to + i] = static_cast<uint8_t>(std::min(std::max(value, 0), 255));
        }
      });
}

}  // namespace reference_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_CONCATENATION_H_
