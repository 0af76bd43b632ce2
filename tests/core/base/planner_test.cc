// SPDX-License-Identifier: Apache-2.0
//
// Compares the memory planner with brute force: for random lifetimes no two blocks alive at one
// step share a byte, no block ends beyond the total, the total is never below the lower bound by
// liveness, and every block has the offset that a plain greedy placement finds. The literal plans
// were computed by hand.
#include "core/base/planner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <tuple>

namespace deputy::planner_test {
namespace {

using ::testing::ElementsAre;

bool Overlap(size_t a_begin, size_t a_bytes, size_t b_begin, size_t b_bytes) {
  return a_begin < b_begin + b_bytes && b_begin < a_begin + a_bytes;
}

// Returns the maximum number of bytes alive at one step, counted at the first step of each block.
size_t MaxBytesAlive(const std::vector<BlockRequest>& requests, size_t alignment) {
  size_t most = 0;
  for (const BlockRequest& now : requests) {
    size_t alive = 0;
    for (const BlockRequest& other : requests) {
      if (other.first <= now.first && now.first <= other.last) {
        alive += (other.bytes + alignment - 1) / alignment * alignment;
      }
    }
    most = std::max(most, alive);
  }
  return most;
}

// Returns "" if the offsets are aligned, within the total, and free of overlaps except between
// fixed blocks; otherwise the problem.
std::string FindPlanFault(const std::vector<BlockRequest>& requests, size_t alignment,
                          const MemoryPlan& plan) {
  if (plan.offsets.size() != requests.size()) return "wrong number of offsets";
  for (size_t i = 0; i < requests.size(); ++i) {
    const BlockRequest& a = requests[i];
    const std::string name = "block " + std::to_string(i);
    if (a.bytes == 0) {
      if (plan.offsets[i] != 0) return name + " is empty and has an offset";
      continue;
    }
    if (plan.offsets[i] % alignment != 0) return name + " is not aligned";
    if (a.fixed_offset != kNoOffset && plan.offsets[i] != a.fixed_offset) return name + " moved";
    if (plan.offsets[i] + a.bytes > plan.total_bytes) return name + " lies beyond the total";
    for (size_t j = 0; j < i; ++j) {
      const BlockRequest& b = requests[j];
      const bool both_fixed = a.fixed_offset != kNoOffset && b.fixed_offset != kNoOffset;
      if (b.bytes != 0 && !both_fixed && a.first <= b.last && b.first <= a.last &&
          Overlap(plan.offsets[i], a.bytes, plan.offsets[j], b.bytes)) {
        return name + " overlaps block " + std::to_string(j);
      }
    }
  }
  return "";
}

// Returns the offsets of blocks placed greedily by size, without the planner's optimisations of the
// search.
std::vector<size_t> PlainOffsets(const std::vector<BlockRequest>& requests, size_t alignment) {
  const auto round_up = [&](size_t bytes) {
    return (bytes + alignment - 1) / alignment * alignment;
  };
  std::vector<size_t> order(requests.size()), offsets(requests.size(), 0), placed;
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const auto key = [&](size_t i) {
      const BlockRequest& r = requests[i];
      return std::tuple(r.fixed_offset == kNoOffset, r.fixed_offset == kNoOffset && r.idle,
                        SIZE_MAX - r.bytes, r.first, i);
    };
    return key(a) < key(b);
  });
  for (size_t block : order) {
    const BlockRequest& wanted = requests[block];
    if (wanted.bytes == 0) continue;
    std::vector<std::pair<size_t, size_t>> taken;
    for (size_t other : placed) {
      if (requests[other].first > wanted.last || wanted.first > requests[other].last) continue;
      taken.emplace_back(offsets[other],
                         round_up(offsets[other] + round_up(requests[other].bytes)));
    }
    std::sort(taken.begin(), taken.end());
    size_t best = kNoOffset, best_bytes = SIZE_MAX, covered = 0;
    for (const auto& [begin, end] : taken) {
      const size_t gap = begin > covered ? begin - covered : 0;
      if (gap >= round_up(wanted.bytes) && gap < best_bytes) {
        best = covered;
        best_bytes = gap;
      }
      covered = std::max(covered, end);
    }
    offsets[block] = best != kNoOffset ? best : covered;
    if (wanted.fixed_offset != kNoOffset) offsets[block] = wanted.fixed_offset;
    placed.push_back(block);
  }
  return offsets;
}

