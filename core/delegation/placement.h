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
  int subgraph = -1;  // index of the subgraph; -1: all subgraphs
  int node = -1;      // node index, for kIndex
  std::string name;   // name of the output tensor or operator, for the other selectors
  // The only delegate that may run the nodes; null: the CPU.
  const TfLiteDelegate* delegate = nullptr;
};

// Applies the placements to every subgraph. Returns an error after a report if two placements
// contradict each other, or if a node or tensor does not exist.
TfLiteStatus ApplyPlacements(const std::vector<Placement>& placements,
                             InterpreterState* interpreter);

}  // namespace deputy

#endif  // DEPUTY_CORE_DELEGATION_PLACEMENT_H_
