// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous execution without a kernel, by kernels that fail, and after changes of the graph.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/async_case.h"

namespace deputy::async_failures_test {
namespace {

using namespace async_case;
using testing::ElementsAre;

using AsyncFailures = Async;

// ---- Failing kernels ----------------------------------------------------------------------------

TEST_F(AsyncFailures, a_graph_that_is_not_one_node_has_no_kernel) {
  script_.max_claims = 1;
  Build(kServe, 2);
  EXPECT_EQ(t_->log(), "Model is not fully delegated by 1 backend.\n");
  ExpectAllFail();
  EXPECT_EQ(script_.calls[kAsyncGetKernel], 0);
}

TEST_F(AsyncFailures, a_graph_without_delegates_has_no_kernel) {
  t_ = std::make_unique<TestInterpreter>(AsyncModel(kServe));
  runner_ = Get("serve");
  ASSERT_NE(runner_, nullptr);
  EXPECT_EQ(t_->log(), "Model is not fully delegated by 1 backend.\n");
  ExpectAllFail();
}

TEST_F(AsyncFailures, a_delegate_without_a_kernel_is_reported) {
  script_.has_kernel = false;
  Build();
  EXPECT_EQ(t_->log(), "Backend does not support asynchronous execution.\n");
  ExpectAllFail();
}

TEST_F(AsyncFailures, a_function_for_the_kernel_that_throws_is_reported) {
  script_.throws[kAsyncGetKernel] = true;
  script_.throw_now = [] { throw std::runtime_error("no kernel today"); };
  Build();
  EXPECT_EQ(t_->log(),
            "asynchronous kernel: 'async_kernel' threw an exception: no kernel today\n"
            "Backend does not support asynchronous execution.\n");
  ExpectAllFail();
}

// The names of the kernel's functions in reports.
constexpr std::array<const char*, kAsyncCallbackCount> kFunctionNames = {
    "async_kernel",
    "register_buffer",
    "register_buffer_slice",
    "unregister_buffer",
    "supported_buffer_types",
    "supported_synchronizations",
    "reconcile_restrictions",
    "set_attributes",
    "prepare",
    "eval",
    "wait",
    "finish"};

// One function of the kernel is missing, fails or throws.
class OneFunction : public Async, public testing::WithParamInterface<int> {
 protected:
  AsyncCallback callback() const { return static_cast<AsyncCallback>(GetParam()); }
  const char* name() const { return kFunctionNames[static_cast<size_t>(GetParam())]; }

  // Calls the function through the API and returns the status; kTfLiteError for false.
  TfLiteStatus CallIt() {
    const Attributes attrs = BufferAttributes();
    TfLiteAttributeMapSetSizeTBufferAttr(attrs.get(), kTfLiteBufferAttrKeyOffset, 0);
    TfLiteAsyncSignatureRunner* const r = runner_.get();
    const Holder holder(TfLiteBackendBufferCreate());
    TfLiteBufferHandle handle = -1;
    const auto reg = [&] {
      return TfLiteAsyncSignatureRunnerRegisterBuffer(r, kTfLiteIoTypeInput, holder.get(),
                                                      attrs.get(), &handle);
    };
    switch (callback()) {
      case kAsyncRegisterBuffer:
        return reg();
      case kAsyncRegisterSlice:
        reg();
        return TfLiteAsyncSignatureRunnerRegisterBufferSlice(r, handle, attrs.get(), &handle);
      case kAsyncUnregisterBuffer:
        reg();
        return TfLiteAsyncSignatureRunnerUnregisterBuffer(r, handle);
      case kAsyncReconcile:
        return TfLiteAsyncSignatureRunnerReconcileRestrictionsByIndex(r, 0, attrs.get(),
                                                                      attrs.get(), nullptr)
                   ? kTfLiteOk
                   : kTfLiteError;
      case kAsyncSetAttributes:
        return TfLiteAsyncSignatureRunnerSetAttributesByIndex(r, 0, attrs.get());
      case kAsyncPrepare:
        return TfLiteAsyncSignatureRunnerPrepareBackends(r);
      default:
        return RunTask();
    }
  }

