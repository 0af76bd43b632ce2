// SPDX-License-Identifier: Apache-2.0
//
// Lifetimes to offsets: a pure function. Blocks whose lifetimes overlap never share a byte; the
// rest is packed greedily by size, largest first, each into the smallest gap that fits, which
// meets the liveness lower bound on most real models.
#ifndef DEPUTY_CORE_BASE_PLANNER_H_
#define DEPUTY_CORE_BASE_PLANNER_H_

#include <cstddef>
#include <span>
#include <vector>

namespace deputy {

inline constexpr size_t kNoOffset = static_cast<size_t>(-1);

// A block that must exist from step `first` to step `last`, both inclusive, first <= last.
struct BlockRequest {
  size_t bytes = 0;
  int first = 0;
  int last = 0;
  // An offset that is already given away (its data must survive) or kNoOffset.
  size_t fixed_offset = kNoOffset;
  // Hardly ever touched: it goes where the others leave room, or behind them.
  bool idle = false;
};

struct MemoryPlan {
  std::vector<size_t> offsets;  // one per request; 0 for empty blocks
  size_t total_bytes = 0;
  size_t busy_bytes = 0;  // up to the end of the last block that is not idle
};

// False when the sizes overflow. `alignment` is a power of two; every offset is a multiple of it.
// Fixed blocks are taken as they are. The result depends on the requests alone.
bool PlanMemory(std::span<const BlockRequest> requests, size_t alignment, MemoryPlan* out_plan);

// Puts another plan for the same requests in place of one that is more than a twentieth above the
// lower bound, where a few tries find a smaller one whose busy_bytes are no more.
void TightenPlan(std::span<const BlockRequest> requests, size_t alignment, MemoryPlan* plan);

// The most bytes alive at one step, sizes rounded up to `alignment`: no plan can be smaller.
size_t LivenessLowerBound(std::span<const BlockRequest> requests, size_t alignment);

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_PLANNER_H_
