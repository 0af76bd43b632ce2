// SPDX-License-Identifier: Apache-2.0
//
// Tests the policy Hot in detail: which nodes are recomputed, when a delegate is tried again, its
// reports and its cost. delegate_sweep_test.cc covers failures in all callbacks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "c_api/include/builtin_op_data.h"
#include "c_api/include/deputy.h"
#include "c_api/include/deputy_graph.h"
#include "tests/support/built_interpreter.h"
#include "tests/support/delegate_support.h"
#include "tests/support/model_builder.h"
#include "tests/support/owners.h"
#include "tests/support/scripted_delegate.h"
#include "tests/support/test_interpreter.h"

namespace deputy::delegate_hot_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// An interpreter with the policy Hot. Declare it after its delegates, so that it is destroyed
// first.
class HotInterpreter : public TestInterpreter {
 public:
  explicit HotInterpreter(std::vector<uint8_t> model, int retry = 0)
      : TestInterpreter(std::move(model), [&](TfLiteInterpreterOptions* options) {
          DeputyInterpreterOptionsSetDelegatePolicy(options, kDeputyPolicyHot);
          DeputyInterpreterOptionsSetDelegateRetry(options, retry);
        }) {}

  TfLiteStatus Apply(Scripted* delegate) {
    return TfLiteInterpreterModifyGraphWithDelegate(get(), delegate->get());
  }
  DeputyDelegationStatus Status() {
    DeputyDelegationStatus status{};
    status.struct_size = sizeof status;
    EXPECT_EQ(DeputyInterpreterGetDelegationStatus(get(), &status), kTfLiteOk);
    return status;
  }
  // Returns the nodes that the next inference runs, once for each run.
  std::multiset<int> InferAndWatch(const std::vector<float>& x) {
    std::multiset<int> ran;
    DeputyInterpreterSetProfileCallback(
        get(),
        [](void* data, const DeputyOpEvent* event) {
          static_cast<std::multiset<int>*>(data)->insert(event->node_index);
        },
        &ran);
    Set<float>(0, x);
    EXPECT_EQ(Invoke(), kTfLiteOk) << log();
    DeputyInterpreterSetProfileCallback(get(), nullptr, nullptr);
    return ran;
  }
};

std::vector<float> OnTheCpu(const std::vector<uint8_t>& model, const std::vector<float>& x) {
  TestInterpreter cpu(model);
  EXPECT_EQ(cpu.Allocate(), kTfLiteOk);
  cpu.Set<float>(0, x);
  EXPECT_EQ(cpu.Invoke(), kTfLiteOk);
  return cpu.Get<float>(0);
}

// ---- While the model runs -----------------------------------------------------------------------

TEST(Hot, only_the_failed_partition_runs_again) {
  const std::vector<uint8_t> model = Chain(9);
  const std::vector<std::set<int>> partitions = {{0, 1}, {3}, {5, 6, 7}};
  for (int failing = 0; failing < 3; ++failing) {
    for (int run = 0; run < 4; ++run) {
      Scripted delegate({0, 1, 3, 5, 6, 7});
      HotInterpreter t(model);
      ASSERT_EQ(t.Apply(&delegate), kTfLiteOk) << t.log();
      delegate.FailAt(kScriptedInvoke, 3 * run + failing);
      for (int r = 0; r < 5; ++r) {
        const std::vector<float> x = {1, -2, 3, 0.5f * static_cast<float>(r)};
        std::multiset<int> expected = {2, 4, 8, 9, 10, 11};  // 9, 10, 11 are the delegate's
        if (r == run) expected.insert(partitions[failing].begin(), partitions[failing].end());
        EXPECT_EQ(t.InferAndWatch(x), expected) << "partition " << failing << ", run " << run;
        EXPECT_EQ(t.Get<float>(0), OnTheCpu(model, x));
        EXPECT_EQ(t.Status().degraded, r == run);
      }
      EXPECT_EQ(t.Status().recomputed_nodes, 1);
      EXPECT_EQ(t.Status().restarts, 0);
      EXPECT_THAT(t.log(), HasSubstr("were computed on the CPU"));
    }
  }
}

