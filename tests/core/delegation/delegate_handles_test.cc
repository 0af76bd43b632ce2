// SPDX-License-Identifier: Apache-2.0
//
// Tests buffer handles of delegates that are removed: handles are freed at the removal, through
// plain and opaque delegates, and not again with the interpreter. Before that, inputs of the graph
// whose data is only on the device are copied to the host.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "c_api/include/c_api_opaque.h"
#include "c_api/include/deputy.h"
#include "tests/support/delegate_support.h"
#include "tests/support/scripted_delegate.h"
#include "tests/support/test_interpreter.h"

namespace deputy::delegate_handles_test {
namespace {

using testing::HasSubstr;

constexpr int64_t kStatic = kTfLiteDelegateFlagsNone;
constexpr int64_t kDynamic = kTfLiteDelegateFlagsAllowDynamicTensors;
constexpr int kHandle = 5;  // buffer handle of an input, set by the test

const std::vector<float> kInput = {1, -2, 3, 4};

// A scripted delegate, plain or opaque, whose outputs stay on its device.
class OnDevice {
 public:
  OnDevice(bool is_opaque, const std::set<int>& claims, int64_t flags = kStatic)
      : script_(claims, flags) {
    script_->outputs_on_device = true;
    script_->next_handle = 10;
    if (is_opaque) opaque_ = ScriptedOpaqueDelegate(script_.script.get());
  }
  ~OnDevice() {
    if (opaque_ != nullptr) TfLiteOpaqueDelegateDelete(opaque_);
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  TfLiteDelegate* get() { return script_->self; }
  ScriptedDelegate* operator->() { return script_.script.get(); }
  Scripted& script() { return script_; }

 private:
  Scripted script_;
  TfLiteOpaqueDelegate* opaque_ = nullptr;
};

std::vector<float> OnCpu(int length, const std::vector<float>& x = kInput) {
  TestInterpreter t(Chain(length));
  EXPECT_EQ(t.Allocate(), kTfLiteOk);
  t.Set<float>(0, x);
  EXPECT_EQ(t.Invoke(), kTfLiteOk);
  return t.Get<float>(0);
}

void WithFallback(TfLiteInterpreterOptions* options) {
  TfLiteInterpreterOptionsSetEnableDelegateFallback(options, true);
}

void Hot(TfLiteInterpreterOptions* options) {
  DeputyInterpreterOptionsSetDelegatePolicy(options, kDeputyPolicyHot);
}

// Moves the data of the graph's input to the delegate's device, and writes garbage on the host.
void PutInputOnDevice(TestInterpreter* t, OnDevice* delegate, const std::vector<float>& values) {
  TfLiteTensor* input = TfLiteInterpreterGetInputTensor(t->get(), 0);
  ASSERT_EQ(TfLiteInterpreterSetBufferHandle(
                t->get(), input, kHandle, reinterpret_cast<TfLiteOpaqueDelegate*>(delegate->get())),
            kTfLiteOk);
  memcpy((*delegate)->device[kHandle], values.data(), values.size() * sizeof(float));
  t->Set<float>(0, {9e9f, 9e9f, 9e9f, 9e9f});
  input->data_is_stale = true;
}

int TensorsWithHandles(const TestInterpreter& t) {
  int count = 0;
  for (int i = 0; const TfLiteTensor* tensor = TfLiteInterpreterGetTensor(t.get(), i); ++i) {
    if (tensor->buffer_handle != kTfLiteNullBufferHandle || tensor->delegate != nullptr) ++count;
  }
  return count;
}

class RemovedHandles : public testing::TestWithParam<bool> {
 protected:
  bool is_opaque() const { return GetParam(); }
};

TEST_P(RemovedHandles, are_freed_by_the_cpu_fallback) {
  OnDevice delegate(is_opaque(), {0, 2});
  delegate.script().FailAt(kScriptedInvoke, 2);
  TestInterpreter t(Chain(4), WithFallback);
  ASSERT_EQ(Apply(&t, delegate.get()), kTfLiteOk) << t.log();
  t.Set<float>(0, kInput);
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_EQ(delegate->handles_freed, 0);
  t.Set<float>(0, kInput);
  EXPECT_EQ(t.Invoke(), kTfLiteDelegateError);
  EXPECT_EQ(t.Get<float>(0), OnCpu(4));
  EXPECT_EQ(delegate->handles_freed, 2);
  EXPECT_EQ(TensorsWithHandles(t), 0);
}

TEST_P(RemovedHandles, are_freed_once) {
  OnDevice delegate(is_opaque(), {0, 2});
  delegate.script().FailAt(kScriptedInvoke, 0);
  {
    TestInterpreter t(Chain(4), WithFallback);
    ASSERT_EQ(Apply(&t, delegate.get()), kTfLiteOk);
    t.Set<float>(0, kInput);
    EXPECT_EQ(t.Invoke(), kTfLiteDelegateError);
    EXPECT_EQ(delegate->handles_freed, 2);
  }
  EXPECT_EQ(delegate->handles_freed, 2);
}

TEST_P(RemovedHandles, of_all_delegates_are_freed_when_one_fails) {
  OnDevice first(is_opaque(), {0}), second(is_opaque(), {2});
  second.script().FailAt(kScriptedPrepareKernel, 0);
  TestInterpreter t(Chain(4));
  ASSERT_EQ(Apply(&t, first.get()), kTfLiteOk) << t.log();
  EXPECT_EQ(Apply(&t, second.get()), kTfLiteDelegateError);
  EXPECT_EQ(first->handles_freed, 1);
  EXPECT_EQ(TensorsWithHandles(t), 0);
  t.Set<float>(0, kInput);
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_EQ(t.Get<float>(0), OnCpu(4));
}

TEST_P(RemovedHandles, of_the_failing_delegate_only_are_freed_under_hot) {
  OnDevice first(is_opaque(), {0}), second(is_opaque(), {1, 3});
  // When the prepare of the second delegate's second node fails, its first node already has a
  // handle.
  second.script().FailAt(kScriptedPrepareKernel, 1);
  TestInterpreter t(Chain(5), Hot);
  ASSERT_EQ(Apply(&t, first.get()), kTfLiteOk) << t.log();
  EXPECT_EQ(Apply(&t, second.get()), kTfLiteDelegateError);
  EXPECT_EQ(first->handles_freed, 0);
  EXPECT_EQ(second->handles_freed, 1);
  t.Set<float>(0, kInput);
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_EQ(t.Get<float>(0), OnCpu(5));
}

// The client may delete a refused delegate before the interpreter.
TEST_P(RemovedHandles, leave_no_reference_to_a_deleted_delegate) {
  TestInterpreter t(Chain(4));
  {
    OnDevice delegate(is_opaque(), {0, 2});
    delegate.script().FailAt(kScriptedPrepareKernel, 1);
    EXPECT_EQ(Apply(&t, delegate.get()), kTfLiteDelegateError);
    EXPECT_EQ(delegate->handles_freed, 1);
    memset(&delegate->base, 0xa5, sizeof delegate->base);
    delegate->builder = {};
  }
  EXPECT_EQ(TensorsWithHandles(t), 0);
  t.Set<float>(0, kInput);
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_EQ(t.Get<float>(0), OnCpu(4));
}

TEST_P(RemovedHandles, survive_a_resize) {
  OnDevice delegate(is_opaque(), {0, 2});
  TestInterpreter t(Chain(4));
  ASSERT_EQ(Apply(&t, delegate.get()), kTfLiteOk);
  ASSERT_EQ(t.Resize(0, {2, 4}), kTfLiteOk);
  EXPECT_EQ(delegate->handles_freed, 0);
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  EXPECT_EQ(delegate->handles_freed, 0);
}

TEST_P(RemovedHandles, are_freed_when_delegates_cannot_be_applied_again) {
  for (const bool is_hot : {false, true}) {
    OnDevice first(is_opaque(), {0}), second(is_opaque(), {2}), third(is_opaque(), {4});
    second.script().FailAt(kScriptedPrepareDelegate, 1);
    TestInterpreter t(Chain(6), is_hot ? Hot : TestInterpreter::Configure());
    for (OnDevice* each : {&first, &second, &third}) ASSERT_EQ(Apply(&t, each->get()), kTfLiteOk);
    ASSERT_EQ(t.Resize(0, {2, 4}), kTfLiteOk);
    EXPECT_EQ(first->handles_freed + second->handles_freed + third->handles_freed, 0);
    // With the policy Hot the second delegate, whose prepare fails, is left out.
    EXPECT_EQ(t.Allocate(), is_hot ? kTfLiteOk : kTfLiteDelegateError);
    EXPECT_EQ(second->handles_freed, 1);
    EXPECT_EQ(first->handles_freed, is_hot ? 0 : 1);
    EXPECT_EQ(third->handles_freed, is_hot ? 0 : 1);
  }
}

TEST_P(RemovedHandles, copy_inputs_to_the_cpu_first) {
  OnDevice delegate(is_opaque(), {2});
  delegate.script().FailAt(kScriptedInvoke, 0);
  TestInterpreter t(Chain(4), WithFallback);
  ASSERT_EQ(Apply(&t, delegate.get()), kTfLiteOk) << t.log();
  PutInputOnDevice(&t, &delegate, kInput);
  // Node 0 runs on the CPU, so Invoke copies the input to the host before node 2 fails.
  EXPECT_EQ(t.Invoke(), kTfLiteDelegateError);
  EXPECT_EQ(t.Get<float>(0), OnCpu(4));
  EXPECT_EQ(delegate->copies_from_handle, 1);
  EXPECT_EQ(delegate->handles_freed, 2);
}

TEST_P(RemovedHandles, copy_inputs_that_only_the_delegate_reads) {
  OnDevice delegate(is_opaque(), {0, 1, 2, 3});
  delegate.script().FailAt(kScriptedInvoke, 0);
  TestInterpreter t(Chain(4), WithFallback);
  ASSERT_EQ(Apply(&t, delegate.get()), kTfLiteOk) << t.log();
  PutInputOnDevice(&t, &delegate, kInput);
  EXPECT_EQ(t.Invoke(), kTfLiteDelegateError);
  EXPECT_EQ(t.Get<float>(0), OnCpu(4));
  EXPECT_EQ(delegate->copies_from_handle, 1);
  EXPECT_EQ(delegate->handles_freed, 2);
  EXPECT_EQ(TensorsWithHandles(t), 0);
}

TEST_P(RemovedHandles, copy_inputs_when_another_delegate_fails) {
  OnDevice first(is_opaque(), {0}, kDynamic), second(is_opaque(), {2}, kDynamic);
  second.script().FailAt(kScriptedPrepareDelegate, 0);
  TestInterpreter t(Chain(4));
  ASSERT_EQ(Apply(&t, first.get()), kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  PutInputOnDevice(&t, &first, kInput);
  EXPECT_EQ(Apply(&t, second.get()), kTfLiteDelegateError);
  EXPECT_EQ(first->copies_from_handle, 1);
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_EQ(t.Get<float>(0), OnCpu(4));
}

// If the input cannot be copied from the device, the fallback fails instead of computing from
// garbage.
TEST_P(RemovedHandles, that_cannot_be_read_fail_the_fallback) {
  OnDevice delegate(is_opaque(), {0, 1, 2, 3});
  delegate.script().FailAt(kScriptedCopyFrom, 0);
  TestInterpreter t(Chain(4), WithFallback);
  ASSERT_EQ(Apply(&t, delegate.get()), kTfLiteOk);
  PutInputOnDevice(&t, &delegate, kInput);
  delegate->device[kHandle][0] = 7;
  // The device's first copy to the host is that of the output, and fails; the second one restores
  // the input.
  EXPECT_EQ(t.Invoke(), kTfLiteDelegateError);
  EXPECT_EQ(t.Get<float>(0), OnCpu(4, {7, -2, 3, 4}));

  OnDevice lost(is_opaque(), {0, 1, 2, 3});
  lost.script().FailAt(kScriptedInvoke, 0);
  TestInterpreter u(Chain(4), WithFallback);
  ASSERT_EQ(Apply(&u, lost.get()), kTfLiteOk);
  PutInputOnDevice(&u, &lost, kInput);
  // The delegate's handles are 0 to 63, so it cannot copy from this one.
  TfLiteInterpreterGetInputTensor(u.get(), 0)->buffer_handle = 64;
  EXPECT_EQ(u.Invoke(), kTfLiteError);
  EXPECT_THAT(u.log(), HasSubstr("the delegate could not copy buffer handle 64"));
  EXPECT_EQ(lost->handles_freed, 2);
  u.Set<float>(0, kInput);
  EXPECT_EQ(u.Invoke(), kTfLiteOk) << u.log();
  EXPECT_EQ(u.Get<float>(0), OnCpu(4));
}

INSTANTIATE_TEST_SUITE_P(Of, RemovedHandles, testing::Bool(),
                         [](const auto& row) { return row.param ? "opaque" : "plain"; });

}  // namespace
}  // namespace deputy::delegate_handles_test
