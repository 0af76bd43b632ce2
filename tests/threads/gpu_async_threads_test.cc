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
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "c_api/include/deputy_graph.h"
#include "c_api/include/interop_attribute_map.h"
#include "tests/gpu_cl/gpu_spy.h"
#include "tests/support/async_case.h"
#include "tests/support/paths.h"
#include "tests/support/plugin_support.h"

namespace deputy::gpu_cl::gpu_async_threads_test {
namespace {

using namespace async_case;

constexpr size_t kBytes = 3 * sizeof(float);
constexpr int kZ = 2;  // the output of AsyncModel

void* PointerOf(int descriptor) {
  return reinterpret_cast<void*>(static_cast<intptr_t>(descriptor));
}

// z = x + y on an interpreter of its own, with three tasks.
class GpuRunner {
 public:
  struct Task {
    std::array<float, 3> x{1, 2, 3}, y{10, 20, 30}, z{0, 0, 0};
    TfLiteExecutionTask* task = nullptr;
    Sync in{TfLiteSynchronizationCreate()}, out{TfLiteSynchronizationCreate()};
  };

  explicit GpuRunner(TfLiteDelegate* delegate) : t_(AsyncModel(kServe)) {
    EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t_.get(), delegate), kTfLiteOk) << t_.log();
    EXPECT_EQ(t_.Allocate(), kTfLiteOk) << t_.log();
    runner_.reset(TfLiteInterpreterGetAsyncSignatureRunner(t_.get(), "serve"));
    for (const int tensor : {0, kZ}) {
      const Attributes type(TfLiteAttributeMapCreate(kTfLiteAttrMapTypeSync));
      TfLiteAttributeMapSetStringSyncAttr(type.get(), kTfLiteSynchronizationAttrKeyObjectTypeName,
                                          "eventfd");
      EXPECT_EQ(TfLiteAsyncSignatureRunnerSetAttributesByIndex(runner_.get(), tensor, type.get()),
                kTfLiteOk)
          << t_.log();
    }
    for (size_t i = 0; i < tasks_.size(); ++i) {
      Task& task = tasks_[i];
      task.x[0] = static_cast<float>(i);
      task.task = TfLiteAsyncSignatureRunnerCreateTask(runner_.get());
      Use(task, 0, task.x.data()), Use(task, 1, task.y.data()), Use(task, kZ, task.z.data());
      TfLiteExecutionTaskSetSyncByIndex(task.task, 0, task.in.get());
      TfLiteExecutionTaskSetSyncByIndex(task.task, kZ, task.out.get());
    }
  }
  ~GpuRunner() {
    for (Task& task : tasks_) TfLiteAsyncSignatureRunnerFinish(runner_.get(), task.task);
  }
  GpuRunner(const GpuRunner&) = delete;
  GpuRunner& operator=(const GpuRunner&) = delete;

  std::array<Task, 3>& tasks() { return tasks_; }
  TfLiteAsyncSignatureRunner* get() { return runner_.get(); }
  TfLiteInterpreter* interpreter() { return t_.get(); }

 private:
  void Use(const Task& task, int tensor, void* memory) {
    const Attributes attributes = BufferAttributes();
    TfLiteAttributeMapSetSizeTBufferAttr(attributes.get(), kTfLiteBufferAttrKeySize, kBytes);
    const Holder holder(TfLiteBackendBufferCreate());
    TfLiteBackendBufferSetPtr(holder.get(), memory);
    TfLiteBufferHandle handle = -1;
    EXPECT_EQ(TfLiteAsyncSignatureRunnerRegisterBuffer(runner_.get(), kTfLiteIoTypeInput,
                                                       holder.get(), attributes.get(), &handle),
              kTfLiteOk);
    TfLiteExecutionTaskSetBufferByIndex(task.task, tensor, handle);
  }

  TestInterpreter t_;
  Runner runner_;
  std::array<Task, 3> tasks_;
};

class GpuAsyncThreads : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = NoDeviceReason(); !reason.empty()) GTEST_SKIP() << reason;
    delegate_ = Handle(CreateExternal(BuildPath("libdeputy_gpu.so")), TfLiteExternalDelegateDelete);
    ASSERT_NE(delegate_, nullptr);
  }
  Handle delegate_{nullptr, TfLiteExternalDelegateDelete};
};

// Each task has a thread that starts it and waits for the eventfd of its output or for the task.
// Every third start waits for an eventfd, which another thread signals.
TEST_F(GpuAsyncThreads, tasks_of_several_interpreters_and_threads) {
  constexpr int kInterpreters = 2, kRuns = 30;
  std::vector<std::unique_ptr<GpuRunner>> runners;
  for (int i = 0; i < kInterpreters; ++i) {
    runners.push_back(std::make_unique<GpuRunner>(delegate_.get()));
  }
  std::array<int, 3 * kInterpreters> failures{};
  const auto run = [&](GpuRunner& runner, GpuRunner::Task& task, int number) {
    const bool waits = number % 3 == 0;
    const int event = eventfd(0, EFD_CLOEXEC);
    TfLiteSynchronizationSetPtr(task.in.get(), waits ? PointerOf(dup(event)) : nullptr);
    if (TfLiteAsyncSignatureRunnerInvokeAsync(runner.get(), task.task) != kTfLiteOk) return false;
    std::thread signals([&] { eventfd_write(event, 1); });
    const int ready =
        static_cast<int>(reinterpret_cast<intptr_t>(TfLiteSynchronizationGetPtr(task.out.get())));
    pollfd entry = {ready, POLLIN, 0};
    bool is_done = number % 2 == 0 || poll(&entry, 1, 60'000) == 1;
    std::thread waits_too([&] { TfLiteAsyncSignatureRunnerWait(runner.get(), task.task); });
    is_done = TfLiteAsyncSignatureRunnerWait(runner.get(), task.task) == kTfLiteOk && is_done;
    signals.join();
    waits_too.join();
    close(event);
    close(ready);
    return is_done && task.z[0] == task.x[0] + 10 && task.z[2] == 33;
  };
  std::vector<std::thread> threads;
  for (size_t i = 0; i < failures.size(); ++i) {
    threads.emplace_back([&, i] {
      GpuRunner& runner = *runners[i / 3];
      for (int n = 0; n < kRuns; ++n) {
        failures[i] += run(runner, runner.tasks()[i % 3], n + static_cast<int>(i)) ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(failures, testing::Each(0));
}

// Nodes are freed while tasks are in flight.
TEST_F(GpuAsyncThreads, removal_of_the_delegate_with_tasks_in_flight) {
  for (int n = 0; n < 20; ++n) {
    GpuRunner runner(delegate_.get());
    for (GpuRunner::Task& task : runner.tasks()) {
      ASSERT_EQ(TfLiteAsyncSignatureRunnerInvokeAsync(runner.get(), task.task), kTfLiteOk);
      close(static_cast<int>(
          reinterpret_cast<intptr_t>(TfLiteSynchronizationGetPtr(task.out.get()))));
    }
    ASSERT_EQ(DeputyInterpreterRemoveDelegates(runner.interpreter()), kTfLiteOk);
    for (const GpuRunner::Task& task : runner.tasks()) EXPECT_EQ(task.z[2], 33);
  }
}

}  // namespace
}  // namespace deputy::gpu_cl::gpu_async_threads_test
