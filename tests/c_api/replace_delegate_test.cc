// SPDX-License-Identifier: Apache-2.0
//
// Tests DeputyInterpreterReplaceDelegate: the new delegate runs from the next inference on, or the
// former one stays applied.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "c_api/include/c_api.h"
#include "c_api/include/c_api_experimental.h"
#include "c_api/include/deputy.h"
#include "c_api/include/deputy_graph.h"
#include "tests/support/add_mul_add.h"
#include "tests/support/delegate_support.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"
#include "tests/support/plugin_support.h"
#include "tests/support/test_interpreter.h"

namespace deputy::replace_delegate_test {
namespace {

const std::vector<float> kInput = {1, 2};
const std::vector<float> kOutput = {8, 16};

// A delegate of tests/plugins whose calls may fail.
Handle Layered(const std::string& library, const std::string& layers) {
  return {CreateExternal(BuildPath("libdeputy_layers.so"),
                         {{"library", Library(library)}, {"layers", layers}}),
          &DeputyPluginDeleteDelegate};
}

// An interpreter under a policy, which must be destroyed before its delegates.
class Runner {
 public:
  explicit Runner(int policy)
      : t(AddMulAdd(), [policy](TfLiteInterpreterOptions* options) {
          DeputyInterpreterOptionsSetDelegatePolicy(options,
                                                    static_cast<DeputyDelegatePolicy>(policy));
        }) {}

  void Apply(TfLiteDelegate* delegate) {
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate), kTfLiteOk) << t.log();
    ASSERT_EQ(t.Allocate(), kTfLiteOk);
    t.Set<float>(0, kInput);
  }
  void ExpectRuns(int partitions) {
    EXPECT_EQ(DeputyInterpreterGetPartitionCount(t.get(), 0), partitions);
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_EQ(t.Get<float>(0), kOutput);
  }
  TfLiteStatus Replace(TfLiteDelegate* old_delegate, TfLiteDelegate* new_delegate) {
    return DeputyInterpreterReplaceDelegate(t.get(), old_delegate, new_delegate);
  }

  TestInterpreter t;
};

class ReplaceDelegateUnderPolicy : public QuietTest, public testing::WithParamInterface<int> {};

TEST_P(ReplaceDelegateUnderPolicy, takes_over_between_inferences_and_keeps_the_inputs) {
  Handle delegate = External("opaque");  // claims each ADD
  Runner runner(GetParam());
  runner.Apply(delegate.get());
  runner.ExpectRuns(2);
  for (int i = 0; i < 1000; ++i) {
    const bool all = i % 2 == 0;
    Handle next = External(all ? "relay" : "opaque");  // relay claims all nodes
    ASSERT_EQ(runner.Replace(delegate.get(), next.get()), kTfLiteOk) << runner.t.log();
    delegate = std::move(next);  // deletes the former delegate
    runner.ExpectRuns(all ? 3 : 2);
  }
}

TEST_P(ReplaceDelegateUnderPolicy, a_failing_delegate_is_rolled_back) {
  const Handle delegate = External("opaque");
  Runner runner(GetParam());
  runner.Apply(delegate.get());
  for (const char* const call : {"delegate_prepare", "replace", "init", "prepare"}) {
    const Handle failing = Layered("relay", std::string("fault=") + call + ":1:fail");
    ASSERT_NE(failing, nullptr);
    EXPECT_NE(runner.Replace(delegate.get(), failing.get()), kTfLiteOk) << call;
    runner.ExpectRuns(2);
  }
}

TEST_P(ReplaceDelegateUnderPolicy, other_delegates_stay) {
  Scripted first({0}), second({1}), third({2});
  Runner runner(GetParam());
  runner.Apply(first.get());
  runner.Apply(second.get());
  runner.ExpectRuns(2);
  EXPECT_EQ(first->nodes_computed, 1);
  EXPECT_EQ(second->nodes_computed, 1);
  ASSERT_EQ(runner.Replace(first.get(), third.get()), kTfLiteOk);
  runner.ExpectRuns(2);
  EXPECT_EQ(first->nodes_computed, 1);
  EXPECT_EQ(second->nodes_computed, 2);
  EXPECT_EQ(third->nodes_computed, 1);
}

TEST_P(ReplaceDelegateUnderPolicy, wrong_delegates_are_refused) {
  const Handle delegate = External("opaque"), other = External("relay");
  Runner runner(GetParam());
  runner.Apply(delegate.get());
  EXPECT_EQ(runner.Replace(other.get(), delegate.get()), kTfLiteApplicationError);
  EXPECT_EQ(runner.Replace(delegate.get(), nullptr), kTfLiteApplicationError);
  EXPECT_EQ(runner.Replace(nullptr, other.get()), kTfLiteApplicationError);
  EXPECT_NE(DeputyInterpreterReplaceDelegate(nullptr, delegate.get(), other.get()), kTfLiteOk);
  runner.ExpectRuns(2);
}

