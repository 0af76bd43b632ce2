// SPDX-License-Identifier: Apache-2.0
//
// A tensor whose elements lie in steps in other memory: what TRANSPOSE and RESHAPE make of a dense
// tensor if they copy nothing.
#ifndef DEPUTY_CORE_KERNEL_API_STRIDED_SHAPE_H_
#define DEPUTY_CORE_KERNEL_API_STRIDED_SHAPE_H_

#include <cstdint>
#include <optional>
#include <span>

namespace deputy {

inline constexpr int kMaxStridedRank = 8;

// Extents are 1 or more.
struct StridedShape {
  int rank = 0;
  int dims[kMaxStridedRank] = {};
  int64_t steps[kMaxStridedRank] = {};  // in elements

  // Of a tensor with no more than kMaxStridedRank dimensions, none of which is 0.
  static std::optional<StridedShape> Dense(std::span<const int> dims);

  // Axis i of the result is axis axes[i]; axes are a permutation.
  StridedShape Transposed(const int8_t* axes) const;
  // Of the same elements in the same order; none if they are no steps apart then.
  std::optional<StridedShape> Reshaped(std::span<const int> to) const;
  // `count` elements of an axis: of memory with rows of that axis and nothing else, which become
  // rows of `count`. None if rows are others.
  std::optional<StridedShape> WithPartOfRows(int axis, int count) const;
  // The first axes alone.
  StridedShape First(int axes) const;

  // Whether elements lie one behind the other in their order.
  bool IsDense() const;
  // The number of axes in front of rows of so many elements, or -1: rows are no whole axes.
  int AxesBeforeRows(int64_t columns) const;
  // From the first element to number `index`.
  int64_t OffsetOf(int64_t index) const;

  friend bool operator==(const StridedShape&, const StridedShape&) = default;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_KERNEL_API_STRIDED_SHAPE_H_
