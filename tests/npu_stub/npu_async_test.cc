// SPDX-License-Identifier: Apache-2.0
//
// Tests the asynchronous kernels of the NPU stub, loaded as a plug-in, through signature runners:
// z = x + y over three float32.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "c_api/include/deputy_graph.h"
#include "c_api/include/interop_attribute_map.h"
#include "tests/support/async_case.h"
#include "tests/support/paths.h"
#include "tests/support/plugin_support.h"
#include "tests/support/run_case.h"

namespace deputy::npu_async_test {
namespace {

using namespace async_case;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StrEq;

constexpr size_t kBytes = 3 * sizeof(float);

Attributes SizedAttributes(size_t bytes, size_t offset = 0, const char* type = "host_memory") {
  Attributes attributes = BufferAttributes(type);
  TfLiteAttributeMapSetSizeTBufferAttr(attributes.get(), kTfLiteBufferAttrKeySize, bytes);
  TfLiteAttributeMapSetSizeTBufferAttr(attributes.get(), kTfLiteBufferAttrKeyOffset, offset);
  return attributes;
}

Attributes SyncAttributes(const char* type) {
  Attributes attributes(TfLiteAttributeMapCreate(kTfLiteAttrMapTypeSync));
  TfLiteAttributeMapSetStringSyncAttr(attributes.get(), kTfLiteSynchronizationAttrKeyObjectTypeName,
                                      type);
  return attributes;
}

bool IsReadable(int descriptor, int timeout_ms) {
  pollfd entry = {descriptor, POLLIN, 0};
  return poll(&entry, 1, timeout_ms) == 1 && (entry.revents & POLLIN) != 0;
}

struct NpuAsync : testing::Test {
  void Build(const Options& options = {}, const char* key = "serve") {
    delegate = CreateExternal(BuildPath("libdeputy_npu_stub.so"), options);
    ASSERT_NE(delegate, nullptr);
    t = std::make_unique<TestInterpreter>(AsyncModel(kTwo));
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t->get(), delegate), kTfLiteOk) << t->log();
    ASSERT_EQ(t->Allocate(), kTfLiteOk) << t->log();
    runner.reset(TfLiteInterpreterGetAsyncSignatureRunner(t->get(), key));
    ASSERT_NE(runner, nullptr) << t->log();
  }
  ~NpuAsync() override {
    runner.reset();
    t.reset();
    TfLiteExternalDelegateDelete(delegate);
  }

  TfLiteBufferHandle Register(void* memory, const Attributes& attributes,
                              TfLiteIoType type = kTfLiteIoTypeInput) {
    const Holder holder(TfLiteBackendBufferCreate());
    TfLiteBackendBufferSetPtr(holder.get(), memory);
    TfLiteBufferHandle handle = -1;
    const TfLiteStatus status = TfLiteAsyncSignatureRunnerRegisterBuffer(
        runner.get(), type, holder.get(), attributes.get(), &handle);
    return status == kTfLiteOk ? handle : -1;
  }

  struct Task {
    std::vector<float> x{1, 2, 3}, y{10, 20, 30}, z{0, 0, 0};
    TfLiteExecutionTask* task = nullptr;
  };
  std::unique_ptr<Task> NewTask(float first = 1) {
    auto added = std::make_unique<Task>();
    added->x[0] = first;
    added->task = TfLiteAsyncSignatureRunnerCreateTask(runner.get());
    const Attributes attributes = SizedAttributes(kBytes);
    TfLiteExecutionTaskSetBufferByIndex(added->task, 0, Register(added->x.data(), attributes));
    TfLiteExecutionTaskSetBufferByIndex(added->task, 1, Register(added->y.data(), attributes));
    TfLiteExecutionTaskSetBufferByIndex(added->task, 2, Register(added->z.data(), attributes));
    return added;
  }
  TfLiteStatus Start(const Task& task) {
    return TfLiteAsyncSignatureRunnerInvokeAsync(runner.get(), task.task);
  }
  TfLiteStatus Wait(const Task& task) {
    return TfLiteAsyncSignatureRunnerWait(runner.get(), task.task);
  }
  TfLiteStatus Finish(const Task& task) {
    return TfLiteAsyncSignatureRunnerFinish(runner.get(), task.task);
  }
  // Makes the tensor's objects eventfds.
  void UseEvents(int tensor) {
    EXPECT_EQ(TfLiteAsyncSignatureRunnerSetAttributesByIndex(runner.get(), tensor,
                                                             SyncAttributes("eventfd").get()),
              kTfLiteOk);
  }
  // Makes the task wait until the returned event is signalled. The kernel closes its own copy.
  int Hold(const Task& task, Sync* sync) {
    const int event = eventfd(0, EFD_CLOEXEC);
    sync->reset(TfLiteSynchronizationCreate());
    TfLiteSynchronizationSetPtr(sync->get(),
                                reinterpret_cast<void*>(static_cast<intptr_t>(dup(event))));
    TfLiteExecutionTaskSetSyncByIndex(task.task, 0, sync->get());
    return event;
  }

