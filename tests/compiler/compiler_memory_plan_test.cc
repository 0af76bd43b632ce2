// SPDX-License-Identifier: Apache-2.0
//
// Tests lifetimes of values in graphs built by hand, and compares the memory plan with brute force
// on random intervals: no two values that overlap in time share a byte, each lies within its block,
// and the bounds hold.
#include "compiler/memory_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <string>

#include "compiler/lifetimes.h"
#include "compiler/passes.h"
#include "tests/compiler/graph_builder.h"

namespace deputy::compiler::compiler_memory_plan_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using enum ScalarOp;

constexpr size_t kNoLimit = std::numeric_limits<size_t>::max();

// ---- Lifetimes ----------------------------------------------------------------------------------

TEST(Lifetimes, extend_from_the_producer_to_the_last_consumer) {
  GraphBuilder m;
  const ValueId x = m.Input({4}), unread = m.Input({4});
  const ValueId a = m.Unary(kNeg, x), b = m.Unary(kExp, a), c = m.Binary(kAdd, a, b);
  const ValueId constant = m.Constant({4}, {1, 2, 3, 4});
  const ValueId d = m.Binary(kMul, c, constant);
  m.Output(d);
  m.Output(b);
  const Lifetimes lifetimes = FindLifetimes(m.graph);
  EXPECT_THAT(lifetimes.storage, ElementsAre(x, unread, a, b, c, kNoValue, d));
  EXPECT_THAT(lifetimes.of_storage,
              ElementsAre(Lifetime{0, 0}, Lifetime{0, 0}, Lifetime{0, 2}, Lifetime{1, 3},
                          Lifetime{2, 3}, Lifetime{}, Lifetime{3, 3}));
}

TEST(Lifetimes, are_shared_by_views_of_views) {
  GraphBuilder m;
  const ValueId a = m.Unary(kNeg, m.Input({4})), b = m.Reshaped(a, {2, 2}),
                c = m.Reshaped(b, {1, 4});
  m.Output(m.Unary(kExp, c));
  const Lifetimes lifetimes = FindLifetimes(m.graph);
  EXPECT_EQ(lifetimes.storage[static_cast<size_t>(c)], a);
  EXPECT_EQ(lifetimes.of_storage[static_cast<size_t>(a)], (Lifetime{0, 3}));
  EXPECT_TRUE(lifetimes.of_storage[static_cast<size_t>(b)].empty());
}

TEST(Lifetimes, outputs_have_separate_memory_if_views_need_copies) {
  GraphBuilder m;
  const ValueId x = m.Input({4}), of_input = m.Reshaped(x, {2, 2});
  const ValueId a = m.Unary(kNeg, x), first = m.Reshaped(a, {2, 2}), second = m.Reshaped(a, {4, 1});
  const ValueId of_constant = m.Reshaped(m.Constant({2}, {1, 2}), {1, 2});
  for (ValueId id : {of_input, first, second, of_constant}) m.Output(id);
  const Lifetimes lifetimes = FindLifetimes(m.graph);
  const auto storage = [&](ValueId id) { return lifetimes.storage[static_cast<size_t>(id)]; };
  EXPECT_EQ(storage(of_input), of_input);
  EXPECT_EQ(storage(first), a);
  EXPECT_EQ(storage(second), second);
  EXPECT_EQ(storage(of_constant), of_constant);
}

// ---- The plan -----------------------------------------------------------------------------------

