// SPDX-License-Identifier: Apache-2.0
//
// Orders between nodes that no tensor expresses, parsed from the metadata
// "model_control_dependencies" (abi.md appendix A).
#ifndef DEPUTY_CORE_MODEL_CONTROL_EDGES_H_
#define DEPUTY_CORE_MODEL_CONTROL_EDGES_H_

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/partition.h"

namespace deputy {

inline constexpr const char* kControlDependenciesMetadata = "model_control_dependencies";

// Parses the edges of every subgraph. Returns false for malformed data, another format version,
// trailing bytes, or a number of subgraphs other than `subgraph_count`; such metadata is ignored.
bool ParseControlEdges(std::span<const uint8_t> data, size_t subgraph_count,
                       std::vector<std::vector<PartitionGraph::ControlEdge>>* out_edges);

}  // namespace deputy

#endif  // DEPUTY_CORE_MODEL_CONTROL_EDGES_H_