// The client's plan runs the nodes in descending order of their indices.
TEST(Hot, replaced_nodes_run_in_the_order_of_the_plan) {
  Scripted delegate({0, 1, 2});
  const Owned<TfLiteInterpreterOptions> options(TfLiteInterpreterOptionsCreate());
  DeputyInterpreterOptionsSetDelegatePolicy(options.get(), kDeputyPolicyHot);
  BuiltInterpreter t(options.get());
  t.AddFloats(4, {1});
  for (int i : {2, 1, 0}) {
    ASSERT_EQ(t.AddNode({i, i}, {i + 1}, DeputyFindBuiltinKernel(kTfLiteBuiltinAdd, 1),
                        calloc(1, sizeof(TfLiteAddParams))),
              kTfLiteOk);
  }
  t.SetInputs({0});
  t.SetOutputs({3});
  const int32_t plan[] = {2, 1, 0};
  ASSERT_EQ(DeputyInterpreterSetExecutionPlan(t.get(), 0, plan, 3), kTfLiteOk);
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  t.Write(0, {1});
  delegate.FailAt(kScriptedInvoke, 1);
  for (int run = 0; run < 2; ++run) {
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_THAT(t.Read(3), ElementsAre(8)) << "run " << run;
  }
  EXPECT_THAT(t.log(), HasSubstr("were computed on the CPU"));
}

TEST(Hot, a_failed_node_backs_off_for_the_configured_inferences) {
  for (int retry : {0, 1, 2, -1}) {
    Scripted delegate({1});
    HotInterpreter t(Chain(3), retry);
    ASSERT_EQ(t.Apply(&delegate), kTfLiteOk);
    delegate.FailAt(kScriptedInvoke, 0);
    std::string ran_there;
    for (int run = 0; run < 5; ++run) {
      const int before = delegate->nodes_computed;
      t.InferAndWatch({1, 2, 3, 4});
      ran_there += delegate->nodes_computed > before ? 'd' : 'c';
    }
    const char* expected = retry == 0   ? "cdddd"
                           : retry == 1 ? "ccddd"
                           : retry == 2 ? "cccdd"
                                        : "ccccc";
    EXPECT_EQ(ran_there, expected) << "retry " << retry;
  }
}

TEST(Hot, a_lost_device_restarts_the_inference) {
  const std::vector<uint8_t> model = Chain(6);
  const std::vector<float> x = {1, -2, 3, 4};
  Scripted delegate({0, 1, 3});
  delegate->outputs_on_device = true;
  HotInterpreter t(model);
  ASSERT_EQ(t.Apply(&delegate), kTfLiteOk);
  delegate.FailAt(kScriptedCopyFrom, 1);  // the copy of node 3's output
  const std::multiset<int> ran = t.InferAndWatch(x);
  EXPECT_EQ(t.Get<float>(0), OnTheCpu(model, x));
  EXPECT_EQ(ran.count(0), 1u);
  EXPECT_EQ(ran.count(2), 2u);
  EXPECT_EQ(t.Status().restarts, 1);
  EXPECT_TRUE(t.Status().degraded);
  t.InferAndWatch(x);
  EXPECT_EQ(t.Get<float>(0), OnTheCpu(model, x));
  EXPECT_FALSE(t.Status().degraded);
}

// Puts the input into a buffer of the device, as a client does. The tensor's bytes in host memory
// are older.
void PutOnDevice(Scripted* delegate, TestInterpreter* t, const std::vector<float>& x) {
  t->Set<float>(0, {9, 9, 9, 9});
  TfLiteTensor* input = TfLiteInterpreterGetInputTensor(t->get(), 0);
  input->delegate = delegate->get();
  input->buffer_handle = (*delegate)->next_handle++;
  input->data_is_stale = true;
  std::copy(x.begin(), x.end(), (*delegate)->device[input->buffer_handle]);
}

