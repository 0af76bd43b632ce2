// SPDX-License-Identifier: Apache-2.0
//
// A test with an interpreter whose nodes the asynchronous delegate claims, and a signature runner.
#ifndef DEPUTY_TESTS_SUPPORT_ASYNC_CASE_H_
#define DEPUTY_TESTS_SUPPORT_ASYNC_CASE_H_

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "c_api/include/async_kernel.h"
#include "c_api/include/async_signature_runner.h"
#include "c_api/include/async_task.h"
#include "tests/support/async_delegate.h"
#include "tests/support/model_builder.h"
#include "tests/support/test_interpreter.h"

namespace deputy::async_case {

enum AsyncSignatures { kNone, kServe, kTwo };

// `adds` nodes ADD on float32 of shape {3}: 2 'z' = 0 'x' + 1 'y', 3 = 2 + 1 and so on. kServe has
// the signature "serve" with left, right and sum; kTwo a second one, "same", with the same tensors.
inline std::vector<uint8_t> AsyncModel(AsyncSignatures signatures, int adds = 1) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {3}, "x");
  const int y = m.AddTensor(kTfLiteFloat32, {3}, "y");
  int sum = x;
  for (int i = 0; i < adds; ++i) {
    const int next = m.AddTensor(kTfLiteFloat32, {3}, i == 0 ? "z" : "more");
    m.AddOp(kTfLiteBuiltinAdd, {sum, y}, {next}, schema::CreateAddOptions(m.fbb()));
    sum = next;
  }
  m.SetInputs({x, y});
  m.SetOutputs({sum});
  const auto of = [](int index) { return static_cast<uint32_t>(index); };
  if (signatures != kNone) {
    m.AddSignature("serve", {{"left", of(x)}, {"right", of(y)}}, {{"sum", of(sum)}});
  }
  if (signatures == kTwo) m.AddSignature("same", {{"a", of(x)}, {"b", of(y)}}, {{"c", of(sum)}});
  return m.Finish();
}

template <auto function>
struct Deleter {
  template <typename T>
  void operator()(T* object) const {
    function(object);
  }
};
using Runner =
    std::unique_ptr<TfLiteAsyncSignatureRunner, Deleter<TfLiteAsyncSignatureRunnerDelete>>;
using Attributes = std::unique_ptr<TfLiteAttributeMap, Deleter<TfLiteAttributeMapDelete>>;
using Holder = std::unique_ptr<TfLiteBackendBuffer, Deleter<TfLiteBackendBufferDelete>>;
using Sync = std::unique_ptr<TfLiteSynchronization, Deleter<TfLiteSynchronizationDelete>>;

inline Attributes BufferAttributes(const char* type = "host_memory") {
  Attributes attrs(TfLiteAttributeMapCreate(kTfLiteAttrMapTypeBuffer));
  TfLiteAttributeMapSetStringBufferAttr(attrs.get(), kTfLiteBufferAttrKeyResourceTypeName, type);
  return attrs;
}

// A model whose nodes the scripted delegate claims, and a runner.
class Async : public testing::Test {
 protected:
  Async() { AsyncDelegateInit(&script_); }
  ~Async() override {
    runner_.reset();
    t_.reset();
    if (delegate_ != nullptr) TfLiteOpaqueDelegateDelete(delegate_);
    EXPECT_EQ(script_.live_kernels, 0);
    EXPECT_EQ(script_.live_executions, 0);
    AsyncDelegateDestroy(&script_);
  }

  void Build(AsyncSignatures signatures = kServe, int adds = 1) {
    delegate_ = AsyncDelegateCreate(&script_);
    t_ = std::make_unique<TestInterpreter>(AsyncModel(signatures, adds));
    ASSERT_EQ(Apply(), kTfLiteOk) << t_->log();
    ASSERT_EQ(t_->Allocate(), kTfLiteOk) << t_->log();
    t_->ClearLog();
    runner_ = Get(signatures == kNone ? nullptr : "serve");
    ASSERT_NE(runner_, nullptr);
  }

  TfLiteStatus Apply() {
    return TfLiteInterpreterModifyGraphWithDelegate(t_->get(),
                                                    reinterpret_cast<TfLiteDelegate*>(delegate_));
  }
  Runner Get(const char* key) {
    return Runner(TfLiteInterpreterGetAsyncSignatureRunner(t_->get(), key));
  }