// The client may map an input's memory read-only.
TEST_P(ReplaceDelegateUnderPolicy, read_only_inputs_are_not_written) {
  const Handle delegate = External("opaque"), other = External("relay");
  const Handle failing = Layered("relay", "fault=prepare:1:fail");
  Runner runner(GetParam());
  const auto size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* const page =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  const TfLiteCustomAllocation memory = {page, size};
  ASSERT_EQ(TfLiteInterpreterSetCustomAllocationForTensor(runner.t.get(), 0, &memory, 0),
            kTfLiteOk);
  runner.Apply(delegate.get());
  ASSERT_EQ(mprotect(page, size, PROT_READ), 0);
  runner.ExpectRuns(2);
  EXPECT_NE(runner.Replace(delegate.get(), failing.get()), kTfLiteOk);
  runner.ExpectRuns(2);
  ASSERT_EQ(runner.Replace(delegate.get(), other.get()), kTfLiteOk) << runner.t.log();
  runner.ExpectRuns(3);
  EXPECT_EQ(munmap(page, size), 0);
}

// A delegate removes all others during its Prepare, or loses them in a failed replacement.
TEST_P(ReplaceDelegateUnderPolicy, a_delegate_that_removes_others_can_be_removed) {
  for (const bool replaces : {false, true}) {
    Scripted first({0}), failing({0});
    TestInterpreter* own = nullptr;
    Programmed last([&](TfLiteContext* context, TfLiteDelegate* self) {
      failing.FailAt(kScriptedInit, 0);
      first.FailAt(kScriptedInit, first->calls[kScriptedInit]);
      if (replaces) {
        EXPECT_NE(DeputyInterpreterReplaceDelegate(own->get(), first.get(), failing.get()),
                  kTfLiteOk);
      } else {
        EXPECT_EQ(DeputyInterpreterRemoveDelegates(own->get()), kTfLiteOk);
      }
      TfLiteRegistration registration{};
      registration.invoke = [](TfLiteContext*, TfLiteNode*) { return kTfLiteOk; };
      TfLiteIntArray* const nodes = TfLiteIntArrayCreate(1);
      nodes->data[0] = 2;
      const TfLiteStatus status =
          context->ReplaceNodeSubsetsWithDelegateKernels(context, registration, nodes, self);
      TfLiteIntArrayFree(nodes);
      return status;
    });
    Runner runner(GetParam());
    own = &runner.t;
    runner.Apply(first.get());
    ASSERT_EQ(Apply(&runner.t, &last.base), kTfLiteOk) << runner.t.log();
    EXPECT_EQ(DeputyInterpreterGetPartitionCount(runner.t.get(), 0), 1);
    EXPECT_EQ(DeputyInterpreterRemoveDelegates(runner.t.get()), kTfLiteOk);
    runner.t.Set<float>(0, kInput);
    runner.ExpectRuns(0);
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, ReplaceDelegateUnderPolicy,
                         testing::Values(kDeputyPolicyTfLite, kDeputyPolicyHot));

// Adds the first input to the state, which is the second one.
TfLiteStatus AddToState(TfLiteContext* context, TfLiteNode* node) {
  TfLiteTensor& state = context->tensors[node->inputs->data[1]];
  TfLiteTensor& out = context->tensors[node->outputs->data[0]];
  out.data.f[0] = state.data.f[0] += context->tensors[node->inputs->data[0]].data.f[0];
  return kTfLiteOk;
}

TEST(ReplaceDelegate, variables_keep_their_values) {
  ModelBuilder m;
  TensorExtras variable;
  variable.is_variable = true;
  const int x = m.AddTensor(kTfLiteFloat32, {1}, "x");
  const int two_x = m.AddTensor(kTfLiteFloat32, {1}, "two_x");
  const int state = m.AddTensor(kTfLiteFloat32, {1}, "state", variable);
  const int sum = m.AddTensor(kTfLiteFloat32, {1}, "sum");
  m.AddOp(kTfLiteBuiltinAdd, {x, x}, {two_x}, schema::CreateAddOptions(m.fbb()));
  m.AddCustomOp("Accumulate", {two_x, state}, {sum});
  m.SetInputs({x});
  m.SetOutputs({sum});
  TfLiteRegistration accumulate{};
  accumulate.invoke = &AddToState;
  const Handle first = External("opaque"), second = External("opaque");
  const Handle failing = Layered("opaque", "fault=init:1:fail");
  TestInterpreter t(m.Finish(), [&](TfLiteInterpreterOptions* options) {
    TfLiteInterpreterOptionsAddCustomOp(options, "Accumulate", &accumulate, 1, 1);
  });
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), first.get()), kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  t.Set<float>(0, {5});
  ASSERT_EQ(t.Invoke(), kTfLiteOk);
  EXPECT_EQ(t.Get<float>(0), (std::vector<float>{10}));
  ASSERT_EQ(DeputyInterpreterReplaceDelegate(t.get(), first.get(), second.get()), kTfLiteOk);
  ASSERT_EQ(t.Invoke(), kTfLiteOk);
  EXPECT_EQ(t.Get<float>(0), (std::vector<float>{20}));
  EXPECT_NE(DeputyInterpreterReplaceDelegate(t.get(), second.get(), failing.get()), kTfLiteOk);
  ASSERT_EQ(t.Invoke(), kTfLiteOk);
  EXPECT_EQ(t.Get<float>(0), (std::vector<float>{30}));
  EXPECT_EQ(DeputyInterpreterGetPartitionCount(t.get(), 0), 1);
}

