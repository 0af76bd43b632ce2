// SPDX-License-Identifier: Apache-2.0
//
// Cuts a plan into the partitions of a delegate: a pure function over plain arrays. Given a plan
// and the nodes to claim, it returns subsets that can run one after the other, each with only
// claimed or only other nodes. The subsets, their order and the order inside are exactly TensorFlow
// Lite's (abi.md 4.9), since delegates can observe them; but a tensor that an operator changes in
// place is also an output of the subset that computed it before.
#ifndef DEPUTY_CORE_BASE_PARTITION_H_
#define DEPUTY_CORE_BASE_PARTITION_H_

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace deputy {

struct PartitionGraph {
  struct Node {
    std::span<const int> inputs, outputs;  // tensor indices; -1: absent
  };
  // An edge from a plan position to one that must run later.
  using ControlEdge = std::pair<int, int>;

  int tensor_count = 0;
  std::vector<Node> nodes;   // all nodes, in the order of the node table
  std::vector<int> plan;     // node indices in execution order
  std::vector<int> outputs;  // tensor indices of the graph's outputs
  std::vector<ControlEdge> control_edges;
};

struct NodeSubset {
  bool claimed = false;
  std::vector<int> nodes;  // node indices in scheduling order
  // Tensor indices, ascending, each once; inputs include constants.
  std::vector<int> inputs, outputs;
  // The model's nodes, and the nodes that the CPU runs in place of the delegate. Partition leaves
  // both empty: they are those of `nodes`, except in subsets with nodes in NCHW (layout_nodes.h).
  std::vector<int> model_nodes, cpu_nodes;
};

struct PartitionRules {
  // True: a subset collects every ready node of its kind, even if the node overtakes others. False:
  // the nodes keep the plan's order.
  bool greedy = true;
  // False: every node becomes a subset of its own.
  bool fuse = true;
};

// Returns false, and the reason in `*out_error`, if a node index in `claimed` or a plan position in
// a control edge is out of range, or a node can never run. Nodes of `claimed` that are not in the
// plan, and repeated ones, are ignored.
bool Partition(const PartitionGraph& graph, std::span<const int> claimed,
               const PartitionRules& rules, std::vector<NodeSubset>* out_subsets,
               std::string* out_error);

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_PARTITION_H_
