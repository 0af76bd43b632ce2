// SPDX-License-Identifier: Apache-2.0
//
// Memory for the tensors of replaced nodes that the subgraph's own arenas do not hold: of one
// partition at a time, and beside the arenas, which stay as they are.
#ifndef DEPUTY_CORE_DELEGATION_FALLBACK_SCRATCH_H_
#define DEPUTY_CORE_DELEGATION_FALLBACK_SCRATCH_H_

#include <cstddef>
#include <map>
#include <span>

#include "core/base/arena.h"

namespace deputy {

class Graph;

class FallbackScratch {
 public:
  // All outlive it. `arena` and `persistent` are the subgraph's own.
  FallbackScratch(Graph* graph, const Arena* arena, const Arena* persistent)
      : graph_(graph), arena_(arena), persistent_(persistent) {}

  // Plans memory for what the first `end` of the nodes write or use up. What a plan before this one
  // placed stays where it is. False when memory is refused. Work and memory are the partition's
  // size, not the graph's: a graph may have thousands of partitions.
  bool Plan(std::span<const int> nodes, size_t end, const Limits& limits);
  // Points the planned tensors at their memory.
  void PointTensors();
  // Takes their addresses away again, and forgets the plan.
  void ForgetAddresses();
  // Forgets the plan; the block is kept for the next one.
  void Reset();
  size_t bytes() const { return scratch_.bytes(); }

 private:
  bool Wants(int tensor) const;

  Graph* const graph_;
  const Arena* const arena_;
  const Arena* const persistent_;
  Arena scratch_;
  std::map<int, int> slots_;  // by tensor: its number in scratch_
};

}  // namespace deputy

#endif  // DEPUTY_CORE_DELEGATION_FALLBACK_SCRATCH_H_
