// SPDX-License-Identifier: Apache-2.0
//
// Shape of a tensor with strides, in the memory of another tensor. TRANSPOSE and RESHAPE of a dense
// tensor yield such a shape if they copy nothing.
#ifndef DEPUTY_CORE_KERNEL_API_STRIDED_SHAPE_H_
#define DEPUTY_CORE_KERNEL_API_STRIDED_SHAPE_H_

#include <cstdint>
#include <optional>
#include <span>

namespace deputy {

inline constexpr int kMaxStridedRank = 8;

// Extents and strides of a tensor's axes. All extents are at least 1.
struct StridedShape {
  int rank = 0;
  int dims[kMaxStridedRank] = {};
  int64_t strides[kMaxStridedRank] = {};  // distance of neighbours along each axis, in elements

  // Returns the shape of a dense tensor; none if it has more than kMaxStridedRank dimensions or no
  // elements, or if their number overflows.
  static std::optional<StridedShape> Dense(std::span<const int> dims);

  // Returns the shape whose axis i is axis axes[i] of this shape; axes are a permutation.
  StridedShape Transposed(const int8_t* axes) const;
  // Returns the shape of the same elements in the same order; none if no strides express it.
  std::optional<StridedShape> Reshaped(std::span<const int> to) const;
  // Narrows an axis to `count` elements. Requires that the memory consists of rows of that axis,
  // which become rows of `count` elements; none otherwise.
  std::optional<StridedShape> WithRowSlice(int axis, int count) const;
  // Returns the shape of the first `axes` axes.
  StridedShape FirstAxes(int axes) const;

  // Returns true if the elements are contiguous in index order.
  bool IsDense() const;
  // Returns the number of axes before rows of `columns` elements, or -1 if rows are not whole axes.
  int AxesBeforeRows(int64_t columns) const;
  // Returns the offset of element `index` from the first element.
  int64_t OffsetOf(int64_t index) const;

  friend bool operator==(const StridedShape&, const StridedShape&) = default;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_KERNEL_API_STRIDED_SHAPE_H_