TEST(Hot, inputs_on_the_device_are_copied_before_a_restart) {
  const std::vector<uint8_t> model = Chain(6);
  const std::vector<float> x = {1, -2, 3, 4};
  Scripted delegate({0, 1, 3});
  delegate->outputs_on_device = true;
  HotInterpreter t(model);
  ASSERT_EQ(t.Apply(&delegate), kTfLiteOk);
  PutOnDevice(&delegate, &t, x);
  delegate.FailAt(kScriptedCopyFrom, 0);  // the copy of node 1's output
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_EQ(t.Status().restarts, 1);
  EXPECT_EQ(t.Get<float>(0), OnTheCpu(model, x));
}

TEST(Hot, inputs_lost_with_the_device_fail_the_inference) {
  Scripted delegate({0, 1, 3});
  delegate->outputs_on_device = true;
  HotInterpreter t(Chain(6));
  ASSERT_EQ(t.Apply(&delegate), kTfLiteOk);
  PutOnDevice(&delegate, &t, {1, -2, 3, 4});
  delegate->base.CopyFromBufferHandle = [](TfLiteContext*, TfLiteDelegate*, TfLiteBufferHandle,
                                           TfLiteTensor*) { return kTfLiteError; };
  EXPECT_NE(t.Invoke(), kTfLiteOk);
  EXPECT_EQ(t.Status().restarts, 0);
  EXPECT_THAT(t.log(), HasSubstr("could not copy buffer handle"));
}

TEST(Hot, data_pointers_of_the_caller_stay_valid) {
  Scripted delegate({0, 1, 2, 3});
  HotInterpreter t(Chain(4));
  ASSERT_EQ(t.Apply(&delegate), kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  const void* input = TfLiteTensorData(TfLiteInterpreterGetInputTensor(t.get(), 0));
  const void* output = TfLiteTensorData(TfLiteInterpreterGetOutputTensor(t.get(), 0));
  delegate.FailAt(kScriptedInvoke, 0);
  t.InferAndWatch({1, 2, 3, 4});
  EXPECT_EQ(TfLiteTensorData(TfLiteInterpreterGetInputTensor(t.get(), 0)), input);
  EXPECT_EQ(TfLiteTensorData(TfLiteInterpreterGetOutputTensor(t.get(), 0)), output);
}

TEST(Hot, cancelling_is_no_failure_of_the_delegate) {
  Scripted delegate({0});
  TestInterpreter t(Chain(2), [](TfLiteInterpreterOptions* options) {
    DeputyInterpreterOptionsSetDelegatePolicy(options, kDeputyPolicyHot);
    TfLiteInterpreterOptionsEnableCancellation(options, true);
  });
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk);
  DeputyInterpreterSetProfileCallback(
      t.get(),
      [](void* data, const DeputyOpEvent*) {
        TfLiteInterpreterCancel(static_cast<TfLiteInterpreter*>(data));
      },
      t.get());
  EXPECT_EQ(t.Invoke(), kTfLiteCancelled);
  DeputyInterpreterSetProfileCallback(t.get(), nullptr, nullptr);
  EXPECT_EQ(t.Invoke(), kTfLiteOk);
}

// ---- Called subgraphs ---------------------------------------------------------------------------

// y = 2^k x for the smallest k >= 0 with 2^k x >= 100, for positive x.
std::vector<uint8_t> DoublingLoop() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1}, "x");
  const int y = m.AddTensor(kTfLiteFloat32, {1}, "y");
  m.AddOp(kTfLiteBuiltinWhile, {x}, {y}, schema::CreateWhileOptions(m.fbb(), 1, 2));
  m.SetInputs({x});
  m.SetOutputs({y});
  m.AddSubgraph("cond");
  const int a = m.AddTensor(kTfLiteFloat32, {1});
  const int limit = m.AddConstant<float>(kTfLiteFloat32, {1}, {100});
  const int less = m.AddTensor(kTfLiteBool, {1});
  m.AddOp(kTfLiteBuiltinLess, {a, limit}, {less});
  m.SetInputs({a});
  m.SetOutputs({less});
  m.AddSubgraph("body");
  const int b = m.AddTensor(kTfLiteFloat32, {1}), twice = m.AddTensor(kTfLiteFloat32, {1});
  m.AddOp(kTfLiteBuiltinAdd, {b, b}, {twice}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({b});
  m.SetOutputs({twice});
  return m.Finish();
}

