// SPDX-License-Identifier: Apache-2.0
//
// Ranges of STRIDED_SLICE. Bit i of a mask refers to axis i.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_STRIDED_SLICE_LOGIC_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_STRIDED_SLICE_LOGIC_H_

#include <cstdint>
#include <vector>

#include "tensorflow/lite/kernels/internal/compatibility.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace strided_slice {

inline int Clamp(const int v, const int lo, const int hi) {
  TFLITE_DCHECK_LE(lo, hi);
  return v < lo ? lo : v > hi ? hi : v;
}

// Adds leading axes that the slice takes as a whole. `dim_count`, the number of axes afterwards, is
// at most 5.
inline void StridedSlicePadIndices(StridedSliceParams* p, int dim_count) {
  TFLITE_CHECK(dim_count <= 5 && dim_count >= p->start_indices_count);
  TFLITE_CHECK_EQ(p->start_indices_count, p->stop_indices_count);
  TFLITE_CHECK_EQ(p->stop_indices_count, p->strides_count);
  const int added = dim_count - p->start_indices_count;
  for (int i = dim_count - 1; i >= 0; --i) {
    p->start_indices[i] = i < added ? 0 : p->start_indices[i - added];
    p->stop_indices[i] = i < added ? 1 : p->stop_indices[i - added];
    p->strides[i] = i < added ? 1 : p->strides[i - added];
  }
  const int whole = (1 << added) - 1;
  p->begin_mask = static_cast<uint16_t>(p->begin_mask << added | whole);
  p->end_mask = static_cast<uint16_t>(p->end_mask << added | whole);
  p->ellipsis_mask = static_cast<uint16_t>(p->ellipsis_mask << added);
  p->new_axis_mask = static_cast<uint16_t>(p->new_axis_mask << added);
  p->shrink_axis_mask = static_cast<uint16_t>(p->shrink_axis_mask << added);
  p->start_indices_count = static_cast<int8_t>(dim_count);
  p->stop_indices_count = static_cast<int8_t>(dim_count);
  p->strides_count = static_cast<int8_t>(dim_count);
}

// Counts a negative index from the end of the axis. The result is limited to [0, size], or to
// [-1, size - 1] for negative strides.
inline int ClampToAxis(int index, int stride, int size) {
  if (index < 0) index += size;
  return stride > 0 ? Clamp(index, 0, size) : Clamp(index, -1, size - 1);
}

// Returns the first index of the slice.
inline int StridedSliceStartForAxis(const StridedSliceParams& params,
                                    const RuntimeShape& input_shape, int32_t axis) {
  const int size = input_shape.Dims(axis);
  const int stride = params.strides[axis];
  if ((params.begin_mask >> axis & 1) != 0) return stride > 0 ? 0 : size - 1;
  return ClampToAxis(params.start_indices[axis], stride, size);
}

// Returns the index after the last one, in the direction of the stride. A shrunk axis has one
// index, or none if the start is at its end.
inline int StridedSliceEndForAxis(const StridedSliceParams& params, const RuntimeShape& input_shape,
                                  int axis, int start) {
  const int size = input_shape.Dims(axis);
  const int stride = params.strides[axis];
  if ((params.shrink_axis_mask >> axis & 1) != 0) return start >= size ? start : start + 1;
  if ((params.end_mask >> axis & 1) != 0) return stride > 0 ? size : -1;
  return ClampToAxis(params.stop_indices[axis] + (params.offset ? start : 0), stride, size);
}

// Older variants of the two functions above: they return 0 for an empty axis, stop indices are
// never relative to start indices, and a shrunk axis has an index even if it starts after its last
// one.
inline int StartForAxis(const StridedSliceParams& params, const RuntimeShape& input_shape,
                        int axis) {
  if (input_shape.Dims(axis) == 0) return 0;
  return StridedSliceStartForAxis(params, input_shape, axis);
}

inline int StopForAxis(const StridedSliceParams& params, const RuntimeShape& input_shape, int axis,
                       int start_for_axis) {
  const int size = input_shape.Dims(axis);
  const int stride = params.strides[axis];
  if (size == 0) return 0;
  if ((params.shrink_axis_mask >> axis & 1) != 0) return start_for_axis + 1;
  if ((params.end_mask >> axis & 1) != 0) return stride > 0 ? size : -1;
  return ClampToAxis(params.stop_indices[axis], stride, size);
}

// Returns true if `index` is at or after the end of the range.
inline bool LoopCondition(int index, int stop, int stride) {
  return stride > 0 ? index >= stop : index <= stop;
}

inline StridedSliceParams BuildStridedSliceParams(int begin_mask, int end_mask,
                                                  int shrink_axis_mask,
                                                  const std::vector<int>& start_indices,
                                                  const std::vector<int>& stop_indices,
                                                  const std::vector<int>& strides) {
  StridedSliceParams params{};
  TFLITE_CHECK_LE(start_indices.size(), 5u);
  const auto count = static_cast<int8_t>(start_indices.size());
  params.start_indices_count = count;
  params.stop_indices_count = count;
  params.strides_count = count;
  for (size_t i = 0; i < start_indices.size(); ++i) {
    params.start_indices[i] = start_indices[i];
    params.stop_indices[i] = stop_indices[i];
    params.strides[i] = strides[i];
  }
  params.begin_mask = static_cast<uint16_t>(begin_mask);
  params.end_mask = static_cast<uint16_t>(end_mask);
  params.shrink_axis_mask = static_cast<uint16_t>(shrink_axis_mask);
  return params;
}

}  // namespace strided_slice
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_STRIDED_SLICE_LOGIC_H_
