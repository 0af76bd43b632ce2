// SPDX-License-Identifier: Apache-2.0
//
// Tests tasks whose transfers overlap with the kernels of other tasks. The order of commands is
// derived from wait lists and queues, as the spy logs them: it does not depend on the time that
// commands take.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "c_api/include/async_task.h"
#include "gpu_cl/delegate.h"
#include "gpu_cl/gpu_delegate.h"
#include "tests/gpu_cl/gpu_async_support.h"
#include "tests/gpu_cl/gpu_models.h"
#include "tests/gpu_cl/gpu_spy.h"
#include "tests/support/model_builder.h"

namespace deputy::gpu_cl::gpu_overlap_test {
namespace {

using Tasks = std::vector<std::unique_ptr<AsyncTask>>;

const OptionTexts kOverlapped = {{"overlapped_tasks", "3"}};
const OptionTexts kAlternating = {{"overlapped_tasks", "0"}};

// Positions of a task's commands in the log.
struct TaskCommands {
  size_t write = 0, read = 0;
  std::vector<size_t> kernels;
};

class GpuOverlapTest : public SpiedDeviceTest {
 protected:
  void TearDown() override {
    a_.reset();
    SpiedDeviceTest::TearDown();
  }
  void Build(const std::vector<uint8_t>& model, const OptionTexts& options) {
    a_.reset();
    a_ = std::make_unique<AsyncCase>(spy_->api(), model, options);
    ASSERT_EQ(a_->problem(), "");
  }
  Tasks NewTasks(int count) {
    Tasks tasks;
    for (int seed = 0; seed < count; ++seed) tasks.push_back(a_->NewTask(seed));
    return tasks;
  }
  void ExpectResults(const Tasks& tasks) {
    for (const auto& task : tasks) EXPECT_EQ(a_->Wait(*task), kTfLiteOk) << a_->t().log();
    for (const auto& task : tasks) EXPECT_EQ(a_->Finish(*task), kTfLiteOk);
    for (const auto& task : tasks) EXPECT_EQ(task->outputs, a_->Blocking(*task));
  }
  // Starts and ends tasks of SmallModel, which has one input and one output, and logs them.
  void Log(int count, const OptionTexts& options) {
    Build(SmallModel(), options);
    const Tasks tasks = NewTasks(count);
    spy_->LogCommands();
    for (const auto& task : tasks) ASSERT_EQ(a_->Start(*task), kTfLiteOk) << a_->t().log();
    commands_ = spy_->Commands();
    ExpectResults(tasks);
    tasks_.assign(static_cast<size_t>(count), {});
    size_t writes = 0, reads = 0, kernels = 0;
    const auto all = static_cast<size_t>(
        std::count_if(commands_.begin(), commands_.end(),
                      [](const SpiedCommand& one) { return one.function == "NDRangeKernel"; }));
    ASSERT_GT(all, 0u);
    ASSERT_EQ(all % tasks_.size(), 0u);
    for (size_t i = 0; i < commands_.size(); ++i) {
      const std::string& function = commands_[i].function;
      if (function == "WriteBuffer") tasks_.at(writes++).write = i;
      if (function == "ReadBuffer") tasks_.at(reads++).read = i;
      if (function == "NDRangeKernel") {
        tasks_[kernels++ / (all / tasks_.size())].kernels.push_back(i);
      }
    }
    ASSERT_EQ(writes, tasks_.size());
    ASSERT_EQ(reads, tasks_.size());
  }
  bool Follows(size_t later, size_t earlier) const {
    return gpu_cl::Follows(commands_, later, earlier);
  }

