// SPDX-License-Identifier: Apache-2.0
//
// The structure of a graph at one moment: what a delegate that fails to apply must not have
// changed. Contents of tensors, addresses and the question whether memory is planned are not part
// of it.
#ifndef DEPUTY_CORE_DELEGATION_GRAPH_SNAPSHOT_H_
#define DEPUTY_CORE_DELEGATION_GRAPH_SNAPSHOT_H_

#include <functional>
#include <vector>

#include "core/graph/graph_fields.h"

namespace deputy {

class Graph;

class GraphSnapshot {
 public:
  // The graph outlives it. Throws when memory is refused.
  explicit GraphSnapshot(Graph* graph);

  // To be called when a node has been prepared. If it was there before, the tensors from
  // `first_added` on are its own: its kernel may know their indices, so they stay on Restore, and
  // so do its temporaries.
  void NotePrepared(int node_index, size_t first_added);

  int node_count() const { return static_cast<int>(nodes_.size()); }

  // Has a tensor's delegate free the tensor's buffer handle; the tensor has both.
  using FreeHandle = std::function<void(int tensor)>;
  // Frees the tensors added since, frees handles taken since, and puts plan, nodes and tensors
  // back. A tensor below one that stays is emptied instead. Nodes added since have to be gone
  // already. Allocates nothing. Memory has to be planned anew.
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
  std::vector<size_t> kept_tensors_;  // of those added since, in ascending order
  std::vector<int> plan_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_DELEGATION_GRAPH_SNAPSHOT_H_
