// SPDX-License-Identifier: Apache-2.0
//
// Shapes of tensors as kernels use them. The members of RuntimeShape are laid out as upstream's: in
// a process with the real TensorFlow Lite, the dynamic linker may choose either library's copy of
// an inline function.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_RUNTIME_SHAPE_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_RUNTIME_SHAPE_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <limits>

#include "tensorflow/lite/kernels/internal/compatibility.h"

namespace tflite {

// Sizes and strides in elements, the innermost dimension first.
template <int N>
struct Dims {
  int sizes[N];
  int strides[N];
};

class RuntimeShape {
 public:
  // Shapes with more dimensions are on the heap.
  static constexpr int kMaxSmallSize = 6;

  RuntimeShape() : size_(0) {}

  // A shape whose dimensions are not initialised.
  explicit RuntimeShape(int dimensions_count) : size_(0) { Resize(dimensions_count); }

  RuntimeShape(int shape_size, int32_t value) : size_(0) {
    Resize(shape_size);
    for (int i = 0; i < shape_size; ++i) SetDim(i, value);
  }

  RuntimeShape(int dimensions_count, const int32_t* dims_data) : size_(0) {
    ReplaceWith(dimensions_count, dims_data);
  }

  RuntimeShape(const std::initializer_list<int> init_list) : size_(0) { BuildFrom(init_list); }

  RuntimeShape(const RuntimeShape& other) : size_(0) { ReplaceWith(other.size_, other.DimsData()); }

  RuntimeShape& operator=(const RuntimeShape& other) {
    if (this != &other) ReplaceWith(other.size_, other.DimsData());
    return *this;
  }

  ~RuntimeShape() {
    if (size_ > kMaxSmallSize) delete[] dims_pointer_;
  }

  bool operator==(const RuntimeShape& other) const {
    if (size_ != other.size_) return false;
    for (int i = 0; i < size_; ++i) {
      if (DimsData()[i] != other.DimsData()[i]) return false;
    }
    return true;
  }
  bool operator!=(const RuntimeShape& other) const { return !(*this == other); }

  int32_t DimensionsCount() const { return size_; }

  int32_t Dims(int i) const {
    TFLITE_DCHECK(i >= 0 && i < size_);
    return DimsData()[i];
  }

  void SetDim(int i, int32_t val) {
    TFLITE_DCHECK(i >= 0 && i < size_);
    DimsData()[i] = val;
  }

  int32_t* DimsData() { return size_ > kMaxSmallSize ? dims_pointer_ : dims_; }
  const int32_t* DimsData() const { return size_ > kMaxSmallSize ? dims_pointer_ : dims_; }

  // The dimensions of a shape that has at most kMaxSmallSize of them.
  const int32_t* DimsDataUpTo5D() const { return dims_; }

  // Keeps the leading dimensions; new ones are not initialised.
  void Resize(int dimensions_count) {
    TFLITE_DCHECK_GE(dimensions_count, 0);
    if (dimensions_count == size_) return;
    int32_t* const old_large = size_ > kMaxSmallSize ? dims_pointer_ : nullptr;
    const size_t kept_bytes =
        sizeof(int32_t) * static_cast<size_t>(size_ < dimensions_count ? size_ : dimensions_count);
    if (dimensions_count > kMaxSmallSize) {
      auto* large = new int32_t[static_cast<size_t>(dimensions_count)];
      std::memcpy(large, DimsData(), kept_bytes);
      dims_pointer_ = large;
    } else if (old_large != nullptr) {
      std::memcpy(dims_, old_large, kept_bytes);
    }
    size_ = dimensions_count;
    delete[] old_large;
  }

  void ReplaceWith(int dimensions_count, const int32_t* dims_data) {
    Resize(dimensions_count);
    if (size_ == 0) return;
    std::memmove(DimsData(), dims_data, sizeof(int32_t) * static_cast<size_t>(size_));
  }

  template <typename T>
  void BuildFrom(const T& src_iterable) {
    Resize(static_cast<int>(std::distance(src_iterable.begin(), src_iterable.end())));
    int32_t* dim = DimsData();
    for (auto value : src_iterable) *dim++ = static_cast<int32_t>(value);
  }
  void BuildFrom(const std::initializer_list<int> init_list) {
    BuildFrom<std::initializer_list<int>>(init_list);
  }