  std::unique_ptr<AsyncCase> a_;
  std::vector<SpiedCommand> commands_;
  std::vector<TaskCommands> tasks_;
};

TEST_F(GpuOverlapTest, transfers_do_not_wait_for_kernels_of_other_tasks) {
  Log(7, kOverlapped);
  std::set<cl_command_queue> queues;
  for (const SpiedCommand& command : commands_) queues.insert(command.queue);
  EXPECT_EQ(queues.size(), 3u);
  for (size_t n = 0; n + 1 < tasks_.size(); ++n) {
    const TaskCommands &task = tasks_[n], &next = tasks_[n + 1];
    EXPECT_FALSE(Follows(next.write, task.read)) << n;
    EXPECT_FALSE(Follows(next.kernels[0], task.read)) << n;
    for (const size_t kernel : task.kernels) EXPECT_FALSE(Follows(next.write, kernel)) << n;
    for (const size_t kernel : next.kernels) EXPECT_FALSE(Follows(task.read, kernel)) << n;
    if (n + 2 >= tasks_.size()) continue;
    EXPECT_FALSE(Follows(tasks_[n + 2].write, task.read))
        << "uploads of two tasks overlap with a download";
  }
}

TEST_F(GpuOverlapTest, commands_wait_for_what_they_need) {
  Log(7, kOverlapped);
  for (size_t n = 0; n < tasks_.size(); ++n) {
    const TaskCommands& task = tasks_[n];
    EXPECT_TRUE(Follows(task.kernels.front(), task.write)) << n;
    EXPECT_TRUE(Follows(task.read, task.kernels.back())) << n;
    if (n > 0) {
      EXPECT_TRUE(Follows(task.kernels.front(), tasks_[n - 1].kernels.back()));
      EXPECT_TRUE(Follows(task.read, tasks_[n - 1].read)) << "tasks end in their order";
    }
    // The third task after this one has its buffers.
    if (n + 3 >= tasks_.size()) continue;
    EXPECT_TRUE(Follows(tasks_[n + 3].write, task.read)) << n;
  }
}

TEST_F(GpuOverlapTest, without_the_option_all_commands_are_in_one_queue) {
  Log(3, kAlternating);
  for (const SpiedCommand& command : commands_) EXPECT_EQ(command.queue, commands_[0].queue);
  EXPECT_TRUE(Follows(tasks_[1].write, tasks_[0].read));
}

TEST_F(GpuOverlapTest, results_equal_those_of_blocking_runs) {
  int partitions = 0;
  for (const char* count : {"1", "2", "3"}) {
    for (const NamedModel& model : TwelveModels()) {
      SCOPED_TRACE(std::string(model.name) + ", overlapped_tasks=" + count);
      a_ = std::make_unique<AsyncCase>(spy_->api(), model.bytes,
                                       OptionTexts{{"overlapped_tasks", count}});
      if (!a_->problem().empty()) continue;
      ++partitions;
      const Tasks tasks = NewTasks(7);
      const int64_t before = Calls("EnqueueNDRangeKernel");
      for (const auto& task : tasks) ASSERT_EQ(a_->Start(*task), kTfLiteOk) << a_->t().log();
      EXPECT_GT(Calls("EnqueueNDRangeKernel"), before);
      ExpectResults(tasks);
    }
  }
  EXPECT_GE(partitions, 24);
}

// The first task waits for an event of the client, so that all tasks are in flight.
TEST_F(GpuOverlapTest, all_tasks_wait_for_the_first_one) {
  Build(SmallModel(), kOverlapped);
  UserEvent event(Of(a_->delegate()).context->context());
  const Tasks tasks = NewTasks(7);
  ASSERT_EQ(a_->UseSync(a_->input(0), "cl_event"), kTfLiteOk);
  const async_case::Sync in(TfLiteSynchronizationCreate());
  EXPECT_EQ(spy_->api()->RetainEvent(event.get()), CL_SUCCESS);
  TfLiteSynchronizationSetPtr(in.get(), event.get());
  TfLiteExecutionTaskSetSyncByIndex(tasks[0]->task, a_->input(0), in.get());
  for (const auto& task : tasks) ASSERT_EQ(a_->Start(*task), kTfLiteOk) << a_->t().log();
  for (const auto& task : tasks) EXPECT_THAT(task->outputs[0], testing::Each(0xee));
  event.Complete();
  ExpectResults(tasks);
}

// Each task reads the host memory that the former task writes.
TEST_F(GpuOverlapTest, a_task_reads_what_a_task_in_flight_writes) {
  for (const OptionTexts& options : {kOverlapped, kAlternating}) {
    Build(SmallModel(), options);
    const Tasks tasks = NewTasks(6);
    Bytes& first = tasks[0]->inputs[0];
    const float values[] = {-1, 0, 5, 1};
    ASSERT_EQ(first.size(), sizeof values);
    memcpy(first.data(), values, sizeof values);
    for (size_t i = 1; i < tasks.size(); ++i) {
      Bytes& from = tasks[i - 1]->outputs[0];
      TfLiteExecutionTaskSetBufferByIndex(
          tasks[i]->task, a_->input(0),
          a_->Register(from.data(), BufferOf("host_memory", from.size())));
    }
    spy_->LogCommands();
    for (const auto& task : tasks) ASSERT_EQ(a_->Start(*task), kTfLiteOk) << a_->t().log();
    commands_ = spy_->Commands();
    std::vector<size_t> reads, writes;
    for (size_t i = 0; i < commands_.size(); ++i) {
      if (commands_[i].function == "ReadBuffer") reads.push_back(i);
      if (commands_[i].function == "WriteBuffer") writes.push_back(i);
    }
    ASSERT_EQ(reads.size(), tasks.size());
    for (size_t i = 1; i < tasks.size(); ++i) EXPECT_TRUE(Follows(writes[i], reads[i - 1])) << i;
    for (const auto& task : tasks) EXPECT_EQ(a_->Wait(*task), kTfLiteOk);
    // x becomes max(x + [1, 2, -1, 0.5], 0) * 2.
    float expected[] = {-1, 0, 5, 1};
    const float addends[] = {1, 2, -1, 0.5};
    for (const auto& task : tasks) {
      for (size_t i = 0; i < 4; ++i) expected[i] = std::max(expected[i] + addends[i], 0.0f) * 2;
      EXPECT_EQ(memcmp(task->outputs[0].data(), expected, sizeof expected), 0);
      EXPECT_EQ(a_->Finish(*task), kTfLiteOk);
    }
  }
}

TEST_F(GpuOverlapTest, blocking_runs_and_tasks_alternate) {
  Build(SmallModel(), kOverlapped);
  const Tasks tasks = NewTasks(5);
  std::vector<std::vector<Bytes>> expected;
  for (const auto& task : tasks) expected.push_back(a_->Blocking(*task));
  for (size_t i = 0; i < tasks.size(); ++i) {
    ASSERT_EQ(a_->Start(*tasks[i]), kTfLiteOk);
    EXPECT_EQ(a_->Blocking(*tasks[0]), expected[0]);
  }
  for (size_t i = 0; i < tasks.size(); ++i) {
    EXPECT_EQ(a_->Finish(*tasks[i]), kTfLiteOk);
    EXPECT_EQ(tasks[i]->outputs, expected[i]);
  }
}

// Without memory or queues for transfers, tasks are computed in one queue.
TEST_F(GpuOverlapTest, overlap_is_optional) {
  for (const char* function : {"CreateCommandQueue", "CreateBuffer"}) {
    for (const int64_t index : {0, 1}) {
      Build(SmallModel(), kOverlapped);
      const size_t bytes = DeviceBytes(a_->delegate());
      const Tasks tasks = NewTasks(3);
      spy_->Fail(function, index, CL_MEM_OBJECT_ALLOCATION_FAILURE);
      spy_->LogCommands();
      for (const auto& task : tasks) ASSERT_EQ(a_->Start(*task), kTfLiteOk) << a_->t().log();
      commands_ = spy_->Commands();
      EXPECT_TRUE(spy_->failed());
      for (const SpiedCommand& command : commands_) EXPECT_EQ(command.queue, commands_[0].queue);
      ExpectResults(tasks);
      EXPECT_EQ(DeviceBytes(a_->delegate()), bytes);
    }
  }
}

TEST_F(GpuOverlapTest, memory_of_transfers_is_counted_and_released) {
  Build(SmallModel(), kOverlapped);
  const size_t bytes = DeviceBytes(a_->delegate());
  const Tasks tasks = NewTasks(1);
  ASSERT_EQ(a_->Start(*tasks[0]), kTfLiteOk);
  // One input and one output of 16 bytes for each of three tasks.
  EXPECT_EQ(DeviceBytes(a_->delegate()), bytes + 3 * 32);
  ExpectResults(tasks);
  a_->DeleteInterpreter();
  EXPECT_EQ(DeviceBytes(a_->delegate()), 0u);
}

TEST_F(GpuOverlapTest, profiling_has_the_commands_of_all_queues) {
  Build(SmallModel(), {{"overlapped_tasks", "3"}, {"profiling", "true"}});
  const Tasks tasks = NewTasks(2);
  for (const auto& task : tasks) ASSERT_EQ(a_->Start(*task), kTfLiteOk);
  for (const auto& task : tasks) EXPECT_EQ(a_->Finish(*task), kTfLiteOk);
  std::vector<std::string> names;
  const auto add = [](void* data, const DeputyDeviceEvent* event) {
    static_cast<std::vector<std::string>*>(data)->push_back(event->name);
  };
  EXPECT_EQ(TakeEvents(a_->delegate(), add, &names), kTfLiteOk);
  const auto count = [&](const char* name) { return std::count(names.begin(), names.end(), name); };
  EXPECT_EQ(count("upload"), 2);
  EXPECT_EQ(count("download"), 2);
  EXPECT_EQ(count("copy"), 4);
  EXPECT_GE(names.size(), 10u);
}

TEST_F(GpuOverlapTest, the_default_depends_on_the_device) {
  const TestDelegate automatic(spy_->api()), some(spy_->api(), {{"overlapped_tasks", "5"}});
  ASSERT_NE(automatic.get(), nullptr) << automatic.error();
  EXPECT_EQ(OverlappedTasks(Of(some.get())), 5u);
  Device device = Of(automatic.get()).context->device();
  device.profile.kind = DeviceKind::kCpu;
  GpuDelegate gpu;
  for (const DeviceKind kind :
       {DeviceKind::kCpu, DeviceKind::kIntegratedGpu, DeviceKind::kDiscreteGpu}) {
    device.profile.kind = kind;
    ClStatus status;
    gpu.context = SharedContext::Create(spy_->api(), device, &status);
    ASSERT_NE(gpu.context, nullptr) << status.text;
    EXPECT_EQ(OverlappedTasks(gpu), kind == DeviceKind::kDiscreteGpu ? 3u : 0u);
  }
}

}  // namespace
}  // namespace deputy::gpu_cl::gpu_overlap_test
