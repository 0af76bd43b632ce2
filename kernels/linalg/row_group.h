// SPDX-License-Identifier: Apache-2.0
//
// Runs row-wise fusion groups (core/kernel_api/row_kernel.h), called from the invoke of the head.
#ifndef DEPUTY_KERNELS_LINALG_ROW_GROUP_H_
#define DEPUTY_KERNELS_LINALG_ROW_GROUP_H_

#include "core/kernel_api/fusion_types.h"
#include "core/kernel_api/runtime.h"
#include "kernels/common/activation_range.h"
#include "kernels/linalg/gemm.h"

namespace deputy {

// Number of rows of one matrix, and number of rows that a product's tile processes at once.
struct RowCut {
  int64_t rows_of_matrix = 0;
  int tile_rows = 1;
};

// Computes all nodes of the group, on all threads.
TfLiteStatus RunRowGroup(TfLiteContext* context, const RowRun& group, const RowCut& cut);

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

// Returns true if a float product may be part of a row-wise fusion group: it has enough rows for
// all threads, and its weights stay in the second-level cache during the group.
bool SuitsRowSteps(const TfLiteContext* context, const CpuKernels& cpu, int64_t rows, int columns,
                   int depth);

}  // namespace deputy

#endif  // DEPUTY_KERNELS_LINALG_ROW_GROUP_H_
