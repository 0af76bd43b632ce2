// SPDX-License-Identifier: Apache-2.0
//
// Queries a plug-in's support for nodes before its delegate's Prepare runs.
#ifndef DEPUTY_CORE_DELEGATION_SUPPORT_QUERY_H_
#define DEPUTY_CORE_DELEGATION_SUPPORT_QUERY_H_

#include <vector>

#include "core/base/foreign_call.h"

namespace deputy {

struct AppliedDelegate;

// Calls the get_support of the delegate's plug-in, if it has one, for the nodes of the plan, and
// stores the results in the delegate's record. For a NoOpDelegate it stores the delegate's reason.
// Returns false if there are no results. `observer` may be null; the context must be in delegate
// mode.
bool QuerySupport(CallObserver* observer, TfLiteContext* context, const std::vector<int>& plan,
                  AppliedDelegate* delegate);

// Returns true if the delegate comes from a plug-in that has get_support.
bool CanQuerySupport(const AppliedDelegate& delegate);

}  // namespace deputy

#endif  // DEPUTY_CORE_DELEGATION_SUPPORT_QUERY_H_
