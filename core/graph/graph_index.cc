// SPDX-License-Identifier: Apache-2.0
#include "core/graph/graph_index.h"

#include "core/base/delegate_params.h"
#include "core/graph/graph.h"

namespace deputy {

GraphIndex::GraphIndex(const Graph& graph)
    : positions_(static_cast<size_t>(graph.node_count()), -1),
      runners_(static_cast<size_t>(graph.node_count()), -1) {
  const std::vector<int>& plan = graph.plan();
  for (size_t i = 0; i < plan.size(); ++i) {
    const int position = static_cast<int>(i);
    positions_[static_cast<size_t>(plan[i])] = position;
    if (graph.node(plan[i])->delegate != nullptr) partitions_.push_back(position);
    NoteRunner(graph, plan[i], plan[i]);
  }
}

// Records the runner of a node and of the nodes that it replaced. Recursive, because a delegate may
// have replaced another one's nodes.
void GraphIndex::NoteRunner(const Graph& graph, int runner, int node_index) {
  runners_[static_cast<size_t>(node_index)] = runner;
  const TfLiteNode& node = *graph.node(node_index);
  if (node.delegate == nullptr) return;
  const TfLiteIntArray* replaced = ReplacedNodes(node);
  for (int i = 0; i < replaced->size; ++i) NoteRunner(graph, runner, replaced->data[i]);
}

}  // namespace deputy
