// SPDX-License-Identifier: Apache-2.0
//
// Reports of delegates for `explain` and `bench`: device, precision, costs, and the effect of each
// option.
#ifndef DEPUTY_TOOLS_DELEGATE_FACTS_H_
#define DEPUTY_TOOLS_DELEGATE_FACTS_H_

#include "delegate_option.h"
#include "json.h"

namespace deputy::tools {

// Returns the report of a delegate, or null if it does not come from a plug-in. `ignored` are the
// partition limits for which its library declares no option (LoadedDelegate::undeclared).
Json DelegateFacts(TfLiteDelegate* delegate, const DelegateSettings& ignored);

// Prints the report in lines for a terminal, to follow the line of the delegate.
void PrintDelegateFacts(const Json& facts);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_DELEGATE_FACTS_H_
