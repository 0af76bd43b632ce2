// SPDX-License-Identifier: Apache-2.0
//
// Assigns memory to lifetimes: a pure function of sizes and intervals.
#ifndef DEPUTY_COMPILER_MEMORY_PLAN_H_
#define DEPUTY_COMPILER_MEMORY_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace deputy::compiler {

// Memory that is needed from step `first` to step `last`, both inclusive; none if last < first.
struct Interval {
  size_t bytes = 0;
  int first = 0;
  int last = 0;
};

struct Location {
  int block = 0;
  size_t offset = 0;

  friend bool operator==(const Location&, const Location&) = default;
};

struct MemoryPlan {
  std::vector<Location> locations;  // by interval; block 0, offset 0 for empty ones
  std::vector<size_t> block_bytes;  // sizes of the blocks, multiples of the alignment
  size_t total_bytes = 0;           // sum over all blocks
  size_t lower_bound = 0;  // maximum over the steps of the bytes needed; no plan is smaller
  const char* order = "";  // name of the order in which intervals were placed; see memory_plan.cc
};

// Computes up to three plans and returns the smallest. Offsets and sizes in the plan are multiples
// of `alignment`, a power of two; no block is larger than `max_block`. Intervals that overlap in
// time share no byte. Returns false, and writes nothing, if an interval exceeds max_block or sizes
// overflow.
bool PlanMemory(std::span<const Interval> intervals, size_t alignment, size_t max_block,
                MemoryPlan* out_plan);

}  // namespace deputy::compiler

#endif  // DEPUTY_COMPILER_MEMORY_PLAN_H_