std::vector<BlockRequest> RandomRequests(std::mt19937* random) {
  auto below = [&](int n) { return static_cast<int>((*random)() % static_cast<unsigned>(n)); };
  const int count = below(24), steps = 1 + below(20), longest = 1 + below(steps);
  const int largest = 1 << below(14);
  const bool some_fixed = below(4) == 0, some_last = below(2) == 0, some_idle = below(4) == 0;
  std::vector<BlockRequest> requests(count);
  size_t fixed_end = 0;
  for (BlockRequest& request : requests) {
    request.bytes = static_cast<size_t>(below(8) == 0 ? 0 : 1 + below(largest));
    request.first = below(steps);
    request.last = request.first + below(longest);
    if (some_last && below(3) == 0) request = {request.bytes, 0, INT_MAX};
    request.idle = some_idle && below(3) == 0;
    if (some_fixed && below(4) == 0) {
      request.fixed_offset = fixed_end + static_cast<size_t>(below(3)) * 64;
      fixed_end = request.fixed_offset + (request.bytes + 63) / 64 * 64;
    }
  }
  return requests;
}

// Number of random sets of lifetimes; fewer with AddressSanitizer, which is slower.
#ifdef __SANITIZE_ADDRESS__
constexpr int kRandomSets = 20000;
#else
constexpr int kRandomSets = 100000;
#endif

TEST(Planner, satisfies_all_constraints_on_random_lifetimes) {
  std::mt19937 random(20240601);
  int met = 0, tried = 0;
  for (int round = 0; round < kRandomSets; ++round) {
    const std::vector<BlockRequest> requests = RandomRequests(&random);
    const size_t alignment = size_t{1} << (random() % 7);
    MemoryPlan plan, again;
    ASSERT_TRUE(PlanMemory(requests, alignment, &plan));
    ASSERT_EQ(FindPlanFault(requests, alignment, plan), "") << "round " << round;
    ASSERT_EQ(plan.offsets, PlainOffsets(requests, alignment)) << "round " << round;
    const size_t bound = LivenessLowerBound(requests, alignment);
    ASSERT_EQ(bound, MaxBytesAlive(requests, alignment)) << "round " << round;
    ASSERT_GE(plan.total_bytes, bound) << "round " << round;
    ASSERT_TRUE(PlanMemory(requests, alignment, &again));
    ASSERT_EQ(plan.offsets, again.offsets) << "round " << round;
    ASSERT_EQ(plan.total_bytes, again.total_bytes) << "round " << round;
    const bool free_to_place =
        std::none_of(requests.begin(), requests.end(),
                     [](const BlockRequest& request) { return request.fixed_offset != kNoOffset; });
    tried += free_to_place;
    met += free_to_place && plan.total_bytes == bound;
  }
  RecordProperty("bound_met", met);
  RecordProperty("bound_tried", tried);
  // Placing blocks greedily by size is near optimal; a planner that does not share memory would
  // meet the bound far less often.
  EXPECT_GT(met, tried / 2);
}

TEST(Planner, tightens_plans_and_satisfies_all_constraints) {
  std::mt19937 random(20261126);
  int loose = 0, tightened = 0;
  for (int round = 0; round < kRandomSets; ++round) {
    const std::vector<BlockRequest> requests = RandomRequests(&random);
    const size_t alignment = size_t{1} << (random() % 7);
    MemoryPlan plan;
    ASSERT_TRUE(PlanMemory(requests, alignment, &plan));
    const MemoryPlan before = plan;
    TightenPlan(requests, alignment, &plan);
    ASSERT_EQ(FindPlanFault(requests, alignment, plan), "") << "round " << round;
    ASSERT_LE(plan.total_bytes, before.total_bytes) << "round " << round;
    ASSERT_LE(plan.busy_bytes, before.busy_bytes) << "round " << round;
    const size_t bound = LivenessLowerBound(requests, alignment);
    loose += before.total_bytes > bound + bound / 20;
    tightened += plan.total_bytes < before.total_bytes;
  }
  // About a third of the loose plans can be tightened: blocks around a fixed block often cannot be
  // improved.
  EXPECT_GT(tightened, loose / 4) << loose;
}

// Models with layers computed in strips have large idle blocks, and other blocks that are alive at
// the same time.
TEST(Planner, tightens_idle_blocks_around_fixed_ones) {
  const std::vector<BlockRequest> requests = {
      {1179648, 28, 31, kNoOffset, true}, {1048576, 239, 244}, {262144, 0, INT_MAX}};
  MemoryPlan plan;
  ASSERT_TRUE(PlanMemory(requests, 64, &plan));
  EXPECT_EQ(plan.total_bytes, 2490368u);
  TightenPlan(requests, 64, &plan);
  EXPECT_EQ(plan.total_bytes, LivenessLowerBound(requests, 64));
  EXPECT_EQ(plan.busy_bytes, 1310720u);
  // Blocks with a fixed offset are not moved.
  const std::vector<BlockRequest> fixed = {
      {1179648, 28, 31, kNoOffset, true}, {1048576, 239, 244, 0}, {262144, 0, INT_MAX, 1048576}};
  ASSERT_TRUE(PlanMemory(fixed, 64, &plan));
  TightenPlan(fixed, 64, &plan);
  EXPECT_THAT(plan.offsets, ElementsAre(1310720, 0, 1048576));
}

