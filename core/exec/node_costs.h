// SPDX-License-Identifier: Apache-2.0
//
// Accumulated run time of the nodes of a subgraph.
#ifndef DEPUTY_CORE_EXEC_NODE_COSTS_H_
#define DEPUTY_CORE_EXEC_NODE_COSTS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/guard.h"

namespace deputy {

// Accumulated run time of a node, as far as it was measured.
struct NodeCost {
  int64_t runs = 0;
  int64_t total_ns = 0;
  int64_t reported_ns = 0;  // time that a delegate has reported for a node of its partition
};

class NodeCosts {
 public:
  NodeCost Of(int node) const {
    return static_cast<size_t>(node) < costs_.size() ? costs_[static_cast<size_t>(node)]
                                                     : NodeCost{};
  }
  // Adds a measured run of one of `node_count` nodes. A cost is dropped if there is no memory for
  // it.
  void Add(int node, int node_count, int64_t taken_ns) noexcept {
    NodeCost* const cost = Find(node, node_count);
    if (cost == nullptr) return;
    ++cost->runs;
    cost->total_ns += taken_ns;
  }
  // Adds a time that a delegate has reported. Delegates' numbers are untrusted: the sum saturates.
  void AddReported(int node, int node_count, int64_t taken_ns) noexcept {
    NodeCost* const cost = Find(node, node_count);
    if (cost != nullptr) cost->reported_ns += std::min(taken_ns, INT64_MAX - cost->reported_ns);
  }
  // Discards the costs of the nodes whose index is `count` or higher.
  void ForgetFrom(int count) noexcept {
    if (costs_.size() > static_cast<size_t>(count)) costs_.resize(static_cast<size_t>(count));
  }

 private:
  // Returns a node's cost; null for an invalid index, and if out of memory.
  NodeCost* Find(int node, int node_count) noexcept {
    const auto index = static_cast<size_t>(node), count = static_cast<size_t>(node_count);
    Guard(Ignore, [&] {
      if (costs_.size() < count) costs_.resize(count);
    });
    return index < costs_.size() ? &costs_[index] : nullptr;
  }

  std::vector<NodeCost> costs_;  // cost of each node, by index
};

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_NODE_COSTS_H_
