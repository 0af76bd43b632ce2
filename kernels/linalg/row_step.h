// SPDX-License-Identifier: Apache-2.0
//
// Runs steps by rows (core/kernel_api/row_kernel.h), for the invoke of the node that is their head.
#ifndef DEPUTY_KERNELS_LINALG_ROW_STEP_H_
#define DEPUTY_KERNELS_LINALG_ROW_STEP_H_

#include "core/kernel_api/runtime.h"
#include "kernels/common/activation_range.h"
#include "kernels/linalg/gemm.h"

namespace deputy {

// Rows of a product that belong together, and how many its tile takes at once.
struct RowCut {
  int64_t rows_of_matrix = 0;
  int tile_rows = 1;
};

// Computes all nodes of the step, on all threads.
TfLiteStatus RunRowStep(TfLiteContext* context, const StepRun& step, const RowCut& cut);

// A product's float factors in the time of a step: rows of any input against packed weights.
struct RowProduct {
  const CpuKernels* cpu = nullptr;
  const PackedWeights<float>* weights = nullptr;
  int columns = 0, depth = 0;
  const float* bias = nullptr;  // padded to whole panels
  FloatRange range;

  // Of all rows: out[rows][columns] of the weights' group.
  GemmF32 Job(int group, float* out) const {
    return {
        cpu, weights, group, depth, bias, range.low, range.high, out, static_cast<size_t>(columns)};
  }
  // Of some, which are so many elements apart in the output.
  void Multiply(int group, const float* rows, int count, float* out, int64_t out_step) const;
};

// Whether a float product may be a node of a step by rows: it has rows enough for all threads, and
// weights that stay in the second-level cache while few rows pass them.
bool SuitsRowSteps(const TfLiteContext* context, const CpuKernels& cpu, int64_t rows, int columns,
                   int depth);

}  // namespace deputy

#endif  // DEPUTY_KERNELS_LINALG_ROW_STEP_H_