// A delegate that keeps the state, the second input of node 0, on a device.
class StateOnDevice {
 public:
  StateOnDevice() : delegate_(&Prepare) {
    delegate_.base.CopyFromBufferHandle = [](TfLiteContext*, TfLiteDelegate*, TfLiteBufferHandle,
                                             TfLiteTensor* tensor) {
      tensor->data.f[0] = on_device;
      return copy_status;
    };
    copy_status = kTfLiteOk;
  }
  TfLiteDelegate* get() { return &delegate_.base; }

  static inline TfLiteStatus copy_status = kTfLiteOk;

 private:
  static TfLiteStatus Prepare(TfLiteContext* context, TfLiteDelegate* delegate) {
    TfLiteRegistration registration{};
    registration.invoke = &Invoke;
    TfLiteIntArray* const nodes = TfLiteIntArrayCreate(1);
    nodes->data[0] = 0;
    const TfLiteStatus status =
        context->ReplaceNodeSubsetsWithDelegateKernels(context, registration, nodes, delegate);
    TfLiteIntArrayFree(nodes);
    return status;
  }
  static TfLiteStatus Invoke(TfLiteContext* context, TfLiteNode* node) {
    TfLiteTensor& state = context->tensors[node->inputs->data[1]];
    if (!state.data_is_stale) on_device = state.data.f[0];
    on_device += context->tensors[node->inputs->data[0]].data.f[0];
    context->tensors[node->outputs->data[0]].data.f[0] = on_device;
    state.delegate = node->delegate;
    state.buffer_handle = 1;
    state.data_is_stale = true;
    return kTfLiteOk;
  }

  static inline float on_device = 0;
  Programmed delegate_;
};

TEST(ReplaceDelegate, variables_on_a_device_keep_their_values) {
  ModelBuilder m;
  TensorExtras variable;
  variable.is_variable = true;
  const int x = m.AddTensor(kTfLiteFloat32, {1}, "x");
  const int state = m.AddTensor(kTfLiteFloat32, {1}, "state", variable);
  const int sum = m.AddTensor(kTfLiteFloat32, {1}, "sum");
  m.AddCustomOp("Accumulate", {x, state}, {sum});
  m.SetInputs({x});
  m.SetOutputs({sum});
  TfLiteRegistration accumulate{};
  accumulate.invoke = &AddToState;
  StateOnDevice first;
  const Handle second = External("opaque");
  TestInterpreter t(m.Finish(), [&](TfLiteInterpreterOptions* options) {
    TfLiteInterpreterOptionsAddCustomOp(options, "Accumulate", &accumulate, 1, 1);
  });
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), first.get()), kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  t.Set<float>(0, {5});
  ASSERT_EQ(t.Invoke(), kTfLiteOk);
  ASSERT_EQ(t.Invoke(), kTfLiteOk);
  EXPECT_EQ(t.Get<float>(0), (std::vector<float>{10}));
  // The former delegate stays if its device does not return the variable.
  StateOnDevice::copy_status = kTfLiteError;
  EXPECT_NE(DeputyInterpreterReplaceDelegate(t.get(), first.get(), second.get()), kTfLiteOk);
  EXPECT_EQ(DeputyInterpreterGetPartitionCount(t.get(), 0), 1);
  StateOnDevice::copy_status = kTfLiteOk;
  ASSERT_EQ(DeputyInterpreterReplaceDelegate(t.get(), first.get(), second.get()), kTfLiteOk);
  EXPECT_EQ(DeputyInterpreterGetPartitionCount(t.get(), 0), 0);
  ASSERT_EQ(t.Invoke(), kTfLiteOk);
  EXPECT_EQ(t.Get<float>(0), (std::vector<float>{15}));
}

}  // namespace
}  // namespace deputy::replace_delegate_test
