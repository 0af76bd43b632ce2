// SPDX-License-Identifier: Apache-2.0
//
// The tensors and nodes that the runtime adds to a subgraph for delegates that compute in NCHW
// (layout_plan.h). Nodes are removed with the delegates; tensors stay in the table, like those that
// delegates add, and the next application uses them again.
//
// Three kinds of nodes are added:
// - Transpositions in the plan.
// - Copies of converted nodes, which describe the work of a partition to the delegate. They are
//   never run.
// - Transpositions around a partition's nodes of the model, for the CPU: when the delegate fails,
//   or to verify its results. They are not in the plan.
#ifndef DEPUTY_CORE_DELEGATION_LAYOUT_NODES_H_
#define DEPUTY_CORE_DELEGATION_LAYOUT_NODES_H_

#include <span>
#include <vector>

#include "c_api/include/common.h"
#include "core/base/memory.h"
#include "core/delegation/layout_plan.h"

namespace deputy {

class Subgraph;

class LayoutNodes {
 public:
  // `subgraph` must outlive this object.
  explicit LayoutNodes(Subgraph* subgraph) : subgraph_(subgraph) {}

  const LayoutParts& parts() const { return parts_; }
  // Returns true for a transposition in the plan.
  bool IsTransposition(int node_index) const;
  // Returns a table of all tensors with the model's tensor of each one.
  std::vector<int> ModelTensors(const LayoutPlan& plan) const;

  // ---- Application -----------------------------------------------------------------------------
  // Adds the plan's tensors. The graph must be the one that was planned. May throw bad_alloc, as
  // AddNodesFor and AddToPlan may.
  TfLiteStatus AddTensors(const LayoutPlan& plan);
  // Adds the copies and the CPU's transpositions for a claimed subset, and completes the subset.
  // Changes the graph's plan.
  TfLiteStatus AddNodesFor(const LayoutPlan& plan, NodeSubset* subset);
  // Adds a transposition to the table and the plan.
  TfLiteStatus AddToPlan(const LayoutPlan::Transposition& transposition);

  // ---- Changes of the graph --------------------------------------------------------------------
  // Sets the shapes of the NCHW tensors of the nodes' outputs.
  TfLiteStatus PropagateShapes(std::span<const int> nodes);
  // Forget the nodes or tensors with the indices from `count` on, which are removed.
  void ForgetNodesFrom(int count);
  void ForgetTensorsFrom(int count);

 private:
  void DescribeImage(const LayoutTensor& added);
  void DescribeConstant(const LayoutTensor& added);
  TfLiteStatus PropagateShape(int model_tensor, int nchw_tensor);
  TfLiteStatus Transpose(int from, int to, int* out_node);
  int AddCopy(const LayoutPlan& plan, int node_index);

  TfLiteStatus AddCpuTransposition(int from, int to, NodeSubset* subset);

  Subgraph* const subgraph_;
  LayoutParts parts_;
  std::vector<Block> contents_;  // contents of converted constants, by tensor
  // Transpositions of the CPU that are not in the plan, by the tensor that they write.
  std::vector<int> cpu_transpositions_;
  int permutation_ = -1;  // tensor with kToNchw; the next one has kToNhwc
};

}  // namespace deputy

#endif  // DEPUTY_CORE_DELEGATION_LAYOUT_NODES_H_