// A node that fails in one iteration is run on the CPU until the end of the inference.
TEST(Hot, recomputes_inside_loops) {
  Scripted delegate({});
  delegate->claim_all = true;
  HotInterpreter t(DoublingLoop());
  ASSERT_EQ(t.Apply(&delegate), kTfLiteOk) << t.log();
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  delegate.FailAt(kScriptedInvoke, 3);
  t.InferAndWatch({1});  // the loop runs 7 iterations
  EXPECT_THAT(t.Get<float>(0), ElementsAre(128));
  EXPECT_EQ(delegate->nodes_computed, 3);
  EXPECT_EQ(t.Status().recomputed_nodes, 4);
  EXPECT_TRUE(t.Status().degraded);
  t.InferAndWatch({1});
  EXPECT_THAT(t.Get<float>(0), ElementsAre(128));
  EXPECT_EQ(delegate->nodes_computed, 3 + 7);
  EXPECT_EQ(t.Status().recomputed_nodes, 4);
  EXPECT_FALSE(t.Status().degraded);
}

TEST(Hot, back_off_counts_inferences_not_runs_of_a_subgraph) {
  Scripted delegate({});
  delegate->claim_all = true;
  HotInterpreter t(DoublingLoop(), 2);
  ASSERT_EQ(t.Apply(&delegate), kTfLiteOk) << t.log();
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  delegate.FailAt(kScriptedInvoke, 0);
  for (const float x : {1, 1, 200, 1}) t.InferAndWatch({x});  // 200 runs no iteration
  EXPECT_EQ(t.Status().recomputed_nodes, 7 + 7);
  EXPECT_EQ(delegate->nodes_computed, 7);
}

TEST(Hot, a_body_that_loses_its_device_restarts_alone) {
  Scripted delegate({});
  delegate->claim_all = true;
  delegate->outputs_on_device = true;
  delegate.FailAt(kScriptedCopyFrom, 3);
  HotInterpreter t(DoublingLoop());
  ASSERT_EQ(t.Apply(&delegate), kTfLiteOk) << t.log();
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  t.InferAndWatch({1});
  EXPECT_THAT(t.Get<float>(0), ElementsAre(128));
  EXPECT_EQ(t.Status().restarts, 1);
  EXPECT_EQ(t.Status().recomputed_nodes, 4);
  t.InferAndWatch({1});
  EXPECT_THAT(t.Get<float>(0), ElementsAre(128));
  EXPECT_FALSE(t.Status().degraded);
}

TEST(Hot, degraded_refers_to_the_newest_inference_of_all_subgraphs) {
  ModelBuilder m;
  const int choice = m.AddTensor(kTfLiteBool, {1}), x = m.AddTensor(kTfLiteFloat32, {1, 4});
  const int y = m.AddTensor(kTfLiteFloat32, {1, 4});
  m.AddOp(kTfLiteBuiltinIf, {choice, x}, {y}, schema::CreateIfOptions(m.fbb(), 1, 2));
  m.SetInputs({choice, x});
  m.SetOutputs({y});
  for (const char* name : {"then", "else"}) {
    m.AddSubgraph(name);
    AddChain(&m, 2);
  }
  Scripted delegate({});
  delegate->claim_all = true;
  HotInterpreter t(m.Finish());
  ASSERT_EQ(t.Apply(&delegate), kTfLiteOk) << t.log();
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  t.Set<float>(1, {1, 2, 3, 4});
  const auto infer = [&](bool then) {
    t.Set<uint8_t>(0, {then});
    EXPECT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    return t.Status().degraded != 0;
  };
  delegate.FailAt(kScriptedInvoke, 1);
  EXPECT_FALSE(infer(true));
  EXPECT_TRUE(infer(true));
  EXPECT_FALSE(infer(false));
  EXPECT_FALSE(infer(true));
}

// ---- While delegates are applied ----------------------------------------------------------------