  // Runs a task and returns the status of the tested function.
  TfLiteStatus RunTask() {
    const auto e = NewExecution();
    const TfLiteStatus started = Start(e->task);
    EXPECT_EQ(TfLiteExecutionTaskGetStatus(e->task), started);
    const TfLiteStatus waited = Wait(e->task);
    EXPECT_EQ(TfLiteExecutionTaskGetStatus(e->task), waited);
    EXPECT_EQ(Wait(e->task), waited);
    const TfLiteStatus finished = Finish(e->task);
    return callback() == kAsyncEval ? started : callback() == kAsyncWait ? waited : finished;
  }
};

INSTANTIATE_TEST_SUITE_P(Async, OneFunction,
                         testing::Values(kAsyncRegisterBuffer, kAsyncRegisterSlice,
                                         kAsyncUnregisterBuffer, kAsyncReconcile,
                                         kAsyncSetAttributes, kAsyncPrepare, kAsyncEval, kAsyncWait,
                                         kAsyncFinish),
                         [](const auto& parameter) {
                           return kFunctionNames[static_cast<size_t>(parameter.param)];
                         });

TEST_P(OneFunction, works) {
  Build();
  EXPECT_EQ(CallIt(), kTfLiteOk);
  EXPECT_EQ(script_.calls[callback()], 1);
  EXPECT_EQ(t_->log(), "");
}

TEST_P(OneFunction, returns_its_status) {
  script_.results[callback()] = kTfLiteDelegateError;
  Build();
  EXPECT_EQ(CallIt(), callback() == kAsyncReconcile ? kTfLiteError : kTfLiteDelegateError);
  EXPECT_EQ(t_->log(), callback() == kAsyncFinish ? "Failed to finish task.\n" : "");
}

TEST_P(OneFunction, that_throws_is_reported) {
  script_.throws[callback()] = true;
  script_.throw_now = [] { throw std::runtime_error("device lost"); };
  Build();
  EXPECT_EQ(CallIt(), kTfLiteError);
  EXPECT_EQ(t_->log(), "asynchronous kernel: '" + std::string(name()) +
                           "' threw an exception: device lost\n" +
                           (callback() == kAsyncFinish ? "Failed to finish task.\n" : ""));
}

TEST_P(OneFunction, that_throws_no_standard_exception_is_reported) {
  script_.throws[callback()] = true;
  script_.throw_now = [] { throw 7; };
  Build();
  EXPECT_EQ(CallIt(), kTfLiteError);
  EXPECT_EQ(t_->log(), "asynchronous kernel: '" + std::string(name()) + "' threw an exception\n" +
                           (callback() == kAsyncFinish ? "Failed to finish task.\n" : ""));
}

TEST_F(AsyncFailures, missing_functions_are_reported) {
  for (bool& missing : script_.missing) missing = true;
  Build();
  EXPECT_EQ(t_->log(),
            "asynchronous kernel: the function 'supported_buffer_types' is missing\n"
            "asynchronous kernel: the function 'supported_synchronizations' is missing\n"
            "asynchronous kernel: the function 'supported_buffer_types' is missing\n"
            "asynchronous kernel: the function 'supported_synchronizations' is missing\n");
  t_->ClearLog();
  const char* const* types = nullptr;
  size_t count = 5;
  EXPECT_EQ(TfLiteAsyncSignatureRunnerGetSupportedBufferTypes(runner_.get(), kTfLiteIoTypeInput,
                                                              &types, &count),
            kTfLiteOk);
  EXPECT_EQ(count, 0u);
  const Attributes attrs = BufferAttributes();
  TfLiteAsyncSignatureRunner* const r = runner_.get();
  TfLiteBufferHandle handle = -1;
  float memory[3] = {};
  EXPECT_EQ(Register(memory), -1);
  EXPECT_EQ(TfLiteAsyncSignatureRunnerRegisterBufferSlice(r, 0, attrs.get(), &handle),
            kTfLiteError);
  EXPECT_EQ(TfLiteAsyncSignatureRunnerUnregisterBuffer(r, 0), kTfLiteError);
  EXPECT_FALSE(TfLiteAsyncSignatureRunnerReconcileRestrictionsByIndex(r, 0, attrs.get(),
                                                                      attrs.get(), nullptr));
  EXPECT_EQ(TfLiteAsyncSignatureRunnerSetAttributesByIndex(r, 0, attrs.get()), kTfLiteError);
  EXPECT_EQ(TfLiteAsyncSignatureRunnerPrepareBackends(r), kTfLiteError);
  TfLiteExecutionTask* const task = CreateTask();
  EXPECT_EQ(Start(task), kTfLiteError);
  EXPECT_EQ(Wait(task), kTfLiteError);
  EXPECT_EQ(Finish(task), kTfLiteError);
  std::string expected;
  for (const char* const name :
       {"register_buffer", "register_buffer_slice", "unregister_buffer", "reconcile_restrictions",
        "set_attributes", "prepare", "eval", "wait", "finish"}) {
    expected += "asynchronous kernel: the function '" + std::string(name) + "' is missing\n";
  }
  EXPECT_EQ(t_->log(), expected + "Failed to finish task.\n");
}

TEST_F(AsyncFailures, failing_lists_of_types_are_empty) {
  script_.throws[kAsyncBufferTypes] = true;
  script_.throw_now = [] { throw std::runtime_error("no types"); };
  Build();
  const char* const* types = nullptr;
  size_t count = 5;
  EXPECT_EQ(TfLiteAsyncSignatureRunnerGetSupportedBufferTypes(runner_.get(), kTfLiteIoTypeOutput,
                                                              &types, &count),
            kTfLiteOk);
  EXPECT_EQ(count, 0u);
  EXPECT_EQ(TfLiteAsyncSignatureRunnerGetSupportedSynchronizationTypes(
                runner_.get(), kTfLiteIoTypeOutput, &types, &count),
            kTfLiteOk);
  EXPECT_EQ(count, 2u);
}

// ---- Changes of the graph -----------------------------------------------------------------------

TEST_F(AsyncFailures, an_allocation_without_changes_keeps_the_kernel) {
  Build();
  const auto e = NewExecution();
  ASSERT_EQ(t_->Allocate(), kTfLiteOk);
  EXPECT_EQ(Start(e->task), kTfLiteOk) << t_->log();
  EXPECT_EQ(Wait(e->task), kTfLiteOk);
  EXPECT_EQ(Finish(e->task), kTfLiteOk);
}

// A resize undoes the delegate, the next allocation applies it again: the old kernel is gone.
TEST_F(AsyncFailures, a_runner_of_an_old_kernel_is_refused) {
  Build();
  const auto e = NewExecution();
  ASSERT_EQ(t_->Resize(0, {4}), kTfLiteOk);
  ASSERT_EQ(t_->Resize(1, {4}), kTfLiteOk);
  ASSERT_EQ(t_->Allocate(), kTfLiteOk) << t_->log();
  t_->ClearLog();
  EXPECT_EQ(Start(e->task), kTfLiteError);
  EXPECT_EQ(t_->log(),
            "The signature runner's delegate has been applied again or removed: get a new "
            "runner.\n");
  ExpectAllFail();
  runner_ = Get("serve");
  t_->ClearLog();
  EXPECT_EQ(Start(e->task), kTfLiteError);
  EXPECT_EQ(Wait(e->task), kTfLiteError);
  const std::string text = "The task was created before the delegate was applied again.\n";
  EXPECT_EQ(t_->log(), text + text);
  t_->ClearLog();
  EXPECT_EQ(Finish(e->task), kTfLiteError);  // deletes the task
  EXPECT_EQ(t_->log(), text + "Failed to finish task.\n");
  EXPECT_EQ(script_.calls[kAsyncEval] + script_.calls[kAsyncFinish], 0);
  e->left = {1, 2, 3, 4};
  e->right = {10, 20, 30, 40};
  const auto now = NewExecution({1, 2, 3, 4}, {10, 20, 30, 40});
  now->sum.resize(4);
  TfLiteExecutionTaskSetBufferByIndex(now->task, 2, Register(now->sum.data()));
  EXPECT_EQ(Start(now->task), kTfLiteOk) << t_->log();
  EXPECT_EQ(Wait(now->task), kTfLiteOk);
  EXPECT_THAT(now->sum, ElementsAre(11, 22, 33, 44));
  EXPECT_EQ(Finish(now->task), kTfLiteOk);
}

TEST_F(AsyncFailures, a_runner_without_a_kernel_finds_a_later_one) {
  delegate_ = AsyncDelegateCreate(&script_);
  t_ = std::make_unique<TestInterpreter>(AsyncModel(kServe));
  runner_ = Get("serve");
  ASSERT_EQ(Apply(), kTfLiteOk);
  ASSERT_EQ(t_->Allocate(), kTfLiteOk);
  ExpectAllFail();
  runner_ = Get("serve");
  const auto e = NewExecution();
  EXPECT_EQ(Start(e->task), kTfLiteOk) << t_->log();
  EXPECT_EQ(Wait(e->task), kTfLiteOk);
  EXPECT_EQ(Finish(e->task), kTfLiteOk);
}

}  // namespace
}  // namespace deputy::async_failures_test
