// SPDX-License-Identifier: Apache-2.0
//
// Decides which nodes of a graph the delegate claims: those that Deputy's kernels can prepare with
// the shapes that they infer from node to node.
#ifndef DEPUTY_BRIDGES_CPU_CHOOSE_H_
#define DEPUTY_BRIDGES_CPU_CHOOSE_H_

#include <span>
#include <string>
#include <vector>

#include "bridges/cpu/options.h"
#include "c_api/include/common.h"
#include "c_api/include/deputy_plugin.h"

namespace deputy::cpu {

// Decision about one node.
struct NodeChoice {
  int node = -1;
  DeputyReason reason = kDeputyReasonNone;  // kDeputyReasonNone: claim the node
  std::string text;                         // explains `reason`
};

// Examines each node of a plan, in order. `context` must be in delegate mode. Shapes need not have
// been propagated. Nodes that depend on a shape which is known only at run time are not claimed.
TfLiteStatus ChooseNodes(TfLiteContext* context, std::span<const int> plan, const Options& options,
                         std::vector<NodeChoice>* out_choices);

// Returns true if nodes of the operator may be claimed. Operators that run other subgraphs, keep
// state between inferences or generate random numbers may not.
bool CanBeClaimed(int builtin_code);

}  // namespace deputy::cpu

#endif  // DEPUTY_BRIDGES_CPU_CHOOSE_H_