TEST(Hot, a_failed_apply_keeps_other_delegates) {
  const std::vector<uint8_t> model = Chain(6);
  Scripted good({0, 1}), bad({3, 4});
  HotInterpreter t(model);
  ASSERT_EQ(t.Apply(&good), kTfLiteOk);
  const uint64_t digest = DeputyInterpreterGetGraphDigest(t.get());
  bad.FailAt(kScriptedPrepareKernel, 0);
  EXPECT_EQ(t.Apply(&bad), kTfLiteDelegateError);
  EXPECT_EQ(DeputyInterpreterGetGraphDigest(t.get()), digest);
  EXPECT_EQ(bad->frees, bad->calls[kScriptedInit]);
  EXPECT_EQ(t.Status().delegates_skipped, 1);
  t.InferAndWatch({1, 2, 3, 4});
  EXPECT_EQ(t.Get<float>(0), OnTheCpu(model, {1, 2, 3, 4}));
  EXPECT_EQ(good->nodes_computed, 2);
  // A delegate that was left out can be applied once it no longer fails.
  EXPECT_EQ(t.Apply(&bad), kTfLiteOk) << t.log();
  t.InferAndWatch({1, 2, 3, 4});
  EXPECT_EQ(bad->nodes_computed, 2);
}

// The contract forbids a delegate's Prepare to call the interpreter (rule V02), but such a call
// must not crash.
TEST(Hot, a_delegate_may_apply_another_and_fail) {
  const std::vector<uint8_t> model = Chain(4);
  Scripted inner({1});
  TfLiteInterpreter* interpreter = nullptr;
  Programmed outer([&](TfLiteContext*, TfLiteDelegate*) {
    EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(interpreter, inner.get()), kTfLiteOk);
    return kTfLiteError;
  });
  HotInterpreter t(model);
  interpreter = t.get();
  EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), &outer.base), kTfLiteDelegateError);
  t.InferAndWatch({1, 2, 3, 4});
  EXPECT_EQ(t.Get<float>(0), OnTheCpu(model, {1, 2, 3, 4}));
}

TEST(Hot, inputs_survive_a_failed_apply) {
  const std::vector<uint8_t> model = Chain(4);
  Scripted bad({1});
  bad.FailAt(kScriptedInit, 0);
  bad->failure = kScriptedInitSentinel;
  HotInterpreter t(model);
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  t.Set<float>(0, {5, 6, 7, 8});
  EXPECT_EQ(t.Apply(&bad), kTfLiteDelegateError);
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_EQ(t.Get<float>(0), OnTheCpu(model, {5, 6, 7, 8}));
}

TEST(Hot, failure_on_one_subgraph_is_failure_on_all) {
  ModelBuilder m;
  AddChain(&m, 3);
  m.AddSubgraph("second");
  AddChain(&m, 3);
  Scripted delegate({0});
  HotInterpreter t(m.Finish());
  const uint64_t digest = DeputyInterpreterGetGraphDigest(t.get());
  delegate.FailAt(kScriptedPrepareDelegate, 1);
  EXPECT_EQ(t.Apply(&delegate), kTfLiteDelegateError);
  EXPECT_EQ(DeputyInterpreterGetGraphDigest(t.get()), digest);
  EXPECT_EQ(delegate->calls[kScriptedPrepareDelegate], 2);
  EXPECT_EQ(delegate->frees, delegate->calls[kScriptedInit]);
}

TEST(Hot, delegates_in_the_options_do_not_prevent_an_interpreter) {
  Scripted good({0}), bad({1});
  bad.FailAt(kScriptedPrepareDelegate, 0);
  TestInterpreter t(Chain(3), [&](TfLiteInterpreterOptions* options) {
    DeputyInterpreterOptionsSetDelegatePolicy(options, kDeputyPolicyHot);
    TfLiteInterpreterOptionsAddDelegate(options, bad.get());
    TfLiteInterpreterOptionsAddDelegate(options, good.get());
  });
  ASSERT_NE(t.get(), nullptr) << t.log();
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  ASSERT_EQ(t.Invoke(), kTfLiteOk);
  EXPECT_EQ(good->nodes_computed, 1);
  EXPECT_EQ(bad->nodes_computed, 0);
}

