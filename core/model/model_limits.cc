// SPDX-License-Identifier: Apache-2.0
#include "core/model/model_limits.h"

namespace deputy {

std::string FindExceededLimit(const ModelCounts& counts, const Limits& limits) {
  const struct {
    const char* what;
    size_t found;
    int maximum;
  } rows[] = {
      {"operator codes", counts.operator_codes, limits.max_nodes},
      {"subgraphs", counts.subgraphs, limits.max_subgraphs},
      {"signatures", counts.signatures, limits.max_nodes},
      {"metadata", counts.metadata, limits.max_nodes},
      {"tensors", counts.tensors, limits.max_tensors},
      {"operators", counts.operators, limits.max_nodes},
      {"nested subgraph calls", counts.call_depth, limits.max_call_depth},
  };
  for (const auto& row : rows) {
    if (row.maximum >= 0 && row.found <= static_cast<size_t>(row.maximum)) continue;
    return std::string(row.what) + ": expected at most " + std::to_string(row.maximum) +
           ", found " + std::to_string(row.found);
  }
  return "";
}

}  // namespace deputy
