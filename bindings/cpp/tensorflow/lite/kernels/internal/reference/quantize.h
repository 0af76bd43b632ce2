// SPDX-License-Identifier: Apache-2.0
//
// QUANTIZE of real numbers: rounded to nearest, halves away from zero, and saturated.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_QUANTIZE_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_QUANTIZE_H_

#include <algorithm>
#include <cstdint>
#include <limits>

#include "tensorflow/lite/kernels/internal/cppmath.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace reference_ops {

template <typename InputT, typename OutputT>
inline OutputT QuantizeElement(InputT value, float scale, int32_t zero_point) {
  constexpr int32_t kMin = std::numeric_limits<OutputT>::min();
  constexpr int32_t kMax = std::numeric_limits<OutputT>::max();
  const int32_t steps =
      static_cast<int32_t>(TfLiteRound(static_cast<float>(value) / scale)) + zero_point;
  return static_cast<OutputT>(std::min(std::max(steps, kMin), kMax));
}

template <typename InputT, typename OutputT>
inline void AffineQuantize(const QuantizationParams& op_params, const RuntimeShape& input_shape,
                           const InputT* input_data, const RuntimeShape& output_shape,
                           OutputT* output_data) {
  const int count = MatchingFlatSize(input_shape, output_shape);
  const auto scale = static_cast<float>(op_params.scale);
  for (int i = 0; i < count; ++i) {
    output_data[i] = QuantizeElement<InputT, OutputT>(input_data[i], scale, op_params.zero_point);
  }
}

template <typename InputT, typename OutputT>
inline void PerChannelQuantize(const PerChannelQuantizationParams& op_params,
                               const RuntimeShape& input_shape, const InputT* input_data,
                               const RuntimeShape& output_shape, OutputT* output_data) {
  const int count = MatchingFlatSize(input_shape, output_shape);
  const int dimension = op_params.quantized_dimension;
  int inner = 1;
  for (int d = dimension + 1; d < input_shape.DimensionsCount(); ++d) inner *= input_shape.Dims(d);
  for (int i = 0; i < count; ++i) {
    const int channel = i / inner % input_shape.Dims(dimension);
    output_data[i] = QuantizeElement<InputT, OutputT>(input_data[i], op_params.scale[channel],
                                                      op_params.zero_point[channel]);
  }
}

}  // namespace reference_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_QUANTIZE_H_
