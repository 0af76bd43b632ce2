// SPDX-License-Identifier: Apache-2.0
//
// The policy Hot on one subgraph: a delegate's node that fails is computed by the nodes it
// replaced, on the CPU, in the middle of the inference, and the inference goes on. The delegate
// keeps its node; when it is tried again is the caller's choice.
//
// The replaced nodes' own tensors get memory here, beside the arena: the arena stays as it is, and
// with it every address that the caller may hold. The memory is reserved when tensors are
// allocated, so that a fallback cannot fail for want of it; shapes that become known only during an
// inference are the exception.
//
// A delegate that cannot even hand out what it computed before (a device that died with tensors on
// it) makes the inference start over without it: the caller's inputs are still there, variables are
// put back to what they were.
#ifndef DEPUTY_CORE_HOT_FALLBACK_H_
#define DEPUTY_CORE_HOT_FALLBACK_H_

#include <cstdint>
#include <map>
#include <vector>

#include "c_api/common.h"
#include "core/arena.h"
#include "core/saved_contents.h"

namespace deputy {

class Subgraph;

// What fallbacks did so far, and what being able to fall back costs.
struct FallbackStatistics {
  bool degraded = false;      // the newest inference computed a delegate's nodes on the CPU
  int64_t recomputed = 0;     // delegate nodes that were computed on the CPU
  int64_t restarts = 0;       // inferences that started over
  size_t reserved_bytes = 0;  // memory for the nodes that delegates replaced
  int64_t saving_ns = 0;      // time spent on keeping variables
};

class HotFallback {
 public:
  explicit HotFallback(Subgraph* subgraph) : subgraph_(subgraph) {}

  // ---- While tensors are allocated -------------------------------------------------------------
  // Before a delegate's node is prepared: prepares the nodes it replaced and notes the shapes they
  // give to its outputs, if these can be known. Ok whether they can or not; or cancelled.
  TfLiteStatus InferReplacedShapes(int node_index);
  // Checks a delegate's node by what its prepare returned and by the shapes of its outputs. Ok also
  // when it failed but its nodes can stand in for it.
  TfLiteStatus CheckPrepareResult(int node_index, TfLiteStatus status);
  // Plans the memory of the replaced nodes.
  TfLiteStatus Reserve();

  // ---- While the model runs --------------------------------------------------------------------
  void BeginInvoke();
  // Runs a delegate's node, or what it replaced.
  TfLiteStatus InvokeNode(int node_index);
  // To be called when a tensor could not be copied from its delegate. RestartInference then leaves
  // that delegate's nodes to the CPU for a while; false when nothing was lost, or nothing is left
  // to do without it.
  void NoteLostTensor(const TfLiteDelegate* delegate) { lost_ = delegate; }
  bool RestartInference();

  // The graph has changed: what was known about its nodes no longer holds.
  void Invalidate();

  const FallbackStatistics& statistics() const { return statistics_; }
  // How often a delegate's node was computed by its nodes.
  int64_t RecomputedCount(int node_index) const;

 private:
  struct Partition {
    std::vector<int> nodes;  // on the CPU, in the order of the original plan
    bool prepared = true;    // false: the delegate's prepare failed
    int64_t retry_at = 0;
    int64_t recomputed = 0;
  };

  Partition& PartitionOf(int node_index);
  void Flatten(int node_index, std::vector<bool>* out_nodes) const;
  bool OutputsKeptTheirShapes(int node_index) const;
  TfLiteStatus GiveOutputsKnownShapes(int node_index);
  void LeaveUnknownShapesOpen(int node_index);
  TfLiteStatus Recompute(int node_index);
  TfLiteStatus RunReplaced(const Partition& partition);
  TfLiteStatus PrepareSome(const Partition& partition, size_t begin, size_t* out_end);
  size_t ComputedConstants(const Partition& partition) const;
  bool PlanScratch(const Partition& partition, size_t end);
  void ForgetScratchAddresses();
  void BackOff(Partition* partition);

  Subgraph* const subgraph_;
  std::map<int, Partition> partitions_;           // by the delegate's node
  std::map<int, std::vector<int>> known_shapes_;  // of tensors that delegates write
  Arena scratch_;
  SavedContents variables_at_start_, variables_of_node_;
  const TfLiteDelegate* lost_ = nullptr;
  int64_t inferences_ = 0;
  FallbackStatistics statistics_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_HOT_FALLBACK_H_
