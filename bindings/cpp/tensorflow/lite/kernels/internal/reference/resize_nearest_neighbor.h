// SPDX-License-Identifier: Apache-2.0
//
// RESIZE_NEAREST_NEIGHBOR of images [batch, height, width, channels].
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_RESIZE_NEAREST_NEIGHBOR_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_RESIZE_NEAREST_NEIGHBOR_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "tensorflow/lite/kernels/internal/cppmath.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace reference_ops {

// Returns the index in the input for index `input_value` of the output.
inline int32_t GetNearestNeighbor(const int input_value, const int32_t input_size,
                                  const int32_t output_size, const bool align_corners,
                                  const bool half_pixel_centers) {
  const int32_t cut = align_corners && output_size > 1 ? 1 : 0;
  const float scale = static_cast<float>(input_size - cut) / static_cast<float>(output_size - cut);
  const float position =
      (static_cast<float>(input_value) + (half_pixel_centers ? 0.5f : 0.0f)) * scale;
  const auto nearest =
      static_cast<int32_t>(align_corners ? TfLiteRound(position) : std::floor(position));
  const int32_t index = std::min(nearest, input_size - 1);
  return half_pixel_centers ? std::max(index, 0) : index;
}

template <typename T>
inline void ResizeNearestNeighbor(const ResizeNearestNeighborParams& op_params,
                                  const RuntimeShape& unextended_input_shape, const T* input_data,
                                  const RuntimeShape&, const int32_t* output_size_data,
                                  const RuntimeShape& unextended_output_shape, T* output_data) {
  const RuntimeShape in = RuntimeShape::ExtendedShape(4, unextended_input_shape);
  const RuntimeShape out = RuntimeShape::ExtendedShape(4, unextended_output_shape);
  const int batches = MatchingDim(in, 0, out, 0);
  const int depth = MatchingDim(in, 3, out, 3);
  for (int b = 0; b < batches; ++b) {
    for (int y = 0; y < output_size_data[0]; ++y) {
      const int32_t in_y =
          GetNearestNeighbor(y, in.Dims(1), output_size_data[0], op_params.align_corners,
                             op_params.half_pixel_centers);
      for (int x = 0; x < output_size_data[1]; ++x) {
        const int32_t in_x =
            GetNearestNeighbor(x, in.Dims(2), output_size_data[1], op_params.align_corners,
                               op_params.half_pixel_centers);
        output_data = std::copy_n(input_data + Offset(in, b, in_y, in_x, 0), depth, output_data);
      }
    }
  }
}

}  // namespace reference_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_RESIZE_NEAREST_NEIGHBOR_H_
