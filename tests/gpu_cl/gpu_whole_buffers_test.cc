// SPDX-License-Identifier: Apache-2.0
//
// Tests the memory plan in which values reuse whole buffers in sequence, and the staging of large
// inputs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "gpu_cl/run/exec.h"
#include "gpu_cl/run/whole_buffers.h"
#include "tests/compiler/graph_builder.h"
#include "tests/gpu_cl/gpu_delegate_support.h"
#include "tests/gpu_cl/gpu_matrix_units.h"

namespace deputy::gpu_cl::gpu_whole_buffers_test {
namespace {

using compiler::GraphBuilder;
using compiler::Interval;
using compiler::MemoryPlan;
using compiler::ScalarOp;
using compiler::ValueId;
using testing::ElementsAre;

constexpr size_t kNoLimit = SIZE_MAX;

TEST(GpuWholeBuffersTest, a_chain_needs_two_growing_blocks) {
  MemoryPlan plan;
  const Interval chain[] = {{100, 0, 1}, {50, 1, 2}, {300, 2, 3}, {10, 3, 4}, {60, 4, 4}};
  ASSERT_TRUE(PlanWholeBuffers(chain, 16, kNoLimit, &plan));
  EXPECT_THAT(plan.block_bytes, ElementsAre(304, 64));
  EXPECT_EQ(plan.total_bytes, 368u);
  // The smallest buffer that is large enough is used.
  const Interval free[] = {{100, 0, 0}, {200, 0, 0}, {300, 0, 0}, {150, 1, 1}};
  ASSERT_TRUE(PlanWholeBuffers(free, 4, kNoLimit, &plan));
  EXPECT_EQ(plan.locations[3].block, 1);
}

TEST(GpuWholeBuffersTest, unused_or_too_large_intervals_have_no_block) {
  MemoryPlan plan;
  const Interval none[] = {{100, 0, -1}};
  ASSERT_TRUE(PlanWholeBuffers(none, 16, kNoLimit, &plan));
  EXPECT_TRUE(plan.block_bytes.empty());
  const Interval large[] = {{1 << 20, 0, 1}};
  EXPECT_FALSE(PlanWholeBuffers(large, 16, 1 << 20, &plan));
  EXPECT_TRUE(PlanWholeBuffers(large, 16, (1 << 20) + 16, &plan));
}

TEST(GpuWholeBuffersTest, intervals_that_overlap_never_share_a_block) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<Interval> intervals(random() % 30);
    size_t unshared = 0;
    for (Interval& interval : intervals) {
      interval.first = static_cast<int>(random() % 20);
      interval.last = interval.first + static_cast<int>(random() % 6) - 1;
      interval.bytes = 1 + random() % 1000;
      unshared += interval.bytes + 63;
    }
    MemoryPlan plan;
    ASSERT_TRUE(PlanWholeBuffers(intervals, 64, kNoLimit, &plan));
    for (size_t i = 0; i < intervals.size(); ++i) {
      const Interval& a = intervals[i];
      if (a.last < a.first) continue;
      EXPECT_EQ(plan.locations[i].offset, 0u);
      EXPECT_GE(plan.block_bytes[static_cast<size_t>(plan.locations[i].block)], a.bytes);
      for (size_t j = 0; j < i; ++j) {
        const Interval& b = intervals[j];
        const bool overlap = b.first <= b.last && a.first <= b.last && b.first <= a.last;
        EXPECT_FALSE(overlap && plan.locations[i].block == plan.locations[j].block);
      }
    }
    EXPECT_LE(plan.total_bytes, unshared);
  }
}

class GpuWholeBuffersOfDeviceTest : public SpiedDeviceTest {};

TEST_F(GpuWholeBuffersOfDeviceTest, are_not_split_if_sub_buffers_are_slow) {
  GraphBuilder g;
  const ValueId x = g.Input({1000});
  ValueId y = x;
  for (int i = 0; i < 5; ++i) y = g.Binary(ScalarOp::kSub, g.Unary(ScalarOp::kNeg, y), x);
  g.Output(y);
  for (const bool is_slow : {false, true}) {
    Device device = NewContext()->device();
    device.profile.slow_sub_buffers = is_slow;
    ClStatus status;
    auto context = SharedContext::Create(spy_->api(), device, &status);
    ASSERT_NE(context, nullptr) << status.text;
    const int64_t before = Calls("CreateSubBuffer");
    const auto executor = Executor::Create(context, g.graph, {}, &status);
    ASSERT_NE(executor, nullptr) << status.text;
    EXPECT_EQ(Calls("CreateSubBuffer") > before, !is_slow);
    const std::vector<float> in(1000, 2);
    std::vector<float> out(1000);
    const InputLocation inputs[] = {{in.data(), nullptr}};
    const OutputLocation outputs[] = {{out.data(), nullptr}};
    status = executor->Run(inputs, outputs);
    ASSERT_TRUE(status.ok()) << status.text;
    EXPECT_EQ(out, std::vector<float>(1000, -4));
  }
}

// ---- Large inputs -------------------------------------------------------------------------------

// Uploads large inputs in pieces through pinned memory; without pinned memory, they are uploaded
// directly.
TEST_F(GpuWholeBuffersOfDeviceTest, large_inputs_of_discrete_devices_are_staged) {
  constexpr int kCount = (9 << 20) / sizeof(float) + 5;
  GraphBuilder g;
  g.Output(g.Unary(ScalarOp::kNeg, g.Input({kCount})));
  std::vector<float> in(kCount), out(kCount);
  for (int i = 0; i < kCount; ++i) in[static_cast<size_t>(i)] = static_cast<float>(i);
  Device device = NewContext()->device();
  ReportAsNvidia(&device.profile);
  if (!Staging::IsFaster(device.profile, in.size() * sizeof(float))) {
    GTEST_SKIP() << "the machine has too few threads";
  }
  ClStatus status;
  auto context = SharedContext::Create(spy_->api(), device, &status);
  ASSERT_NE(context, nullptr) << status.text;
  for (const char* refused : {"", "EnqueueMapBuffer"}) {
    const auto executor = Executor::Create(context, g.graph, {}, &status);
    ASSERT_NE(executor, nullptr) << status.text;
    if (*refused != '\0') spy_->Fail(refused, 0, CL_MEM_OBJECT_ALLOCATION_FAILURE);
    for (int run = 0; run < 2; ++run) {
      const int64_t before = Calls("EnqueueWriteBuffer");
      const InputLocation inputs[] = {{in.data(), nullptr}};
      const OutputLocation outputs[] = {{out.data(), nullptr}};
      status = executor->Run(inputs, outputs);
      ASSERT_TRUE(status.ok()) << status.text;
      EXPECT_EQ(Calls("EnqueueWriteBuffer") - before, *refused == '\0' ? 5 : 1);
      for (int i = 0; i < kCount; ++i) ASSERT_EQ(out[static_cast<size_t>(i)], -i);
      in[17] = 17;
    }
  }
  EXPECT_FALSE(Staging::IsFaster(device.profile, 1 << 20));
  device.profile.kind = DeviceKind::kIntegratedGpu;
  EXPECT_FALSE(Staging::IsFaster(device.profile, 64 << 20));
}

}  // namespace
}  // namespace deputy::gpu_cl::gpu_whole_buffers_test
