// SPDX-License-Identifier: Apache-2.0
//
// Tests the timeline of the device: from OpenCL events to the events that the plug-in reports.
#include "gpu_cl/device/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "c_api/include/deputy.h"
#include "c_api/include/deputy_plugin.h"
#include "gpu_cl/delegate.h"
#include "tests/gpu_cl/gpu_delegate_support.h"
#include "tests/gpu_cl/gpu_spy.h"
#include "tests/support/paths.h"
#include "tests/support/test_interpreter.h"

namespace deputy::gpu_cl::gpu_timeline_test {
namespace {

using testing::ElementsAre;

int64_t NowNs() {
  using std::chrono::steady_clock;
  return std::chrono::nanoseconds(steady_clock::now().time_since_epoch()).count();
}

// ---- One queue ----------------------------------------------------------------------------------

// Returns the times of a fake event, which is the index of a command: command n was queued at 1000
// n, began 100 later and took 10 n. Command 3 has no times.
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

TEST(TimelineTest, times_are_converted_to_the_hosts_clock) {
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

TEST(TimelineTest, uncollected_events_are_released) {
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
  TestInterpreter t(ImageModel());
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), gpu.get()), kTfLiteOk) << t.log();
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  EXPECT_TRUE(TakeAll(gpu.get()).empty());
  for (int run = 0; run < 2; ++run) {
    SetImage(&t);
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

TEST_F(GpuEventsTest, no_events_without_profiling) {
  const TestDelegate gpu(spy_->api());
  TestInterpreter t(ImageModel());
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), gpu.get()), kTfLiteOk) << t.log();
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  SetImage(&t);
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_TRUE(TakeAll(gpu.get()).empty());
  EXPECT_EQ(spy_->calls()["GetEventProfilingInfo"], 0);
}

TEST_F(GpuEventsTest, failed_commands_leave_no_event) {
  const TestDelegate gpu(spy_->api(), {{"profiling", "true"}});
  TestInterpreter t(ImageModel());
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), gpu.get()), kTfLiteOk) << t.log();
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  SetImage(&t);
  spy_->Fail("EnqueueNDRangeKernel", 2, CL_OUT_OF_RESOURCES);
  EXPECT_EQ(t.Invoke(), kTfLiteError);
  EXPECT_EQ(spy_->objects()["Event"], 0);
  spy_->Fail("GetEventProfilingInfo", 0, CL_PROFILING_INFO_NOT_AVAILABLE);
  EXPECT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_EQ(spy_->objects()["Event"], 0);
}

// ---- kTfLiteDelegateFlagsPerOperatorProfiling ---------------------------------------------------

TEST_F(GpuEventsTest, the_flag_follows_the_option) {
  EXPECT_EQ(TestDelegate(spy_->api()).get()->flags, 0);
  EXPECT_EQ(TestDelegate(spy_->api(), {{"profiling", "true"}}).get()->flags, 4);
}

// Runs a profiled inference. Returns a text for each event: like "conv_2d CONV_2D 0" for one of an
// operator, like "upload" for one of the partition as a whole. `out_events` receives the events of
// the device.
std::vector<std::string> ProfileOf(const char* profiling, std::vector<std::string>* out_events) {
  DeputyPlugin* plugin = DeputyPluginLoad(BuildPath("libdeputy_gpu.so").c_str());
  EXPECT_NE(plugin, nullptr) << DeputyLastError();
  const char* const keys[] = {"profiling", "device_class", "precision"};
  const char* const values[] = {profiling, "cpu", "fp32"};
  TfLiteDelegate* gpu = DeputyPluginCreateDelegate(plugin, keys, values, 3);
  EXPECT_NE(gpu, nullptr) << DeputyLastError();
  std::vector<std::string> events;
  {
    TestInterpreter t(ImageModel());
    EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), gpu), kTfLiteOk) << t.log();
    EXPECT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    const auto add = [](void* data, const DeputyOpEvent* event) {
      std::string text = std::string(event->detail) + " " + event->operator_name + " " +
                         std::to_string(event->node_index);
      if (event->delegate_node >= 0) {
        EXPECT_STREQ(event->delegate_name, "gpu");
        EXPECT_GE(event->begin_ns, event->node_begin_ns);
        EXPECT_GE(event->duration_ns, 0);
        EXPECT_GT(event->node_duration_ns, 0);
        if (event->node_index == event->delegate_node) text = event->detail;
      }
      static_cast<std::vector<std::string>*>(data)->push_back(text);
    };
    SetImage(&t);
    EXPECT_EQ(t.Invoke(), kTfLiteOk) << t.log();  // this run's events are not reported
    DeputyInterpreterSetProfileCallback(t.get(), add, &events);
    SetImage(&t);
    EXPECT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    const auto take = [](void* data, const DeputyDeviceEvent* event) {
      static_cast<std::vector<std::string>*>(data)->push_back(
          std::string(event->name) + (event->node < 0 ? "" : " " + std::to_string(event->node)));
    };
    EXPECT_EQ(DeputyPluginTakeEvents(gpu, take, out_events), kTfLiteOk) << DeputyLastError();
  }
  DeputyPluginDeleteDelegate(gpu);
  DeputyPluginRelease(plugin);
  return events;
}

TEST_F(GpuEventsTest, operators_of_a_partition_have_events_in_place_of_its_node) {
  std::vector<std::string> taken;
  EXPECT_THAT(ProfileOf("true", &taken),
              ElementsAre("upload", "upload", "copy CONV_2D 0", "conv_2d CONV_2D 0",
                          "pool_2d MAX_POOL_2D 1", "gather GATHER 3", "matmul FULLY_CONNECTED 4",
                          "softmax SOFTMAX 5", "download"));
  // The device's events of both runs are still available, for the same nodes.
  ASSERT_EQ(taken.size(), 18U);
  EXPECT_THAT(std::vector<std::string>(taken.begin() + 9, taken.end()),
              ElementsAre("upload", "upload", "copy 0", "conv_2d 0", "pool_2d 1", "gather 3",
                          "matmul 4", "softmax 5", "download"));
  EXPECT_THAT(ProfileOf("false", &taken), ElementsAre(" TfLiteGpuDelegateV2 6"));
}

}  // namespace
}  // namespace deputy::gpu_cl::gpu_timeline_test
