// SPDX-License-Identifier: Apache-2.0
//
// Which nodes of a graph the delegate takes: those that our kernels would prepare with the shapes
// that they infer from node to node.
#ifndef DEPUTY_BRIDGES_CPU_CHOOSE_H_
#define DEPUTY_BRIDGES_CPU_CHOOSE_H_

#include <span>
#include <string>
#include <vector>

#include "bridges/cpu/options.h"
#include "c_api/include/common.h"
#include "c_api/include/deputy_plugin.h"

namespace deputy::cpu {

// What is said of one node.
struct NodeChoice {
  int node = -1;
  DeputyReason reason = kDeputyReasonNone;  // kDeputyReasonNone: it is taken
  std::string text;                         // why it is not
};

// Looks at every node of a plan, in its order. `context` is in delegate mode. Shapes need not have
// been propagated: what is behind a shape that is known only at run time is not taken.
TfLiteStatus ChooseNodes(TfLiteContext* context, std::span<const int> plan, const Options& options,
                         std::vector<NodeChoice>* out_choices);

// Whether nodes of the operator can be taken at all: not those that run other subgraphs, keep
// something from one inference to the next or draw random numbers.
bool IsOffered(int builtin_code);

}  // namespace deputy::cpu

#endif  // DEPUTY_BRIDGES_CPU_CHOOSE_H_
