// SPDX-License-Identifier: Apache-2.0
//
// `deputy explain --check`: queries each delegate on its own for the nodes that it supports, with
// the reasons for the others. Applies, compiles and runs nothing.
#ifndef DEPUTY_TOOLS_EXPLAIN_CHECK_H_
#define DEPUTY_TOOLS_EXPLAIN_CHECK_H_

#include "tools/commands.h"

namespace deputy::tools {

// Prints the results as text or JSON. Then ends the command with kExitFailed if a delegate is
// absent or does not support the query, or if less is supported than `options.require`: "partial"
// requires some node and "full" every node, by any of the delegates.
void CheckSupport(const ExplainOptions& options);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_EXPLAIN_CHECK_H_
