// SPDX-License-Identifier: Apache-2.0
//
// Which nodes can be computed in the place of delegates' nodes, and when a delegate's node is tried
// again after it has failed.
#ifndef DEPUTY_CORE_DELEGATION_FALLBACK_PARTITIONS_H_
#define DEPUTY_CORE_DELEGATION_FALLBACK_PARTITIONS_H_

#include <cstdint>
#include <map>
#include <vector>

#include "c_api/include/common.h"
#include "core/graph/graph.h"

namespace deputy {

// What is known of one delegate's node.
struct FallbackPartition {
  // On the CPU until inference number `retry_at`.
  bool BackingOff(int64_t inference) const { return inference < retry_at; }
  // Backs off for `retry` inferences after this one, for good if that is negative.
  void BackOff(int64_t inference, int retry);

  std::vector<int> nodes;  // those on the CPU that it stands for, in the order of the original plan
  bool prepared = true;    // false: the delegate's prepare failed
  int64_t retry_at = 0;    // the number of an inference
  int64_t recomputed = 0;  // how often its nodes were computed
  int64_t runs = 0;        // of the delegate's kernel, while results are verified
  bool verifiable = true;  // false: its nodes cannot run on the CPU
};

class FallbackPartitions {
 public:
  explicit FallbackPartitions(const Graph* graph) : graph_(graph) {}

  // That of a delegate's node.
  FallbackPartition& Of(int node_index);
  // Null when Of has not been called for the node.
  const FallbackPartition* Find(int node_index) const;
  // Backs off all nodes of the delegate that are in the plan. False when none was left to.
  bool BackOff(const TfLiteDelegate* delegate, int64_t inference, int retry);
  void Clear() { partitions_.clear(); }

 private:
  const Graph* const graph_;
  std::map<NodeId, FallbackPartition> partitions_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_DELEGATION_FALLBACK_PARTITIONS_H_
