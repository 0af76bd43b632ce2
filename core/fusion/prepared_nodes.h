// SPDX-License-Identifier: Apache-2.0
//
// The declarations that kernels made about their nodes, each in the node's newest prepare.
#ifndef DEPUTY_CORE_FUSION_PREPARED_NODES_H_
#define DEPUTY_CORE_FUSION_PREPARED_NODES_H_

#include <cstddef>
#include <vector>

#include "core/kernel_api/runtime.h"

namespace deputy {

struct PreparedNode {
  FusionOffer fusion;  // without `invoke`: the node cannot be fused
  ViewOffer views;
  const char* implementation = nullptr;  // name of the implementation, static; null: not declared
};

class PreparedNodes {
 public:
  // Returns the declarations of a node; an empty object if it made none.
  const PreparedNode& Of(int node) const {
    static const PreparedNode kNone;
    const auto index = static_cast<size_t>(node);
    return index < nodes_.size() ? nodes_[index] : kNone;
  }
  // Returns the declarations of one of `node_count` nodes, to be changed.
  PreparedNode& Edit(int node, int node_count) {
    const auto index = static_cast<size_t>(node);
    if (nodes_.size() <= index) nodes_.resize(static_cast<size_t>(node_count));
    return nodes_[index];
  }
  // Discards the declarations of a node that is prepared again.
  void Clear(int node) {
    if (static_cast<size_t>(node) < nodes_.size()) nodes_[static_cast<size_t>(node)] = {};
  }
  bool empty() const { return nodes_.empty(); }

 private:
  std::vector<PreparedNode> nodes_;  // by node index; empty until the first declaration
};

}  // namespace deputy

#endif  // DEPUTY_CORE_FUSION_PREPARED_NODES_H_
