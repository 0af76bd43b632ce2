// SPDX-License-Identifier: Apache-2.0
//
// BATCH_TO_SPACE_ND of images [batch, height, width, channels] or [batch, height, channels].
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_BATCH_TO_SPACE_ND_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_BATCH_TO_SPACE_ND_H_

#include <algorithm>
#include <cstdint>

#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace reference_ops {

// Adds a width of 1 to a shape of three dimensions.
inline RuntimeShape ExtendShapeBatchToSpace(const RuntimeShape& shape) {
  if (shape.DimensionsCount() == 4) return shape;
  return RuntimeShape({shape.Dims(0), shape.Dims(1), 1, shape.Dims(2)});
}

template <typename T>
inline void BatchToSpaceND(const RuntimeShape& unextended_input1_shape, const T* input1_data,
                           const RuntimeShape&, const int32_t* block_shape_data,
                           const RuntimeShape&, const int32_t* crops_data,
                           const RuntimeShape& unextended_output_shape, T* output_data) {
  const bool has_width = unextended_input1_shape.DimensionsCount() == 4;
  const RuntimeShape in = ExtendShapeBatchToSpace(unextended_input1_shape);
  const RuntimeShape out = ExtendShapeBatchToSpace(unextended_output_shape);
  const int block_height = block_shape_data[0];
  const int block_width = has_width ? block_shape_data[1] : 1;
  const int crop_top = crops_data[0];
  const int crop_left = has_width ? crops_data[2] : 0;
  for (int batch = 0; batch < in.Dims(0); ++batch) {
    const int offset = batch / out.Dims(0);
    for (int y = 0; y < in.Dims(1); ++y) {
      const int out_y = y * block_height + offset / block_width - crop_top;
      if (out_y < 0 || out_y >= out.Dims(1)) continue;
      for (int x = 0; x < in.Dims(2); ++x) {
        const int out_x = x * block_width + offset % block_width - crop_left;
        if (out_x < 0 || out_x >= out.Dims(2)) continue;
        std::copy_n(input1_data + Offset(in, batch, y, x, 0), in.Dims(3),
                    output_data + Offset(out, batch % out.Dims(0), out_y, out_x, 0));
      }
    }
  }
}

}  // namespace reference_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_BATCH_TO_SPACE_ND_H_