TEST(Planner, returns_an_empty_plan_for_no_requests) {
  MemoryPlan plan;
  plan.total_bytes = 7;
  ASSERT_TRUE(PlanMemory({}, 64, &plan));
  EXPECT_TRUE(plan.offsets.empty());
  EXPECT_EQ(plan.total_bytes, 0u);
  EXPECT_EQ(LivenessLowerBound({}, 64), 0u);
}

TEST(Planner, alternates_blocks_of_a_chain_and_meets_the_bound) {
  // Lifetimes of a chain: each tensor is read only by the next operator.
  const std::vector<BlockRequest> chain = {
      {100, 0, 1}, {300, 1, 2}, {200, 2, 3}, {300, 3, 4}, {50, 4, 5}};
  MemoryPlan plan;
  ASSERT_TRUE(PlanMemory(chain, 1, &plan));
  EXPECT_THAT(plan.offsets, ElementsAre(300, 0, 300, 0, 300));
  EXPECT_EQ(plan.total_bytes, 500u);
  EXPECT_EQ(LivenessLowerBound(chain, 1), 500u);
}

TEST(Planner, uses_the_smallest_gap_that_fits) {
  // Blocks 0 and 2 end before block 4 begins, while 1 and 3 stay alive: the gaps for the last block
  // have 400 and 200 bytes.
  const std::vector<BlockRequest> requests = {
      {400, 0, 1}, {300, 0, 9}, {200, 0, 1}, {150, 0, 9}, {120, 2, 9}};
  MemoryPlan plan;
  ASSERT_TRUE(PlanMemory(requests, 1, &plan));
  EXPECT_THAT(plan.offsets, ElementsAre(0, 400, 700, 900, 700));
  EXPECT_EQ(plan.total_bytes, 1050u);
}

TEST(Planner, blocks_that_overlap_in_one_position_share_no_memory) {
  // Both ends of a lifetime are inclusive: at step 1 an operator reads the first block and writes
  // the second.
  const std::vector<BlockRequest> requests = {{10, 0, 1}, {10, 1, 2}, {10, 2, 3}};
  MemoryPlan plan;
  ASSERT_TRUE(PlanMemory(requests, 16, &plan));
  EXPECT_THAT(plan.offsets, ElementsAre(0, 16, 0));
  EXPECT_EQ(plan.total_bytes, 32u);
}

TEST(Planner, places_blocks_around_fixed_blocks) {
  const std::vector<BlockRequest> requests = {
      {64, 0, 3, 128}, {64, 0, 1}, {100, 2, 3}, {200, 0, 3}, {30, 4, 4}};
  MemoryPlan plan;
  ASSERT_TRUE(PlanMemory(requests, 64, &plan));
  EXPECT_THAT(plan.offsets, ElementsAre(128, 0, 0, 192, 0));
  EXPECT_EQ(plan.total_bytes, 448u);
}

TEST(Planner, places_idle_blocks_last) {
  std::vector<BlockRequest> requests = {{400, 0, 2}, {100, 0, 1}, {100, 1, 3}, {60, 2, 3}};
  requests[0].idle = requests[3].idle = true;
  MemoryPlan plan;
  ASSERT_TRUE(PlanMemory(requests, 1, &plan));
  EXPECT_THAT(plan.offsets, ElementsAre(200, 0, 100, 0));
  EXPECT_EQ(plan.busy_bytes, 200u);
  EXPECT_EQ(plan.total_bytes, 600u);
}

TEST(Planner, skips_empty_blocks) {
  const std::vector<BlockRequest> requests = {{0, 0, 9}, {8, 0, 9}, {0, 3, 3}};
  MemoryPlan plan;
  ASSERT_TRUE(PlanMemory(requests, 8, &plan));
  EXPECT_THAT(plan.offsets, ElementsAre(0, 0, 0));
  EXPECT_EQ(plan.total_bytes, 8u);
}

TEST(Planner, accepts_positions_at_the_ends_of_the_range) {
  const std::vector<BlockRequest> requests = {{8, INT_MIN, INT_MAX}, {8, 0, INT_MAX}, {8, -1, -1}};
  MemoryPlan plan;
  ASSERT_TRUE(PlanMemory(requests, 8, &plan));
  EXPECT_THAT(plan.offsets, ElementsAre(0, 8, 8));
  EXPECT_EQ(plan.total_bytes, 16u);
}