size_t Rounded(size_t bytes, size_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

bool IsNeeded(const Interval& interval) {
  return interval.bytes > 0 && interval.first <= interval.last;
}

// Returns "" if the plan satisfies all requirements, otherwise the problem.
std::string FindPlanFault(const std::vector<Interval>& intervals, size_t alignment,
                          size_t max_block, const MemoryPlan& plan) {
  if (plan.locations.size() != intervals.size()) return "wrong number of places";
  for (size_t i = 0; i < intervals.size(); ++i) {
    const std::string name = "interval " + std::to_string(i);
    const Interval& a = intervals[i];
    const Location& place = plan.locations[i];
    if (!IsNeeded(a)) continue;
    if (place.offset % alignment != 0) return name + " is not aligned";
    const size_t end = place.offset + Rounded(a.bytes, alignment);
    if (end > plan.block_bytes[static_cast<size_t>(place.block)]) return name + " is too far out";
    for (size_t j = 0; j < i; ++j) {
      const Interval& b = intervals[j];
      const Location& other = plan.locations[j];
      if (!IsNeeded(b) || other.block != place.block || a.last < b.first || b.last < a.first) {
        continue;
      }
      if (place.offset < other.offset + Rounded(b.bytes, alignment) && other.offset < end) {
        return name + " overlaps interval " + std::to_string(j);
      }
    }
  }
  size_t total = 0;
  for (size_t bytes : plan.block_bytes) {
    if (bytes > max_block) return "a block is too large";
    total += bytes;
  }
  return total == plan.total_bytes ? "" : "a wrong total";
}

// Returns the maximum number of bytes alive at a step, counted step by step.
size_t MaxBytesAlive(const std::vector<Interval>& intervals, size_t alignment) {
  size_t most = 0;
  for (const Interval& now : intervals) {
    size_t alive = 0;
    for (const Interval& other : intervals) {
      if (IsNeeded(now) && IsNeeded(other) && other.first <= now.first && now.first <= other.last) {
        alive += Rounded(other.bytes, alignment);
      }
    }
    most = std::max(most, alive);
  }
  return most;
}

// Intervals as in a network: most values live for a few steps, some for many.
std::vector<Interval> RandomIntervals(std::mt19937* random, size_t count) {
  std::vector<Interval> intervals;
  for (size_t i = 0; i < count; ++i) {
    const auto first = static_cast<int>(i / 2 + (*random)() % 3);
    const auto length = static_cast<int>((*random)() % 8 == 0 ? (*random)() % 40 : (*random)() % 4);
    const size_t bytes = (*random)() % 5 == 0 ? 0 : (*random)() % 5000;
    intervals.push_back({bytes, first, (*random)() % 16 == 0 ? first - 1 : first + length});
  }
  return intervals;
}

TEST(MemoryPlan, satisfies_all_constraints_for_random_intervals) {
  std::mt19937 random(7);
  double planned = 0, needed = 0;
  for (int n = 0; n < 300 && !HasFailure(); ++n) {
    const std::vector<Interval> intervals = RandomIntervals(&random, random() % 120);
    const size_t alignment = size_t{1} << (random() % 9);
    MemoryPlan plan;
    ASSERT_TRUE(PlanMemory(intervals, alignment, kNoLimit, &plan));
    EXPECT_EQ(FindPlanFault(intervals, alignment, kNoLimit, plan), "");
    EXPECT_EQ(plan.lower_bound, MaxBytesAlive(intervals, alignment));
    EXPECT_GE(plan.total_bytes, plan.lower_bound);
    EXPECT_LE(plan.block_bytes.size(), 1u);
    planned += static_cast<double>(plan.total_bytes);
    needed += static_cast<double>(plan.lower_bound);
  }
  EXPECT_LT(planned, 1.03 * needed);
}

TEST(MemoryPlan, splits_into_blocks_of_a_given_size) {
  std::mt19937 random(8);
  for (int n = 0; n < 100 && !HasFailure(); ++n) {
    const std::vector<Interval> intervals = RandomIntervals(&random, random() % 120);
    MemoryPlan plan;
    ASSERT_TRUE(PlanMemory(intervals, 64, 8192, &plan));
    EXPECT_EQ(FindPlanFault(intervals, 64, 8192, plan), "");
    EXPECT_GE(plan.total_bytes, plan.lower_bound);
  }
}

TEST(MemoryPlan, shares_memory_between_disjoint_lifetimes) {
  // Lifetimes of a chain: each value is read only by the next operation.
  MemoryPlan plan;
  ASSERT_TRUE(PlanMemory(std::vector<Interval>{{100, 0, 1}, {200, 1, 2}, {100, 2, 3}}, 64, kNoLimit,
                         &plan));
  EXPECT_EQ(plan.total_bytes, 384u);
  EXPECT_EQ(plan.lower_bound, 384u);
  EXPECT_THAT(plan.block_bytes, ElementsAre(384u));
}

TEST(MemoryPlan, uses_the_best_of_three_orders) {
  // If the values are placed in order, the third one does not fit into the memory of the first.
  MemoryPlan plan;
  const std::vector<Interval> grows = {{64, 0, 1}, {64, 1, 2}, {128, 2, 3}};
  ASSERT_TRUE(PlanMemory(grows, 64, kNoLimit, &plan));
  EXPECT_EQ(plan.total_bytes, 192u);
  EXPECT_STREQ(plan.order, "by size");
  std::mt19937 random(9);
  std::vector<std::string> orders;
  for (int n = 0; n < 200; ++n) {
    ASSERT_TRUE(PlanMemory(RandomIntervals(&random, 60), 64, kNoLimit, &plan));
    orders.emplace_back(plan.order);
  }
  for (const char* order : {"in order", "by size", "by breadth"}) {
    EXPECT_THAT(orders, Contains(order));
  }
}

TEST(MemoryPlan, handles_many_intervals) {
  std::mt19937 random(10);
  const std::vector<Interval> intervals = RandomIntervals(&random, 50000);
  MemoryPlan plan;
  ASSERT_TRUE(PlanMemory(intervals, 64, kNoLimit, &plan));
  EXPECT_STREQ(plan.order, "in order");
  EXPECT_LT(plan.total_bytes, 2 * plan.lower_bound);
}

// MobileNetV2 at 224 x 224 as the import leaves it: activations, borders and sums are separate
// operations.
class MobileNet {
 public:
  MobileNet() {
    ValueId x = Activated(Conv(maker_.Input({1, 224, 224, 3}), 32, 3, 2));
    constexpr int kBlocks[][4] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                                  {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
    for (const auto& [expansion, channels, count, stride] : kBlocks) {
      for (int i = 0; i < count; ++i) x = Block(x, expansion, channels, i == 0 ? stride : 1);
    }
    x = Activated(Conv(x, 1280, 1, 1));
    x = maker_.Reshaped(maker_.Add(Reduce{ReduceKind::kMean, 6}, {x}, {1, 1, 1, 1280}), {1, 1280});
    x = maker_.Add(MatMul{}, {x, maker_.Weights({1280, 1000}), kNoValue}, {1, 1000});
    maker_.Output(maker_.Add(Softmax{}, {x}, {1, 1000}));
  }
  Graph& graph() { return maker_.graph; }

 private:
  int Channels(ValueId x) const { return maker_.ShapeOf(x)[3]; }

  // Adds the border of a 3x3 window: an explicit one if the stride is two, the window's own padding
  // if it is one.
  ValueId Windowed(ValueId x, int size, int stride, Window* window, Shape* out) {
    window->height = window->width = size;
    window->stride_y = window->stride_x = stride;
    const Shape in = maker_.ShapeOf(x);
    *out = {1, in[1] / stride, in[2] / stride, in[3]};
    if (size == 3 && stride == 2) return maker_.Padded(x, 0, 0, 1, 1);
    if (size == 3) window->top = window->left = window->bottom = window->right = 1;
    return x;
  }
  ValueId Conv(ValueId x, int channels, int size, int stride) {
    Conv2d conv;
    Shape out;
    const ValueId filter = maker_.Weights({channels, size, size, Channels(x)});
    x = Windowed(x, size, stride, &conv.window, &out);
    out[3] = channels;
    return maker_.Add(conv, {x, filter, maker_.Weights({channels})}, out);
  }
  ValueId Depthwise(ValueId x, int stride) {
    DepthwiseConv2d conv;
    Shape out;
    const ValueId filter = maker_.Weights({1, 3, 3, Channels(x)});
    const ValueId bias = maker_.Weights({Channels(x)});
    x = Windowed(x, 3, stride, &conv.window, &out);
    return maker_.Add(conv, {x, filter, bias}, out);
  }
  ValueId Activated(ValueId x) { return maker_.WithNumber(kMin, maker_.WithNumber(kMax, x, 0), 6); }
  ValueId Block(ValueId x, int expansion, int channels, int stride) {
    ValueId y = x;
    if (expansion > 1) y = Activated(Conv(y, expansion * Channels(x), 1, 1));
    y = Conv(Activated(Depthwise(y, stride)), channels, 1, 1);
    return stride == 1 && Channels(x) == channels ? maker_.Binary(kAdd, x, y) : y;
  }

  GraphBuilder maker_;
};

TEST(MemoryPlan, reaches_the_lower_bound_of_mobilenet) {
  MobileNet net;
  RunPasses(&net.graph(), nullptr);
  ASSERT_EQ(FindFault(net.graph()), "");
  // 52 convolutions, the mean, its view, the last product and softmax.
  EXPECT_EQ(net.graph().operations.size(), 56u);
  const Lifetimes lifetimes = FindLifetimes(net.graph());
  std::vector<Interval> intervals;
  for (size_t i = 0; i < net.graph().values.size(); ++i) {
    const Lifetime& lifetime = lifetimes.of_storage[i];
    intervals.push_back({net.graph().values[i].bytes(), lifetime.first, lifetime.last});
  }
  MemoryPlan plan;
  ASSERT_TRUE(PlanMemory(intervals, 128, kNoLimit, &plan));
  EXPECT_EQ(FindPlanFault(intervals, 128, kNoLimit, plan), "");
  // The largest operation makes 96 channels of 56 x 56 pixels from 96 channels of 112 x 112.
  EXPECT_EQ(plan.lower_bound, size_t{4} * 96 * (112 * 112 + 56 * 56));
  EXPECT_EQ(plan.total_bytes, plan.lower_bound);
}

TEST(MemoryPlan, empty_intervals_need_no_memory) {
  MemoryPlan plan;
  ASSERT_TRUE(PlanMemory({}, 64, kNoLimit, &plan));
  EXPECT_EQ(plan.total_bytes, 0u);
  ASSERT_TRUE(PlanMemory(std::vector<Interval>{{0, 0, 3}, {8, 2, 1}}, 64, kNoLimit, &plan));
  EXPECT_THAT(plan.locations, ElementsAre(Location{}, Location{}));
  EXPECT_THAT(plan.block_bytes, IsEmpty());
}

TEST(MemoryPlan, refuses_intervals_larger_than_a_block) {
  MemoryPlan plan;
  plan.total_bytes = 1;
  const size_t half = kNoLimit / 2 + 1;
  EXPECT_FALSE(PlanMemory(std::vector<Interval>{{65, 0, 1}}, 64, 64, &plan));
  EXPECT_FALSE(PlanMemory(std::vector<Interval>{{kNoLimit - 1, 0, 1}}, 64, kNoLimit, &plan));
  EXPECT_FALSE(PlanMemory(std::vector<Interval>{{half, 0, 1}, {half, 2, 3}}, 64, kNoLimit, &plan));
  EXPECT_EQ(plan.total_bytes, 1u);
}

}  // namespace
}  // namespace deputy::compiler::compiler_memory_plan_test
