// SPDX-License-Identifier: Apache-2.0
//
// Float products of nodes in row-wise fusion groups (kernels/linalg/row_group.h).
#ifndef DEPUTY_KERNELS_LINALG_ROW_PRODUCT_H_
#define DEPUTY_KERNELS_LINALG_ROW_PRODUCT_H_

#include <cstdint>

#include "kernels/common/activation_range.h"
#include "kernels/linalg/gemm.h"

namespace deputy {

// Float product of a node in a row-wise fusion group: rows of any input times packed weights.
struct RowProduct {
  const CpuKernels* cpu = nullptr;
  const PackedWeights<float>* weights = nullptr;
  int columns = 0, depth = 0;
  const float* bias = nullptr;  // bias of each column, padded to whole panels
  FloatRange range;

  // Returns the product of all rows: out[rows][columns] of the weights' group.
  GemmF32 Job(int group, float* out) const {
    return {
        cpu, weights, group, depth, bias, range.low, range.high, out, static_cast<size_t>(columns)};
  }
  // Multiplies `count` rows by the weights of `group`; output rows are `out_step` elements apart.
  void Multiply(int group, const float* rows, int count, float* out, int64_t out_step) const;
};

// Rows of a product that belong to one matrix.
struct ProductRows {
  const RowProduct* product = nullptr;
  int group = 0;                // group of the weights
  int count = 0;                // number of rows
  const float* left = nullptr;  // [count][depth]
  float* out = nullptr;
  int64_t out_step = 0;  // distance between rows of the output, in elements
};

}  // namespace deputy

#endif  // DEPUTY_KERNELS_LINALG_ROW_PRODUCT_H_