TEST(Planner, refuses_sizes_that_overflow_and_keeps_the_plan) {
  MemoryPlan plan;
  plan.total_bytes = 7;
  const size_t half = SIZE_MAX / 2 + 1;
  EXPECT_FALSE(PlanMemory(std::vector<BlockRequest>{{SIZE_MAX - 3, 0, 0}}, 64, &plan));
  EXPECT_FALSE(PlanMemory(std::vector<BlockRequest>{{half, 0, 1}, {half, 1, 2}}, 64, &plan));
  EXPECT_FALSE(PlanMemory(std::vector<BlockRequest>{{64, 0, 0, SIZE_MAX - 63}}, 64, &plan));
  EXPECT_EQ(plan.total_bytes, 7u);
  EXPECT_TRUE(plan.offsets.empty());
  const std::vector<BlockRequest> together = {{half, 0, 1}, {half, 1, 2}};
  EXPECT_EQ(LivenessLowerBound(together, 64), SIZE_MAX);
  const std::vector<BlockRequest> apart = {{half, 0, 1}, {half, 2, 3}};
  ASSERT_TRUE(PlanMemory(apart, 64, &plan));
  EXPECT_EQ(plan.total_bytes, half);
  EXPECT_EQ(LivenessLowerBound(apart, 64), half);
}

TEST(Planner, plans_a_million_blocks) {
  // The number of blocks that a hostile model may have; a quadratic search would take minutes.
  std::vector<BlockRequest> chain(1000000);
  for (int i = 0; i < 1000000; ++i) chain[i] = {static_cast<size_t>(1 + i % 97), i, i + 1};
  MemoryPlan plan;
  ASSERT_TRUE(PlanMemory(chain, 64, &plan));
  EXPECT_EQ(plan.total_bytes, LivenessLowerBound(chain, 64));
}

TEST(Planner, packs_blocks_that_are_always_alive) {
  // The number of inputs that a hostile model may have, of one size and of many sizes.
  for (const int sizes : {1, 100000}) {
    std::vector<BlockRequest> inputs(200000);
    for (int i = 0; i < 200000; ++i) {
      inputs[i] = {static_cast<size_t>(1 + i % sizes), 0, INT_MAX};
    }
    MemoryPlan plan;
    ASSERT_TRUE(PlanMemory(inputs, 1, &plan));
    EXPECT_EQ(plan.total_bytes, LivenessLowerBound(inputs, 1));
  }
}

TEST(Planner, packs_short_lifetimes_between_long_ones) {
  // Every other block is always alive; no two of the others are alive at the same step, so they
  // share memory.
  std::vector<BlockRequest> requests(200000);
  for (int i = 0; i < 200000; ++i) {
    const auto bytes = static_cast<size_t>(1 + i % 5000);
    requests[i] = i % 2 == 0 ? BlockRequest{bytes, 0, INT_MAX} : BlockRequest{bytes, i, i + 1};
  }
  MemoryPlan plan;
  ASSERT_TRUE(PlanMemory(requests, 1, &plan));
  EXPECT_EQ(plan.total_bytes, LivenessLowerBound(requests, 1));
}

TEST(Planner, plans_blocks_that_are_almost_always_alive) {
  // 100 000 tensors, each written by an operator of its own and all read by the last one.
  std::vector<BlockRequest> requests(100000);
  for (int i = 0; i < 100000; ++i) requests[i] = {static_cast<size_t>(1 + i % 97), i, 100000};
  MemoryPlan plan;
  ASSERT_TRUE(PlanMemory(requests, 64, &plan));
  EXPECT_EQ(plan.total_bytes, LivenessLowerBound(requests, 64));
  // Some blocks end earlier and leave gaps, and the planner must not search all gaps for every
  // block.
  for (int i = 0; i < 100000; i += 7) requests[i].last = std::max(i, 100000 - i / 2);
  ASSERT_TRUE(PlanMemory(requests, 64, &plan));
  std::vector<size_t> order(requests.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return plan.offsets[a] < plan.offsets[b]; });
  for (size_t i = 1; i < order.size(); ++i) {
    const BlockRequest &a = requests[order[i - 1]], &b = requests[order[i]];
    const bool together = a.first <= b.last && b.first <= a.last;
    ASSERT_FALSE(together && plan.offsets[order[i - 1]] + a.bytes > plan.offsets[order[i]]);
  }
}

}  // namespace
}  // namespace deputy::planner_test
