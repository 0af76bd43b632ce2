// SPDX-License-Identifier: Apache-2.0
//
// Where each node runs, looked up by its number: made in one walk over the graph, for reports that
// need every node.
#ifndef DEPUTY_CORE_GRAPH_GRAPH_INDEX_H_
#define DEPUTY_CORE_GRAPH_GRAPH_INDEX_H_

#include <cstddef>
#include <vector>

namespace deputy {

class Graph;

class GraphIndex {
 public:
  explicit GraphIndex(const Graph& graph);

  // The node's position in the plan; -1 when it is not in it.
  int position(int node) const { return positions_[static_cast<size_t>(node)]; }
  // The node of the plan that runs it: itself, or the delegate's that replaced it; -1: none does.
  int runner(int node) const { return runners_[static_cast<size_t>(node)]; }
  // Plan positions of delegates' nodes, ascending.
  const std::vector<int>& partitions() const { return partitions_; }

 private:
  void NoteRunner(const Graph& graph, int runner, int node);

  std::vector<int> positions_, runners_;  // by node
  std::vector<int> partitions_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_GRAPH_GRAPH_INDEX_H_
