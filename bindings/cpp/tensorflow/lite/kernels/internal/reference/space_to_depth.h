// SPDX-License-Identifier: Apache-2.0
//
// SPACE_TO_DEPTH of images [batch, height, width, channels].
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_SPACE_TO_DEPTH_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_SPACE_TO_DEPTH_H_

#include <cstdint>

#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace reference_ops {

template <typename T>
inline void SpaceToDepth(const SpaceToDepthParams& op_params,
                         const RuntimeShape& unextended_input_shape, const T* input_data,
                         const RuntimeShape& unextended_output_shape, T* output_data) {
  const RuntimeShape in = RuntimeShape::ExtendedShape(4, unextended_input_shape);
  const RuntimeShape out = RuntimeShape::ExtendedShape(4, unextended_output_shape);
  const int block = op_params.block_size;
  for (int b = 0; b < in.Dims(0); ++b) {
    for (int y = 0; y < in.Dims(1); ++y) {
      for (int x = 0; x < in.Dims(2); ++x) {
        const int first = (y % block * block + x % block) * in.Dims(3);
        for (int c = 0; c < in.Dims(3); ++c) {
          output_data[Offset(out, b, y / block, x / block, first + c)] =
              input_data[Offset(in, b, y, x, c)];
        }
      }
    }
  }
}

}  // namespace reference_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_SPACE_TO_DEPTH_H_
