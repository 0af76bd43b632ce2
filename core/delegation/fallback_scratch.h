// SPDX-License-Identifier: Apache-2.0
//
// Memory for tensors of replaced nodes that have none in the subgraph's arenas, for one partition
// at a time. The arenas are unchanged.
#ifndef DEPUTY_CORE_DELEGATION_FALLBACK_SCRATCH_H_
#define DEPUTY_CORE_DELEGATION_FALLBACK_SCRATCH_H_

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "c_api/include/common.h"
#include "core/base/arena.h"

namespace deputy {

class Graph;

class FallbackScratch {
 public:
  // Creates empty scratch memory. The arguments must outlive this object; `arena` and `persistent`
  // are the subgraph's.
  FallbackScratch(Graph* graph, const Arena* arena, const Arena* persistent)
      : graph_(graph), arena_(arena), persistent_(persistent) {}

  // Plans memory for tensors that the first `end` of the nodes write or use temporarily. Offsets of
  // a previous plan are kept. Returns false if a limit is exceeded or memory is exhausted. Time and
  // memory are proportional to the partition, not the graph, which may have thousands of
  // partitions. The tensors of `hidden` get memory of their own; ForgetAddresses and Reset restore
  // their former memory.
  bool Plan(std::span<const int> nodes, size_t end, const Limits& limits,
            std::span<const int> hidden = {});
  // Sets the data pointers of the planned tensors.
  void PointTensors();
  // Clears the data pointers, and discards the plan.
  void ForgetAddresses();
  // Discards the plan; keeps the block for the next one.
  void Reset();
  size_t bytes() const { return scratch_.bytes(); }

 private:
  struct Hidden {
    int tensor;
    TfLiteAllocationType type;
    char* data;
  };

  bool NeedsMemory(int tensor) const;
  void Hide(std::span<const int> tensors);

  Graph* const graph_;
  const Arena* const arena_;
  const Arena* const persistent_;
  Arena scratch_;
  std::map<int, int> slots_;    // by tensor: its slot in scratch_
  std::vector<Hidden> hidden_;  // hidden tensors, with their memory before
};

}  // namespace deputy

#endif  // DEPUTY_CORE_DELEGATION_FALLBACK_SCRATCH_H_
