// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous execution by a delegate in C (tests/support/async_delegate.h): kernels, tasks and
// signature runners.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "c_api/include/c_api_opaque.h"
#include "core/async/async_kernel.h"
#include "tests/support/async_case.h"

namespace deputy::async_test {
namespace {

using namespace async_case;
using testing::ElementsAre;

// The fields that upstream's C++ helper for asynchronous kernels sets without calling our
// functions.
static_assert(sizeof(TfLiteAsyncKernel) == 14 * sizeof(void*));
static_assert(offsetof(TfLiteAsyncKernel, register_buffer) == 1 * sizeof(void*));
static_assert(offsetof(TfLiteAsyncKernel, set_buffer_attributes) == 8 * sizeof(void*));
static_assert(offsetof(TfLiteAsyncKernel, finish) == 13 * sizeof(void*));

// ---- Kernels ------------------------------------------------------------------------------------

TEST(AsyncKernel, returns_its_data) {
  int data = 0;
  TfLiteAsyncKernel* const kernel = TfLiteAsyncKernelCreate(&data);
  EXPECT_EQ(TfLiteAsyncKernelGetKernelData(kernel), &data);
  TfLiteAsyncKernelDelete(kernel);
}

TEST(AsyncKernel, functions_accept_null) {
  EXPECT_EQ(TfLiteAsyncKernelGetKernelData(nullptr), nullptr);
  TfLiteAsyncKernelSetRegisterBuffer(nullptr, nullptr);
  TfLiteAsyncKernelSetRegisterBufferSlice(nullptr, nullptr);
  TfLiteAsyncKernelSetUnregisterBuffer(nullptr, nullptr);
  TfLiteAsyncKernelSetSupportedBufferTypes(nullptr, nullptr);
  TfLiteAsyncKernelSetSupportedSynchronizations(nullptr, nullptr);
  TfLiteAsyncKernelSetReconcileRestrictions(nullptr, nullptr);
  TfLiteAsyncKernelSetSetAttributes(nullptr, nullptr);
  TfLiteAsyncKernelSetSetBufferAttributes(nullptr, nullptr);
  TfLiteAsyncKernelSetGetBufferAttributes(nullptr, nullptr);
  TfLiteAsyncKernelSetPrepare(nullptr, nullptr);
  TfLiteAsyncKernelSetEval(nullptr, nullptr);
  TfLiteAsyncKernelSetWait(nullptr, nullptr);
  TfLiteAsyncKernelSetFinish(nullptr, nullptr);
  TfLiteAsyncKernelDelete(nullptr);
}

TEST(AsyncKernel, attribute_functions_of_buffers_are_stored) {
  TfLiteAsyncKernel* const kernel = TfLiteAsyncKernelCreate(nullptr);
  TfLiteAsyncKernelSetSetBufferAttributes(
      kernel, [](TfLiteAsyncKernel*, const TfLiteBackendBuffer*, const TfLiteAttributeMap*) {
        return kTfLiteCancelled;
      });
  TfLiteAsyncKernelSetGetBufferAttributes(
      kernel, [](TfLiteAsyncKernel*, const TfLiteBackendBuffer*, TfLiteAttributeMap*) {
        return kTfLiteDelegateError;
      });
  EXPECT_EQ(kernel->set_buffer_attributes(kernel, nullptr, nullptr), kTfLiteCancelled);
  EXPECT_EQ(kernel->get_buffer_attributes(kernel, nullptr, nullptr), kTfLiteDelegateError);
  TfLiteAsyncKernelDelete(kernel);
}

// ---- Tasks --------------------------------------------------------------------------------------

TEST_F(Async, tasks_have_buffers_by_name_and_index) {
  Build();
  TfLiteExecutionTask* const task = CreateTask();
  EXPECT_EQ(TfLiteExecutionTaskGetBufferByName(task, kTfLiteIoTypeInput, "left"), -1);
  EXPECT_EQ(TfLiteExecutionTaskSetBuffer(task, kTfLiteIoTypeInput, "left", 42), kTfLiteOk);
  EXPECT_EQ(TfLiteExecutionTaskSetBuffer(task, kTfLiteIoTypeInput, "right", 43), kTfLiteOk);
  EXPECT_EQ(TfLiteExecutionTaskSetBuffer(task, kTfLiteIoTypeOutput, "sum", 44), kTfLiteOk);
  EXPECT_EQ(TfLiteExecutionTaskGetBufferByName(task, kTfLiteIoTypeInput, "left"), 42);
  EXPECT_EQ(TfLiteExecutionTaskGetBufferByName(task, kTfLiteIoTypeInput, "right"), 43);
  EXPECT_EQ(TfLiteExecutionTaskGetBufferByName(task, kTfLiteIoTypeOutput, "sum"), 44);
  EXPECT_EQ(TfLiteExecutionTaskGetBufferByIndex(task, 0), 42);
  EXPECT_EQ(TfLiteExecutionTaskGetBufferByIndex(task, 1), 43);
  EXPECT_EQ(TfLiteExecutionTaskGetBufferByIndex(task, 2), 44);
  EXPECT_EQ(TfLiteExecutionTaskSetBufferByIndex(task, 1, 12), kTfLiteOk);
  EXPECT_EQ(TfLiteExecutionTaskGetBufferByName(task, kTfLiteIoTypeInput, "right"), 12);
  EXPECT_EQ(TfLiteExecutionTaskGetBufferByIndex(task, -5), -1);
  EXPECT_EQ(TfLiteExecutionTaskGetBufferByIndex(task, 1000), -1);
  EXPECT_EQ(Finish(task), kTfLiteOk);
}

TEST_F(Async, tasks_have_synchronisation_objects_by_name_and_index) {
  Build();
  const Sync sync(TfLiteSynchronizationCreate()), other(TfLiteSynchronizationCreate());
  TfLiteExecutionTask* const task = CreateTask();
  EXPECT_EQ(TfLiteExecutionTaskGetSyncByName(task, kTfLiteIoTypeInput, "left"), nullptr);
  EXPECT_EQ(TfLiteExecutionTaskSetSync(task, kTfLiteIoTypeInput, "left", sync.get()), kTfLiteOk);
  EXPECT_EQ(TfLiteExecutionTaskSetSyncByIndex(task, 2, other.get()), kTfLiteOk);
  EXPECT_EQ(TfLiteExecutionTaskGetSyncByIndex(task, 0), sync.get());
  EXPECT_EQ(TfLiteExecutionTaskGetSyncByIndex(task, 1), nullptr);
  EXPECT_EQ(TfLiteExecutionTaskGetSyncByName(task, kTfLiteIoTypeOutput, "sum"), other.get());
  EXPECT_EQ(TfLiteExecutionTaskGetBufferByIndex(task, 0), -1);
  EXPECT_EQ(TfLiteExecutionTaskSetSync(task, kTfLiteIoTypeInput, "left", nullptr), kTfLiteOk);
  EXPECT_EQ(TfLiteExecutionTaskGetSyncByIndex(task, 0), nullptr);
  EXPECT_EQ(Finish(task), kTfLiteOk);
}

TEST_F(Async, tasks_refuse_unknown_and_null_names) {
  Build();
  const Sync sync(TfLiteSynchronizationCreate());
  TfLiteExecutionTask* const task = CreateTask();
  for (const char* const name : {"x", "sum", "", static_cast<const char*>(nullptr)}) {
    EXPECT_EQ(TfLiteExecutionTaskSetBuffer(task, kTfLiteIoTypeInput, name, 1), kTfLiteError);
    EXPECT_EQ(TfLiteExecutionTaskSetSync(task, kTfLiteIoTypeInput, name, sync.get()), kTfLiteError);
    EXPECT_EQ(TfLiteExecutionTaskGetBufferByName(task, kTfLiteIoTypeInput, name), -1);
    EXPECT_EQ(TfLiteExecutionTaskGetSyncByName(task, kTfLiteIoTypeInput, name), nullptr);
  }
  EXPECT_EQ(TfLiteExecutionTaskSetBuffer(task, kTfLiteIoTypeOutput, "left", 1), kTfLiteError);
  // Upstream treats all types but input as output.
  EXPECT_EQ(TfLiteExecutionTaskSetBuffer(task, kTfLiteIoTypeUnknown, "sum", 9), kTfLiteOk);
  EXPECT_EQ(TfLiteExecutionTaskGetBufferByIndex(task, 2), 9);
  EXPECT_EQ(Finish(task), kTfLiteOk);
}

TEST_F(Async, tasks_store_a_status_and_a_pointer) {
  Build();
  TfLiteExecutionTask* const task = CreateTask();
  EXPECT_EQ(TfLiteExecutionTaskGetStatus(task), kTfLiteOk);
  TfLiteExecutionTaskSetStatus(task, kTfLiteDelegateError);
  EXPECT_EQ(TfLiteExecutionTaskGetStatus(task), kTfLiteDelegateError);
  EXPECT_EQ(Wait(task), kTfLiteDelegateError);  // not started: the latest status
  EXPECT_EQ(script_.calls[kAsyncWait], 0);
  EXPECT_EQ(TfLiteExecutionTaskGetDelegateExecutionData(task, nullptr), nullptr);
  int data = 0;
  TfLiteExecutionTaskSetDelegateExecutionData(task, nullptr, &data);
  EXPECT_EQ(TfLiteExecutionTaskGetDelegateExecutionData(task, nullptr), &data);
  TfLiteExecutionTaskSetDelegateExecutionData(task, nullptr, nullptr);
  EXPECT_EQ(Finish(task), kTfLiteOk);
}

TEST(AsyncTask, functions_accept_null) {
  EXPECT_EQ(TfLiteExecutionTaskSetBuffer(nullptr, kTfLiteIoTypeInput, "x", 1), kTfLiteError);
  EXPECT_EQ(TfLiteExecutionTaskSetBufferByIndex(nullptr, 0, 1), kTfLiteError);
  EXPECT_EQ(TfLiteExecutionTaskSetSync(nullptr, kTfLiteIoTypeInput, "x", nullptr), kTfLiteError);
  EXPECT_EQ(TfLiteExecutionTaskSetSyncByIndex(nullptr, 0, nullptr), kTfLiteError);
  EXPECT_EQ(TfLiteExecutionTaskGetBufferByName(nullptr, kTfLiteIoTypeInput, "x"), -1);
  EXPECT_EQ(TfLiteExecutionTaskGetBufferByIndex(nullptr, 0), -1);
  EXPECT_EQ(TfLiteExecutionTaskGetSyncByName(nullptr, kTfLiteIoTypeInput, "x"), nullptr);
  EXPECT_EQ(TfLiteExecutionTaskGetSyncByIndex(nullptr, 0), nullptr);
  EXPECT_EQ(TfLiteExecutionTaskGetDelegateExecutionData(nullptr, nullptr), nullptr);
  TfLiteExecutionTaskSetDelegateExecutionData(nullptr, nullptr, nullptr);
  EXPECT_EQ(TfLiteExecutionTaskGetStatus(nullptr), kTfLiteError);
  TfLiteExecutionTaskSetStatus(nullptr, kTfLiteOk);
}

// ---- Runners ------------------------------------------------------------------------------------

TEST_F(Async, runners_are_found_by_key) {
  Build(kTwo);
  EXPECT_NE(Get("same"), nullptr);
  EXPECT_NE(Get(nullptr), nullptr);
  EXPECT_EQ(script_.calls[kAsyncGetKernel], 2);  // once per signature
  EXPECT_EQ(Get("other"), nullptr);
  EXPECT_EQ(TfLiteInterpreterGetAsyncSignatureRunner(nullptr, "serve"), nullptr);
}

TEST_F(Async, tensors_have_the_names_of_the_signature) {
  Build();
  TfLiteAsyncSignatureRunner* const r = runner_.get();
  EXPECT_EQ(TfLiteAsyncSignatureRunnerGetInputCount(r), 2u);
  EXPECT_STREQ(TfLiteAsyncSignatureRunnerGetInputName(r, 0), "left");
  EXPECT_STREQ(TfLiteAsyncSignatureRunnerGetInputName(r, 1), "right");
  EXPECT_EQ(TfLiteAsyncSignatureRunnerGetInputName(r, 2), nullptr);
  EXPECT_EQ(TfLiteAsyncSignatureRunnerGetInputName(r, -1), nullptr);
  EXPECT_EQ(TfLiteAsyncSignatureRunnerGetOutputCount(r), 1u);
  EXPECT_STREQ(TfLiteAsyncSignatureRunnerGetOutputName(r, 0), "sum");
  EXPECT_EQ(TfLiteAsyncSignatureRunnerGetOutputName(r, 1), nullptr);
  EXPECT_EQ(TfLiteAsyncSignatureRunnerGetOutputName(r, -1), nullptr);
  EXPECT_STREQ(TfLiteOpaqueTensorName(TfLiteAsyncSignatureRunnerGetInputTensor(r, "right")), "y");
  EXPECT_STREQ(TfLiteOpaqueTensorName(TfLiteAsyncSignatureRunnerGetOutputTensor(r, "sum")), "z");
  const int* const inputs = TfLiteAsyncSignatureRunnerInputTensorIndices(r);
  EXPECT_EQ(inputs[0], 0);
  EXPECT_EQ(inputs[1], 1);
  EXPECT_EQ(TfLiteAsyncSignatureRunnerOutputTensorIndices(r)[0], 2);
  EXPECT_STREQ(TfLiteOpaqueTensorName(TfLiteAsyncSignatureRunnerGetTensor(r, 0)), "x");
  EXPECT_EQ(TfLiteAsyncSignatureRunnerGetTensor(r, -1), nullptr);
  EXPECT_EQ(TfLiteAsyncSignatureRunnerGetTensor(r, 42), nullptr);
}

TEST_F(Async, wrong_names_of_tensors_are_reported) {
  Build();
  EXPECT_EQ(TfLiteAsyncSignatureRunnerGetInputTensor(runner_.get(), "sum"), nullptr);
  EXPECT_EQ(t_->log(), "Signature tensor name sum was not found\nInput name sum was not found\n");
  t_->ClearLog();
  EXPECT_EQ(TfLiteAsyncSignatureRunnerGetOutputTensor(runner_.get(), nullptr), nullptr);
  EXPECT_EQ(t_->log(),
            "Signature tensor name (null) was not found\nOutput name (null) was not found\n");
}

TEST_F(Async, a_model_without_signatures_has_the_names_of_its_tensors) {
  Build(kNone);
  EXPECT_STREQ(TfLiteAsyncSignatureRunnerGetInputName(runner_.get(), 1), "y");
  EXPECT_STREQ(TfLiteAsyncSignatureRunnerGetOutputName(runner_.get(), 0), "z");
  EXPECT_EQ(Get("serve"), nullptr);
  const auto e = NewExecution();
  EXPECT_EQ(TfLiteExecutionTaskGetBufferByName(e->task, kTfLiteIoTypeInput, "y"), 1);
  EXPECT_EQ(Start(e->task), kTfLiteOk) << t_->log();
  EXPECT_EQ(Wait(e->task), kTfLiteOk);
  EXPECT_THAT(e->sum, ElementsAre(11, 22, 33));
  EXPECT_EQ(Finish(e->task), kTfLiteOk);
}

TEST(AsyncRunner, functions_accept_a_null_runner) {
  const Attributes attrs = BufferAttributes();
  const Holder holder(TfLiteBackendBufferCreate());
  TfLiteBufferHandle handle = 5;
  const char* const* types = nullptr;
  size_t count = 0;
  EXPECT_EQ(TfLiteAsyncSignatureRunnerRegisterBuffer(nullptr, kTfLiteIoTypeInput, holder.get(),
                                                     attrs.get(), &handle),
            kTfLiteError);
  EXPECT_EQ(TfLiteAsyncSignatureRunnerRegisterBufferSlice(nullptr, 0, attrs.get(), &handle),
            kTfLiteError);
  EXPECT_EQ(TfLiteAsyncSignatureRunnerUnregisterBuffer(nullptr, 0), kTfLiteError);
  EXPECT_EQ(TfLiteAsyncSignatureRunnerGetSupportedBufferTypes(nullptr, kTfLiteIoTypeInput, &types,
                                                              &count),
            kTfLiteError);
  EXPECT_EQ(TfLiteAsyncSignatureRunnerGetSupportedSynchronizationTypes(nullptr, kTfLiteIoTypeInput,
                                                                       &types, &count),
            kTfLiteError);
  EXPECT_FALSE(TfLiteAsyncSignatureRunnerReconcileRestrictions(nullptr, kTfLiteIoTypeInput, "left",
                                                               attrs.get(), attrs.get(), nullptr));
  EXPECT_FALSE(TfLiteAsyncSignatureRunnerReconcileRestrictionsByIndex(nullptr, 0, attrs.get(),
                                                                      attrs.get(), nullptr));
  EXPECT_EQ(
      TfLiteAsyncSignatureRunnerSetAttributes(nullptr, kTfLiteIoTypeInput, "left", attrs.get()),
      kTfLiteError);
  EXPECT_EQ(TfLiteAsyncSignatureRunnerSetAttributesByIndex(nullptr, 0, attrs.get()), kTfLiteError);
  EXPECT_EQ(TfLiteAsyncSignatureRunnerPrepareBackends(nullptr), kTfLiteError);
  EXPECT_EQ(TfLiteAsyncSignatureRunnerCreateTask(nullptr), nullptr);
  EXPECT_EQ(TfLiteAsyncSignatureRunnerInvokeAsync(nullptr, nullptr), kTfLiteError);
  EXPECT_EQ(TfLiteAsyncSignatureRunnerWait(nullptr, nullptr), kTfLiteError);
  EXPECT_EQ(TfLiteAsyncSignatureRunnerFinish(nullptr, nullptr), kTfLiteError);
  EXPECT_EQ(TfLiteAsyncSignatureRunnerGetInputCount(nullptr), 0u);
  EXPECT_EQ(TfLiteAsyncSignatureRunnerGetOutputCount(nullptr), 0u);
  EXPECT_EQ(TfLiteAsyncSignatureRunnerGetInputName(nullptr, 0), nullptr);
  EXPECT_EQ(TfLiteAsyncSignatureRunnerGetOutputName(nullptr, 0), nullptr);
  EXPECT_EQ(TfLiteAsyncSignatureRunnerGetInputTensor(nullptr, "left"), nullptr);
  EXPECT_EQ(TfLiteAsyncSignatureRunnerGetOutputTensor(nullptr, "sum"), nullptr);
  EXPECT_EQ(TfLiteAsyncSignatureRunnerInputTensorIndices(nullptr), nullptr);
  EXPECT_EQ(TfLiteAsyncSignatureRunnerOutputTensorIndices(nullptr), nullptr);
  EXPECT_EQ(TfLiteAsyncSignatureRunnerGetTensor(nullptr, 0), nullptr);
  TfLiteAsyncSignatureRunnerDelete(nullptr);
  EXPECT_EQ(handle, 5);
  EXPECT_EQ(count, 0u);
}

TEST_F(Async, null_arguments_do_not_reach_the_kernel) {
  Build();
  const Attributes attrs = BufferAttributes();
  const Holder holder(TfLiteBackendBufferCreate());
  TfLiteAsyncSignatureRunner* const r = runner_.get();
  TfLiteBufferHandle handle = 5;
  const char* const* types = nullptr;
  size_t count = 0;
  const auto reg = [&](TfLiteBackendBuffer* buffer, TfLiteAttributeMap* map, int* to) {
    return TfLiteAsyncSignatureRunnerRegisterBuffer(r, kTfLiteIoTypeInput, buffer, map, to);
  };
  EXPECT_EQ(reg(nullptr, attrs.get(), &handle), kTfLiteError);
  EXPECT_EQ(reg(holder.get(), nullptr, &handle), kTfLiteError);
  EXPECT_EQ(reg(holder.get(), attrs.get(), nullptr), kTfLiteError);
  EXPECT_EQ(TfLiteAsyncSignatureRunnerRegisterBufferSlice(r, 0, nullptr, &handle), kTfLiteError);
  EXPECT_EQ(TfLiteAsyncSignatureRunnerRegisterBufferSlice(r, 0, attrs.get(), nullptr),
            kTfLiteError);
  EXPECT_EQ(
      TfLiteAsyncSignatureRunnerGetSupportedBufferTypes(r, kTfLiteIoTypeInput, nullptr, &count),
      kTfLiteError);
  EXPECT_EQ(
      TfLiteAsyncSignatureRunnerGetSupportedBufferTypes(r, kTfLiteIoTypeInput, &types, nullptr),
      kTfLiteError);
  EXPECT_EQ(TfLiteAsyncSignatureRunnerGetSupportedSynchronizationTypes(r, kTfLiteIoTypeInput,
                                                                       nullptr, &count),
            kTfLiteError);
  EXPECT_EQ(TfLiteAsyncSignatureRunnerGetSupportedSynchronizationTypes(r, kTfLiteIoTypeInput,
                                                                       &types, nullptr),
            kTfLiteError);
  EXPECT_FALSE(
      TfLiteAsyncSignatureRunnerReconcileRestrictionsByIndex(r, 0, nullptr, attrs.get(), nullptr));
  EXPECT_FALSE(
      TfLiteAsyncSignatureRunnerReconcileRestrictionsByIndex(r, 0, attrs.get(), nullptr, nullptr));
  EXPECT_FALSE(TfLiteAsyncSignatureRunnerReconcileRestrictions(r, kTfLiteIoTypeInput, nullptr,
                                                               attrs.get(), attrs.get(), nullptr));
  EXPECT_EQ(TfLiteAsyncSignatureRunnerSetAttributesByIndex(r, 0, nullptr), kTfLiteError);
  EXPECT_EQ(TfLiteAsyncSignatureRunnerSetAttributes(r, kTfLiteIoTypeInput, nullptr, attrs.get()),
            kTfLiteError);
  EXPECT_EQ(Start(nullptr), kTfLiteError);
  EXPECT_EQ(Wait(nullptr), kTfLiteError);
  EXPECT_EQ(Finish(nullptr), kTfLiteError);
  EXPECT_EQ(handle, 5);
  for (const AsyncCallback callback : {kAsyncRegisterBuffer, kAsyncRegisterSlice, kAsyncReconcile,
                                       kAsyncSetAttributes, kAsyncEval, kAsyncWait, kAsyncFinish}) {
    EXPECT_EQ(script_.calls[callback], 0) << callback;
  }
}

// ---- Buffers and attributes ---------------------------------------------------------------------

TEST_F(Async, buffers_get_new_handles) {
  Build();
  float memory[3] = {};
  EXPECT_EQ(Register(memory), 0);
  EXPECT_EQ(script_.io_type, kTfLiteIoTypeInput);
  EXPECT_EQ(Register(memory, kTfLiteIoTypeOutput), 1);
  EXPECT_EQ(script_.io_type, kTfLiteIoTypeOutput);
  TfLiteBufferHandle handle = -1;
  const Holder holder(TfLiteBackendBufferCreate());
  EXPECT_EQ(
      TfLiteAsyncSignatureRunnerRegisterBuffer(runner_.get(), kTfLiteIoTypeInput, holder.get(),
                                               BufferAttributes("unknown").get(), &handle),
      kTfLiteError);
  EXPECT_EQ(Register(memory), 3);
  EXPECT_EQ(TfLiteAsyncSignatureRunnerUnregisterBuffer(runner_.get(), 1), kTfLiteOk);
  EXPECT_EQ(TfLiteAsyncSignatureRunnerUnregisterBuffer(runner_.get(), 1), kTfLiteError);
  EXPECT_EQ(TfLiteAsyncSignatureRunnerUnregisterBuffer(runner_.get(), 2), kTfLiteError);
  EXPECT_EQ(TfLiteAsyncSignatureRunnerUnregisterBuffer(runner_.get(), -1), kTfLiteError);
  EXPECT_EQ(Register(memory), 4);  // handles are not used again
}

TEST_F(Async, slices_are_parts_of_a_buffer) {
  Build();
  std::vector<float> pool{1, 2, 3, 10, 20, 30, 0, 0, 0};
  const TfLiteBufferHandle whole = Register(pool.data());
  const Attributes attrs = BufferAttributes();
  const auto slice = [&](TfLiteBufferHandle of, size_t offset) {
    TfLiteAttributeMapSetSizeTBufferAttr(attrs.get(), kTfLiteBufferAttrKeyOffset, offset);
    TfLiteBufferHandle handle = -1;
    const TfLiteStatus status =
        TfLiteAsyncSignatureRunnerRegisterBufferSlice(runner_.get(), of, attrs.get(), &handle);
    return status == kTfLiteOk ? handle : -1;
  };
  TfLiteExecutionTask* const task = CreateTask();
  for (int i = 0; i < 3; ++i) {
    const TfLiteBufferHandle part = slice(whole, static_cast<size_t>(i) * 12);
    EXPECT_EQ(part, i + 1);
    TfLiteExecutionTaskSetBufferByIndex(task, i, part);
  }
  EXPECT_EQ(slice(1, 0), -1);   // a slice of a slice
  EXPECT_EQ(slice(50, 0), -1);  // an unknown buffer
  EXPECT_EQ(Start(task), kTfLiteOk);
  EXPECT_EQ(Wait(task), kTfLiteOk);
  EXPECT_THAT(pool, ElementsAre(1, 2, 3, 10, 20, 30, 11, 22, 33));
  EXPECT_EQ(Finish(task), kTfLiteOk);
}

TEST_F(Async, supported_types_are_those_of_the_kernel) {
  Build();
  const char* const* types = nullptr;
  size_t count = 0;
  const auto names = [&] { return std::vector<std::string>(types, types + count); };
  TfLiteAsyncSignatureRunner* const r = runner_.get();
  ASSERT_EQ(
      TfLiteAsyncSignatureRunnerGetSupportedBufferTypes(r, kTfLiteIoTypeInput, &types, &count),
      kTfLiteOk);
  EXPECT_THAT(names(), ElementsAre("host_memory", "other_memory"));
  ASSERT_EQ(
      TfLiteAsyncSignatureRunnerGetSupportedBufferTypes(r, kTfLiteIoTypeOutput, &types, &count),
      kTfLiteOk);
  EXPECT_THAT(names(), ElementsAre("host_memory"));
  ASSERT_EQ(TfLiteAsyncSignatureRunnerGetSupportedSynchronizationTypes(r, kTfLiteIoTypeInput,
                                                                       &types, &count),
            kTfLiteOk);
  EXPECT_THAT(names(), ElementsAre("no_sync_obj"));
  ASSERT_EQ(TfLiteAsyncSignatureRunnerGetSupportedSynchronizationTypes(r, kTfLiteIoTypeOutput,
                                                                       &types, &count),
            kTfLiteOk);
  EXPECT_THAT(names(), ElementsAre("no_sync_obj", "flag"));
  for (const TfLiteIoType wrong : {kTfLiteIoTypeUnknown, static_cast<TfLiteIoType>(3)}) {
    EXPECT_EQ(TfLiteAsyncSignatureRunnerGetSupportedBufferTypes(r, wrong, &types, &count),
              kTfLiteError);
    EXPECT_EQ(TfLiteAsyncSignatureRunnerGetSupportedSynchronizationTypes(r, wrong, &types, &count),
              kTfLiteError);
  }
  EXPECT_EQ(script_.calls[kAsyncBufferTypes], 2);  // when the runner was created
  EXPECT_EQ(script_.calls[kAsyncSyncTypes], 2);
}

TEST_F(Async, attributes_are_reconciled_by_the_kernel) {
  Build();
  const Attributes user = BufferAttributes();
  TfLiteAttributeMapSetSizeTBufferAttr(user.get(), kTfLiteBufferAttrKeyPadding, 8);
  const Attributes merged(TfLiteAttributeMapCreate(kTfLiteAttrMapTypeBuffer));
  const Attributes conflict(TfLiteAttributeMapCreate(kTfLiteAttrMapTypeBuffer));
  TfLiteAsyncSignatureRunner* const r = runner_.get();
  EXPECT_TRUE(TfLiteAsyncSignatureRunnerReconcileRestrictions(r, kTfLiteIoTypeOutput, "sum",
                                                              user.get(), merged.get(), nullptr));
  EXPECT_EQ(script_.tensor, 2);
  size_t value = 0;
  EXPECT_TRUE(
      TfLiteAttributeMapGetSizeTBufferAttr(merged.get(), kTfLiteBufferAttrKeyAlignment, &value));
  EXPECT_EQ(value, 16u);
  EXPECT_TRUE(
      TfLiteAttributeMapGetSizeTBufferAttr(merged.get(), kTfLiteBufferAttrKeyPadding, &value));
  EXPECT_EQ(value, 8u);
  EXPECT_FALSE(TfLiteAsyncSignatureRunnerReconcileRestrictionsByIndex(
      r, 1, BufferAttributes("other").get(), merged.get(), conflict.get()));
  EXPECT_EQ(script_.tensor, 1);
  const char* expected = nullptr;
  EXPECT_TRUE(TfLiteAttributeMapGetStringBufferAttr(
      conflict.get(), kTfLiteBufferAttrKeyResourceTypeName, &expected));
  EXPECT_STREQ(expected, "host_memory");
}

TEST_F(Async, attributes_are_set_in_the_kernel) {
  Build();
  TfLiteAsyncSignatureRunner* const r = runner_.get();
  EXPECT_EQ(TfLiteAsyncSignatureRunnerSetAttributes(r, kTfLiteIoTypeInput, "right",
                                                    BufferAttributes().get()),
            kTfLiteOk);
  EXPECT_EQ(script_.tensor, 1);
  EXPECT_EQ(TfLiteAsyncSignatureRunnerSetAttributesByIndex(r, 2, BufferAttributes("other").get()),
            kTfLiteError);
  EXPECT_EQ(script_.tensor, 2);
  EXPECT_EQ(TfLiteAsyncSignatureRunnerPrepareBackends(r), kTfLiteOk);
  EXPECT_EQ(script_.calls[kAsyncPrepare], 1);
}

TEST_F(Async, attributes_of_wrong_tensors_do_not_reach_the_kernel) {
  Build();
  const Attributes attrs = BufferAttributes();
  TfLiteAsyncSignatureRunner* const r = runner_.get();
  for (const int index : {-1, 3, 42}) {
    EXPECT_FALSE(TfLiteAsyncSignatureRunnerReconcileRestrictionsByIndex(r, index, attrs.get(),
                                                                        attrs.get(), attrs.get()));
    EXPECT_EQ(TfLiteAsyncSignatureRunnerSetAttributesByIndex(r, index, attrs.get()), kTfLiteError);
  }
  EXPECT_EQ(t_->log(), "");
  EXPECT_FALSE(TfLiteAsyncSignatureRunnerReconcileRestrictions(r, kTfLiteIoTypeInput, "sum",
                                                               attrs.get(), attrs.get(), nullptr));
  EXPECT_EQ(TfLiteAsyncSignatureRunnerSetAttributes(r, kTfLiteIoTypeUnknown, "left", attrs.get()),
            kTfLiteError);
  EXPECT_EQ(TfLiteAsyncSignatureRunnerSetAttributes(r, kTfLiteIoTypeUnknown, "sum", attrs.get()),
            kTfLiteError);
  EXPECT_EQ(t_->log(),
            "Signature tensor name sum was not found\nSignature tensor name left was not found\n"
            "Signature tensor name sum was not found\n");
  EXPECT_EQ(script_.calls[kAsyncReconcile] + script_.calls[kAsyncSetAttributes], 0);
}

// ---- Execution ----------------------------------------------------------------------------------

TEST_F(Async, a_task_runs_again_and_again) {
  script_.with_data = true;
  Build();
  EXPECT_EQ(TfLiteAsyncSignatureRunnerPrepareBackends(runner_.get()), kTfLiteOk);
  const auto e = NewExecution();
  for (int i = 0; i < 3; ++i) {
    e->left[0] = static_cast<float>(i);
    ASSERT_EQ(Start(e->task), kTfLiteOk) << t_->log();
    ASSERT_EQ(Wait(e->task), kTfLiteOk);
    EXPECT_THAT(e->sum, ElementsAre(i + 10, 22, 33));
  }
  EXPECT_EQ(Finish(e->task), kTfLiteOk);
  EXPECT_EQ(script_.calls[kAsyncEval], 3);
  EXPECT_EQ(script_.calls[kAsyncWait], 3);
  EXPECT_EQ(script_.calls[kAsyncFinish], 1);
}

TEST_F(Async, invoke_still_works) {
  Build();
  t_->Set<float>(0, {1, 1, 1});
  t_->Set<float>(1, {4, 5, 6});
  const auto e = NewExecution();
  ASSERT_EQ(Start(e->task), kTfLiteOk);
  ASSERT_EQ(Wait(e->task), kTfLiteOk);
  ASSERT_EQ(t_->Invoke(), kTfLiteOk) << t_->log();
  EXPECT_THAT(t_->Get<float>(0), ElementsAre(5, 6, 7));
  EXPECT_THAT(e->sum, ElementsAre(11, 22, 33));
  EXPECT_EQ(Finish(e->task), kTfLiteOk);
}

TEST_F(Async, several_tasks_are_in_flight) {
  script_.held = true;
  Build();
  const auto first = NewExecution(), second = NewExecution({4, 5, 6}, {1, 1, 1});
  EXPECT_EQ(Start(first->task), kTfLiteOk);
  EXPECT_EQ(Start(second->task), kTfLiteOk);  // although the first one has not ended
  EXPECT_THAT(first->sum, ElementsAre(0, 0, 0));
  AsyncDelegateRelease(&script_);
  EXPECT_EQ(Wait(second->task), kTfLiteOk);
  EXPECT_THAT(second->sum, ElementsAre(5, 6, 7));
  EXPECT_EQ(Wait(first->task), kTfLiteOk);
  EXPECT_THAT(first->sum, ElementsAre(11, 22, 33));
  EXPECT_EQ(Finish(first->task), kTfLiteOk);
  EXPECT_EQ(Finish(second->task), kTfLiteOk);
}

TEST_F(Async, the_kernel_signals_an_output) {
  Build();
  const auto e = NewExecution();
  int flag = 0;
  const Sync sync(TfLiteSynchronizationCreate());
  TfLiteSynchronizationSetPtr(sync.get(), &flag);
  TfLiteExecutionTaskSetSync(e->task, kTfLiteIoTypeOutput, "sum", sync.get());
  ASSERT_EQ(Start(e->task), kTfLiteOk);
  ASSERT_EQ(Wait(e->task), kTfLiteOk);
  EXPECT_EQ(flag, 1);
  EXPECT_EQ(Finish(e->task), kTfLiteOk);
}

TEST_F(Async, a_task_in_flight_cannot_be_started) {
  Build();
  const auto e = NewExecution();
  ASSERT_EQ(Start(e->task), kTfLiteOk);
  EXPECT_EQ(Start(e->task), kTfLiteError);
  EXPECT_EQ(t_->log(), "The task has already been scheduled for execution.\n");
  EXPECT_EQ(TfLiteExecutionTaskGetStatus(e->task), kTfLiteOk);
  EXPECT_EQ(Wait(e->task), kTfLiteOk);
  EXPECT_EQ(Start(e->task), kTfLiteOk);
  EXPECT_EQ(Finish(e->task), kTfLiteOk);  // without Wait
  EXPECT_EQ(script_.calls[kAsyncEval], 2);
}

TEST_F(Async, a_runner_may_be_deleted_in_flight) {
  script_.held = true;
  Build();
  const auto e = NewExecution();
  ASSERT_EQ(Start(e->task), kTfLiteOk);
  runner_.reset();
  AsyncDelegateRelease(&script_);
  runner_ = Get("serve");
  EXPECT_EQ(script_.calls[kAsyncGetKernel], 1);
  EXPECT_EQ(Wait(e->task), kTfLiteOk);
  EXPECT_THAT(e->sum, ElementsAre(11, 22, 33));
  EXPECT_EQ(Finish(e->task), kTfLiteOk);
}

TEST_F(Async, tasks_of_another_runner_are_refused) {
  Build(kTwo);
  const auto e = NewExecution();
  const Runner other = Get("same");
  const std::string text = "The task belongs to another signature runner.\n";
  EXPECT_EQ(TfLiteAsyncSignatureRunnerInvokeAsync(other.get(), e->task), kTfLiteError);
  EXPECT_EQ(t_->log(), text);
  ASSERT_EQ(Start(e->task), kTfLiteOk);
  EXPECT_EQ(TfLiteAsyncSignatureRunnerWait(other.get(), e->task), kTfLiteError);
  EXPECT_EQ(TfLiteAsyncSignatureRunnerFinish(other.get(), e->task), kTfLiteError);
  EXPECT_EQ(t_->log(), text + text + text);
  EXPECT_EQ(script_.calls[kAsyncFinish], 0);
  EXPECT_EQ(Wait(e->task), kTfLiteOk);  // the task was not deleted
  EXPECT_EQ(Finish(e->task), kTfLiteOk);
}

TEST_F(Async, a_task_without_buffers_fails_to_start) {
  Build();
  TfLiteExecutionTask* const task = CreateTask();
  EXPECT_EQ(Start(task), kTfLiteError);
  EXPECT_EQ(TfLiteExecutionTaskGetStatus(task), kTfLiteError);
  EXPECT_EQ(Start(task), kTfLiteError);  // as upstream: scheduled until Wait
  EXPECT_EQ(t_->log(), "The task has already been scheduled for execution.\n");
  EXPECT_EQ(Wait(task), kTfLiteOk);
  EXPECT_EQ(Finish(task), kTfLiteOk);
}

}  // namespace
}  // namespace deputy::async_test
