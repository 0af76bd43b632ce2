// SPDX-License-Identifier: Apache-2.0
//
// Texts and colours that the HTML, SVG and DOT forms of an explanation share.
#ifndef DEPUTY_TOOLS_EXPLAIN_MARKUP_H_
#define DEPUTY_TOOLS_EXPLAIN_MARKUP_H_

#include <cstddef>
#include <string>
#include <vector>

#include "tools/escape.h"
#include "tools/json.h"

namespace deputy::tools {

// Returns the colour of a delegate, or of the CPU, whose index is -1, such as "#a8ddb5". All
// colours are light enough for black text.
std::string OwnerColour(int owner);
// Return the colours of a partition's outline and background, different from those of adjacent
// partitions.
std::string PartitionColour(size_t partition);
std::string PartitionTint(size_t partition);
// Returns the colours of a node's time, from low to high.
std::vector<std::string> HeatColours();

// Returns the CSS class of an owner, "own-cpu" or "own-2".
std::string OwnerClass(const Json& owner);
// Returns the key of a node from the indices of its subgraph and itself, "0-12".
std::string KeyOf(const Json& subgraph, const Json& node);
// Returns the name of an owner, "CPU" or "[0] mine 1.0".
std::string OwnerText(const Json& report, const Json& owner);
// Returns the name of the engine that runs a node, as OwnerText does; states when neither a
// delegate nor the CPU can run the node.
std::string RunnerText(const Json& report, const Json& node);

// Returns the shape as "1x28x28x24".
std::string PlainShape(const Json& tensor);
// Returns the second line of a node's box: the owner, for a node on the CPU the reason of the last
// delegate that did not claim it, and the time.
std::string CaptionText(const Json& node);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_EXPLAIN_MARKUP_H_
