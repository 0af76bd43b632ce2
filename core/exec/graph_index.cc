// SPDX-License-Identifier: Apache-2.0
#include "core/exec/graph_index.h"

#include "core/base/delegate_params.h"
#include "core/exec/subgraph.h"

namespace deputy {

GraphIndex::GraphIndex(Subgraph* subgraph)
    : positions_(static_cast<size_t>(subgraph->node_count()), -1),
      runners_(static_cast<size_t>(subgraph->node_count()), -1) {
  const std::vector<int>& plan = subgraph->plan();
  for (size_t i = 0; i < plan.size(); ++i) {
    const int position = static_cast<int>(i);
    positions_[static_cast<size_t>(plan[i])] = position;
    if (subgraph->node(plan[i])->delegate != nullptr) partitions_.push_back(position);
    NoteRunner(subgraph, plan[i], plan[i]);
  }
}

// A delegate may have replaced another one's nodes.
void GraphIndex::NoteRunner(Subgraph* subgraph, int runner, int node_index) {
  runners_[static_cast<size_t>(node_index)] = runner;
  const TfLiteNode& node = *subgraph->node(node_index);
  if (node.delegate == nullptr) return;
  const TfLiteIntArray* replaced = ReplacedNodes(node);
  for (int i = 0; i < replaced->size; ++i) NoteRunner(subgraph, runner, replaced->data[i]);
}

}  // namespace deputy
