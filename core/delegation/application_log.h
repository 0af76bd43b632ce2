// SPDX-License-Identifier: Apache-2.0
//
// Messages of the log about the application of delegates.
#ifndef DEPUTY_CORE_DELEGATION_APPLICATION_LOG_H_
#define DEPUTY_CORE_DELEGATION_APPLICATION_LOG_H_

#include "core/delegation/applied_delegates.h"

namespace deputy {

class Graph;

// Logs at the level of information how many nodes the delegate runs, or why it is not applied; at
// the lowest level also the reason for each node that it does not run. The delegate's record must
// be complete.
void LogApplication(const Graph& graph, int subgraph, const AppliedDelegate& delegate);

}  // namespace deputy

#endif  // DEPUTY_CORE_DELEGATION_APPLICATION_LOG_H_