  // Returns `shape` with leading dimensions of 1, `new_shape_size` dimensions in all. Aborts if
  // `shape` has more.
  static RuntimeShape ExtendedShape(int new_shape_size, const RuntimeShape& shape) {
    TFLITE_CHECK_GE(new_shape_size, shape.size_);
    RuntimeShape extended(new_shape_size, 1);
    for (int i = 0; i < shape.size_; ++i) {
      extended.SetDim(new_shape_size - shape.size_ + i, shape.Dims(i));
    }
    return extended;
  }

  // The number of elements, without a check for overflow.
  int FlatSize() const {
    int count = 1;
    for (int i = 0; i < size_; ++i) count *= DimsData()[i];
    return count;
  }

  bool HasZeroDimension() const {
    for (int i = 0; i < size_; ++i) {
      if (DimsData()[i] == 0) return true;
    }
    return false;
  }

  // Checked products of the dimensions [start, end). They return false, and leave `out` unchanged,
  // if the range is invalid, a dimension is negative, or the product exceeds its type. An empty
  // range has the product 1.
  bool CheckedNumElementsInRange(int start, int end, size_t& out) const {
    if (start < 0 || end < start || end > size_) return false;
    size_t product = 1;
    for (int i = start; i < end; ++i) {
      const int32_t dim = DimsData()[i];
      if (dim < 0 || !CheckedMultiply(product, static_cast<size_t>(dim), product)) return false;
    }
    out = product;
    return true;
  }
  bool CheckedNumElementsInRange(int start, int end, int& out) const {
    size_t product = 0;
    if (!CheckedNumElementsInRange(start, end, product)) return false;
    if (product > static_cast<size_t>(std::numeric_limits<int>::max())) return false;
    out = static_cast<int>(product);
    return true;
  }

  bool CheckedFlatSize(size_t& flat_size) const {
    return CheckedNumElementsInRange(0, size_, flat_size);
  }
  template <typename Size>
  bool CheckedSizeToDimension(int end, Size& out) const {
    return CheckedNumElementsInRange(0, end, out);
  }
  template <typename Size>
  bool CheckedSizeFromDimension(int start, Size& out) const {
    return CheckedNumElementsInRange(start, size_, out);
  }

  // The product of all dimensions but one.
  bool CheckedFlatSizeSkipDim(int skip_dim, size_t& flat_size) const {
    size_t outer = 0;
    size_t inner = 0;
    return skip_dim >= 0 && skip_dim < size_ && CheckedSizeToDimension(skip_dim, outer) &&
           CheckedSizeFromDimension(skip_dim + 1, inner) &&
           CheckedMultiply(outer, inner, flat_size);
  }

 private:
  static bool CheckedMultiply(size_t a, size_t b, size_t& product) {
    if (a != 0 && b > std::numeric_limits<size_t>::max() / a) return false;
    product = a * b;
    return true;
  }

  int32_t size_;
  union {
    int32_t dims_[kMaxSmallSize];
    int32_t* dims_pointer_;
  };
};

// Converts a shape of at most four dimensions. Aborts if it has more.
inline Dims<4> ToRuntimeDims(const RuntimeShape& array_shape) {
  TFLITE_CHECK_LE(array_shape.DimensionsCount(), 4);
  const RuntimeShape shape = RuntimeShape::ExtendedShape(4, array_shape);
  Dims<4> dims;
  int stride = 1;
  for (int i = 0; i < 4; ++i) {
    dims.sizes[i] = shape.Dims(3 - i);
    dims.strides[i] = stride;
    stride *= dims.sizes[i];
  }
  return dims;
}

inline RuntimeShape DimsToShape(const Dims<4>& dims) {
  return RuntimeShape({dims.sizes[3], dims.sizes[2], dims.sizes[1], dims.sizes[0]});
}

// Positions of elements, counted in elements, of shapes with exactly four or five dimensions.
inline int Offset(const RuntimeShape& shape, int i0, int i1, int i2, int i3) {
  TFLITE_DCHECK_EQ(shape.DimensionsCount(), 4);
  const int32_t* dims = shape.DimsDataUpTo5D();
  return ((i0 * dims[1] + i1) * dims[2] + i2) * dims[3] + i3;
}

inline int Offset(const RuntimeShape& shape, int i0, int i1, int i2, int i3, int i4) {
  TFLITE_DCHECK_EQ(shape.DimensionsCount(), 5);
  const int32_t* dims = shape.DimsDataUpTo5D();
  return (((i0 * dims[1] + i1) * dims[2] + i2) * dims[3] + i3) * dims[4] + i4;
}

inline int Offset(const RuntimeShape& shape, int* index) {
  return Offset(shape, index[0], index[1], index[2], index[3]);
}

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_RUNTIME_SHAPE_H_
