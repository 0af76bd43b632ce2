// SPDX-License-Identifier: Apache-2.0
//
// GATHER.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_GATHER_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_GATHER_H_

#include <algorithm>
#include <cstdint>

#include "tensorflow/lite/core/c/c_api_types.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace reference_ops {

// Returns kTfLiteError for an index out of range.
template <typename T, typename CoordsT = int32_t>
inline TfLiteStatus Gather(const GatherParams& op_params, const RuntimeShape& input_shape,
                           const T* input_data, const RuntimeShape& coords_shape,
                           const CoordsT* coords_data, const RuntimeShape&, T* output_data) {
  const int rank = input_shape.DimensionsCount();
  const int axis = op_params.axis + (op_params.axis < 0 ? rank : 0);
  const int batch_dims =
      op_params.batch_dims + (op_params.batch_dims < 0 ? coords_shape.DimensionsCount() : 0);
  TFLITE_DCHECK(batch_dims >= 0 && batch_dims <= axis && axis < rank);
  int batches = 1;
  int outer_size = 1;
  int inner_size = 1;
  for (int d = 0; d < rank; ++d) {
    (d < batch_dims ? batches
     : d < axis     ? outer_size
                    : inner_size) *= d == axis ? 1 : input_shape.Dims(d);
  }
  int coords = 1;
  for (int d = batch_dims; d < coords_shape.DimensionsCount(); ++d) coords *= coords_shape.Dims(d);
  for (int i = 0; i < batches * outer_size; ++i) {
    const int batch = i / outer_size;
    for (int c = 0; c < coords; ++c) {
      const auto coord = static_cast<int64_t>(coords_data[batch * coords + c]);
      if (coord < 0 || coord >= input_shape.Dims(axis)) return kTfLiteError;
      output_data =
          std::copy_n(input_data + (int64_t{i} * input_shape.Dims(axis) + coord) * inner_size,
                      inner_size, output_data);
    }
  }
  return kTfLiteOk;
}

}  // namespace reference_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_GATHER_H_
