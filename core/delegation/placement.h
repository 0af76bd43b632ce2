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

// Constraint: which delegate, or the CPU, may run the selected nodes.
struct Placement {
  enum class Selector { kIndex, kOutputTensor, kOperator };

  Selector selector = Selector::kIndex;
  int subgraph = -1;                         // -1: all
  int node = -1;                             // for kIndex
  std::string name;                          // for the other selectors
  const TfLiteDelegate* delegate = nullptr;  // null: the CPU
};

// Applies the placements to every subgraph. Returns an error after a report if two placements
// contradict each other, or if a node or tensor does not exist.
TfLiteStatus ApplyPlacements(const std::vector<Placement>& placements,
                             InterpreterState* interpreter);

}  // namespace deputy

#endif  // DEPUTY_CORE_DELEGATION_PLACEMENT_H_
