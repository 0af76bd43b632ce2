// SPDX-License-Identifier: Apache-2.0
//
// Lifetimes to places in memory: a pure function of sizes and intervals.
#ifndef DEPUTY_COMPILER_MEMORY_PLAN_H_
#define DEPUTY_COMPILER_MEMORY_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace deputy::compiler {

// Memory that is needed from step `first` to step `last`, both inclusive; none where last < first.
struct Interval {
  size_t bytes = 0;
  int first = 0;
  int last = 0;
};

struct Place {
  int block = 0;
  size_t offset = 0;

  friend bool operator==(const Place&, const Place&) = default;
};

struct MemoryPlan {
  std::vector<Place> places;        // by interval; the first byte where nothing is needed
  std::vector<size_t> block_bytes;  // multiples of the alignment
  size_t total_bytes = 0;           // of all blocks
  size_t lower_bound = 0;           // the most bytes needed at one step: no plan is smaller
  const char* order = "";           // in which the intervals were placed: see memory_plan.cc
};

// Offsets are multiples of `alignment`, a power of two, and so are sizes in the plan; no block is
// larger than `max_block`. Intervals that overlap share no byte. The smallest of several plans.
// False, and nothing written, if an interval is larger than a block may be or sizes overflow.
bool PlanMemory(std::span<const Interval> intervals, size_t alignment, size_t max_block,
                MemoryPlan* out_plan);

}  // namespace deputy::compiler

#endif  // DEPUTY_COMPILER_MEMORY_PLAN_H_
