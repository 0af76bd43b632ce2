// SPDX-License-Identifier: Apache-2.0
//
// User constraints on node placement: pin a node to one delegate, or exclude it from delegation.
#ifndef DEPUTY_CORE_DELEGATION_PLACEMENT_H_
#define DEPUTY_CORE_DELEGATION_PLACEMENT_H_

#include <string>
#include <vector>

#include "c_api/include/common.h"

namespace deputy {

class InterpreterState;

// Which nodes, and whose they may be.
struct Placement {
  enum class Selector { kIndex, kOutputTensor, kOperator };

  Selector selector = Selector::kIndex;
  int subgraph = -1;                         // -1: all
  int node = -1;                             // for kIndex
  std::string name;                          // for the others
  const TfLiteDelegate* delegate = nullptr;  // null: the CPU's
};

// Tells every subgraph what was said of its nodes. Error, after a report, when two placements
// contradict each other, or when a node or a tensor is not there.
TfLiteStatus ApplyPlacements(const std::vector<Placement>& placements,
                             InterpreterState* interpreter);

}  // namespace deputy

#endif  // DEPUTY_CORE_DELEGATION_PLACEMENT_H_
