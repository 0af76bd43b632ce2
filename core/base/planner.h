// SPDX-License-Identifier: Apache-2.0
//
// Assigns offsets to lifetimes: a pure function. Blocks with overlapping lifetimes never share a
// byte. Blocks are packed greedily by size, largest first, each into the smallest sufficient gap,
// which reaches the liveness lower bound on most real models.
#ifndef DEPUTY_CORE_BASE_PLANNER_H_
#define DEPUTY_CORE_BASE_PLANNER_H_

#include <cstddef>
#include <span>
#include <vector>

namespace deputy {

inline constexpr size_t kNoOffset = static_cast<size_t>(-1);

// A block that is alive from step `first` to step `last`, both inclusive, first <= last.
struct BlockRequest {
  size_t bytes = 0;
  int first = 0;
  int last = 0;
  // An offset that was assigned before (the contents must survive), or kNoOffset.
  size_t fixed_offset = kNoOffset;
  // True if the block is rarely accessed: it is placed last, into remaining gaps or after the
  // blocks that are alive at the same time.
  bool idle = false;
};

struct MemoryPlan {
  std::vector<size_t> offsets;  // offset of each requested block; 0 for empty blocks
  size_t total_bytes = 0;
  size_t busy_bytes = 0;  // end of the last block that is not rarely accessed
};

// Assigns an offset to every block. Returns false if sizes overflow. `alignment` is a power of two;
// every offset is a multiple of it, except that fixed blocks keep their offsets. The result is a
// function of the requests only.
bool PlanMemory(std::span<const BlockRequest> requests, size_t alignment, MemoryPlan* out_plan);

// Replaces a plan that is more than a twentieth above the lower bound by a smaller one with no
// larger busy_bytes, if one of up to 12 other orders of the blocks yields one. Plans of more than
// 2000 blocks are not changed.
void TightenPlan(std::span<const BlockRequest> requests, size_t alignment, MemoryPlan* plan);

// Returns the maximum number of bytes alive at one step, sizes rounded up to `alignment`: no plan
// can be smaller.
size_t LivenessLowerBound(std::span<const BlockRequest> requests, size_t alignment);

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_PLANNER_H_
