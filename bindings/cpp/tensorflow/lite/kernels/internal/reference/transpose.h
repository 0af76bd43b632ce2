// SPDX-License-Identifier: Apache-2.0
//
// TRANSPOSE: dimension i of the output is dimension perm[i] of the input.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_TRANSPOSE_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_TRANSPOSE_H_

#include <cstdint>

#include "tensorflow/lite/kernels/internal/compatibility.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace reference_ops {

// Transposes a tensor of at most N dimensions.
template <typename T, int N = kTransposeMaxDimensions>
inline void Transpose(const TransposeParams& params, const RuntimeShape& input_shape,
                      const T* input_data, const RuntimeShape& output_shape, T* output_data) {
  const int rank = params.perm_count;
  TFLITE_CHECK(rank <= N && rank == input_shape.DimensionsCount());
  int input_strides[N > 0 ? N : 1] = {};
  int steps[N > 0 ? N : 1] = {};
  int index[N > 0 ? N : 1] = {};
  for (int d = rank - 1, stride = 1; d >= 0; stride *= input_shape.Dims(d), --d) {
    input_strides[d] = stride;
  }
  for (int d = 0; d < rank; ++d) steps[d] = input_strides[params.perm[d]];
  const int count = output_shape.FlatSize();
  int position = 0;
  for (int i = 0; i < count; ++i) {
    output_data[i] = input_data[position];
    for (int d = rank - 1; d >= 0; --d) {
      position += steps[d];
      if (++index[d] < output_shape.Dims(d)) break;
      position -= steps[d] * output_shape.Dims(d);
      index[d] = 0;
    }
  }
}

}  // namespace reference_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_TRANSPOSE_H_
