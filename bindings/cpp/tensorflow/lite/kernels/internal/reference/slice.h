// SPDX-License-Identifier: Apache-2.0
//
// SLICE.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_SLICE_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_SLICE_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tensorflow/lite/core/c/common.h"
#include "tensorflow/lite/kernels/internal/portable_tensor.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace reference_ops {

// Copies the elements of the range that starts at `begins` and has the output's shape.
template <typename T>
inline void Slice(const std::vector<int>& begins, const RuntimeShape& input_shape,
                  const RuntimeShape& output_shape, SequentialTensorWriter<T>* writer) {
  const int rank = input_shape.DimensionsCount();
  std::vector<int> index(static_cast<size_t>(rank), 0);
  if (output_shape.FlatSize() == 0) return;
  do {
    int64_t position = 0;
    for (int d = 0; d < rank; ++d) {
      const size_t i = static_cast<size_t>(d);
      position = position * input_shape.Dims(d) + begins[i] + index[i];
    }
    writer->Write(position);
  } while (NextIndex(rank, output_shape.DimsData(), index.data()));
}

// The begins and sizes of `op_params` belong to the last dimensions; a size of -1 includes all
// elements from the begin on.
template <typename T>
inline void Slice(const SliceParams& op_params, const RuntimeShape& input_shape,
                  const RuntimeShape&, SequentialTensorWriter<T>* writer) {
  const int rank = input_shape.DimensionsCount();
  std::vector<int> begins(static_cast<size_t>(rank), 0);
  RuntimeShape sizes = input_shape;
  for (int d = 0; d < rank; ++d) {
    const int begin = d - (rank - op_params.begin_count);
    const int size = d - (rank - op_params.size_count);
    if (begin >= 0) begins[static_cast<size_t>(d)] = op_params.begin[begin];
    if (size >= 0) {
      const bool is_rest = op_params.size[size] == -1;
      sizes.SetDim(
          d, is_rest ? input_shape.Dims(d) - begins[static_cast<size_t>(d)] : op_params.size[size]);
    }
  }
  Slice(begins, input_shape, sizes, writer);
}

// Overloads that write to an array or a tensor; Params is SliceParams or a vector of begins.
template <typename T, typename Params>
inline void Slice(const Params& op_params, const RuntimeShape& input_shape, const T* input_data,
                  const RuntimeShape& output_shape, T* output_data) {
  SequentialTensorWriter<T> writer(input_data, output_data);
  Slice<T>(op_params, input_shape, output_shape, &writer);
}

template <typename T, typename Params>
inline void Slice(const Params& op_params, const RuntimeShape& input_shape,
                  const TfLiteTensor* input, const RuntimeShape& output_shape,
                  TfLiteTensor* output) {
  SequentialTensorWriter<T> writer(input, output);
  Slice<T>(op_params, input_shape, output_shape, &writer);
}

}  // namespace reference_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_SLICE_H_