  TfLiteDelegate* delegate = nullptr;
  std::unique_ptr<TestInterpreter> t;
  Runner runner;
};

TEST_F(NpuAsync, several_tasks_are_in_flight) {
  Build();
  UseEvents(0);
  UseEvents(2);
  const auto a = NewTask(1), b = NewTask(2), c = NewTask(3);
  Sync sync;
  const Sync out(TfLiteSynchronizationCreate());
  TfLiteExecutionTaskSetSyncByIndex(c->task, 2, out.get());
  const int event = Hold(*a, &sync);
  for (const auto* task : {a.get(), b.get(), c.get()}) ASSERT_EQ(Start(*task), kTfLiteOk);
  EXPECT_EQ(Start(*a), kTfLiteError) << "a task that is running";
  // Tasks keep their order, so that all of them wait for the first one's event.
  const int ready =
      static_cast<int>(reinterpret_cast<intptr_t>(TfLiteSynchronizationGetPtr(out.get())));
  EXPECT_FALSE(IsReadable(ready, 50));
  EXPECT_EQ(eventfd_write(event, 1), 0);
  for (const auto* task : {c.get(), b.get(), a.get()}) EXPECT_EQ(Wait(*task), kTfLiteOk);
  EXPECT_THAT(a->z, ElementsAre(11, 22, 33));
  EXPECT_THAT(b->z, ElementsAre(12, 22, 33));
  EXPECT_THAT(c->z, ElementsAre(13, 22, 33));
  for (const auto* task : {a.get(), b.get(), c.get()}) EXPECT_EQ(Finish(*task), kTfLiteOk);
  close(event);
  close(ready);
}

