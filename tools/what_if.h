// SPDX-License-Identifier: Apache-2.0
//
// What would help: how the partitions of a delegate would change if it took one operator or one
// node more. Nothing is guessed: a second interpreter of the same model gets stand-ins that claim
// what the delegates have claimed, and they ask the library for a preview of every change.
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

// What crosses the boundaries of one delegate's partitions in one subgraph, constants apart.
struct Boundaries {
  size_t partitions = 0, tensors = 0, bytes = 0;
};

// One change: nodes that a delegate would take in addition.
struct WhatIf {
  int delegate = 0, subgraph = 0;
  std::string operator_name;
  bool whole_operator = false;  // all nodes of that operator that are left, not just one
  std::vector<int> nodes;
  int64_t cpu_ns = -1;  // what they take on the CPU per inference; -1: not measured
  bool previewed = false;
  Boundaries before, after;
};

// By delegate and subgraph.
using NodesOfDelegate = std::map<std::pair<int, int>, std::vector<int>>;

// Fills in `before` and `after` of all changes; `previewed` stays off where the library would not
// say, or where so many changes had been tried before that more would take too long. `claims` is
// what the delegates took, nodes of earlier delegates included; `bytes_of` answers a tensor's size
// by subgraph and index, -1 for what does not count: constants, and indices that are none.
void PreviewChanges(const TfLiteModel* model, int delegate_count, const NodesOfDelegate& claims,
                    const std::function<int64_t(int, int)>& bytes_of, std::vector<WhatIf>* changes);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_WHAT_IF_H_
