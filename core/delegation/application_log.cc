// SPDX-License-Identifier: Apache-2.0
#include "core/delegation/application_log.h"

#include <algorithm>

#include "core/base/log.h"
#include "core/graph/graph.h"
#include "core/model/op_names.h"

namespace deputy {

void LogApplication(const Graph& graph, int subgraph, const AppliedDelegate& delegate) {
  if (!IsLogged(kDeputyLogInfo)) return;
  const char* const name = delegate.name.c_str();
  const std::vector<NodeSupport>& nodes = delegate.record.nodes;
  if (!delegate.record.applied) {
    Log(kDeputyLogInfo, "subgraph %d: delegate '%s' is not applied: %s", subgraph, name,
        delegate.record.failure.c_str());
    return;
  }
  const auto claimed = std::count_if(nodes.begin(), nodes.end(),
                                     [](const NodeSupport& node) { return node.delegated; });
  const auto partitions = std::count_if(graph.plan().begin(), graph.plan().end(), [&](int node) {
    return graph.node(node)->delegate == delegate.inner;
  });
  Log(kDeputyLogInfo, "subgraph %d: delegate '%s' runs %td of %zu nodes in %td partitions",
      subgraph, name, claimed, nodes.size(), partitions);
  for (size_t node = 0; node < nodes.size(); ++node) {
    const NodeSupport& support = nodes[node];
    if (support.delegated) continue;
    Log(kDeputyLogVerbose, "subgraph %d node %zu %s: not in '%s': %s %s", subgraph, node,
        OperatorName(*graph.registration(static_cast<int>(node))), name, ReasonName(support.reason),
        support.text.c_str());
  }
}

}  // namespace deputy
