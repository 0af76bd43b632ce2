// SPDX-License-Identifier: Apache-2.0
//
// What a delegate was asked about a subgraph, what it answered, and what came of it: kept for
// reports, and for the groups of nodes that only go together.
#ifndef DEPUTY_CORE_DELEGATION_DELEGATE_RECORD_H_
#define DEPUTY_CORE_DELEGATION_DELEGATE_RECORD_H_

#include <string>
#include <vector>

#include "c_api/include/common.h"
#include "c_api/include/deputy_plugin.h"

namespace deputy {

class Subgraph;

struct NodeAnswer {
  bool asked = false;                           // the delegate looked at the node
  bool previewed = false;                       // and at a partition with it
  bool claimed = false;                         // it wanted to replace it
  bool taken = false;                           // it runs it
  DeputyReason reason = kDeputyReasonNotAsked;  // why it does not
  std::string text;
  int group = -1;
  double cost_ns = -1;  // the delegate's estimate; negative: none
};

struct DelegateRecord {
  const TfLiteDelegate* delegate = nullptr;  // as the client knows it; it may be deleted by now
  const TfLiteDelegate* inner = nullptr;     // as its nodes carry it
  std::string name;
  bool applied = false;
  std::string failure;            // why it is not
  std::vector<NodeAnswer> nodes;  // by node index; nodes that came later have none
};

// Asks the delegate's plug-in, if it has one that answers, about the nodes of the plan. The context
// is in delegate mode.
void AskForSupport(Subgraph* subgraph, TfLiteDelegate* delegate, DelegateRecord* record);

// By node index, as far as there are answers: whether the delegate runs the node, or took it before
// another delegate took that.
std::vector<bool> NodesRunBy(Subgraph* subgraph, const DelegateRecord& record);

// Once the delegate has been applied, or has failed: sets `taken` and gives every node that it does
// not run a reason and a text.
void Conclude(Subgraph* subgraph, DelegateRecord* record);

// "NOT_CLAIMED" for kDeputyReasonNotClaimed, and so on. Static strings.
const char* ReasonName(int reason);

}  // namespace deputy

#endif  // DEPUTY_CORE_DELEGATION_DELEGATE_RECORD_H_