TEST_F(NpuAsync, outputs_have_events) {
  Build();
  UseEvents(0);
  UseEvents(2);
  const auto a = NewTask();
  Sync in, out(TfLiteSynchronizationCreate());
  const int event = Hold(*a, &in);
  TfLiteExecutionTaskSetSyncByIndex(a->task, 2, out.get());
  ASSERT_EQ(Start(*a), kTfLiteOk);
  const int ready =
      static_cast<int>(reinterpret_cast<intptr_t>(TfLiteSynchronizationGetPtr(out.get())));
  EXPECT_FALSE(IsReadable(ready, 50));
  EXPECT_EQ(eventfd_write(event, 1), 0);
  EXPECT_TRUE(IsReadable(ready, 60'000));
  eventfd_t count = 0;
  EXPECT_EQ(eventfd_read(ready, &count), 0);
  EXPECT_THAT(a->z, ElementsAre(11, 22, 33));
  EXPECT_EQ(Wait(*a), kTfLiteOk);
  EXPECT_EQ(Finish(*a), kTfLiteOk);
  close(event);
  close(ready);
}

TEST_F(NpuAsync, tasks_start_again_and_use_slices) {
  Build();
  const auto a = NewTask();
  std::vector<float> pool(8, 0.0f);
  pool[2] = 5;
  const TfLiteBufferHandle whole = Register(pool.data(), SizedAttributes(32));
  TfLiteBufferHandle slice = -1;
  ASSERT_EQ(TfLiteAsyncSignatureRunnerRegisterBufferSlice(runner.get(), whole,
                                                          SizedAttributes(kBytes, 8).get(), &slice),
            kTfLiteOk);
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(Start(*a), kTfLiteOk);
    EXPECT_EQ(Wait(*a), kTfLiteOk);
    if (i == 0) {
      EXPECT_THAT(a->z, ElementsAre(11, 22, 33));
    } else {
      EXPECT_THAT(a->z, ElementsAre(15, 20, 30));
    }
    TfLiteExecutionTaskSetBufferByIndex(a->task, 0, slice);
  }
  EXPECT_EQ(Finish(*a), kTfLiteOk);
  EXPECT_EQ(TfLiteAsyncSignatureRunnerUnregisterBuffer(runner.get(), slice), kTfLiteOk);
  EXPECT_EQ(TfLiteAsyncSignatureRunnerUnregisterBuffer(runner.get(), slice), kTfLiteError);
}

// The buffers of two signatures are numbered from 0 each.
TEST_F(NpuAsync, signatures_have_buffers_of_their_own) {
  Build();
  const auto a = NewTask(1);
  const Runner first = std::move(runner);
  runner.reset(TfLiteInterpreterGetAsyncSignatureRunner(t->get(), "same"));
  const auto b = NewTask(2);
  EXPECT_EQ(TfLiteExecutionTaskGetBufferByIndex(a->task, 0), 0);
  EXPECT_EQ(TfLiteExecutionTaskGetBufferByIndex(b->task, 0), 0);
  EXPECT_EQ(TfLiteAsyncSignatureRunnerInvokeAsync(first.get(), a->task), kTfLiteOk);
  EXPECT_EQ(Start(*b), kTfLiteOk);
  // The blocking call waits for the device, too.
  t->Set<float>(0, {7, 8, 9});
  t->Set<float>(1, {1, 1, 1});
  EXPECT_EQ(t->Invoke(), kTfLiteOk);
  EXPECT_THAT(t->Get<float>(0), ElementsAre(8, 9, 10));
  EXPECT_EQ(Wait(*b), kTfLiteOk);
  EXPECT_EQ(TfLiteAsyncSignatureRunnerWait(first.get(), a->task), kTfLiteOk);
  EXPECT_THAT(a->z, ElementsAre(11, 22, 33));
  EXPECT_THAT(b->z, ElementsAre(12, 22, 33));
  EXPECT_EQ(TfLiteAsyncSignatureRunnerFinish(first.get(), a->task), kTfLiteOk);
  EXPECT_EQ(Finish(*b), kTfLiteOk);
}

TEST_F(NpuAsync, buffers_and_types_are_checked) {
  Build();
  float memory[3] = {};
  EXPECT_EQ(Register(memory, SizedAttributes(kBytes, 0, "gralloc")), -1);
  EXPECT_EQ(Register(memory, BufferAttributes()), -1) << "no size";
  EXPECT_EQ(Register(nullptr, SizedAttributes(kBytes)), -1);
  const TfLiteBufferHandle whole = Register(memory, SizedAttributes(kBytes));
  TfLiteBufferHandle slice = -1;
  for (const auto& [size, offset] : {std::pair<size_t, size_t>{8, 5}, {13, 0}, {1, SIZE_MAX}}) {
    EXPECT_EQ(TfLiteAsyncSignatureRunnerRegisterBufferSlice(
                  runner.get(), whole, SizedAttributes(size, offset).get(), &slice),
              kTfLiteError);
  }
  const auto a = NewTask();
  for (const TfLiteBufferHandle bad : {TfLiteBufferHandle{kTfLiteNullBufferHandle}, 99,
                                       Register(memory, SizedAttributes(kBytes - 1))}) {
    TfLiteExecutionTaskSetBufferByIndex(a->task, 1, bad);
    t->ClearLog();
    EXPECT_EQ(Start(*a), kTfLiteError) << bad;
    EXPECT_THAT(t->log(), HasSubstr("NPU delegate: asynchronous execution: tensor 1: expected a "));
    EXPECT_EQ(Wait(*a), kTfLiteError);
  }
  EXPECT_EQ(Finish(*a), kTfLiteOk);
  EXPECT_EQ(TfLiteAsyncSignatureRunnerSetAttributesByIndex(runner.get(), 0,
                                                           SyncAttributes("sync_fence").get()),
            kTfLiteError);
  const Attributes merged(TfLiteAttributeMapCreate(kTfLiteAttrMapTypeSync));
  const Attributes conflict(TfLiteAttributeMapCreate(kTfLiteAttrMapTypeSync));
  EXPECT_FALSE(TfLiteAsyncSignatureRunnerReconcileRestrictionsByIndex(
      runner.get(), 0, SyncAttributes("sync_fence").get(), merged.get(), conflict.get()));
  const char* expected = "";
  EXPECT_TRUE(TfLiteAttributeMapGetStringSyncAttr(
      conflict.get(), kTfLiteSynchronizationAttrKeyObjectTypeName, &expected));
  EXPECT_STREQ(expected, "eventfd");
  EXPECT_TRUE(TfLiteAsyncSignatureRunnerReconcileRestrictionsByIndex(
      runner.get(), 0, SyncAttributes("eventfd").get(), merged.get(), conflict.get()));
  const char* const* types = nullptr;
  size_t count = 0;
  EXPECT_EQ(TfLiteAsyncSignatureRunnerGetSupportedBufferTypes(runner.get(), kTfLiteIoTypeOutput,
                                                              &types, &count),
            kTfLiteOk);
  ASSERT_EQ(count, 1u);
  EXPECT_STREQ(types[0], "host_memory");
  EXPECT_EQ(TfLiteAsyncSignatureRunnerPrepareBackends(runner.get()), kTfLiteOk);
}

TEST_F(NpuAsync, a_failing_device_fails_the_task) {
  Build({{"faults", "run"}});
  UseEvents(2);
  const auto a = NewTask();
  const Sync out(TfLiteSynchronizationCreate());
  TfLiteExecutionTaskSetSyncByIndex(a->task, 2, out.get());
  ASSERT_EQ(Start(*a), kTfLiteOk);
  EXPECT_EQ(Wait(*a), kTfLiteError);
  const int ready =
      static_cast<int>(reinterpret_cast<intptr_t>(TfLiteSynchronizationGetPtr(out.get())));
  EXPECT_TRUE(IsReadable(ready, 0));
  close(ready);
  EXPECT_EQ(Finish(*a), kTfLiteOk);
}

// Runs of a whole model need no asynchronous kernel.
TEST_F(NpuAsync, runs_of_whole_models_use_the_npu) {
  Build();
  std::vector<std::unique_ptr<run_case::TestRun>> runs;
  for (int i = 0; i < 5; ++i) {
    const std::vector<float> x = {static_cast<float>(i), 2, 3}, y = {10, 20, 30};
    runs.push_back(std::make_unique<run_case::TestRun>(std::vector<std::vector<float>>{x, y},
                                                       std::vector<size_t>{3}));
    ASSERT_EQ(runs.back()->Start(t->get()), kTfLiteOk) << DeputyLastError();
  }
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(runs[static_cast<size_t>(i)]->Wait(), kTfLiteOk);
    EXPECT_THAT(runs[static_cast<size_t>(i)]->outputs[0],
                ElementsAre(10 + static_cast<float>(i), 22, 33));
  }
}

// The task waits for an event that is never signalled.
TEST_F(NpuAsync, removing_the_delegate_ends_its_tasks) {
  Build();
  UseEvents(0);
  const auto a = NewTask();
  Sync sync;
  const int event = Hold(*a, &sync);
  ASSERT_EQ(Start(*a), kTfLiteOk);
  ASSERT_EQ(DeputyInterpreterRemoveDelegates(t->get()), kTfLiteOk) << t->log();
  EXPECT_EQ(Finish(*a), kTfLiteError);
  EXPECT_THAT(a->z, ElementsAre(0, 0, 0));
  close(event);
}

}  // namespace
}  // namespace deputy::npu_async_test
