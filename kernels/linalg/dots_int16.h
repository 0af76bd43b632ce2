// SPDX-License-Identifier: Apache-2.0
//
// Products of int16 rows and an int16 matrix, with exact 64-bit sums.
#ifndef DEPUTY_KERNELS_LINALG_DOTS_INT16_H_
#define DEPUTY_KERNELS_LINALG_DOTS_INT16_H_

#include <algorithm>

#include "kernels/cpu/cpu.h"

namespace deputy {

// Number of rows multiplied by a block of columns while these are in the first-level cache.
inline constexpr int kDotRowsAtOnce = 8;

struct DotBlockInt16 {
  const int16_t* rows;  // `count` contiguous rows of `depth` values
  int count;
  const int16_t* matrix;
  bool columnwise;  // true if columns of the matrix are contiguous, false if its rows are
  int columns, depth;

  // Calls finish(sum, row, column) for all sums. Requires a CPU table with dots_s16.
  template <typename Finish>
  void ForEachSum(const CpuKernels& cpu, const Finish& finish) const {
    constexpr int kColumns = 16;
    const auto dots = columnwise ? cpu.dots_s16.of_columns : cpu.dots_s16.of_rows;
    int64_t sums[kColumns];
    for (int first = 0; first < columns; first += kColumns) {
      const int part = std::min(kColumns, columns - first);
      const int16_t* const from = matrix + (columnwise ? int64_t{first} * depth : first);
      for (int r = 0; r < count; ++r) {
        dots({rows + int64_t{r} * depth, from, columnwise ? depth : columns, depth, part, sums});
        for (int c = 0; c < part; ++c) finish(sums[c], r, first + c);
      }
    }
  }
};

}  // namespace deputy

#endif  // DEPUTY_KERNELS_LINALG_DOTS_INT16_H_
