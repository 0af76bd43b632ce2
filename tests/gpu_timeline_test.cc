// SPDX-License-Identifier: Apache-2.0
//
// When the device did what: from events to what the plug-in hands out.
#include "gpu_cl/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "c_api/include/deputy_plugin.h"
#include "gpu_cl/delegate.h"
#include "tests/gpu_delegate_support.h"
#include "tests/gpu_spy.h"
#include "tests/test_interpreter.h"

namespace deputy::gpu_cl::gpu_timeline_test {
namespace {

using testing::ElementsAre;

int64_t NowNs() {
  using std::chrono::steady_clock;
  return std::chrono::nanoseconds(steady_clock::now().time_since_epoch()).count();
}

// ---- One queue ----------------------------------------------------------------------------------

// An event is the number of a command; command n was queued at 1000 n, began 100 later and took
// 10 n. Number 3 has no times.
cl_int FakeTimes(cl_event event, cl_profiling_info what, size_t, void* value, size_t*) {
  const auto number = reinterpret_cast<uintptr_t>(event);
  if (number == 3) return CL_PROFILING_INFO_NOT_AVAILABLE;
  auto* time = static_cast<cl_ulong*>(value);
  *time = 1000 * number;
  if (what != CL_PROFILING_COMMAND_QUEUED) *time += 100;
  if (what == CL_PROFILING_COMMAND_END) *time += 10 * number;
  return CL_SUCCESS;
}

int released;
cl_int FakeRelease(cl_event) {
  ++released;
  return CL_SUCCESS;
}

TEST(TimelineTest, times_are_those_of_the_events_on_the_hosts_clock) {
  ClApi api;
  api.GetEventProfilingInfo = &FakeTimes;
  api.ReleaseEvent = &FakeRelease;
  released = 0;
  Timeline timeline(&api);
  const int64_t before = NowNs();
  for (uintptr_t n = 1; n <= 4; ++n) {
    *timeline.Next({.name = "n" + std::to_string(n), .kernel = "k", .node = static_cast<int>(n)}) =
        reinterpret_cast<cl_event>(n);
  }
  timeline.Next({.name = "never enqueued", .kernel = ""});
  const int64_t after = NowNs();
  timeline.Collect();
  EXPECT_EQ(released, 4);
  const std::vector<TimedCommand> commands = timeline.Take();
  ASSERT_EQ(commands.size(), 3u);
  EXPECT_GE(commands[0].queued_ns, before);
  EXPECT_LE(commands[0].queued_ns, after);
  for (size_t i = 0; i < 3; ++i) {
    const int n = std::vector<int>{1, 2, 4}[i];
    EXPECT_EQ(commands[i].name, "n" + std::to_string(n));
    EXPECT_EQ(commands[i].node, n);
    EXPECT_EQ(commands[i].queued_ns - commands[0].queued_ns, 1000 * (n - 1));
    EXPECT_EQ(commands[i].begin_ns - commands[i].queued_ns, 100);
    EXPECT_EQ(commands[i].duration_ns, 10 * n);
  }
  EXPECT_TRUE(timeline.Take().empty());
}

TEST(TimelineTest, events_that_nobody_collects_are_released) {
  ClApi api;
  api.ReleaseEvent = &FakeRelease;
  released = 0;
  {
    Timeline timeline(&api);
    *timeline.Next({.name = "a", .kernel = ""}) = reinterpret_cast<cl_event>(uintptr_t{1});
  }
  EXPECT_EQ(released, 1);
}

// ---- The delegate -------------------------------------------------------------------------------

struct Event {
  int first_node, node;
  std::string name, kernel;
  int64_t queued_ns, begin_ns, duration_ns;
};

std::vector<Event> TakeAll(TfLiteDelegate* gpu) {
  std::vector<Event> events;
  const auto add = [](void* data, const DeputyDeviceEvent* event) {
    EXPECT_EQ(event->struct_size, sizeof *event);
    static_cast<std::vector<Event>*>(data)->push_back({event->first_node, event->node, event->name,
                                                       event->kernel, event->queued_ns,
                                                       event->begin_ns, event->duration_ns});
  };
  EXPECT_EQ(TakeEvents(gpu, add, &events), kTfLiteOk);
  return events;
}

class GpuEventsTest : public SpiedDeviceTest {};

TEST_F(GpuEventsTest, every_command_has_an_event_in_its_order) {
  const TestDelegate gpu(spy_->api(), {{"profiling", "true"}, {"device_class", "cpu"}});
  ASSERT_NE(gpu.get(), nullptr) << gpu.error();
  TestInterpreter t(PictureModel());
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), gpu.get()), kTfLiteOk) << t.log();
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  EXPECT_TRUE(TakeAll(gpu.get()).empty());
  for (int run = 0; run < 2; ++run) {
    SetPicture(&t);
    const int64_t before = NowNs();
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    const int64_t after = NowNs();
    const std::vector<Event> events = TakeAll(gpu.get());
    std::vector<std::string> names;
    std::vector<int> nodes;
    int64_t last = before;
    for (const Event& event : events) {
      names.push_back(event.name);
      nodes.push_back(event.node);
      EXPECT_EQ(event.first_node, 0);
      EXPECT_EQ(event.kernel.empty(), event.node < 0) << event.name;
      EXPECT_GE(event.queued_ns, last);
      EXPECT_GE(event.begin_ns, event.queued_ns);
      EXPECT_GE(event.duration_ns, 0);
      EXPECT_LE(event.begin_ns + event.duration_ns, after);
      last = event.queued_ns;
    }
    EXPECT_THAT(names, ElementsAre("upload", "upload", "copy", "conv_2d", "pool_2d", "gather",
                                   "matmul", "softmax", "download"));
    EXPECT_THAT(nodes, ElementsAre(-1, -1, 0, 0, 1, 3, 4, 5, -1));
    EXPECT_TRUE(TakeAll(gpu.get()).empty());
  }
}

TEST_F(GpuEventsTest, without_profiling_there_are_no_events) {
  const TestDelegate gpu(spy_->api());
  TestInterpreter t(PictureModel());
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), gpu.get()), kTfLiteOk) << t.log();
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  SetPicture(&t);
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_TRUE(TakeAll(gpu.get()).empty());
  EXPECT_EQ(spy_->calls()["GetEventProfilingInfo"], 0);
}

TEST_F(GpuEventsTest, what_fails_leaves_no_event_behind) {
  const TestDelegate gpu(spy_->api(), {{"profiling", "true"}});
  TestInterpreter t(PictureModel());
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), gpu.get()), kTfLiteOk) << t.log();
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  SetPicture(&t);
  spy_->Fail("EnqueueNDRangeKernel", 2, CL_OUT_OF_RESOURCES);
  EXPECT_EQ(t.Invoke(), kTfLiteError);
  EXPECT_EQ(spy_->objects()["Event"], 0);
  spy_->Fail("GetEventProfilingInfo", 0, CL_PROFILING_INFO_NOT_AVAILABLE);
  EXPECT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_EQ(spy_->objects()["Event"], 0);
}

}  // namespace
}  // namespace deputy::gpu_cl::gpu_timeline_test
