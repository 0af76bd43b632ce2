// SPDX-License-Identifier: Apache-2.0
//
// The graph of a subgraph: tensors, nodes, and the plan, which is the order in which nodes run.
// Plain data with invariants: it prepares nothing, runs nothing and calls no foreign code.
//
// Clients and delegates refer to nodes and tensors by index. Only the last nodes, such as those
// that delegates added, can be removed; their indices are then reused. A node's id is never reused.
#ifndef DEPUTY_CORE_GRAPH_GRAPH_H_
#define DEPUTY_CORE_GRAPH_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "c_api/include/common.h"

namespace deputy {

// Permanent identifier of a node in its graph.
using NodeId = int64_t;

// Returns true for a constant of integers or Booleans that a node computes, such as a shape or an
// axis.
inline bool IsComputedShape(const TfLiteTensor& tensor) {
  return tensor.allocation_type == kTfLitePersistentRo &&
         (tensor.type == kTfLiteInt32 || tensor.type == kTfLiteInt64 || tensor.type == kTfLiteBool);
}

class Graph {
 public:
  // Creates an empty graph, which keeps the context's tensor array up to date. The context must
  // outlive the graph.
  explicit Graph(TfLiteContext* context) : context_(context) {}
  // Frees the memory that tensors own. Nodes own nothing here: the code that added them must have
  // freed them.
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  // ---- Tensors. Pointers to them move when tensors are added past the capacity. ---------------
  int tensor_count() const { return static_cast<int>(tensors_.size()); }
  std::span<TfLiteTensor> tensors() { return tensors_; }
  std::span<const TfLiteTensor> tensors() const { return tensors_; }
  // Returns a tensor, null if the index is out of range.
  TfLiteTensor* tensor(int index) {
    return index >= 0 && index < tensor_count() ? &tensors_[static_cast<size_t>(index)] : nullptr;
  }
  const TfLiteTensor* tensor(int index) const { return const_cast<Graph*>(this)->tensor(index); }
  // Returns the tensor's index, -1 if it belongs to another graph. Accepts any pointer.
  int IndexOf(const TfLiteTensor* tensor) const;
  // Returns true if each index is that of a tensor of this graph, or "absent".
  bool IndicesExist(std::span<const int32_t> indices) const;
  // Returns true if any of the tensors has the allocation type kTfLiteDynamic.
  bool HasDynamicTensor(std::span<const int> indices) const;

  // Adds zeroed tensors (type NoType, no memory, handle -1); returns the index of the first.
  int AddTensors(int count);
  // Removes the tensors whose index is `count` or higher; they must not own memory.
  void RemoveTensorsFrom(int count);
  void ReserveTensors(size_t count) { tensors_.reserve(count); }
  // Reserves as many tensors as upstream lets a kernel add without moving the array.
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
  // A node of the table. Clients of the C API access its first two members as a DeputyNode.
  struct Entry {
    TfLiteNode node;
    TfLiteRegistration registration;
    NodeId id;
  };
  Entry* entry(int index) { return &nodes_[static_cast<size_t>(index)]; }

  // Adds a node to the table, not to the plan, and returns its index. The caller stays responsible
  // for `node` and the memory that it owns. Strong exception guarantee.
  int AddNode(const TfLiteNode& node, const TfLiteRegistration& registration);
  // Removes the nodes whose index is `count` or higher; they must not be in the plan.
  void RemoveNodesFrom(int count) noexcept;
  void ReserveNodes(size_t count) { nodes_.reserve(count); }

  // ---- Plan, inputs, outputs -------------------------------------------------------------------
  const std::vector<int>& plan() const { return plan_; }
  void SetPlan(std::vector<int> plan) noexcept { plan_ = std::move(plan); }
  // Appends a node to the plan. Does not throw after ReservePlan.
  void AppendToPlan(int node) { plan_.push_back(node); }
  void ReservePlan(size_t count);

  const std::vector<int>& inputs() const { return inputs_; }
  const std::vector<int>& outputs() const { return outputs_; }
  const std::vector<int>& variables() const { return variables_; }
  void SetInputs(std::span<const int32_t> inputs) { inputs_.assign(inputs.begin(), inputs.end()); }
  void SetOutputs(std::span<const int32_t> outputs) {
    outputs_.assign(outputs.begin(), outputs.end());
  }
  void SetVariables(std::vector<int> variables) noexcept { variables_ = std::move(variables); }
  void AddVariable(int tensor) { variables_.push_back(tensor); }

 private:
  void PublishTensors();

  TfLiteContext* const context_;
  std::vector<TfLiteTensor> tensors_;
  std::vector<Entry> nodes_;
  std::vector<int> inputs_, outputs_, variables_, plan_;
  NodeId next_id_ = 0;
};

// Returns the indices in an array of the C ABI; an empty span if the array is null.
inline std::span<const int> IndicesOf(const TfLiteIntArray* array) {
  if (array == nullptr) return {};
  return {array->data, static_cast<size_t>(array->size)};
}

// Returns the tensor's name for reports, "" if it has none.
inline const char* NameOf(const TfLiteTensor& tensor) {
  return tensor.name == nullptr ? "" : tensor.name;
}

}  // namespace deputy

#endif  // DEPUTY_CORE_GRAPH_GRAPH_H_
