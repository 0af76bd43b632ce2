// SPDX-License-Identifier: Apache-2.0
//
// The graph of one subgraph: tensors, nodes, and the plan, which is the order in which
// nodes run. Plain data with its invariants: it prepares nothing, runs nothing and calls no foreign
// code.
//
// Nodes and tensors are numbered as clients and delegates know them. Nodes leave from the end only
// (those that delegates added), after which their numbers are given out again; an id is not.
#ifndef DEPUTY_CORE_GRAPH_GRAPH_H_
#define DEPUTY_CORE_GRAPH_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "c_api/include/common.h"

namespace deputy {

// Names one node of one graph for good.
using NodeId = int64_t;

// Integers that a node of the plan has computed in its prepare: a shape, an axis.
inline bool IsComputedShape(const TfLiteTensor& tensor) {
  return tensor.allocation_type == kTfLitePersistentRo &&
         (tensor.type == kTfLiteInt32 || tensor.type == kTfLiteInt64 || tensor.type == kTfLiteBool);
}

class Graph {
 public:
  // The context's array of tensors is kept up to date. It outlives the graph.
  explicit Graph(TfLiteContext* context) : context_(context) {}
  // Frees what the tensors own. Nodes own nothing here: whoever added them frees them before.
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  // ---- Tensors. Pointers to them move when tensors are added past the capacity. ---------------
  int tensor_count() const { return static_cast<int>(tensors_.size()); }
  std::span<TfLiteTensor> tensors() { return tensors_; }
  std::span<const TfLiteTensor> tensors() const { return tensors_; }
  // Null when out of range.
  TfLiteTensor* tensor(int index) {
    return index >= 0 && index < tensor_count() ? &tensors_[static_cast<size_t>(index)] : nullptr;
  }
  const TfLiteTensor* tensor(int index) const { return const_cast<Graph*>(this)->tensor(index); }
  // -1 when the tensor is none of this graph's; any pointer is fine.
  int IndexOf(const TfLiteTensor* tensor) const;
  // Whether all are tensors of this graph, or "absent".
  bool IndicesExist(std::span<const int32_t> indices) const;
  // Whether any of them has memory of its own that grows and shrinks with its contents.
  bool HasDynamicTensor(std::span<const int> indices) const;

  // Adds zeroed tensors (type NoType, no memory, handle -1); returns the index of the first.
  int AddTensors(int count);
  // Removes the last tensors, which must own nothing any more.
  void RemoveTensorsFrom(int count);
  void ReserveTensors(size_t count) { tensors_.reserve(count); }
  // Room for as many tensors as upstream lets a kernel add without moving the array.
  void EnsureTensorCapacity();
  static constexpr size_t kTensorsToSpare = 16;

  // ---- Nodes. Pointers to them move when nodes are added past the capacity. --------------------
  int node_count() const { return static_cast<int>(nodes_.size()); }
  TfLiteNode* node(int index) { return &nodes_[static_cast<size_t>(index)].node; }
  const TfLiteNode* node(int index) const { return &nodes_[static_cast<size_t>(index)].node; }
  TfLiteRegistration* registration(int index) {
    return &nodes_[static_cast<size_t>(index)].registration;
  }
  const TfLiteRegistration* registration(int index) const {
    return &nodes_[static_cast<size_t>(index)].registration;
  }
  NodeId id(int index) const { return nodes_[static_cast<size_t>(index)].id; }

  // Returns the node's number. It is not in the plan. `node` and what it owns belong to the graph's
  // owner. Throws only before anything has changed.
  int AddNode(const TfLiteNode& node, const TfLiteRegistration& registration);
  // Removes the last nodes; the plan must not have them.
  void RemoveNodesFrom(int count) noexcept;
  void ReserveNodes(size_t count) { nodes_.reserve(count); }

  // ---- Plan, inputs, outputs -------------------------------------------------------------------
  const std::vector<int>& plan() const { return plan_; }
  void SetPlan(std::vector<int> plan) noexcept { plan_ = std::move(plan); }
  // Puts a node at the end. Does not throw after ReservePlan.
  void AppendToPlan(int node) { plan_.push_back(node); }
  void ReservePlan(size_t count);

  const std::vector<int>& inputs() const { return inputs_; }
  const std::vector<int>& outputs() const { return outputs_; }
  const std::vector<int>& variables() const { return variables_; }
  void SetInputs(std::span<const int32_t> inputs) { inputs_.assign(inputs.begin(), inputs.end()); }
  void SetOutputs(std::span<const int32_t> outputs) {
    outputs_.assign(outputs.begin(), outputs.end());
  }
  void AddVariable(int tensor) { variables_.push_back(tensor); }

 private:
  struct Node {
    TfLiteNode node;
    TfLiteRegistration registration;
    NodeId id;
  };

  void PublishTensors();

  TfLiteContext* const context_;
  std::vector<TfLiteTensor> tensors_;
  std::vector<Node> nodes_;
  std::vector<int> inputs_, outputs_, variables_, plan_;
  NodeId next_id_ = 0;
};

// The indices of an array of the C ABI; none for null.
inline std::span<const int> IndicesOf(const TfLiteIntArray* array) {
  if (array == nullptr) return {};
  return {array->data, static_cast<size_t>(array->size)};
}

}  // namespace deputy

#endif  // DEPUTY_CORE_GRAPH_GRAPH_H_
