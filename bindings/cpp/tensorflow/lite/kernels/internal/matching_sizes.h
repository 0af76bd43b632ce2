// SPDX-License-Identifier: Apache-2.0
//
// Numbers of elements of tensors whose shapes must match. A mismatch aborts builds without NDEBUG;
// others return the number of the first shape.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_MATCHING_SIZES_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_MATCHING_SIZES_H_

#include <algorithm>
#include <cstddef>

#include "tensorflow/lite/kernels/internal/compatibility.h"
#include "tensorflow/lite/kernels/internal/runtime_shape.h"

namespace tflite {

inline int Offset(const Dims<4>& dims, int i0, int i1, int i2, int i3) {
  return i0 * dims.strides[0] + i1 * dims.strides[1] + i2 * dims.strides[2] + i3 * dims.strides[3];
}

inline int Offset(const Dims<4>& dims, int* index) {
  return Offset(dims, index[0], index[1], index[2], index[3]);
}

template <int N>
int ArraySize(const Dims<N>& array, int index) {
  TFLITE_DCHECK(index >= 0 && index < N);
  return array.sizes[index];
}

// Takes pairs of an array and an index: the sizes must be equal.
template <typename ArrayType1, typename ArrayType2>
int MatchingArraySize(const ArrayType1& array1, int index1, const ArrayType2& array2, int index2) {
  TFLITE_DCHECK_EQ(ArraySize(array1, index1), ArraySize(array2, index2));
  return ArraySize(array1, index1);
}

template <typename ArrayType1, typename ArrayType2, typename... Args>
int MatchingArraySize(const ArrayType1& array1, int index1, const ArrayType2& array2, int index2,
                      Args... args) {
  TFLITE_DCHECK_EQ(ArraySize(array1, index1), ArraySize(array2, index2));
  return MatchingArraySize(array1, index1, args...);
}

// Takes pairs of a shape and an index: the dimensions must be equal. Returns the smallest, so that
// loops stay within every tensor in builds without the check.
inline int MatchingDim(const RuntimeShape& shape1, int index1, const RuntimeShape& shape2,
                       int index2) {
  TFLITE_DCHECK_EQ(shape1.Dims(index1), shape2.Dims(index2));
  return std::min(shape1.Dims(index1), shape2.Dims(index2));
}

template <typename... Args>
int MatchingDim(const RuntimeShape& shape1, int index1, const RuntimeShape& shape2, int index2,
                Args... args) {
  return std::min(MatchingDim(shape1, index1, shape2, index2),
                  MatchingDim(shape1, index1, args...));
}

template <int N>
inline int FlatSize(const Dims<N>& dims) {
  int count = 1;
  for (int size : dims.sizes) count *= size;
  return count;
}

TFLITE_DEPRECATED("Prefer FlatSize.")
inline int RequiredBufferSizeForDims(const Dims<4>& dims) { return FlatSize(dims); }

// Returns the number of elements, which must be equal in all shapes; a mismatch aborts every build.
template <typename... Shapes>
inline int MatchingElementsSize(const RuntimeShape& shape, const RuntimeShape& other,
                                const Shapes&... others) {
  const int count = shape.FlatSize();
  TFLITE_CHECK_EQ(count, other.FlatSize());
  (TFLITE_CHECK_EQ(count, others.FlatSize()), ...);
  return count;
}

// Checks that two shapes are equal, not counting dimension `skip_dim`.
inline void CheckMatchingDims(const RuntimeShape& a, const RuntimeShape& b, int skip_dim = -1) {
  TFLITE_DCHECK_EQ(a.DimensionsCount(), b.DimensionsCount());
  for (int i = 0; i < a.DimensionsCount(); ++i) {
    if (i != skip_dim) TFLITE_DCHECK_EQ(a.Dims(i), b.Dims(i));
  }
}

template <int N>
inline void CheckMatchingDims(const Dims<N>& a, const Dims<N>& b, int skip_dim = -1) {
  for (int i = 0; i < N; ++i) {
    if (i != skip_dim) TFLITE_DCHECK_EQ(ArraySize(a, i), ArraySize(b, i));
  }
}

template <typename... Shapes>
inline int MatchingFlatSize(const RuntimeShape& shape, const RuntimeShape& other,
                            const Shapes&... others) {
  CheckMatchingDims(shape, other);
  (CheckMatchingDims(shape, others), ...);
  return shape.FlatSize();
}

template <int N, typename... OtherDims>
inline int MatchingFlatSize(const Dims<N>& dims, const Dims<N>& other, const OtherDims&... others) {
  CheckMatchingDims(dims, other);
  (CheckMatchingDims(dims, others), ...);
  return FlatSize(dims);
}

// Returns the number of elements of shapes that must be equal except for leading dimensions of 1.
inline int MatchingExtendedShapeFlatSize(const RuntimeShape& shape, const RuntimeShape& other) {
  const int rank = std::max(shape.DimensionsCount(), other.DimensionsCount());
  CheckMatchingDims(RuntimeShape::ExtendedShape(rank, shape),
                    RuntimeShape::ExtendedShape(rank, other));
  return shape.FlatSize();
}

template <typename... Shapes>
inline int MatchingExtendedShapeFlatSize(const RuntimeShape& shape, const RuntimeShape& other,
                                         const Shapes&... others) {
  MatchingExtendedShapeFlatSize(shape, other);
  return MatchingExtendedShapeFlatSize(shape, others...);
}

// Returns the product of all dimensions except `skip_dim`: the number of iterations of a loop over
// them.
inline int FlatSizeSkipDim(const RuntimeShape& shape, int skip_dim) {
  TFLITE_DCHECK(skip_dim >= 0 && skip_dim < shape.DimensionsCount());
  int count = 1;
  for (int i = 0; i < shape.DimensionsCount(); ++i) count *= i == skip_dim ? 1 : shape.Dims(i);
  return count;
}

template <int N>
inline int FlatSizeSkipDim(const Dims<N>& dims, int skip_dim) {
  TFLITE_DCHECK(skip_dim >= 0 && skip_dim < N);
  int count = 1;
  for (int i = 0; i < N; ++i) count *= i == skip_dim ? 1 : dims.sizes[i];
  return count;
}

template <typename... Shapes>
inline int MatchingFlatSizeSkipDim(const RuntimeShape& shape, int skip_dim,
                                   const RuntimeShape& other, const Shapes&... others) {
  CheckMatchingDims(shape, other, skip_dim);
  (CheckMatchingDims(shape, others, skip_dim), ...);
  return FlatSizeSkipDim(shape, skip_dim);
}

template <int N, typename... OtherDims>
inline int MatchingFlatSizeSkipDim(const Dims<N>& dims, int skip_dim, const Dims<N>& other,
                                   const OtherDims&... others) {
  CheckMatchingDims(dims, other, skip_dim);
  (CheckMatchingDims(dims, others, skip_dim), ...);
  return FlatSizeSkipDim(dims, skip_dim);
}

template <int N>
bool IsPackedWithoutStrides(const Dims<N>& dims) {
  int stride = 1;
  for (int d = 0; d < N; ++d) {
    if (dims.strides[d] != stride) return false;
    stride *= dims.sizes[d];
  }
  return true;
}

template <int N>
void ComputeStrides(Dims<N>* dims) {
  int stride = 1;
  for (int d = 0; d < N; ++d) {
    dims->strides[d] = stride;
    stride *= dims->sizes[d];
  }
}

// Advances `current`, a position in an array of the given dimensions, in row-major order. Returns
// false, with a position of zeros, after the last one.
template <typename IndexType = int>
inline bool NextIndex(const int num_dims, const int* dims, IndexType* current) {
  for (int d = num_dims - 1; d >= 0; --d) {
    if (++current[d] < dims[d]) return true;
    current[d] = 0;
  }
  return false;
}

// Returns the position in the output of a reduction: that of `index` without the `num_axis`
// dimensions in `axis`, which may be null if there are none.
inline size_t ReducedOutputOffset(const int num_dims, const int* dims, const int* index,
                                  const int num_axis, const int* axis) {
  size_t offset = 0;
  for (int d = 0; d < num_dims; ++d) {
    if (axis != nullptr && std::find(axis, axis + num_axis, d) != axis + num_axis) continue;
    offset = offset * static_cast<size_t>(dims[d]) + static_cast<size_t>(index[d]);
  }
  return offset;
}

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_MATCHING_SIZES_H_