  // Registers memory and returns its handle; -1 if it is refused.
  TfLiteBufferHandle Register(void* memory, TfLiteIoType io_type = kTfLiteIoTypeInput) {
    const Holder holder(TfLiteBackendBufferCreate());
    TfLiteBackendBufferSetPtr(holder.get(), memory);
    TfLiteBufferHandle handle = -1;
    const TfLiteStatus status = TfLiteAsyncSignatureRunnerRegisterBuffer(
        runner_.get(), io_type, holder.get(), BufferAttributes().get(), &handle);
    return status == kTfLiteOk ? handle : -1;
  }

  // A task with the registered buffers of its three tensors.
  struct Execution {
    std::vector<float> left, right, sum{0, 0, 0};
    TfLiteExecutionTask* task = nullptr;
  };
  std::unique_ptr<Execution> NewExecution(std::vector<float> left, std::vector<float> right) {
    auto e = std::make_unique<Execution>(Execution{std::move(left), std::move(right)});
    e->task = TfLiteAsyncSignatureRunnerCreateTask(runner_.get());
    TfLiteExecutionTaskSetBufferByIndex(e->task, 0, Register(e->left.data()));
    TfLiteExecutionTaskSetBufferByIndex(e->task, 1, Register(e->right.data()));
    TfLiteExecutionTaskSetBufferByIndex(e->task, 2, Register(e->sum.data(), kTfLiteIoTypeOutput));
    return e;
  }
  std::unique_ptr<Execution> NewExecution() { return NewExecution({1, 2, 3}, {10, 20, 30}); }

  TfLiteStatus Start(TfLiteExecutionTask* task) {
    return TfLiteAsyncSignatureRunnerInvokeAsync(runner_.get(), task);
  }
  TfLiteStatus Wait(TfLiteExecutionTask* task) {
    return TfLiteAsyncSignatureRunnerWait(runner_.get(), task);
  }
  TfLiteStatus Finish(TfLiteExecutionTask* task) {
    return TfLiteAsyncSignatureRunnerFinish(runner_.get(), task);
  }
  TfLiteExecutionTask* CreateTask() { return TfLiteAsyncSignatureRunnerCreateTask(runner_.get()); }

  // Calls each function that needs a kernel; all must fail.
  void ExpectAllFail() {
    const Attributes attrs = BufferAttributes();
    const Holder holder(TfLiteBackendBufferCreate());
    TfLiteBufferHandle handle = 7;
    TfLiteAsyncSignatureRunner* const r = runner_.get();
    EXPECT_EQ(TfLiteAsyncSignatureRunnerRegisterBuffer(r, kTfLiteIoTypeInput, holder.get(),
                                                       attrs.get(), &handle),
              kTfLiteError);
    EXPECT_EQ(TfLiteAsyncSignatureRunnerRegisterBufferSlice(r, 0, attrs.get(), &handle),
              kTfLiteError);
    EXPECT_EQ(handle, 7);
    EXPECT_EQ(TfLiteAsyncSignatureRunnerUnregisterBuffer(r, 0), kTfLiteError);
    const char* const* types = nullptr;
    size_t count = 0;
    EXPECT_EQ(
        TfLiteAsyncSignatureRunnerGetSupportedBufferTypes(r, kTfLiteIoTypeInput, &types, &count),
        kTfLiteError);
    EXPECT_EQ(TfLiteAsyncSignatureRunnerGetSupportedSynchronizationTypes(r, kTfLiteIoTypeOutput,
                                                                         &types, &count),
              kTfLiteError);
    EXPECT_FALSE(TfLiteAsyncSignatureRunnerReconcileRestrictionsByIndex(r, 0, attrs.get(),
                                                                        attrs.get(), nullptr));
    EXPECT_EQ(TfLiteAsyncSignatureRunnerSetAttributesByIndex(r, 0, attrs.get()), kTfLiteError);
    EXPECT_EQ(TfLiteAsyncSignatureRunnerPrepareBackends(r), kTfLiteError);
    TfLiteExecutionTask* const task = CreateTask();
    ASSERT_NE(task, nullptr);
    EXPECT_EQ(Start(task), kTfLiteError);
    EXPECT_EQ(Wait(task), kTfLiteError);
    EXPECT_EQ(Finish(task), kTfLiteError);
  }

  AsyncDelegate script_;
  TfLiteOpaqueDelegate* delegate_ = nullptr;
  std::unique_ptr<TestInterpreter> t_;
  Runner runner_;
};

}  // namespace deputy::async_case

#endif  // DEPUTY_TESTS_SUPPORT_ASYNC_CASE_H_
