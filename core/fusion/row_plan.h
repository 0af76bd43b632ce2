// SPDX-License-Identifier: Apache-2.0
//
// The plan as the pass for row-wise groups (core/fusion/row_groups.h) uses it: which nodes can
// be computed by rows and are still free, and the producers and consumers of tensors.
#ifndef DEPUTY_CORE_FUSION_ROW_PLAN_H_
#define DEPUTY_CORE_FUSION_ROW_PLAN_H_

#include <cstdint>
#include <span>
#include <vector>

#include "core/fusion/fusion_groups.h"

namespace deputy {

// Upper bound on the bytes per row of all values of a group, so that a block of rows stays in the
// second-level cache.
inline constexpr int64_t kMaxRowBytes = 16 * 1024;

// Nodes by their position in the plan, tensors by their index. Nodes and tensors are borrowed.
class RowPlan {
 public:
  // Creates a plan in which the nodes of `groups` are not free.
  RowPlan(std::span<const GroupNode> nodes, std::span<const PlanTensor> tensors,
          std::span<const FusionGroup> groups);

  // ---- Nodes -----------------------------------------------------------------------------------
  int node_count() const { return static_cast<int>(nodes_.size()); }
  // Returns true if the node can be computed by rows and is in no group yet. Such a node has one
  // output and an input 0. The other functions on nodes require nodes that are or were free.
  bool IsFree(int node) const;
  void Take(std::span<const int> nodes);

  std::span<const int> InputsOf(int node) const { return NodeAt(node).inputs; }
  int InputOf(int node) const { return NodeAt(node).inputs[0]; }
  int OutputOf(int node) const { return NodeAt(node).outputs[0]; }
  const RowOffer& OfferOf(int node) const { return NodeAt(node).offer->by_rows; }

  bool IsProduct(int node) const { return OfferOf(node).kind == RowKind::kProduct; }
  bool IsTranspose(int node) const { return OfferOf(node).kind == RowKind::kTranspose; }
  // Returns true if the output has the rows of the input, so that the node computes nothing.
  bool IsReshape(int node) const { return OfferOf(node).kernel->rows == nullptr; }

  // ---- Tensors ---------------------------------------------------------------------------------
  const PlanTensor& TensorAt(int tensor) const { return tensors_[static_cast<size_t>(tensor)]; }
  // ProducerOf and LastConsumerOf return the last node that writes or reads the tensor, or -1.
  int ProducerOf(int tensor) const { return producer_[static_cast<size_t>(tensor)]; }
  int LastConsumerOf(int tensor) const { return last_consumer_[static_cast<size_t>(tensor)]; }
  // Returns the number of rows of a tensor if its last dimension is a row; 0: it has no rows.
  int64_t RowsOf(int tensor) const;
  // Returns the number of elements per row if the tensor has `rows` rows; 0: it cannot be divided
  // into that many rows.
  int64_t ColumnsOf(int tensor, int64_t rows) const;

 private:
  const GroupNode& NodeAt(int node) const { return nodes_[static_cast<size_t>(node)]; }

  const std::span<const GroupNode> nodes_;
  const std::span<const PlanTensor> tensors_;
  const std::vector<int> producer_;
  std::vector<int> last_consumer_;
  std::vector<bool> claimed_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_FUSION_ROW_PLAN_H_