TEST(Hot, a_delegate_that_fails_after_a_resize_is_left_out) {
  const std::vector<uint8_t> model = Chain(4);
  Scripted good({0}), bad({2});
  HotInterpreter t(model);
  ASSERT_EQ(t.Apply(&good), kTfLiteOk);
  ASSERT_EQ(t.Apply(&bad), kTfLiteOk);
  bad.FailAt(kScriptedPrepareDelegate, 1);
  ASSERT_EQ(t.Resize(0, {2, 4}), kTfLiteOk);
  EXPECT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  ASSERT_EQ(t.Resize(0, {1, 4}), kTfLiteOk);
  EXPECT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  t.InferAndWatch({1, 2, 3, 4});
  EXPECT_EQ(t.Get<float>(0), OnTheCpu(model, {1, 2, 3, 4}));
  EXPECT_EQ(good->nodes_computed, 1);
  EXPECT_EQ(bad->nodes_computed, 0);
  EXPECT_EQ(t.Status().delegates_skipped, 1);
}

// An operator whose output has a shape only after the operator has run.
TfLiteRegistration LateShape() {
  TfLiteRegistration kernel{};
  kernel.prepare = [](TfLiteContext* context, TfLiteNode* node) {
    TfLiteTensor* output = &context->tensors[node->outputs->data[0]];
    if (output->allocation_type != kTfLiteDynamic) output->data.raw = nullptr;
    output->allocation_type = kTfLiteDynamic;
    return kTfLiteOk;
  };
  kernel.invoke = [](TfLiteContext* context, TfLiteNode* node) {
    const TfLiteTensor& input = context->tensors[node->inputs->data[0]];
    TfLiteTensor* output = &context->tensors[node->outputs->data[0]];
    const TfLiteStatus status =
        context->ResizeTensor(context, output, TfLiteIntArrayCopy(input.dims));
    if (status == kTfLiteOk) memcpy(output->data.raw, input.data.raw, input.bytes);
    return status;
  };
  return kernel;
}

// An operator that computes x + 1; in its first prepare it adds a temporary and stores its index.
TfLiteRegistration WithTemporary() {
  TfLiteRegistration kernel{};
  kernel.init = [](TfLiteContext*, const char*, size_t) -> void* { return new int(-1); };
  kernel.free = [](TfLiteContext*, void* data) { delete static_cast<int*>(data); };
  kernel.prepare = [](TfLiteContext* context, TfLiteNode* node) {
    int* temporary = static_cast<int*>(node->user_data);
    if (*temporary < 0) {
      if (context->AddTensors(context, 1, temporary) != kTfLiteOk) return kTfLiteError;
      TfLiteIntArrayFree(node->temporaries);
      node->temporaries = TfLiteIntArrayCreate(1);
      node->temporaries->data[0] = *temporary;
    }
    const TfLiteTensor& input = context->tensors[node->inputs->data[0]];
    TfLiteTensor* scratch = &context->tensors[*temporary];
    scratch->type = kTfLiteFloat32;
    scratch->allocation_type = kTfLiteArenaRw;
    if (context->ResizeTensor(context, scratch, TfLiteIntArrayCopy(input.dims)) != kTfLiteOk) {
      return kTfLiteError;
    }
    return context->ResizeTensor(context, &context->tensors[node->outputs->data[0]],
                                 TfLiteIntArrayCopy(input.dims));
  };
  kernel.invoke = [](TfLiteContext* context, TfLiteNode* node) {
    const TfLiteTensor& input = context->tensors[node->inputs->data[0]];
    TfLiteTensor* scratch = &context->tensors[*static_cast<int*>(node->user_data)];
    TfLiteTensor* output = &context->tensors[node->outputs->data[0]];
    for (int i = 0; i < 4; ++i) scratch->data.f[i] = input.data.f[i] + 1;
    memcpy(output->data.raw, scratch->data.raw, output->bytes);
    return kTfLiteOk;
  };
  return kernel;
}

