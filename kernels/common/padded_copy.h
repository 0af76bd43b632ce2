// SPDX-License-Identifier: Apache-2.0
//
// Padding as in StableHLO: margins, negative margins, which crop, and gaps between elements.
#ifndef DEPUTY_KERNELS_COMMON_PADDED_COPY_H_
#define DEPUTY_KERNELS_COMMON_PADDED_COPY_H_

#include <algorithm>
#include <cstdint>
#include <span>

#include "kernels/common/strided_copy.h"

namespace deputy {

// Mapping along one axis: input element i, for first <= i < last, is copied to output position
// margin + i * step.
struct PaddedAxis {
  int64_t extent = 0;  // extent of the output
  int64_t margin = 0, step = 1, first = 0, last = 0;
};

// Computes the mapping of one axis: margins `low` and `high`, and `between` gaps between adjacent
// elements. The resulting extent may be negative or 0. Returns false if `between` is negative or if
// the extent overflows an int.
inline bool PadAxis(int extent, int64_t low, int64_t high, int64_t between, PaddedAxis* axis) {
  int64_t steps = 0, sum = 0, available = 0;
  if (between < 0 || __builtin_add_overflow(between, int64_t{1}, &axis->step) ||
      __builtin_mul_overflow(extent - int64_t{1}, axis->step, &steps) ||
      __builtin_add_overflow(steps, low, &sum) || __builtin_add_overflow(sum, high, &sum) ||
      __builtin_add_overflow(sum, int64_t{1}, &axis->extent) || axis->extent > INT32_MAX) {
    return false;
  }
  axis->margin = low;
  if (extent <= 1) axis->step = 1;
  // Maximum distance in the output between input element 0 and the last copied element.
  if (__builtin_sub_overflow(axis->extent - 1, low, &available)) available = INT64_MAX;
  if (available >= 0 && extent > 0)
    axis->last = std::min(extent - int64_t{1}, available / axis->step) + 1;
  axis->first = low >= 0 ? 0 : std::min(-(low + 1) / axis->step, axis->last - 1) + 1;
  return true;
}

// Copies the elements of a dense tensor to their positions in the padded one, which is not empty
// and is already filled with the padding value.
class PaddedCopy {
 public:
  PaddedCopy(std::span<const int> dims_in, std::span<const int> dims_out, const PaddedAxis* axes) {
    const DenseSteps steps_in(dims_in), steps_out(dims_out);
    for (int i = 0; i < static_cast<int>(dims_in.size()) && any_; ++i) {
      const PaddedAxis& axis = axes[i];
      any_ = axis.first < axis.last;
      if (!any_) break;
      copy_.Add(axis.last - axis.first, steps_in[i], axis.step * steps_out[i]);
      from_ += axis.first * steps_in[i];
      to_ += (axis.margin + axis.first * axis.step) * steps_out[i];
    }
    copy_.Finish();
  }

  template <typename T>
  void Run(const T* in, T* out) const {
    if (any_) copy_.Run(in + from_, out + to_);
  }

 private:
  StridedCopy copy_;
  int64_t from_ = 0, to_ = 0;
  bool any_ = true;
};

}  // namespace deputy

#endif  // DEPUTY_KERNELS_COMMON_PADDED_COPY_H_
