// SPDX-License-Identifier: Apache-2.0
//
// Look-up of where each node runs, built in one pass over the graph, for reports about all nodes.
#ifndef DEPUTY_CORE_GRAPH_GRAPH_INDEX_H_
#define DEPUTY_CORE_GRAPH_GRAPH_INDEX_H_

#include <cstddef>
#include <vector>

namespace deputy {

class Graph;

class GraphIndex {
 public:
  explicit GraphIndex(const Graph& graph);

  // Returns the node's position in the plan; -1 if it is not in the plan.
  int position(int node) const { return positions_[static_cast<size_t>(node)]; }
  // Returns the node of the plan that runs it: itself, or the delegate node that replaced it; -1:
  // none.
  int runner(int node) const { return runners_[static_cast<size_t>(node)]; }
  // Plan positions of delegate nodes, ascending.
  const std::vector<int>& partitions() const { return partitions_; }

 private:
  void NoteRunner(const Graph& graph, int runner, int node);

  std::vector<int> positions_, runners_;  // position and runner of each node, by node index
  std::vector<int> partitions_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_GRAPH_GRAPH_INDEX_H_
