// SPDX-License-Identifier: Apache-2.0
//
// Snapshot of a graph's structure, restored if a delegate fails to apply. It does not include
// contents and addresses of tensors, nor the state of memory planning.
#ifndef DEPUTY_CORE_DELEGATION_GRAPH_SNAPSHOT_H_
#define DEPUTY_CORE_DELEGATION_GRAPH_SNAPSHOT_H_

#include <functional>
#include <vector>

#include "core/graph/graph_fields.h"

namespace deputy {

class Graph;

class GraphSnapshot {
 public:
  // Takes a snapshot of the graph, which must outlive this object. Throws if out of memory.
  explicit GraphSnapshot(Graph* graph);

  // Must be called when a node was prepared. If the node existed before the snapshot, the tensors
  // from `first_added` on belong to the node. Restore keeps them and the node's temporaries, since
  // the node's kernel may have stored their indices.
  void NotePrepared(int node_index, size_t first_added);

  int node_count() const { return static_cast<int>(nodes_.size()); }
  int tensor_count() const { return static_cast<int>(tensors_.size()); }

  // Calls a tensor's delegate to free the tensor's buffer handle; the tensor must have both.
  using FreeHandle = std::function<void(int tensor)>;
  // Frees tensors and handles added since the snapshot, and restores plan, nodes and tensors. An
  // added tensor with a lower index than a kept one is emptied instead of removed. Nodes added
  // since must have been removed. Allocates nothing. Memory must be planned again.
  void Restore(const FreeHandle& free_handle) noexcept;

 private:
  struct Node {
    explicit Node(const TfLiteNode& now, const TfLiteRegistration& registration_now)
        : node(now), registration(registration_now) {}
    StructCopy<TfLiteNode> node;
    StructCopy<TfLiteRegistration> registration;
  };
  using Tensor = StructCopy<TfLiteTensor>;

  void RemoveAddedTensors(const FreeHandle& free_handle);
  void RestoreTensor(int index, const FreeHandle& free_handle);

  Graph* const graph_;
  std::vector<Node> nodes_;
  std::vector<Tensor> tensors_;
  // Tensors added since the snapshot that Restore keeps, ascending.
  std::vector<size_t> kept_tensors_;
  std::vector<int> plan_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_DELEGATION_GRAPH_SNAPSHOT_H_