// A delegate's kernel that makes the shape of LateShape's output static, and fails for node 2.
TfLiteRegistration MakesShapesStatic() {
  TfLiteRegistration kernel{};
  kernel.custom_name = "MakesShapesStatic";
  kernel.init = [](TfLiteContext*, const char* params, size_t) -> void* {
    const auto* taken = reinterpret_cast<const TfLiteDelegateParams*>(params);
    return new bool(taken->nodes_to_replace->data[0] == 2);
  };
  kernel.free = [](TfLiteContext*, void* data) { delete static_cast<bool*>(data); };
  kernel.prepare = [](TfLiteContext* context, TfLiteNode* node) {
    if (*static_cast<bool*>(node->user_data)) return kTfLiteError;
    TfLiteTensor* output = &context->tensors[node->outputs->data[0]];
    TfLiteTensorDataFree(output);
    output->allocation_type = kTfLiteArenaRw;
    return context->ResizeTensor(context, output,
                                 TfLiteIntArrayCopy(context->tensors[node->inputs->data[0]].dims));
  };
  kernel.invoke = [](TfLiteContext*, TfLiteNode*) { return kTfLiteError; };
  return kernel;
}

// The node after LateShape is prepared for the first time while the delegate is applied.
TEST(Hot, tensors_added_by_cpu_kernels_survive_a_failed_apply) {
  ModelBuilder m;
  for (const char* name : {"x", "late", "plus", "y"}) m.AddTensor(kTfLiteFloat32, {4}, name);
  m.AddCustomOp("LateShape", {0}, {1});
  m.AddCustomOp("WithTemporary", {1}, {2});
  m.AddOp(kTfLiteBuiltinAdd, {2, 2}, {3}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({0});
  m.SetOutputs({3});
  int added = -1;  // index of the first of three tensors that the delegate adds
  Programmed delegate(
      [&](TfLiteContext* context, TfLiteDelegate* self) {
        if (context->AddTensors(context, 3, &added) != kTfLiteOk) return kTfLiteError;
        TfLiteIntArray* nodes = TfLiteIntArrayCreate(2);
        nodes->data[0] = 0;
        nodes->data[1] = 2;
        const TfLiteStatus status = context->ReplaceNodeSubsetsWithDelegateKernels(
            context, MakesShapesStatic(), nodes, self);
        TfLiteIntArrayFree(nodes);
        return status;
      },
      kTfLiteDelegateFlagsAllowDynamicTensors);
  const TfLiteRegistration late = LateShape(), with_temporary = WithTemporary();
  TestInterpreter t(m.Finish(), [&](TfLiteInterpreterOptions* options) {
    DeputyInterpreterOptionsSetDelegatePolicy(options, kDeputyPolicyHot);
    TfLiteInterpreterOptionsAddCustomOp(options, "LateShape", &late, 1, 1);
    TfLiteInterpreterOptionsAddCustomOp(options, "WithTemporary", &with_temporary, 1, 1);
  });
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  for (int attempt = 0; attempt < 3; ++attempt) {
    EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), &delegate.base),
              kTfLiteDelegateError);
    // Tensors 0 to 3 are the model's. In the first attempt the delegate adds its tensors before the
    // kernel adds its own.
    EXPECT_EQ(added, attempt == 0 ? 4 : 8);
    EXPECT_EQ(t.Tensor(4)->dims, nullptr);
    EXPECT_EQ(t.Tensor(4)->allocation_type, kTfLiteMemNone);
    EXPECT_NE(t.Tensor(7), nullptr);
    EXPECT_EQ(t.Tensor(8), nullptr);
    t.Set<float>(0, {1, 2, 3, 4});
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_THAT(t.Get<float>(0), ElementsAre(4, 6, 8, 10));
  }
}

// ---- Selection and cost -------------------------------------------------------------------------

