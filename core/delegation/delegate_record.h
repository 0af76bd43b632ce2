// SPDX-License-Identifier: Apache-2.0
//
// Record of the nodes that a delegate inspected, claimed and runs: for reports, and for groups of
// nodes that must be claimed together.
#ifndef DEPUTY_CORE_DELEGATION_DELEGATE_RECORD_H_
#define DEPUTY_CORE_DELEGATION_DELEGATE_RECORD_H_

#include <string>
#include <vector>

#include "c_api/include/common.h"
#include "c_api/include/deputy_plugin.h"

namespace deputy {

class Graph;

struct NodeSupport {
  bool inspected = false;  // the delegate inspected the node
  bool previewed = false;  // the delegate previewed a partition with the node
  bool claimed = false;    // the delegate claimed the node
  bool delegated = false;  // the delegate runs the node
  DeputyReason reason = kDeputyReasonNotQueried;  // reason if the delegate does not run the node
  std::string text;
  int group = -1;
  double cost_ns = -1;  // the delegate's estimate of the node's run time; negative: none
};

struct DelegateRecord {
  bool applied = false;  // the delegate is applied, or was undone and will be applied again
  std::string failure;   // reason if the delegate is not applied
  std::vector<NodeSupport> nodes;  // by node index; nodes that were added later have none
};

// In the functions of this header, `inner` is the pointer by which nodes refer to their delegate.

// Called when the delegate was applied, or has failed: sets `delegated`, and a reason and a text
// for every node that it does not run.
void Conclude(const Graph& graph, const TfLiteDelegate* inner, DelegateRecord* record);

// Called when delegate nodes were added or removed: updates `delegated`. `why` is the text of nodes
// that the delegate no longer runs.
void ReviseNodes(const Graph& graph, const TfLiteDelegate* inner, const char* why,
                 DelegateRecord* record);

// Returns the name of a reason as a static string: "NOT_CLAIMED" for kDeputyReasonNotClaimed.
const char* ReasonName(int reason);

}  // namespace deputy

#endif  // DEPUTY_CORE_DELEGATION_DELEGATE_RECORD_H_
