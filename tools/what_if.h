// SPDX-License-Identifier: Apache-2.0
//
// Predicts how the partitions of a delegate would change if it claimed one more operator or node.
// The results are exact: a second interpreter of the same model gets dummy delegates that claim the
// nodes that the real ones claimed, and query the library for a preview of every change.
#ifndef DEPUTY_TOOLS_WHAT_IF_H_
#define DEPUTY_TOOLS_WHAT_IF_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "deputy/c_api.h"

namespace deputy::tools {

// Tensors that cross the boundaries of one delegate's partitions in one subgraph, without
// constants.
struct Boundaries {
  size_t partitions = 0, tensors = 0, bytes = 0;
};

// One change: nodes that a delegate would claim in addition.
struct WhatIf {
  int delegate = 0, subgraph = 0;
  std::string operator_name;
  bool whole_operator = false;  // all remaining nodes of that operator, not only one
  std::vector<int> nodes;
  int64_t cpu_ns = -1;  // time of the nodes on the CPU per inference; -1: not measured
  bool previewed = false;
  Boundaries before, after;
};

// Claimed nodes, by delegate and subgraph.
using NodesOfDelegate = std::map<std::pair<int, int>, std::vector<int>>;

// Fills in `before` and `after` of all changes. `previewed` stays false if the library provides no
// preview, if the second interpreter cannot be prepared like the first, or once the node visits of
// all previews have reached a limit, which bounds the duration. `claims` lists the nodes claimed by
// each delegate, including nodes that earlier delegates added. `bytes_of` returns a tensor's size
// by subgraph and index, -1 for tensors that are not counted: constants and invalid indices.
void PreviewChanges(const TfLiteModel* model, int delegate_count, const NodesOfDelegate& claims,
                    const std::function<int64_t(int, int)>& bytes_of, std::vector<WhatIf>* changes);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_WHAT_IF_H_
