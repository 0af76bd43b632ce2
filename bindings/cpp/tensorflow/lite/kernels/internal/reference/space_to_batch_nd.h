// SPDX-License-Identifier: Apache-2.0
//
// SPACE_TO_BATCH_ND of images [batch, height, width, channels] or [batch, height, channels].
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_SPACE_TO_BATCH_ND_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_SPACE_TO_BATCH_ND_H_

#include <algorithm>
#include <cstdint>

#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace reference_ops {

// Adds a width of 1 to a shape of three dimensions.
inline RuntimeShape ExtendShapeSpaceToBatch(const RuntimeShape& shape) {
  if (shape.DimensionsCount() == 4) return shape;
  return RuntimeShape({shape.Dims(0), shape.Dims(1), 1, shape.Dims(2)});
}

template <typename T>
inline void SpaceToBatchND(const SpaceToBatchParams& params,
                           const RuntimeShape& unextended_input1_shape, const T* input1_data,
                           const RuntimeShape&, const int32_t* block_shape_data,
                           const RuntimeShape&, const int32_t* paddings_data,
                           const RuntimeShape& unextended_output_shape, T* output_data) {
  const bool has_width = unextended_input1_shape.DimensionsCount() == 4;
  const RuntimeShape in = ExtendShapeSpaceToBatch(unextended_input1_shape);
  const RuntimeShape out = ExtendShapeSpaceToBatch(unextended_output_shape);
  const int block_height = block_shape_data[0];
  const int block_width = has_width ? block_shape_data[1] : 1;
  const int pad_top = paddings_data[0];
  const int pad_left = has_width ? paddings_data[2] : 0;
  const T pad_value = static_cast<T>(params.output_offset);
  for (int batch = 0; batch < out.Dims(0); ++batch) {
    const int offset = batch / in.Dims(0);
    for (int out_y = 0; out_y < out.Dims(1); ++out_y) {
      const int y = out_y * block_height + offset / block_width - pad_top;
      for (int out_x = 0; out_x < out.Dims(2); ++out_x) {
        const int x = out_x * block_width + offset % block_width - pad_left;
        T* output = output_data + Offset(out, batch, out_y, out_x, 0);
        if (y < 0 || y >= in.Dims(1) || x < 0 || x >= in.Dims(2)) {
          std::fill_n(output, out.Dims(3), pad_value);
        } else {
          std::copy_n(input1_data + Offset(in, batch % in.Dims(0), y, x, 0), out.Dims(3), output);
        }
      }
    }
  }
}

}  // namespace reference_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_SPACE_TO_BATCH_ND_H_
