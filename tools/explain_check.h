// SPDX-License-Identifier: Apache-2.0
//
// `deputy explain --check`: which nodes each delegate would take and why not the others, by asking
// it alone. Nothing is applied, compiled or run.
#ifndef DEPUTY_TOOLS_EXPLAIN_CHECK_H_
#define DEPUTY_TOOLS_EXPLAIN_CHECK_H_

#include "commands.h"

namespace deputy::tools {

// Prints the answers, as text or JSON. Ends the command with kExitFailed, behind the output, if a
// delegate is absent or does not say, or if less is supported than `options.require`: "partial" is
// some node and "full" every node, by any of the delegates.
void CheckSupport(const ExplainOptions& options);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_EXPLAIN_CHECK_H_
