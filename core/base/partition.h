// SPDX-License-Identifier: Apache-2.0
//
// Which nodes a delegate's kernels will run together: a pure function over plain arrays. Given a
// plan and a set of nodes to take, it cuts the plan into subsets that can run one after the other,
// each all taken or all left. The cut, its order and the order inside are exactly TensorFlow
// Lite's (abi.md 4.9), since delegates see them.
#ifndef DEPUTY_CORE_BASE_PARTITION_H_
#define DEPUTY_CORE_BASE_PARTITION_H_

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace deputy {

struct PartitionGraph {
  struct Node {
    std::span<const int> inputs, outputs;  // tensor indices; -1 = absent
  };
  // From one plan position to a later-running one.
  using ControlEdge = std::pair<int, int>;

  int tensor_count = 0;
  std::vector<Node> nodes;   // the whole node table
  std::vector<int> plan;     // node indices in execution order
  std::vector<int> outputs;  // outputs of the graph
  std::vector<ControlEdge> control_edges;
};

struct NodeSubset {
  bool taken = false;
  std::vector<int> nodes;            // in scheduling order
  std::vector<int> inputs, outputs;  // ascending, each once; inputs include constants
};

struct PartitionRules {
  // Collect every ready node of the open subset's kind, overtaking others. Without it the plan's
  // order is kept.
  bool greedy = true;
  // Off: every node is a subset of its own.
  bool fuse = true;
};

// False when an index lies outside the graph or some node can never run; `*out_error` says which.
// Nodes of `take` that are not in the plan, and repeated ones, are ignored.
bool Partition(const PartitionGraph& graph, std::span<const int> take, const PartitionRules& rules,
               std::vector<NodeSubset>* out_subsets, std::string* out_error);

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_PARTITION_H_
