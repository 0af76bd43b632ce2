// SPDX-License-Identifier: Apache-2.0
//
// STRIDED_SLICE.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_STRIDED_SLICE_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_STRIDED_SLICE_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tensorflow/lite/core/c/common.h"
#include "tensorflow/lite/kernels/internal/compatibility.h"
#include "tensorflow/lite/kernels/internal/portable_tensor.h"
#include "tensorflow/lite/kernels/internal/strided_slice_logic.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace reference_ops {

// StridedSliceParams for any number of dimensions.
struct DynamicStridedSliceParams {
  std::vector<int32_t> start_indices;
  std::vector<int32_t> stop_indices;
  std::vector<int32_t> strides;
  uint32_t begin_mask = 0;
  uint32_t end_mask = 0;
  uint32_t shrink_axis_mask = 0;
  bool offset = false;
};

inline bool AxisMask(uint32_t mask, int axis) { return (mask >> axis & 1) != 0; }

inline int StartForAxis(const DynamicStridedSliceParams& params, const RuntimeShape& input_shape,
                        int axis) {
  const size_t i = static_cast<size_t>(axis);
  const int size = input_shape.Dims(axis);
  if (AxisMask(params.begin_mask, axis)) return params.strides[i] > 0 ? 0 : size - 1;
  return strided_slice::ClampToAxis(params.start_indices[i], params.strides[i], size);
}

inline int EndForAxis(const DynamicStridedSliceParams& params, const RuntimeShape& input_shape,
                      int axis, int start) {
  const size_t i = static_cast<size_t>(axis);
  const int size = input_shape.Dims(axis);
  if (AxisMask(params.shrink_axis_mask, axis)) return start >= size ? start : start + 1;
  if (AxisMask(params.end_mask, axis)) return params.strides[i] > 0 ? size : -1;
  return strided_slice::ClampToAxis(params.stop_indices[i] + (params.offset ? start : 0),
                                    params.strides[i], size);
}

template <typename T>
inline void StridedSlice(const DynamicStridedSliceParams& op_params,
                         const RuntimeShape& input_shape, const RuntimeShape&,
                         SequentialTensorWriter<T>* writer) {
  const int rank = input_shape.DimensionsCount();
  std::vector<int> first, last, index;
  for (int d = 0; d < rank; ++d) {
    first.push_back(StartForAxis(op_params, input_shape, d));
    last.push_back(EndForAxis(op_params, input_shape, d, first.back()));
    if (strided_slice::LoopCondition(first.back(), last.back(),
                                     op_params.strides[static_cast<size_t>(d)])) {
      return;  // an empty slice
    }
  }
  index = first;
  for (;;) {
    int64_t position = 0;
    for (int d = 0; d < rank; ++d) {
      position = position * input_shape.Dims(d) + index[static_cast<size_t>(d)];
    }
    writer->Write(position);
    size_t d = static_cast<size_t>(rank);
    for (; d > 0; --d) {
      index[d - 1] += op_params.strides[d - 1];
      if (!strided_slice::LoopCondition(index[d - 1], last[d - 1], op_params.strides[d - 1])) break;
      index[d - 1] = first[d - 1];
    }
    if (d == 0) return;
  }
}

// Converts parameters to those of `rank` axes: leading axes are added, which the slice takes as a
// whole.
inline DynamicStridedSliceParams ToDynamicParams(const StridedSliceParams& op_params, int rank) {
  StridedSliceParams padded = op_params;
  strided_slice::StridedSlicePadIndices(&padded, rank);
  DynamicStridedSliceParams params;
  params.start_indices.assign(padded.start_indices, padded.start_indices + rank);
  params.stop_indices.assign(padded.stop_indices, padded.stop_indices + rank);
  params.strides.assign(padded.strides, padded.strides + rank);
  params.begin_mask = padded.begin_mask;
  params.end_mask = padded.end_mask;
  params.shrink_axis_mask = padded.shrink_axis_mask;
  params.offset = padded.offset;
  return params;
}

template <typename T>
inline void StridedSlice(const StridedSliceParams& op_params, const RuntimeShape& input_shape,
                         const RuntimeShape& output_shape, SequentialTensorWriter<T>* writer) {
  StridedSlice(ToDynamicParams(op_params, input_shape.DimensionsCount()), input_shape, output_shape,
               writer);
}

// Overloads that write to an array or a tensor, with either type of parameters.
template <typename T, typename Params>
inline void StridedSlice(const Params& op_params, const RuntimeShape& input_shape,
                         const T* input_data, const RuntimeShape& output_shape, T* output_data) {
  SequentialTensorWriter<T> writer(input_data, output_data);
  StridedSlice<T>(op_params, input_shape, output_shape, &writer);
}

template <typename T, typename Params>
inline void StridedSlice(const Params& op_params, const RuntimeShape& input_shape,
                         const TfLiteTensor* input, const RuntimeShape& output_shape,
                         TfLiteTensor* output) {
  SequentialTensorWriter<T> writer(input, output);
  StridedSlice<T>(op_params, input_shape, output_shape, &writer);
}

}  // namespace reference_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_STRIDED_SLICE_H_