TEST(Hot, the_environment_sets_the_default_policy) {
  setenv("DEPUTY_DELEGATE_POLICY", "hot", 1);
  TestInterpreter chosen(Chain(1));
  TestInterpreter called(Chain(1), [](TfLiteInterpreterOptions* options) {
    DeputyInterpreterOptionsSetDelegatePolicy(options, kDeputyPolicyTfLite);
  });
  unsetenv("DEPUTY_DELEGATE_POLICY");
  TestInterpreter silent(Chain(1));
  const auto policy = [](TestInterpreter* t) {
    DeputyDelegationStatus status{};
    status.struct_size = sizeof status;
    EXPECT_EQ(DeputyInterpreterGetDelegationStatus(t->get(), &status), kTfLiteOk);
    return status.policy;
  };
  EXPECT_EQ(policy(&chosen), kDeputyPolicyHot);
  EXPECT_EQ(policy(&called), kDeputyPolicyTfLite);
  EXPECT_EQ(policy(&silent), kDeputyPolicyTfLite);
}

TEST(Hot, wrong_values_are_refused) {
  TfLiteInterpreterOptions* options = TfLiteInterpreterOptionsCreate();
  EXPECT_EQ(
      DeputyInterpreterOptionsSetDelegatePolicy(options, static_cast<DeputyDelegatePolicy>(7)),
      kTfLiteError);
  EXPECT_EQ(DeputyInterpreterOptionsSetDelegatePolicy(nullptr, kDeputyPolicyHot), kTfLiteError);
  EXPECT_EQ(DeputyInterpreterOptionsSetDelegateRetry(options, -2), kTfLiteError);
  EXPECT_EQ(DeputyInterpreterOptionsSetDelegateRetry(nullptr, 1), kTfLiteError);
  TfLiteInterpreterOptionsDelete(options);
}

TEST(Hot, allocates_nothing_by_default_and_reports_its_memory) {
  for (bool is_hot : {false, true}) {
    Scripted delegate({0, 1, 2, 3});
    TestInterpreter t(Chain(4), [&](TfLiteInterpreterOptions* options) {
      DeputyInterpreterOptionsSetDelegatePolicy(options,
                                                is_hot ? kDeputyPolicyHot : kDeputyPolicyTfLite);
    });
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk);
    ASSERT_EQ(t.Allocate(), kTfLiteOk);
    DeputyDelegationStatus status{};
    status.struct_size = sizeof status;
    ASSERT_EQ(DeputyInterpreterGetDelegationStatus(t.get(), &status), kTfLiteOk);
    // The fallback needs memory for three results, since the last of four is the graph's output;
    // two of them are alive at a time.
    EXPECT_EQ(status.reserved_bytes, is_hot ? 128u : 0u);
    EXPECT_EQ(status.saving_ns, 0);
  }
}

// A model with float16 weights also keeps float32 copies for the fallback.
TEST(Hot, reports_the_bytes_of_retained_constants) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, 4}, "x");
  const int half =
      m.AddConstant<uint16_t>(kTfLiteFloat16, {1, 4}, {0x3c00, 0x4000, 0xbc00, 0}, "h");
  const int single = m.AddTensor(kTfLiteFloat32, {1, 4}, "s");
  const int y = m.AddTensor(kTfLiteFloat32, {1, 4}, "y");
  m.AddOp(kTfLiteBuiltinDequantize, {half}, {single});
  m.AddOp(kTfLiteBuiltinAdd, {x, single}, {y}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  TfLiteDelegate whole = TfLiteDelegateCreate();
  whole.Prepare = [](TfLiteContext* context, TfLiteDelegate* delegate) {
    TfLiteRegistration kernel{};
    kernel.invoke = [](TfLiteContext*, TfLiteNode*) { return kTfLiteError; };
    kernel.custom_name = "Whole";
    TfLiteIntArray* plan = nullptr;
    if (context->GetExecutionPlan(context, &plan) != kTfLiteOk) return kTfLiteError;
    return context->ReplaceNodeSubsetsWithDelegateKernels(context, kernel, plan, delegate);
  };
  HotInterpreter t(m.Finish());
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), &whole), kTfLiteOk) << t.log();
  EXPECT_EQ(t.Status().reserved_bytes, 16u);
  t.InferAndWatch({1, 1, 1, 1});
  EXPECT_THAT(t.Get<float>(0), ElementsAre(2, 3, 0, 1));
}

}  // namespace
}  // namespace deputy::delegate_hot_test
