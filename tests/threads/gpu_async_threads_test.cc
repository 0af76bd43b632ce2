// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous kernels of the OpenCL delegate, loaded as a plug-in: several interpreters, threads
// and events.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "c_api/include/deputy_graph.h"
#include "tests/gpu_cl/gpu_spy.h"
#include "tests/support/add_tasks.h"
#include "tests/support/paths.h"
#include "tests/support/plugin_support.h"

namespace deputy::gpu_cl::gpu_async_threads_test {
namespace {

class GpuAsyncThreads : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = NoDeviceReason(); !reason.empty()) GTEST_SKIP() << reason;
    delegate_ = Handle(CreateExternal(BuildPath("libdeputy_gpu.so")), TfLiteExternalDelegateDelete);
    ASSERT_NE(delegate_, nullptr);
  }
  Handle delegate_{nullptr, TfLiteExternalDelegateDelete};
};

// Runs a task, which waits for an eventfd if `waits`, and waits for the eventfd of its output if
// `polls`. Returns true if the results are right.
bool RunTask(AddTasks* tasks, AddTasks::Task* task, bool waits, bool polls) {
  task->z = {};
  const int event = eventfd(0, EFD_CLOEXEC);
  TfLiteSynchronizationSetPtr(task->in.get(), waits ? PointerOf(dup(event)) : nullptr);
  if (tasks->Start(*task) != kTfLiteOk) return false;
  std::thread signals([&] { eventfd_write(event, 1); });
  const int ready = DescriptorOf(task->out);
  pollfd entry = {ready, POLLIN, 0};
  const bool is_signalled = !polls || poll(&entry, 1, 60'000) == 1;
  std::thread waits_too([&] { tasks->Wait(*task); });
  const bool is_done = tasks->Wait(*task) == kTfLiteOk;
  signals.join();
  waits_too.join();
  close(event);
  close(ready);
  return is_signalled && is_done && AddTasks::IsComputed(*task);
}

TEST_F(GpuAsyncThreads, tasks_of_several_interpreters_and_threads) {
  constexpr int kRuns = 30;
  // The last two have the tasks of two kernels of one node.
  std::array<std::unique_ptr<AddTasks>, 3> kernels;
  kernels[0] = std::make_unique<AddTasks>(delegate_.get(), true);
  kernels[1] = std::make_unique<AddTasks>(delegate_.get(), true);
  kernels[2] = std::make_unique<AddTasks>(kernels[1].get(), true);
  std::array<int, 9> failures{};
  std::vector<std::thread> threads;
  for (size_t i = 0; i < failures.size(); ++i) {
    threads.emplace_back([&, i] {
      AddTasks* const tasks = kernels[i / 3].get();
      for (size_t n = 0; n < kRuns; ++n) {
        const bool ok = RunTask(tasks, &tasks->tasks()[i % 3], (n + i) % 3 == 0, n % 2 == 0);
        failures[i] += ok ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(failures, testing::Each(0));
}

// Nodes are freed while tasks are in flight.
TEST_F(GpuAsyncThreads, removal_of_the_delegate_with_tasks_in_flight) {
  for (int n = 0; n < 20; ++n) {
    AddTasks tasks(delegate_.get(), true);
    for (const AddTasks::Task& task : tasks.tasks()) {
      ASSERT_EQ(tasks.Start(task), kTfLiteOk);
      close(DescriptorOf(task.out));
    }
    ASSERT_EQ(DeputyInterpreterRemoveDelegates(tasks.t().get()), kTfLiteOk);
    for (const AddTasks::Task& task : tasks.tasks()) EXPECT_TRUE(AddTasks::IsComputed(task));
  }
}

}  // namespace
}  // namespace deputy::gpu_cl::gpu_async_threads_test
