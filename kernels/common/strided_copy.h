// SPDX-License-Identifier: Apache-2.0
//
// Strided copy: transposing, slicing, tiling and broadcasting are this operation with different
// strides. Axes are given outermost first; source strides may be 0 (the same element again) or
// negative. Adjacent axes with compatible strides are merged, so that most copies end in long runs.
//
// Source and destination must not overlap.
#ifndef DEPUTY_KERNELS_COMMON_STRIDED_COPY_H_
#define DEPUTY_KERNELS_COMMON_STRIDED_COPY_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "kernels/common/kernel.h"

namespace deputy {

class StridedCopy {
 public:
  // Adds an axis; at most 2 * kMaxRank axes may have an extent above 1. Steps count elements.
  void Add(int64_t extent, int64_t step_in, int64_t step_out) {
    // The product of an empty tensor's other extents may overflow.
    empty_ |= extent == 0;
    if (empty_ || extent == 1) return;
    if (rank_ > 0) {
      Axis& last = axes_[static_cast<size_t>(rank_ - 1)];
      int64_t merged = 0;
      if (last.step_in == extent * step_in && last.step_out == extent * step_out &&
          !__builtin_mul_overflow(last.extent, extent, &merged)) {
        last = {merged, step_in, step_out};
        return;
      }
    }
    axes_[static_cast<size_t>(rank_++)] = {extent, step_in, step_out};
  }

  // Completes the copy's description, after the last Add. If the axis with contiguous reads differs
  // from the axis with contiguous writes, moves the former next to the latter, so that both sides
  // access few cache lines.
  void Finish() {
    if (rank_ < 2 || axes_[static_cast<size_t>(rank_ - 1)].step_in <= 1) return;
    const auto first = axes_.begin(), last = axes_.begin() + rank_ - 1;
    const auto reader = std::find_if(first, last, [](const Axis& a) { return a.step_in == 1; });
    if (reader == last) return;
    std::rotate(reader, reader + 1, last);
    blocked_ = true;
  }

  // Copies on the calling thread. T is a type of WithElements: a number of 1, 2, 4 or 8 bytes, or a
  // string view.
  template <typename T>
  void Run(const T* in, T* out) const;
  // Copies on the interpreter's threads; T is a type of WithElements.
  template <typename T>
  void Run(TfLiteContext* context, const T* in, T* out) const;

 private:
  struct Axis {
    int64_t extent, step_in, step_out;
  };
  static constexpr int64_t kBlock = 16;

  template <typename T>
  void Level(int level, const T* in, T* out) const;
  template <typename T>
  static void Row(const Axis& axis, int64_t count, const T* in, T* out);
  template <typename T>
  static void Block(const Axis& a, const Axis& b, const T* in, T* out);

  std::array<Axis, 2 * kMaxRank> axes_;
  int rank_ = 0;
  bool empty_ = false;
  bool blocked_ = false;
};

// Strides of a dense tensor with the extents `dims`, in elements.
class DenseSteps {
 public:
  explicit DenseSteps(std::span<const int> dims) {
    int64_t step = 1;
    for (size_t axis = dims.size(); axis-- > 0;) {
      steps_[axis] = step;
      step *= dims[axis];
    }
  }
  int64_t operator[](int axis) const { return steps_[axis]; }

 private:
  int64_t steps_[kMaxRank] = {};
};

}  // namespace deputy

#endif  // DEPUTY_KERNELS_COMMON_STRIDED_COPY_H_
