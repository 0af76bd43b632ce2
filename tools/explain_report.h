// SPDX-License-Identifier: Apache-2.0
//
// What `deputy explain` knows of a session, as one JSON document (docs/delegates.md has the
// schema), and the other forms of that document.
#ifndef DEPUTY_TOOLS_EXPLAIN_REPORT_H_
#define DEPUTY_TOOLS_EXPLAIN_REPORT_H_

#include <cstddef>
#include <string>

#include "json.h"
#include "session.h"

namespace deputy::tools {

// `inferences` is how many have run under a profile callback, 0 if there was none.
Json ExplainSession(const Session& session, const std::string& model, size_t inferences);

// At most 80 columns, to standard output.
void PrintExplanation(const Json& report);

// One page without references to anything outside it.
std::string ExplanationPage(const Json& report);
// The graphs alone: as one picture, one below the other, and for Graphviz.
std::string ExplanationSvg(const Json& report);
std::string ExplanationDot(const Json& report);

// "1.234 ms" or "12.3 us".
std::string NanosecondsText(double nanoseconds);
// "elementwise 1.2.3".
std::string DelegateText(const Json& delegate);
// Whether the node runs in the step of another, in whose time its own is.
bool FollowsInStep(const Json& node);
// "node 7 CONV_2D" or "all 3 CONV_2D".
std::string ChangeText(const Json& change, bool several_subgraphs);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_EXPLAIN_REPORT_H_
