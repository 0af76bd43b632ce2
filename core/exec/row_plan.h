// SPDX-License-Identifier: Apache-2.0
//
// The plan as the pass for steps by rows (core/exec/row_steps.h) looks at it: what a node can
// compute by rows, whether it is still free to join a step, who produces and who reads a tensor.
#ifndef DEPUTY_CORE_EXEC_ROW_PLAN_H_
#define DEPUTY_CORE_EXEC_ROW_PLAN_H_

#include <cstdint>
#include <span>
#include <vector>

#include "core/exec/steps.h"

namespace deputy {

// What a row of all values of a step takes at most: a block of them is to stay in the second-level
// cache.
inline constexpr int64_t kMaxRowBytes = 16 * 1024;

// Nodes by their place in the plan, tensors by their index. Nodes and tensors are borrowed.
class RowPlan {
 public:
  // Nodes of `steps` are taken.
  RowPlan(std::span<const StepNode> nodes, std::span<const StepTensor> tensors,
          std::span<const Step> steps);

  // ---- Nodes -----------------------------------------------------------------------------------
  int node_count() const { return static_cast<int>(nodes_.size()); }
  // Whether it can be computed by rows, and is in no step yet. It has one output and an input 0
  // then; the functions below are for nodes that are free, or were before they were taken.
  bool IsFree(int node) const;
  void Take(std::span<const int> nodes);

  std::span<const int> InputsOf(int node) const { return NodeAt(node).inputs; }
  int InputOf(int node) const { return NodeAt(node).inputs[0]; }
  int OutputOf(int node) const { return NodeAt(node).outputs[0]; }
  const RowOffer& OfferOf(int node) const { return NodeAt(node).offer->by_rows; }

  bool IsProduct(int node) const { return OfferOf(node).kind == RowKind::kProduct; }
  bool IsTranspose(int node) const { return OfferOf(node).kind == RowKind::kTranspose; }
  // Its rows are those of its input: there is nothing to compute.
  bool IsReshape(int node) const { return OfferOf(node).kernel->rows == nullptr; }

  // ---- Tensors ---------------------------------------------------------------------------------
  const StepTensor& TensorAt(int tensor) const { return tensors_[static_cast<size_t>(tensor)]; }
  // The last node that makes or reads it, or -1.
  int ProducerOf(int tensor) const { return producer_[static_cast<size_t>(tensor)]; }
  int LastConsumerOf(int tensor) const { return last_consumer_[static_cast<size_t>(tensor)]; }
  // How many rows it has where a row is its last dimension; 0: none.
  int64_t RowsOf(int tensor) const;
  // How many elements each of so many rows has; 0: it has no such rows.
  int64_t ColumnsOf(int tensor, int64_t rows) const;

 private:
  const StepNode& NodeAt(int node) const { return nodes_[static_cast<size_t>(node)]; }

  const std::span<const StepNode> nodes_;
  const std::span<const StepTensor> tensors_;
  const std::vector<int> producer_;
  std::vector<int> last_consumer_;
  std::vector<bool> taken_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_ROW_PLAN_H_
