// SPDX-License-Identifier: Apache-2.0
#include "core/delegation/fallback_partitions.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <span>

#include "core/base/delegate_params.h"

namespace deputy {
namespace {

// Lists the CPU nodes, recursively, since a later delegate may have claimed an earlier one's node.
// Replaced nodes are listed after the nodes that compute their inputs.
void Flatten(const Graph& graph, int node_index, FallbackPartition* partition) {
  const TfLiteNode& node = *graph.node(node_index);
  if (node.delegate == nullptr) {
    partition->nodes.push_back(node_index);
    partition->model_nodes.push_back(node_index);
    return;
  }
  const std::span<const int> all = IndicesOf(CpuNodes(node)),
                             model = IndicesOf(ReplacedNodes(node));
  const auto first = std::search(all.begin(), all.end(), model.begin(), model.end());
  for (auto each = all.begin(); each != first; ++each) {
    partition->nodes.push_back(*each);
    partition->hidden.push_back(graph.node(*each)->outputs->data[0]);
  }
  for (const int each : model) Flatten(graph, each, partition);
  for (auto each = first + std::ssize(model); each != all.end(); ++each) {
    partition->nodes.push_back(*each);
    partition->hidden.push_back(graph.node(*each)->inputs->data[0]);
  }
}

}  // namespace

void FallbackPartition::BackOff(int64_t inference, int retry) {
  retry_at = retry < 0 ? std::numeric_limits<int64_t>::max() : inference + 1 + retry;
}

FallbackPartition& FallbackPartitions::Of(int node_index) {
  const auto [entry, fresh] = partitions_.try_emplace(graph_->id(node_index));
  if (fresh) Flatten(*graph_, node_index, &entry->second);
  return entry->second;
}

const FallbackPartition* FallbackPartitions::Find(int node_index) const {
  const auto entry = partitions_.find(graph_->id(node_index));
  return entry == partitions_.end() ? nullptr : &entry->second;
}

bool FallbackPartitions::BackOff(const TfLiteDelegate* delegate, int64_t inference, int retry) {
  bool changed = false;
  for (const int node_index : graph_->plan()) {
    if (graph_->node(node_index)->delegate != delegate) continue;
    FallbackPartition& partition = Of(node_index);
    if (partition.BackingOff(inference)) continue;
    partition.BackOff(inference, retry);
    changed = true;
  }
  return changed;
}

}  // namespace deputy
