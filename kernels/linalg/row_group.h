// SPDX-License-Identifier: Apache-2.0
//
// Runs row-wise fusion groups (core/kernel_api/row_kernel.h), called from the invoke of the head.
#ifndef DEPUTY_KERNELS_LINALG_ROW_GROUP_H_
#define DEPUTY_KERNELS_LINALG_ROW_GROUP_H_

#include <cstdint>

#include "core/kernel_api/fusion_types.h"
#include "core/kernel_api/runtime.h"
#include "kernels/cpu/cpu.h"

namespace deputy {

// Number of rows of one matrix, and number of rows that a product's tile processes at once.
struct RowCut {
  int64_t rows_of_matrix = 0;
  int tile_rows = 1;
};

// Computes all nodes of the group, on all threads.
TfLiteStatus RunRowGroup(TfLiteContext* context, const RowRun& group, const RowCut& cut);

// Returns true if a float product may be part of a row-wise fusion group: it has enough rows for
// all threads, and its weights stay in the second-level cache during the group.
bool SuitsRowSteps(const TfLiteContext* context, const CpuKernels& cpu, int64_t rows, int columns,
                   int depth);

}  // namespace deputy

#endif  // DEPUTY_KERNELS_LINALG_ROW_GROUP_H_
