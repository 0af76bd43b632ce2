// SPDX-License-Identifier: Apache-2.0
//
// Tests the asynchronous kernels of the OpenCL delegate: tasks on buffers of the client, their
// events, and failures.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "c_api/include/async_task.h"
#include "c_api/include/deputy.h"
#include "c_api/include/interop_attribute_map.h"
#include "gpu_cl/delegate.h"
#include "gpu_cl/gpu_delegate.h"
#include "tests/gpu_cl/gpu_async_support.h"
#include "tests/gpu_cl/gpu_models.h"
#include "tests/gpu_cl/gpu_spy.h"
#include "tests/support/async_case.h"
#include "tests/support/model_builder.h"

namespace deputy::gpu_cl::gpu_async_test {
namespace {

using async_case::Attributes;
using async_case::Sync;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StrEq;

using Values = std::vector<float>;

Values FloatsOf(const Bytes& bytes) {
  Values values(bytes.size() / sizeof(float));
  memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

class GpuAsyncTest : public SpiedDeviceTest {
 protected:
  void TearDown() override {
    a_.reset();
    SpiedDeviceTest::TearDown();
  }

  // Creates a runner of a model.
  void Build(const std::vector<uint8_t>& model = SmallModel(), const OptionTexts& options = {}) {
    a_.reset();
    a_ = std::make_unique<AsyncCase>(spy_->api(), model, options);
    ASSERT_EQ(a_->problem(), "");
  }
  const ClApi& api() const { return *spy_->api(); }
  cl_context context() const { return Of(a_->delegate()).context->context(); }

  // Makes a task wait for an event. The kernel releases its own reference.
  void WaitFor(const UserEvent& event, const AsyncTask& task, Sync* sync) {
    ASSERT_EQ(a_->UseSync(a_->input(0), "cl_event"), kTfLiteOk);
    sync->reset(TfLiteSynchronizationCreate());
    EXPECT_EQ(api().RetainEvent(event.get()), CL_SUCCESS);
    TfLiteSynchronizationSetPtr(sync->get(), event.get());
    TfLiteExecutionTaskSetSyncByIndex(task.task, a_->input(0), sync->get());
  }
  // Makes a task wait for an eventfd, which is returned. The kernel closes its own descriptor.
  int WaitForEventFd(const AsyncTask& task, Sync* sync) {
    EXPECT_EQ(a_->UseSync(a_->input(0), "eventfd"), kTfLiteOk);
    const int event = eventfd(0, EFD_CLOEXEC);
    sync->reset(TfLiteSynchronizationCreate());
    TfLiteSynchronizationSetPtr(sync->get(), PointerOf(dup(event)));
    TfLiteExecutionTaskSetSyncByIndex(task.task, a_->input(0), sync->get());
    return event;
  }
  // Adds an object of a type to the task's output.
  Sync Signal(const char* type, const AsyncTask& task) {
    EXPECT_EQ(a_->UseSync(a_->output(0), type), kTfLiteOk);
    Sync sync(TfLiteSynchronizationCreate());
    TfLiteExecutionTaskSetSyncByIndex(task.task, a_->output(0), sync.get());
    return sync;
  }
  void ExpectResults(const AsyncTask& task) { EXPECT_EQ(task.outputs, a_->Blocking(task)); }

  std::unique_ptr<AsyncCase> a_;
};

TEST_F(GpuAsyncTest, results_equal_those_of_blocking_runs) {
  int partitions = 0, different = 0;
  for (const NamedModel& model : TwelveModels()) {
    a_.reset();
    a_ = std::make_unique<AsyncCase>(spy_->api(), model.bytes);
    if (!a_->problem().empty()) {
      EXPECT_THAT(a_->problem(), HasSubstr("not fully delegated")) << model.name;
      continue;
    }
    ++partitions;
    std::vector<std::unique_ptr<AsyncTask>> tasks;
    for (int seed = 0; seed < 3; ++seed) tasks.push_back(a_->NewTask(seed));
    const int64_t before = Calls("EnqueueNDRangeKernel");
    for (const auto& task : tasks) ASSERT_EQ(a_->Start(*task), kTfLiteOk) << a_->t().log();
    EXPECT_GT(Calls("EnqueueNDRangeKernel"), before) << model.name;
    for (const auto& task : tasks) {
      EXPECT_EQ(a_->Wait(*task), kTfLiteOk) << model.name << a_->t().log();
      EXPECT_EQ(a_->Finish(*task), kTfLiteOk);
    }
    for (const auto& task : tasks) {
      EXPECT_EQ(task->outputs, a_->Blocking(*task)) << model.name;
    }
    different += tasks[0]->outputs != tasks[1]->outputs ? 1 : 0;
  }
  EXPECT_GE(partitions, 8);
  EXPECT_GE(different, 6) << "results must depend on the inputs";
}

TEST_F(GpuAsyncTest, tasks_wait_for_events_and_keep_their_order) {
  Build();
  UserEvent event(context());
  std::vector<std::unique_ptr<AsyncTask>> tasks;
  for (int i = 0; i < 3; ++i) tasks.push_back(a_->NewTask(i));
  Sync in;
  WaitFor(event, *tasks[0], &in);
  const Sync out = Signal("eventfd", *tasks[2]);
  for (const auto& task : tasks) ASSERT_EQ(a_->Start(*task), kTfLiteOk) << a_->t().log();
  EXPECT_EQ(a_->Start(*tasks[0]), kTfLiteError) << "a task that is running";
  const int ready = DescriptorOf(out.get());
  EXPECT_FALSE(IsReadable(ready));
  EXPECT_THAT(tasks[2]->outputs[0], Each(0xee));
  event.Complete();
  EXPECT_TRUE(IsReadable(ready, 60'000)) << "without a call of Wait";
  EXPECT_EQ(a_->Wait(*tasks[2]), kTfLiteOk);
  // Tasks end in the order of their start, so that the first two have ended, too.
  const std::vector<Bytes> first = tasks[0]->outputs, second = tasks[1]->outputs;
  for (const auto& task : tasks) EXPECT_EQ(a_->Finish(*task), kTfLiteOk);
  EXPECT_EQ(first, a_->Blocking(*tasks[0]));
  EXPECT_EQ(second, a_->Blocking(*tasks[1]));
  ExpectResults(*tasks[2]);
  close(ready);
}

TEST_F(GpuAsyncTest, outputs_have_events_of_opencl) {
  Build();
  UserEvent event(context());
  const auto task = a_->NewTask(1);
  Sync in;
  WaitFor(event, *task, &in);
  const Sync out = Signal("cl_event", *task);
  ASSERT_EQ(a_->Start(*task), kTfLiteOk) << a_->t().log();
  const auto done = static_cast<cl_event>(TfLiteSynchronizationGetPtr(out.get()));
  ASSERT_NE(done, nullptr);
  cl_int state = CL_COMPLETE;
  EXPECT_EQ(
      api().GetEventInfo(done, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, nullptr),
      CL_SUCCESS);
  EXPECT_NE(state, CL_COMPLETE);
  event.Complete();
  EXPECT_EQ(api().WaitForEvents(1, &done), CL_SUCCESS);
  EXPECT_EQ(api().ReleaseEvent(done), CL_SUCCESS);
  const std::vector<Bytes> found = task->outputs;
  EXPECT_EQ(a_->Finish(*task), kTfLiteOk);
  EXPECT_EQ(found, a_->Blocking(*task));
}

TEST_F(GpuAsyncTest, tasks_wait_for_eventfds) {
  Build();
  const auto a = a_->NewTask(1), b = a_->NewTask(2), c = a_->NewTask(3);
  Sync in, late;
  const int event = WaitForEventFd(*a, &in);
  const Sync out = Signal("eventfd", *b);
  ASSERT_EQ(a_->Start(*a), kTfLiteOk);
  ASSERT_EQ(a_->Start(*b), kTfLiteOk);
  const int ready = DescriptorOf(out.get());
  EXPECT_FALSE(IsReadable(ready));
  // An event of OpenCL for an output requires that the commands are enqueued at once.
  const Sync refused = Signal("cl_event", *c);
  EXPECT_EQ(a_->Start(*c), kTfLiteError);
  EXPECT_THAT(a_->t().log(), HasSubstr("GPU delegate: asynchronous execution: a cl_event of an "
                                       "output requires that this and all earlier tasks"));
  EXPECT_EQ(eventfd_write(event, 1), 0);
  EXPECT_EQ(a_->Wait(*b), kTfLiteOk);
  EXPECT_TRUE(IsReadable(ready));
  EXPECT_EQ(a_->Wait(*a), kTfLiteOk);
  EXPECT_EQ(a_->Wait(*c), kTfLiteError);
  EXPECT_EQ(a_->Start(*c), kTfLiteOk) << a_->t().log();
  const auto done = static_cast<cl_event>(TfLiteSynchronizationGetPtr(refused.get()));
  EXPECT_EQ(api().ReleaseEvent(done), CL_SUCCESS);
  for (const auto* task : {a.get(), b.get(), c.get()}) {
    EXPECT_EQ(a_->Finish(*task), kTfLiteOk);
    ExpectResults(*task);
  }
  close(event);
  close(ready);
}

// The end of a pipe whose other end is closed is never readable. Later tasks run.
TEST_F(GpuAsyncTest, a_descriptor_that_cannot_be_waited_for_fails_the_task) {
  Build();
  const auto a = a_->NewTask(1), b = a_->NewTask(2);
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  close(pipe_ends[1]);
  EXPECT_EQ(a_->UseSync(a_->input(0), "eventfd"), kTfLiteOk);
  const Sync in(TfLiteSynchronizationCreate());
  TfLiteSynchronizationSetPtr(in.get(), PointerOf(pipe_ends[0]));
  TfLiteExecutionTaskSetSyncByIndex(a->task, a_->input(0), in.get());
  const Sync out = Signal("eventfd", *a);
  ASSERT_EQ(a_->Start(*a), kTfLiteOk);
  ASSERT_EQ(a_->Start(*b), kTfLiteOk);
  EXPECT_EQ(a_->Wait(*a), kTfLiteError);
  EXPECT_TRUE(IsReadable(DescriptorOf(out.get())));
  close(DescriptorOf(out.get()));
  EXPECT_THAT(a_->t().log(), HasSubstr("cannot wait for an input's eventfd"));
  EXPECT_EQ(a_->Wait(*b), kTfLiteOk);
  EXPECT_THAT(a->outputs[0], Each(0xee));
  EXPECT_EQ(a_->Finish(*a), kTfLiteOk);
  EXPECT_EQ(a_->Finish(*b), kTfLiteOk);
  ExpectResults(*b);
}

TEST_F(GpuAsyncTest, a_task_that_does_not_start_takes_no_object) {
  Build();
  const auto a = a_->NewTask(1);
  Sync in;
  const int event = WaitForEventFd(*a, &in);
  const int given = DescriptorOf(in.get());
  TfLiteExecutionTaskSetBufferByIndex(a->task, a_->output(0), 12345);
  EXPECT_EQ(a_->Start(*a), kTfLiteError);
  const Sync out = Signal("cl_event", *a);
  EXPECT_EQ(a_->Start(*a), kTfLiteError);
  EXPECT_EQ(DescriptorOf(in.get()), given);
  EXPECT_GE(fcntl(given, F_GETFD), 0);
  for (const int invalid : {1'000'000, -1}) {
    const auto b = a_->NewTask(2);
    TfLiteSynchronizationSetPtr(in.get(), PointerOf(invalid));
    TfLiteExecutionTaskSetSyncByIndex(b->task, a_->input(0), in.get());
    EXPECT_EQ(a_->Start(*b), kTfLiteError);
    EXPECT_THAT(a_->t().log(),
                HasSubstr("expected an eventfd, found descriptor " + std::to_string(invalid)));
    EXPECT_EQ(a_->Finish(*b), kTfLiteOk);
  }
  EXPECT_EQ(a_->Finish(*a), kTfLiteOk);
  close(given);
  close(event);
}

TEST_F(GpuAsyncTest, a_started_task_empties_the_objects_of_inputs) {
  Build();
  const auto a = a_->NewTask(1);
  Sync in;
  const int event = WaitForEventFd(*a, &in);
  const int given = DescriptorOf(in.get());
  ASSERT_EQ(eventfd_write(event, 1), 0);
  ASSERT_EQ(a_->Start(*a), kTfLiteOk);
  EXPECT_EQ(TfLiteSynchronizationGetPtr(in.get()), nullptr);
  EXPECT_LT(fcntl(given, F_GETFD), 0);
  ASSERT_EQ(a_->Wait(*a), kTfLiteOk);
  // Another file gets the number of the descriptor; the second start leaves it alone.
  const int other = dup2(event, given);
  ASSERT_EQ(a_->Start(*a), kTfLiteOk);
  EXPECT_EQ(a_->Finish(*a), kTfLiteOk);
  EXPECT_GE(fcntl(other, F_GETFD), 0);
  ExpectResults(*a);
  close(other);
  close(event);
}

// Returns a buffer with these contents. The spy counts it.
ClMemory NewBuffer(const ClApi& api, cl_context context, const Bytes& contents) {
  cl_int code = CL_SUCCESS;
  ClMemory buffer(
      &api, api.CreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, contents.size(),
                             const_cast<uint8_t*>(contents.data()), &code));
  EXPECT_EQ(code, CL_SUCCESS);
  return buffer;
}

TEST_F(GpuAsyncTest, buffers_of_opencl_are_not_copied_to_the_host) {
  Build();
  const auto task = a_->NewTask(4);
  const std::vector<Bytes> expected = a_->Blocking(*task);
  // The input is a slice that begins at byte 8 of a buffer whose first 4 bytes are not registered.
  Bytes padded(12, 0);
  padded.insert(padded.end(), task->inputs[0].begin(), task->inputs[0].end());
  const ClMemory in = NewBuffer(api(), context(), padded);
  const ClMemory out = NewBuffer(api(), context(), task->outputs[0]);
  const TfLiteBufferHandle whole = a_->Register(in.get(), BufferOf("cl_mem", padded.size() - 4, 4));
  TfLiteBufferHandle slice = -1;
  ASSERT_EQ(a_->runner().RegisterBufferSlice(
                whole, BufferOf("cl_mem", task->inputs[0].size(), 8).get(), &slice),
            kTfLiteOk);
  TfLiteExecutionTaskSetBufferByIndex(task->task, a_->input(0), slice);
  TfLiteExecutionTaskSetBufferByIndex(
      task->task, a_->output(0),
      a_->Register(out.get(), BufferOf("cl_mem", task->outputs[0].size())));
  const int64_t reads = Calls("EnqueueReadBuffer"), writes = Calls("EnqueueWriteBuffer");
  ASSERT_EQ(a_->Start(*task), kTfLiteOk) << a_->t().log();
  // Buffers may be unregistered while a task uses them.
  EXPECT_EQ(a_->runner().UnregisterBuffer(slice), kTfLiteOk);
  EXPECT_EQ(a_->runner().UnregisterBuffer(whole), kTfLiteOk);
  EXPECT_EQ(a_->Wait(*task), kTfLiteOk);
  EXPECT_EQ(Calls("EnqueueReadBuffer"), reads);
  EXPECT_EQ(Calls("EnqueueWriteBuffer"), writes);
  EXPECT_EQ(a_->Finish(*task), kTfLiteOk);
  Bytes found(task->outputs[0].size());
  cl_int code = CL_SUCCESS;
  ClQueue queue(&api(), api().CreateCommandQueue(context(), Of(a_->delegate()).context->device().id,
                                                 0, &code));
  EXPECT_EQ(api().EnqueueReadBuffer(queue.get(), out.get(), CL_TRUE, 0, found.size(), found.data(),
                                    0, nullptr, nullptr),
            CL_SUCCESS);
  EXPECT_EQ(found, expected[0]);
  EXPECT_THAT(task->outputs[0], Each(0xee));
}

TEST_F(GpuAsyncTest, buffers_are_checked) {
  Build();
  const auto task = a_->NewTask();
  Bytes& memory = task->inputs[0];
  EXPECT_EQ(a_->Register(memory.data(), BufferOf("gralloc", memory.size())), -1);
  EXPECT_EQ(a_->Register(nullptr, BufferOf("host_memory", memory.size())), -1);
  EXPECT_EQ(a_->Register(memory.data(), async_case::BufferAttributes()), -1) << "no size";
  EXPECT_THAT(a_->t().log(),
              HasSubstr("GPU delegate: asynchronous execution: expected a buffer of the type "
                        "host_memory or cl_mem with address and size"));
  const ClMemory in = NewBuffer(api(), context(), memory);
  a_->t().ClearLog();
  EXPECT_EQ(a_->Register(in.get(), BufferOf("cl_mem", memory.size(), 1)), -1);
  EXPECT_THAT(a_->t().log(), HasSubstr("from offset 1 on, found one of"));
  const TfLiteBufferHandle whole =
      a_->Register(memory.data(), BufferOf("host_memory", memory.size()));
  TfLiteBufferHandle slice = -1, nested = -1;
  for (const auto& [size, offset] : {std::pair<size_t, size_t>{memory.size(), 1}, {1, SIZE_MAX}}) {
    EXPECT_EQ(a_->runner().RegisterBufferSlice(whole, BufferOf("host_memory", size, offset).get(),
                                               &slice),
              kTfLiteError);
  }
  ASSERT_EQ(a_->runner().RegisterBufferSlice(whole, BufferOf("host_memory", 4, 4).get(), &slice),
            kTfLiteOk);
  EXPECT_EQ(a_->runner().RegisterBufferSlice(slice, BufferOf("host_memory", 4).get(), &nested),
            kTfLiteError);
  const auto in_use = [&](TfLiteBufferHandle handle, const std::string& text) {
    TfLiteExecutionTaskSetBufferByIndex(task->task, a_->input(0), handle);
    a_->t().ClearLog();
    EXPECT_EQ(a_->Start(*task), kTfLiteError);
    EXPECT_THAT(a_->t().log(), HasSubstr("GPU delegate: asynchronous execution: tensor " +
                                         std::to_string(a_->input(0)) + ": " + text));
    EXPECT_EQ(a_->Wait(*task), kTfLiteError);
  };
  in_use(99, "expected a registered buffer, found handle 99");
  in_use(slice,
         "expected a buffer of at least " + std::to_string(memory.size()) + " bytes, found 4");
  EXPECT_EQ(a_->runner().UnregisterBuffer(99), kTfLiteError);
  TfLiteExecutionTaskSetBufferByIndex(task->task, a_->input(0), whole);
  EXPECT_EQ(a_->Start(*task), kTfLiteOk);
  EXPECT_EQ(a_->Wait(*task), kTfLiteOk);
  EXPECT_EQ(a_->Finish(*task), kTfLiteOk);
  ExpectResults(*task);
}

TEST_F(GpuAsyncTest, a_slice_of_host_memory_begins_at_its_offset) {
  Build();
  const auto task = a_->NewTask(2);
  Bytes padded(8, 0x7f);
  padded.insert(padded.end(), task->inputs[0].begin(), task->inputs[0].end());
  const TfLiteBufferHandle whole =
      a_->Register(padded.data(), BufferOf("host_memory", padded.size() - 4, 4));
  TfLiteBufferHandle slice = -1;
  ASSERT_EQ(a_->runner().RegisterBufferSlice(
                whole, BufferOf("host_memory", task->inputs[0].size(), 4).get(), &slice),
            kTfLiteOk);
  TfLiteExecutionTaskSetBufferByIndex(task->task, a_->input(0), slice);
  ASSERT_EQ(a_->Start(*task), kTfLiteOk);
  EXPECT_EQ(a_->Wait(*task), kTfLiteOk);
  EXPECT_EQ(a_->Finish(*task), kTfLiteOk);
  ExpectResults(*task);
}

TEST_F(GpuAsyncTest, types_are_negotiated) {
  Build();
  AsyncSignatureRunner& runner = a_->runner();
  for (const TfLiteIoType type : {kTfLiteIoTypeInput, kTfLiteIoTypeOutput}) {
    EXPECT_THAT(*runner.SupportedBufferTypes(type),
                ElementsAre(StrEq("host_memory"), StrEq("cl_mem")));
    EXPECT_THAT(*runner.SupportedSynchronizations(type),
                ElementsAre(StrEq("no_sync_obj"), StrEq("cl_event"), StrEq("eventfd")));
  }
  const int x = a_->input(0);
  const Attributes merged(TfLiteAttributeMapCreate(kTfLiteAttrMapTypeSync));
  const Attributes conflict(TfLiteAttributeMapCreate(kTfLiteAttrMapTypeSync));
  EXPECT_FALSE(
      runner.ReconcileRestrictions(x, SyncOf("sync_fence").get(), merged.get(), conflict.get()));
  const char* expected = "";
  EXPECT_TRUE(TfLiteAttributeMapGetStringSyncAttr(
      conflict.get(), kTfLiteSynchronizationAttrKeyObjectTypeName, &expected));
  EXPECT_STREQ(expected, "cl_event");
  EXPECT_TRUE(
      runner.ReconcileRestrictions(x, SyncOf("eventfd").get(), merged.get(), conflict.get()));
  EXPECT_EQ(a_->UseSync(x, "sync_fence"), kTfLiteError);
  EXPECT_THAT(a_->t().log(), HasSubstr("expected the type no_sync_obj, cl_event or eventfd"));
  EXPECT_EQ(runner.SetAttributes(x, BufferOf("cl_mem", 4).get()), kTfLiteOk);
  EXPECT_EQ(runner.SetAttributes(x, BufferOf("gralloc", 4).get()), kTfLiteError);
  EXPECT_EQ(runner.PrepareBackends(), kTfLiteOk);
  const Attributes buffers(TfLiteAttributeMapCreate(kTfLiteAttrMapTypeBuffer));
  EXPECT_TRUE(runner.ReconcileRestrictions(x, BufferOf("cl_mem", 4).get(), buffers.get(), nullptr));
  const Attributes refused(TfLiteAttributeMapCreate(kTfLiteAttrMapTypeBuffer));
  EXPECT_FALSE(
      runner.ReconcileRestrictions(x, BufferOf("gralloc", 4).get(), buffers.get(), refused.get()));
  EXPECT_TRUE(TfLiteAttributeMapGetStringBufferAttr(
      refused.get(), kTfLiteBufferAttrKeyResourceTypeName, &expected));
  EXPECT_STREQ(expected, "host_memory");
}

// An object has no effect before its type has been set.
TEST_F(GpuAsyncTest, objects_without_a_type_are_ignored) {
  Build();
  const auto task = a_->NewTask(1);
  const Sync sync(TfLiteSynchronizationCreate());
  TfLiteExecutionTaskSetSyncByIndex(task->task, a_->output(0), sync.get());
  ASSERT_EQ(a_->Start(*task), kTfLiteOk);
  EXPECT_EQ(TfLiteSynchronizationGetPtr(sync.get()), nullptr);
  EXPECT_EQ(a_->Finish(*task), kTfLiteOk);
  ExpectResults(*task);
}

// The indices of GATHER are an input.
TEST_F(GpuAsyncTest, an_invalid_input_fails_its_task_only) {
  Build(ImageModel());
  const auto a = a_->NewTask(0), b = a_->NewTask(1), c = a_->NewTask(2);
  const int32_t bad[] = {0, 9, 1};
  memcpy(b->inputs[1].data(), bad, sizeof bad);
  for (const auto* task : {a.get(), b.get(), c.get()}) ASSERT_EQ(a_->Start(*task), kTfLiteOk);
  EXPECT_EQ(a_->Wait(*a), kTfLiteOk);
  EXPECT_EQ(a_->Wait(*b), kTfLiteError);
  EXPECT_THAT(a_->t().log(), HasSubstr("expected indices from 0 to 3, found one out of range"));
  EXPECT_EQ(a_->Wait(*b), kTfLiteError);
  EXPECT_EQ(a_->Wait(*c), kTfLiteOk);
  for (const auto* task : {a.get(), b.get(), c.get()}) EXPECT_EQ(a_->Finish(*task), kTfLiteOk);
  ExpectResults(*a);
  ExpectResults(*c);
}

// The double of clGetEventInfo reports a failure of every event. PoCL 3.1 aborts if a client sets a
// negative status of an event for which a command waits.
TEST_F(GpuAsyncTest, a_failed_event_of_the_client_fails_its_task_only) {
  ClApi changed = api();
  changed.GetEventInfo = [](cl_event, cl_event_info, size_t, void* value, size_t*) -> cl_int {
    *static_cast<cl_int*>(value) = CL_INVALID_VALUE;
    return CL_SUCCESS;
  };
  a_ = std::make_unique<AsyncCase>(std::make_shared<const ClApi>(changed), SmallModel());
  ASSERT_EQ(a_->problem(), "");
  UserEvent event(context());
  const auto a = a_->NewTask(1), b = a_->NewTask(2);
  Sync in;
  WaitFor(event, *a, &in);
  ASSERT_EQ(a_->Start(*a), kTfLiteOk);
  event.Complete();
  spy_->Fail("WaitForEvents", 0, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  EXPECT_EQ(a_->Wait(*a), kTfLiteError);
  EXPECT_THAT(a_->t().log(), HasSubstr("the event of an input has failed: CL_INVALID_VALUE"));
  EXPECT_EQ(a_->Start(*b), kTfLiteOk) << a_->t().log();
  EXPECT_EQ(a_->Wait(*b), kTfLiteOk) << a_->t().log();
  EXPECT_EQ(a_->Finish(*a), kTfLiteOk);
  EXPECT_EQ(a_->Finish(*b), kTfLiteOk);
  ExpectResults(*b);
}

TEST_F(GpuAsyncTest, blocking_runs_follow_tasks_in_flight) {
  Build();
  const auto a = a_->NewTask(1), b = a_->NewTask(2);
  const std::vector<Bytes> expected = a_->Blocking(*b);
  ASSERT_EQ(a_->Start(*a), kTfLiteOk);
  EXPECT_EQ(a_->Blocking(*b), expected);
  EXPECT_EQ(a_->Wait(*a), kTfLiteOk);
  EXPECT_EQ(a_->Finish(*a), kTfLiteOk);
  EXPECT_EQ(a_->Finish(*b), kTfLiteOk);
  ExpectResults(*a);
}

// A model of CONV_2D with a 1x1 filter, for which there are several kernels.
std::vector<uint8_t> PointwiseModel() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, 5, 6, 8}, "x");
  Values weights(size_t{12} * 8);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i % 7) / 4 - 1;
  const int filter = m.AddConstant<float>(kTfLiteFloat32, {12, 1, 1, 8}, weights);
  const int bias = m.AddConstant<float>(kTfLiteFloat32, {12}, Values(12, 0.5f));
  const int y = m.AddTensor(kTfLiteFloat32, {1, 5, 6, 12}, "y");
  m.AddOp(kTfLiteBuiltinConv2d, {x, filter, bias}, {y},
          schema::CreateConv2DOptions(m.fbb(), schema::Padding::SAME, 1, 1));
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

TEST_F(GpuAsyncTest, a_task_uses_fallback_kernels) {
  Build(PointwiseModel());
  const auto task = a_->NewTask(3);
  spy_->Fail("EnqueueNDRangeKernel", 0, CL_INVALID_VALUE);
  EXPECT_EQ(a_->Start(*task), kTfLiteOk) << a_->t().log();
  EXPECT_TRUE(spy_->failed());
  EXPECT_EQ(a_->Wait(*task), kTfLiteOk);
  EXPECT_EQ(a_->Finish(*task), kTfLiteOk);
  ExpectResults(*task);
}

// After the loss of the device tasks fail, and blocking runs have the CPU's results.
TEST_F(GpuAsyncTest, a_lost_device_fails_tasks) {
  Build();
  const auto a = a_->NewTask(1), b = a_->NewTask(2);
  const std::vector<Bytes> expected = a_->Blocking(*a);
  const Sync out = Signal("eventfd", *a);
  ASSERT_EQ(a_->Start(*a), kTfLiteOk);
  spy_->Fail("WaitForEvents", 0, -9999);
  EXPECT_EQ(a_->Wait(*a), kTfLiteError);
  EXPECT_THAT(a_->t().log(), HasSubstr("asynchronous execution: clWaitForEvents"));
  EXPECT_TRUE(IsReadable(DescriptorOf(out.get())));
  close(DescriptorOf(out.get()));
  EXPECT_EQ(a_->Start(*b), kTfLiteError);
  EXPECT_THAT(a_->t().log(), HasSubstr("the device was lost"));
  EXPECT_EQ(a_->Finish(*a), kTfLiteOk);
  EXPECT_EQ(a_->Finish(*b), kTfLiteOk);
  EXPECT_EQ(a_->Blocking(*a), expected);
}

TEST_F(GpuAsyncTest, deletion_waits_for_tasks_in_flight) {
  Build();
  std::vector<std::unique_ptr<AsyncTask>> tasks;
  std::vector<std::vector<Bytes>> expected;
  for (int i = 0; i < 3; ++i) {
    tasks.push_back(a_->NewTask(i));
    expected.push_back(a_->Blocking(*tasks.back()));
  }
  const Sync out = Signal("eventfd", *tasks[2]);
  for (const auto& task : tasks) ASSERT_EQ(a_->Start(*task), kTfLiteOk);
  const int ready = DescriptorOf(out.get());
  ASSERT_EQ(DeputyInterpreterRemoveDelegates(a_->t().get()), kTfLiteOk) << a_->t().log();
  EXPECT_TRUE(IsReadable(ready));
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(tasks[i]->outputs, expected[i]);
    EXPECT_EQ(a_->Finish(*tasks[i]), kTfLiteError);
  }
  close(ready);
}

// The first task waits for an event that is never signalled.
TEST_F(GpuAsyncTest, deletion_ends_tasks_that_wait_for_eventfds) {
  Build();
  const auto a = a_->NewTask(1), b = a_->NewTask(2);
  Sync in;
  const int event = WaitForEventFd(*a, &in);
  const Sync out = Signal("eventfd", *b);
  ASSERT_EQ(a_->Start(*a), kTfLiteOk);
  ASSERT_EQ(a_->Start(*b), kTfLiteOk);
  const int ready = DescriptorOf(out.get());
  ASSERT_EQ(DeputyInterpreterRemoveDelegates(a_->t().get()), kTfLiteOk) << a_->t().log();
  EXPECT_TRUE(IsReadable(ready));
  EXPECT_THAT(a->outputs[0], Each(0xee));
  EXPECT_THAT(b->outputs[0], Each(0xee));
  EXPECT_EQ(a_->Finish(*a), kTfLiteError);
  EXPECT_EQ(a_->Finish(*b), kTfLiteError);
  close(event);
  close(ready);
}

TEST_F(GpuAsyncTest, deletion_ends_the_wait_of_another_thread) {
  Build();
  const auto a = a_->NewTask(1);
  Sync in;
  const int event = WaitForEventFd(*a, &in);
  ASSERT_EQ(a_->Start(*a), kTfLiteOk);
  TfLiteStatus waited = kTfLiteOk;
  std::thread waiter([&] { waited = a_->Wait(*a); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(DeputyInterpreterRemoveDelegates(a_->t().get()), kTfLiteOk) << a_->t().log();
  waiter.join();
  EXPECT_EQ(waited, kTfLiteError);
  EXPECT_EQ(a_->Finish(*a), kTfLiteError);
  close(event);
}

TEST_F(GpuAsyncTest, profiling_has_the_commands_of_tasks) {
  Build(SmallModel(), {{"profiling", "true"}});
  const auto a = a_->NewTask(1), b = a_->NewTask(2);
  std::vector<std::string> names;
  const auto take = [&] {
    names.clear();
    const auto add = [](void* data, const DeputyDeviceEvent* event) {
      static_cast<std::vector<std::string>*>(data)->push_back(event->name);
    };
    EXPECT_EQ(TakeEvents(a_->delegate(), add, &names), kTfLiteOk);
  };
  (void)a_->Blocking(*a);
  take();
  std::vector<std::string> twice = names;
  twice.insert(twice.end(), names.begin(), names.end());
  ASSERT_EQ(a_->Start(*a), kTfLiteOk);
  ASSERT_EQ(a_->Start(*b), kTfLiteOk);
  EXPECT_EQ(a_->Finish(*a), kTfLiteOk);
  EXPECT_EQ(a_->Finish(*b), kTfLiteOk);
  take();
  EXPECT_GE(names.size(), 6u);
  EXPECT_THAT(names, testing::ElementsAreArray(twice));
}

// The runtime finds no kernel for a library without the necessary functions.
TEST_F(GpuAsyncTest, old_libraries_have_no_kernels) {
  ClApi old = api();
  old.SetEventCallback = nullptr;
  const AsyncCase found(std::make_shared<const ClApi>(old), SmallModel());
  EXPECT_THAT(found.problem(), HasSubstr("the OpenCL library lacks clSetEventCallback"));
}

// ---- Failing calls ------------------------------------------------------------------------------

struct Fault {
  std::string function;
  int64_t index = 0;
  cl_int code = CL_SUCCESS;
};

// Three tasks in flight, of which the first has an eventfd. If transfers overlap, the third task
// has the buffers of the first one.
class GpuAsyncFaultTest : public GpuAsyncTest, public testing::WithParamInterface<const char*> {
 protected:
  // Runs the tasks. Returns "" or the problem.
  std::string RunTasks(const std::vector<uint8_t>& model, const std::vector<Bytes>& expected) {
    AsyncCase a(spy_->api(), model, {{"profiling", "true"}, {"overlapped_tasks", GetParam()}});
    if (!a.problem().empty()) return "";  // gpu_every_fault_test.cc tests the preparation
    std::vector<std::unique_ptr<AsyncTask>> tasks;
    for (int i = 0; i < 3; ++i) tasks.push_back(a.NewTask());
    (void)a.UseSync(a.output(0), "eventfd");
    const Sync out(TfLiteSynchronizationCreate());
    TfLiteExecutionTaskSetSyncByIndex(tasks[0]->task, a.output(0), out.get());
    std::string problem;
    std::vector<bool> has_started;
    for (const auto& task : tasks) {
      a.t().ClearLog();
      has_started.push_back(a.Start(*task) == kTfLiteOk);
      if (!has_started.back() && a.t().log().empty()) problem = "no report of the start";
    }
    for (size_t i = 0; i < tasks.size(); ++i) {
      a.t().ClearLog();
      const bool is_done = a.Wait(*tasks[i]) == kTfLiteOk;
      if (is_done && !has_started[i]) problem = "a task that did not start has succeeded";
      if (!is_done && has_started[i] && a.t().log().empty()) problem = "no report of the wait";
      if (is_done && tasks[i]->outputs != expected) problem = "the results are wrong";
    }
    const int ready = DescriptorOf(out.get());
    if (ready != 0 && !IsReadable(ready)) problem = "the output has no event";
    if (ready != 0) close(ready);
    for (const auto& task : tasks) {
      if (a.Finish(*task) != kTfLiteOk) problem = "Finish fails";
    }
    // The policy is Hot: whatever has failed, a blocking run succeeds.
    if (!Matches(a.Blocking(*tasks[0]), expected)) problem = "a blocking run is wrong";
    return problem;
  }

  // The CPU's results may differ in rounding.
  static bool Matches(const std::vector<Bytes>& found, const std::vector<Bytes>& expected) {
    for (size_t i = 0; i < expected.size(); ++i) {
      const Values a = FloatsOf(found[i]), b = FloatsOf(expected[i]);
      for (size_t n = 0; n < b.size(); ++n) {
        if (!(std::abs(a[n] - b[n]) <= 1e-5f)) return false;
      }
    }
    return true;
  }

  std::vector<Bytes> Expected(const std::vector<uint8_t>& model) {
    AsyncCase a(spy_->api(), model);
    const auto task = a.NewTask();
    std::vector<Bytes> expected = a.Blocking(*task);
    EXPECT_EQ(a.Finish(*task), kTfLiteOk);
    return expected;
  }

  std::vector<Fault> AllFaults(const std::vector<uint8_t>& model,
                               const std::vector<Bytes>& expected) {
    std::map<std::string, int64_t> before = spy_->calls();
    EXPECT_EQ(RunTasks(model, expected), "");
    std::vector<Fault> faults;
    for (const auto& [function, count] : spy_->calls()) {
      if (function.starts_with("Release")) continue;
      for (int64_t index = 0; index < count - before[function]; ++index) {
        for (const cl_int code : kFaultCodes) faults.push_back({function, index, code});
      }
    }
    return faults;
  }
};

INSTANTIATE_TEST_SUITE_P(OverlappedTasks, GpuAsyncFaultTest, testing::Values("0", "2"));

TEST_P(GpuAsyncFaultTest, each_failing_call_gives_right_results_or_an_error) {
  for (const auto& model : {SmallModel(), ImageModel()}) {
    const std::vector<Bytes> expected = Expected(model);
    std::vector<Fault> faults = AllFaults(model, expected);
    const size_t all = faults.size();
    EXPECT_GT(all, 200u);
    const char* wanted = std::getenv("DEPUTY_GPU_FAULTS");
    if (wanted == nullptr) {
      std::mt19937 random(20262);  // NOLINT(cert-msc51-cpp): must be reproducible
      std::shuffle(faults.begin(), faults.end(), random);
      faults.resize(std::min<size_t>(60, all));
    }
    for (const Fault& fault : faults) {
      const std::string where = "cl" + fault.function + ", call " + std::to_string(fault.index) +
                                ", " + ClErrorName(fault.code);
      spy_->Fail(fault.function, fault.index, fault.code);
      EXPECT_EQ(RunTasks(model, expected), "") << where;
      EXPECT_TRUE(spy_->failed()) << where;
      spy_->Fail("", -1, CL_SUCCESS);
      EXPECT_EQ(spy_->Unbalanced(), "") << where;
      if (HasFailure()) return;  // later failures may follow from this one
    }
    std::printf("%zu of %zu faults\n", faults.size(), all);
  }
}

}  // namespace
}  // namespace deputy::gpu_cl::gpu_async_test
