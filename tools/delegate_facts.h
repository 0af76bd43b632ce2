// SPDX-License-Identifier: Apache-2.0
//
// Reports of delegates for `explain` and `bench`: device, precision, costs, and how each option was
// used.
#ifndef DEPUTY_TOOLS_DELEGATE_FACTS_H_
#define DEPUTY_TOOLS_DELEGATE_FACTS_H_

#include "delegate_option.h"
#include "json.h"

namespace deputy::tools {

// The report of a delegate, null if it is of no plug-in. `ignored` are settings that its library
// has no option for.
Json DelegateFacts(TfLiteDelegate* delegate, const DelegateSettings& ignored);

// Lines for a terminal, below that of the delegate.
void PrintDelegateFacts(const Json& facts);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_DELEGATE_FACTS_H_
