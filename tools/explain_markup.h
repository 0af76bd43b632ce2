// SPDX-License-Identifier: Apache-2.0
//
// What the page, the SVG and the DOT form of an explanation share: words and colours, and escapes
// (escape.h).
#ifndef DEPUTY_TOOLS_EXPLAIN_MARKUP_H_
#define DEPUTY_TOOLS_EXPLAIN_MARKUP_H_

#include <cstddef>
#include <string>
#include <vector>

#include "escape.h"
#include "json.h"

namespace deputy::tools {

// "#a8ddb5": the colour of a delegate, or of the CPU, which is -1; light enough for black text.
std::string OwnerColour(int owner);
// The colour of a partition's outline and of what is within, which differ from their neighbours'.
std::string PartitionColour(size_t partition);
std::string PartitionTint(size_t partition);
// The colours of a node's time, from little to much.
std::vector<std::string> HeatColours();

// "own-cpu" or "own-2".
std::string OwnerClass(const Json& owner);
// "0-12": subgraph and node.
std::string KeyOf(const Json& subgraph, const Json& node);
// "CPU" or "[0] mine 1.0".
std::string OwnerText(const Json& report, const Json& owner);
// The same, or that nobody can.
std::string RunnerText(const Json& report, const Json& node);

// "1x28x28x24".
std::string PlainShape(const Json& tensor);
// The second line of a node's box: who, why not somebody else, and how long.
std::string CaptionText(const Json& node);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_EXPLAIN_MARKUP_H_
