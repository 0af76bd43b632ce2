// SPDX-License-Identifier: Apache-2.0
//
// Attention in a row-wise fusion group: a product, element-wise nodes, SOFTMAX and a second
// product, computed with AttentionKernels. A tile of rows goes through all of these nodes.
#ifndef DEPUTY_KERNELS_LINALG_ATTENTION_H_
#define DEPUTY_KERNELS_LINALG_ATTENTION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/kernel_api/row_kernel.h"
#include "core/kernel_api/runtime.h"
#include "kernels/linalg/row_product.h"

namespace deputy {

class Attention {
 public:
  // Finds the attention of a program; none if there is none, or if row by row it is as fast. The
  // `begin` functions of the nodes have been called.
  static std::optional<Attention> Find(TfLiteContext* context, Runtime* runtime,
                                       const RowProgram& program, int64_t rows_of_matrix);

  // Indices of the first and the last operation of the program.
  size_t first() const { return first_; }
  size_t last() const { return last_; }
  // Number of rows of a tile.
  int lanes() const;
  // Number of floats of a worker's memory.
  size_t floats() const;
  // Computes rows: `queries` describes rows of the first product, `out` those of the last one.
  void Run(GroupRows queries, GroupRows out, float* memory) const;

 private:
  // A node between the products and before SOFTMAX.
  struct Step {
    std::vector<ElementOp> chain;   // element-wise operations with numbers
    const float* addend = nullptr;  // if `chain` is empty: a tensor that is added
    StridedShape addend_rows;       // extents of the output's rows, strides of the addend's
    FloatRange range;               // bounds of the sum
  };

  bool AddStep(TfLiteContext* context, Runtime* runtime, const RowOp& op);
  void Add(const Step& step, int64_t row, int count, float* scores) const;

  const CpuKernels* cpu_ = nullptr;
  size_t first_ = 0, last_ = 0;
  TfLiteNode* scores_node_ = nullptr;
  TfLiteNode* out_node_ = nullptr;
  const RowOp* scores_op_ = nullptr;
  const RowOp* out_op_ = nullptr;
  int depth_ = 0, keys_ = 0, columns_ = 0;
  float beta_ = 1.0f;
  std::vector<Step> steps_;
};

}  // namespace deputy

#endif  // DEPUTY_KERNELS_LINALG_ATTENTION_H_
