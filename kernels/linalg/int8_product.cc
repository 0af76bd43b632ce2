// SPDX-License-Identifier: Apache-2.0
#include "kernels/linalg/int8_product.h"

#include <algorithm>

#include "core/support/int_math.h"

namespace deputy {

bool Int8Product::LayOut(int threads, Layout* out, size_t* out_bytes) const {
  const GemmS8Kernels& kernels = cpu->gemm_s8;
  const auto padded_depth = static_cast<size_t>(RoundUp(std::max(depth, 1), kernels.run));
  const auto padded_columns = static_cast<size_t>(RoundUp(columns, kernels.columns));
  out->row_bytes = padded_depth * kernels.left_bytes();
  out->plan =
      PlanGemm(rows, columns, depth, kernels.rows, kernels.columns, out->row_bytes, threads);
  size_t rows_bytes, bias_bytes;
  if (!MultiplySizes(static_cast<size_t>(out->plan.block_rows()), out->row_bytes, &rows_bytes) ||
      !ScratchForWorkers(rows_bytes, threads, &out->block_bytes, &rows_bytes) ||
      !MultiplySizes(padded_columns * sizeof(int32_t), static_cast<size_t>(groups), &bias_bytes) ||
      !ScratchForWorkers(bias_bytes, 1, &out->bias_bytes, &bias_bytes)) {
    return false;
  }
  return AddSizes(bias_bytes, rows_bytes, out_bytes);
}

size_t Int8Product::ScratchBytes(int threads) const {
  Layout layout;
  size_t bytes = 0;
  return LayOut(threads, &layout, &bytes) ? bytes : 0;
}

void Int8Product::FoldBias(int32_t* out) const {
  const auto zero = static_cast<uint32_t>(input_zero_point + cpu->gemm_s8.left_offset());
  const int padded = weights->padded_columns();
  for (int group = 0; group < groups; ++group, out += padded) {
    for (int c = 0; c < columns; ++c) {
      // The sum of (a - z) * w is the sum of a * w less z times the sum of w. The bias wraps, like
      // the sums.
      const uint32_t own =
          bias == nullptr ? 0 : static_cast<uint32_t>(bias[int64_t{group} * columns + c]);
      out[c] =
          static_cast<int32_t>(own - zero * static_cast<uint32_t>(weights->ColumnSum(group, c)));
    }
    // Sets padding to 0: it is multiplied too, although its results are not stored.
    std::fill(out + columns, out + padded, 0);
  }
}

}  // namespace deputy
