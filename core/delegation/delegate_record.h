// SPDX-License-Identifier: Apache-2.0
//
// What a delegate was told of a subgraph's nodes, what it said of them, and what came of it: kept
// for reports, and for the groups of nodes that only go together.
#ifndef DEPUTY_CORE_DELEGATION_DELEGATE_RECORD_H_
#define DEPUTY_CORE_DELEGATION_DELEGATE_RECORD_H_

#include <string>
#include <vector>

#include "c_api/include/common.h"
#include "c_api/include/deputy_plugin.h"

namespace deputy {

class Graph;

struct NodeSupport {
  bool looked_at = false;                         // the delegate looked at the node
  bool previewed = false;                         // and at a partition with it
  bool claimed = false;                           // it wanted to replace it
  bool delegated = false;                         // it runs it
  DeputyReason reason = kDeputyReasonNotQueried;  // why it does not
  std::string text;
  int group = -1;
  double cost_ns = -1;  // the delegate's estimate; negative: none
};

struct DelegateRecord {
  bool applied = false;            // or waiting to be applied again
  std::string failure;             // why it is not
  std::vector<NodeSupport> nodes;  // by node index; nodes that came later have none
};

// The nodes of the delegates that are meant below carry `inner`.

// Once the delegate has been applied, or has failed: sets `delegated` and gives every node that it
// does not run a reason and a text.
void Conclude(const Graph& graph, const TfLiteDelegate* inner, DelegateRecord* record);

// When nodes of delegates have come or gone: corrects `delegated`. `why` is the text of nodes that
// the delegate runs no more.
void ReviseNodes(const Graph& graph, const TfLiteDelegate* inner, const char* why,
                 DelegateRecord* record);

// "NOT_CLAIMED" for kDeputyReasonNotClaimed, and so on. Static strings.
const char* ReasonName(int reason);

}  // namespace deputy

#endif  // DEPUTY_CORE_DELEGATION_DELEGATE_RECORD_H_
