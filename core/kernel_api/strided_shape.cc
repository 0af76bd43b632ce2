// SPDX-License-Identifier: Apache-2.0
#include "core/kernel_api/strided_shape.h"

#include <algorithm>

namespace deputy {

std::optional<StridedShape> StridedShape::Dense(std::span<const int> dims) {
  if (dims.size() > kMaxStridedRank) return std::nullopt;
  StridedShape shape;
  shape.rank = static_cast<int>(dims.size());
  int64_t stride = 1;
  for (int axis = shape.rank - 1; axis >= 0; --axis) {
    const int extent = dims[static_cast<size_t>(axis)];
    if (extent < 1) return std::nullopt;
    shape.dims[axis] = extent;
    shape.strides[axis] = stride;
    if (__builtin_mul_overflow(stride, extent, &stride)) return std::nullopt;
  }
  return shape;
}

StridedShape StridedShape::Transposed(const int8_t* axes) const {
  StridedShape shape;
  shape.rank = rank;
  for (int axis = 0; axis < rank; ++axis) {
    shape.dims[axis] = dims[axes[axis]];
    shape.strides[axis] = strides[axes[axis]];
  }
  return shape;
}

std::optional<StridedShape> StridedShape::Reshaped(std::span<const int> to) const {
  std::optional<StridedShape> shape = Dense(to);
  if (!shape) return std::nullopt;
  // Axes are processed from the innermost one outwards. `remaining` is the number of elements that
  // remain of the current run of source axes that have one common stride; target axes are split off
  // it.
  int source_axis = rank - 1;
  int64_t remaining = 1, stride = 1;
  for (int axis = shape->rank - 1; axis >= 0; --axis) {
    const int extent = shape->dims[axis];
    if (extent == 1) continue;
    if (remaining == 1) {
      while (source_axis >= 0 && dims[source_axis] == 1) --source_axis;
      if (source_axis < 0) return std::nullopt;
      stride = strides[source_axis];
      for (; source_axis >= 0 &&
             (dims[source_axis] == 1 || strides[source_axis] == stride * remaining);
           --source_axis)
        remaining *= dims[source_axis];
    }
    if (remaining % extent != 0) return std::nullopt;
    shape->strides[axis] = stride;
    stride *= extent;
    remaining /= extent;
  }
  while (source_axis >= 0 && dims[source_axis] == 1) --source_axis;
  return remaining == 1 && source_axis < 0 ? shape : std::nullopt;
}

std::optional<StridedShape> StridedShape::WithRowSlice(int axis, int count) const {
  const int columns = dims[axis];
  if (strides[axis] != 1 || count < 1 || count > columns) return std::nullopt;
  StridedShape shape = *this;
  shape.dims[axis] = count;
  for (int other = 0; other < rank; ++other) {
    if (other == axis || dims[other] == 1) continue;
    if (strides[other] % columns != 0) return std::nullopt;
    shape.strides[other] = strides[other] / columns * count;
  }
  return shape;
}

StridedShape StridedShape::FirstAxes(int axes) const {
  StridedShape shape;
  shape.rank = axes;
  std::copy_n(dims, axes, shape.dims);
  std::copy_n(strides, axes, shape.strides);
  return shape;
}

bool StridedShape::IsDense() const {
  int64_t stride = 1;
  for (int axis = rank - 1; axis >= 0; --axis) {
    if (dims[axis] == 1) continue;
    if (strides[axis] != stride) return false;
    stride *= dims[axis];
  }
  return true;
}

int StridedShape::AxesBeforeRows(int64_t columns) const {
  int axes = rank;
  for (int64_t elements = 1; elements < columns; elements *= dims[axes]) {
    if (axes == 0) return -1;
    --axes;
    if (elements * dims[axes] > columns) return -1;
  }
  return axes;
}

int64_t StridedShape::OffsetOf(int64_t index) const {
  int64_t offset = 0;
  for (int axis = rank - 1; axis >= 0; --axis) {
    offset += index % dims[axis] * strides[axis];
    index /= dims[axis];
  }
  return offset;
}

}  // namespace deputy
