// SPDX-License-Identifier: Apache-2.0
//
// The nodes that can run on the CPU instead of a delegate node, and the back-off of delegate nodes
// that have failed.
#ifndef DEPUTY_CORE_DELEGATION_FALLBACK_PARTITIONS_H_
#define DEPUTY_CORE_DELEGATION_FALLBACK_PARTITIONS_H_

#include <cstdint>
#include <map>
#include <vector>

#include "c_api/include/common.h"
#include "core/graph/graph.h"

namespace deputy {

// Fallback state of one delegate node.
struct FallbackPartition {
  // Returns true if the delegate node backs off in this inference: the nodes run on the CPU.
  bool BackingOff(int64_t inference) const { return inference < retry_at; }
  // Runs the nodes on the CPU in this inference and in the `retry` inferences after it, permanently
  // if `retry` is negative.
  void BackOff(int64_t inference, int retry);

  // CPU nodes that the delegate node replaced, in the order in which Partition scheduled them. The
  // client's plan may run nodes in another order than that of their indices.
  // With nodes in NCHW, transpositions surround them.
  std::vector<int> nodes;
  std::vector<int> model_nodes;  // the model's nodes among them, in the same order
  // Tensors of the model that the transpositions write or read. The delegate does not use them, so
  // their memory may contain other tensors when its node runs.
  std::vector<int> hidden;
  bool prepared = true;    // false: the delegate's prepare failed or set other output shapes
  int64_t retry_at = 0;    // index of the inference in which the delegate is tried again
  int64_t recomputed = 0;  // number of runs of `nodes` on the CPU
  int64_t runs = 0;        // number of runs of the delegate's kernel while `verifiable`
  bool verifiable = true;  // false: `nodes` cannot run on the CPU
};

class FallbackPartitions {
 public:
  explicit FallbackPartitions(const Graph* graph) : graph_(graph) {}

  // Returns the state of a delegate node; creates it at the first call.
  FallbackPartition& Of(int node_index);
  // Returns the state of a delegate node; null if none was created.
  const FallbackPartition* Find(int node_index) const;
  // Backs off all nodes of the delegate that are in the plan. Returns false if it has none, or all
  // of them were backing off already.
  bool BackOff(const TfLiteDelegate* delegate, int64_t inference, int retry);
  void Clear() { partitions_.clear(); }

 private:
  const Graph* const graph_;
  std::map<NodeId, FallbackPartition> partitions_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_DELEGATION_FALLBACK_PARTITIONS_H_
