// SPDX-License-Identifier: Apache-2.0
//
// Products of rows of int16 with a matrix of int16, in exact sums of 64 bits.
#ifndef DEPUTY_KERNELS_LINALG_DOTS_INT16_H_
#define DEPUTY_KERNELS_LINALG_DOTS_INT16_H_

#include <algorithm>

#include "kernels/cpu/cpu.h"

namespace deputy {

// Rows that are multiplied with some columns while these are in the first-level cache.
inline constexpr int kDotRowsAtOnce = 8;

struct DotBlockInt16 {
  const int16_t* rows;  // `count` of them, `depth` values each, one behind the other
  int count;
  const int16_t* matrix;
  bool columnwise;  // columns of the matrix are contiguous, else its rows
  int columns, depth;

  // finish(sum, row, column) for all of them. For a table that has the functions.
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
