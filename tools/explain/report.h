// SPDX-License-Identifier: Apache-2.0
//
// Collects the results of `deputy explain` in one JSON document (schema: docs/delegates.md), and
// writes the other forms of that document.
#ifndef DEPUTY_TOOLS_EXPLAIN_REPORT_H_
#define DEPUTY_TOOLS_EXPLAIN_REPORT_H_

#include <cstddef>
#include <string>

#include "tools/json.h"
#include "tools/session.h"

namespace deputy::tools {

// Returns the explanation of a session. `inferences` is the number of inferences that ran under a
// profile callback, 0 if there was none.
Json ExplainSession(const Session& session, const std::string& model, size_t inferences);

// Prints to standard output in lines of at most 80 columns, except the texts in which delegates
// describe partitions.
void PrintExplanation(const Json& report);

// Returns the explanation as one self-contained HTML page.
std::string ExplanationPage(const Json& report);
// Return the graphs alone: all in one SVG image, one below the other, and as Graphviz input.
std::string ExplanationSvg(const Json& report);
std::string ExplanationDot(const Json& report);

// Returns a duration as "1.234 ms" or "12.3 us".
std::string NanosecondsText(double nanoseconds);
// Returns name and version of a delegate, "elementwise 1.2.3".
std::string DelegateText(const Json& delegate);
// Returns true if the node is fused into another node, whose time includes its own.
bool FollowsInGroup(const Json& node);
// Returns the time of a node, as measured or as its delegate reported it; "" without either.
std::string TimeText(const Json& node);
// Returns the nodes of a change as "#7 CONV_2D" or "all 3 CONV_2D".
std::string ChangeText(const Json& change, bool several_subgraphs);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_EXPLAIN_REPORT_H_
