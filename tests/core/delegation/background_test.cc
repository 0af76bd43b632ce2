// SPDX-License-Identifier: Apache-2.0
//
// Tests delegates that are prepared in the background (DeputyInterpreterApplyInBackground): the CPU
// runs the model while the compilation of a delegate waits for the test; then the delegate runs it,
// with the same tensors. No test depends on times.
#include <dirent.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "c_api/include/builtin_op_data.h"
#include "c_api/include/deputy.h"
#include "c_api/include/deputy_async.h"
#include "c_api/include/deputy_graph.h"
#include "tests/support/delegate_support.h"
#include "tests/support/model_builder.h"
#include "tests/support/owners.h"
#include "tests/support/programmed.h"
#include "tests/support/scripted_delegate.h"
#include "tests/support/test_interpreter.h"

namespace deputy::background_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

template <typename Struct>
Struct Sized() {
  Struct sized{};
  sized.struct_size = sizeof sized;
  return sized;
}

// A gate at which a thread waits until the test opens it.
class Gate {
 public:
  void Pass() {
    std::unique_lock<std::mutex> lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
  }
  void Open() {
    const std::lock_guard<std::mutex> lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void WaitForVisitor() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return waiting_ > 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  int waiting_ = 0;
};

// A delegate whose Prepare, in which it compiles, first passes a gate. Declare it before the
// interpreter.
class Gated {
 public:
  explicit Gated(const std::set<int>& claims, int64_t flags = kTfLiteDelegateFlagsNone)
      : delegate(
            [this](TfLiteContext* context, TfLiteDelegate*) {
              gate.Pass();
              return script->base.Prepare(context, script.get());
            },
            flags),
        script(claims, flags) {}

  TfLiteDelegate* get() { return &delegate.base; }

  Gate gate;
  Programmed delegate;
  Scripted script;
};

TfLiteStatus ApplyInBackground(TestInterpreter* t, TfLiteDelegate* delegate, int max_shapes = 0,
                               int time_limit_ms = 0) {
  const DeputyBackgroundOptions options = {sizeof options, max_shapes, time_limit_ms};
  return DeputyInterpreterApplyInBackground(t->get(), &delegate, 1, &options);
}

TfLiteStatus Wait(TestInterpreter* t) { return DeputyInterpreterWaitForBackground(t->get(), -1); }

DeputyBackgroundStatus StatusOf(const TestInterpreter& t) {
  auto status = Sized<DeputyBackgroundStatus>();
  EXPECT_EQ(DeputyInterpreterGetBackgroundStatus(t.get(), &status), kTfLiteOk);
  return status;
}

TestInterpreter::Configure WithPolicy(DeputyDelegatePolicy policy) {
  return [policy](TfLiteInterpreterOptions* options) {
    DeputyInterpreterOptionsSetDelegatePolicy(options, policy);
  };
}

// Model of y = (x + x) * (x + x) over two columns of any number of rows.
std::vector<uint8_t> SquareOfDouble() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, 2}, "x");
  const int two_x = m.AddTensor(kTfLiteFloat32, {1, 2}, "two_x");
  const int y = m.AddTensor(kTfLiteFloat32, {1, 2}, "y");
  m.AddOp(kTfLiteBuiltinAdd, {x, x}, {two_x}, schema::CreateAddOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinMul, {two_x, two_x}, {y}, schema::CreateMulOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

// Runs the model with the rows {1, 2}, {2, 4} and so on.
void ExpectRuns(TestInterpreter* t, int rows) {
  std::vector<float> x, y;
  for (int row = 1; row <= rows; ++row) {
    for (const float value : {1.0f * row, 2.0f * row}) {
      x.push_back(value);
      y.push_back(4 * value * value);
    }
  }
  t->Set<float>(0, x);
  ASSERT_EQ(t->Invoke(), kTfLiteOk) << t->log();
  ASSERT_EQ(t->Get<float>(0), y);
}

int PartitionsOf(const TestInterpreter& t) {
  return DeputyInterpreterGetPartitionCount(t.get(), 0);
}

// ---- The switch ---------------------------------------------------------------------------------

TEST(Background, the_first_result_does_not_wait_for_the_compilation) {
  Gated delegate({0, 1});
  TestInterpreter t(SquareOfDouble());
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  ASSERT_EQ(ApplyInBackground(&t, delegate.get()), kTfLiteOk) << t.log();
  delegate.gate.WaitForVisitor();

  // The compilation waits for the test, so these results are the CPU's.
  ExpectRuns(&t, 1);
  ExpectRuns(&t, 1);
  EXPECT_EQ(StatusOf(t).state, kDeputyBackgroundPreparing);
  EXPECT_EQ(DeputyInterpreterWaitForBackground(t.get(), 1), kTfLiteError);
  EXPECT_EQ(StatusOf(t).cpu_inferences, 2);
  EXPECT_EQ(PartitionsOf(t), 0);

  delegate.gate.Open();
  ASSERT_EQ(Wait(&t), kTfLiteOk);
  EXPECT_EQ(StatusOf(t).state, kDeputyBackgroundActive);
  EXPECT_EQ(PartitionsOf(t), 1);
  ExpectRuns(&t, 1);
  const DeputyBackgroundStatus status = StatusOf(t);
  EXPECT_EQ(delegate.script->nodes_computed, 2);
  EXPECT_EQ(status.cpu_inferences, 2);
  EXPECT_EQ(status.delegate_inferences, 1);
  EXPECT_EQ(status.first_inference, 3);
  EXPECT_EQ(status.preparations, 1);
  EXPECT_EQ(status.kept_shapes, 1);
  EXPECT_GT(status.prepare_ns, 0);
  EXPECT_STREQ(status.failure, "");
  ExpectRuns(&t, 1);
  EXPECT_EQ(StatusOf(t).first_inference, 3);
}

TEST(Background, an_inference_switches_by_itself) {
  Gated delegate({0, 1});
  TestInterpreter t(SquareOfDouble());
  ASSERT_EQ(ApplyInBackground(&t, delegate.get()), kTfLiteOk) << t.log();
  EXPECT_EQ(StatusOf(t).state, kDeputyBackgroundWaiting);
  EXPECT_EQ(StatusOf(t).preparations, 0);
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  ExpectRuns(&t, 1);
  delegate.gate.Open();
  while (StatusOf(t).state != kDeputyBackgroundReady) std::this_thread::yield();
  EXPECT_EQ(PartitionsOf(t), 0);
  ExpectRuns(&t, 1);
  EXPECT_EQ(StatusOf(t).state, kDeputyBackgroundActive);
  EXPECT_EQ(StatusOf(t).delegate_inferences, 1);
  EXPECT_EQ(delegate.script->nodes_computed, 2);
}

TEST(Background, tensors_keep_their_addresses) {
  Gated delegate({1});
  TestInterpreter t(SquareOfDouble());
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  TfLiteTensor* const input = TfLiteInterpreterGetInputTensor(t.get(), 0);
  const TfLiteTensor* const output = TfLiteInterpreterGetOutputTensor(t.get(), 0);
  auto* const x = static_cast<float*>(TfLiteTensorData(input));
  const auto* const y = static_cast<const float*>(TfLiteTensorData(output));
  ASSERT_EQ(ApplyInBackground(&t, delegate.get()), kTfLiteOk);
  for (int run = 0; run < 3; ++run) {
    x[0] = 1.0f + run;
    x[1] = 3;
    ASSERT_EQ(t.Invoke(), kTfLiteOk);
    EXPECT_EQ(y[0], 4 * x[0] * x[0]);
    EXPECT_EQ(y[1], 36);
    EXPECT_EQ(TfLiteInterpreterGetInputTensor(t.get(), 0), input);
    EXPECT_EQ(TfLiteTensorData(input), x);
    EXPECT_EQ(TfLiteInterpreterGetOutputTensor(t.get(), 0), output);
    EXPECT_EQ(TfLiteTensorData(output), y);
    delegate.gate.Open();
    ASSERT_EQ(Wait(&t), kTfLiteOk);
  }
  EXPECT_EQ(delegate.script->nodes_computed, 2);
}

TEST(Background, inputs_may_be_set_before_the_switch) {
  Gated delegate({0, 1});
  TestInterpreter t(SquareOfDouble());
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  t.Set<float>(0, {3, 5});
  ASSERT_EQ(ApplyInBackground(&t, delegate.get()), kTfLiteOk);
  delegate.gate.Open();
  ASSERT_EQ(Wait(&t), kTfLiteOk);
  ASSERT_EQ(t.Invoke(), kTfLiteOk);
  EXPECT_THAT(t.Get<float>(0), ElementsAre(36, 100));
  EXPECT_EQ(delegate.script->nodes_computed, 2);
}

TEST(Background, memory_of_the_client_stays_in_use) {
  alignas(64) float x[2], y[2];
  Gated delegate({0, 1});
  TestInterpreter t(SquareOfDouble());
  const auto set = [&t](int tensor, float* memory) {
    const TfLiteCustomAllocation allocation = {memory, 2 * sizeof(float)};
    return DeputyInterpreterSetCustomAllocation(t.get(), 0, tensor, &allocation, 0);
  };
  ASSERT_EQ(set(0, x), kTfLiteOk);
  ASSERT_EQ(set(2, y), kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  ASSERT_EQ(ApplyInBackground(&t, delegate.get()), kTfLiteOk);
  for (const float value : {1.0f, 2.0f}) {
    x[0] = x[1] = value;
    ASSERT_EQ(t.Invoke(), kTfLiteOk);
    EXPECT_THAT(y, ElementsAre(4 * value * value, 4 * value * value));
    delegate.gate.Open();
    ASSERT_EQ(Wait(&t), kTfLiteOk);
  }
  // Other memory after the switch.
  alignas(64) float z[2];
  ASSERT_EQ(set(2, z), kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  ASSERT_EQ(t.Invoke(), kTfLiteOk);
  EXPECT_THAT(z, ElementsAre(16, 16));
  EXPECT_EQ(delegate.script->nodes_computed, 4);
}

TEST(Background, memory_of_the_client_for_an_intermediate_tensor) {
  alignas(64) float two_x[2] = {};
  Gated delegate({1});
  TestInterpreter t(SquareOfDouble());
  const TfLiteCustomAllocation allocation = {two_x, sizeof two_x};
  ASSERT_EQ(DeputyInterpreterSetCustomAllocation(t.get(), 0, 1, &allocation, 0), kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  ASSERT_EQ(ApplyInBackground(&t, delegate.get()), kTfLiteOk);
  delegate.gate.Open();
  ASSERT_EQ(Wait(&t), kTfLiteOk);
  ExpectRuns(&t, 1);
  EXPECT_THAT(two_x, ElementsAre(2, 4));
  EXPECT_EQ(delegate.script->nodes_computed, 1);
}

// Views of the graph's inputs and outputs follow them to other memory.
TEST(Background, reshapes_at_the_borders_of_the_graph) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {2, 2}, "x");
  const int flat = m.AddTensor(kTfLiteFloat32, {4}, "flat");
  const int sum = m.AddTensor(kTfLiteFloat32, {4}, "sum");
  const int y = m.AddTensor(kTfLiteFloat32, {2, 2}, "y");
  const int to_flat = m.AddConstant<int32_t>(kTfLiteInt32, {1}, {4});
  const int to_square = m.AddConstant<int32_t>(kTfLiteInt32, {2}, {2, 2});
  m.AddOp(kTfLiteBuiltinReshape, {x, to_flat}, {flat});
  m.AddOp(kTfLiteBuiltinAdd, {flat, flat}, {sum}, schema::CreateAddOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinReshape, {sum, to_square}, {y});
  m.SetInputs({x});
  m.SetOutputs({y});
  Gated delegate({1});
  TestInterpreter t(m.Finish());
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  ASSERT_EQ(ApplyInBackground(&t, delegate.get()), kTfLiteOk);
  delegate.gate.Open();
  ASSERT_EQ(Wait(&t), kTfLiteOk);
  for (int run = 1; run <= 2; ++run) {
    t.Set<float>(0, {1.0f * run, 2, 3, 4});
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_THAT(t.Get<float>(0), ElementsAre(2 * run, 4, 6, 8));
  }
  EXPECT_EQ(delegate.script->nodes_computed, 2);
}

TEST(Background, a_signature_switches) {
  ModelBuilder m;
  AddChain(&m, 2);
  m.AddSignature("main", {{"in", 0}}, {{"out", 3}});
  Gated delegate({0, 1});
  TestInterpreter t(m.Finish());
  const Owned<TfLiteSignatureRunner> runner(TfLiteInterpreterGetSignatureRunner(t.get(), "main"));
  ASSERT_EQ(TfLiteSignatureRunnerAllocateTensors(runner.get()), kTfLiteOk);
  ASSERT_EQ(ApplyInBackground(&t, delegate.get()), kTfLiteOk);
  TfLiteTensor* const in = TfLiteSignatureRunnerGetInputTensor(runner.get(), "in");
  const TfLiteTensor* const out = TfLiteSignatureRunnerGetOutputTensor(runner.get(), "out");
  const float x[] = {1, 1, 1, 1};
  ASSERT_EQ(TfLiteTensorCopyFromBuffer(in, x, sizeof x), kTfLiteOk);
  for (int run = 0; run < 2; ++run) {
    ASSERT_EQ(TfLiteSignatureRunnerInvoke(runner.get()), kTfLiteOk);
    EXPECT_THAT(t.Values<float>(out), ElementsAre(2, 6, 0, 0.75f));
    delegate.gate.Open();
    ASSERT_EQ(Wait(&t), kTfLiteOk);
  }
  EXPECT_EQ(delegate.script->nodes_computed, 2);
}

// ---- State --------------------------------------------------------------------------------------

// Model of y = x + state, state = y, by a custom operator, and z = y + y.
std::vector<uint8_t> Accumulator() {
  ModelBuilder m;
  TensorExtras variable;
  variable.is_variable = true;
  const int x = m.AddTensor(kTfLiteFloat32, {1}, "x");
  const int state = m.AddTensor(kTfLiteFloat32, {1}, "state", variable);
  const int y = m.AddTensor(kTfLiteFloat32, {1}, "y");
  const int z = m.AddTensor(kTfLiteFloat32, {1}, "z");
  m.AddCustomOp("Accumulate", {x, state}, {y});
  m.AddOp(kTfLiteBuiltinAdd, {y, y}, {z}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({z});
  return m.Finish();
}

void Accumulate(ProgrammedOperator* op) {
  op->prepare = [](TfLiteContext* context, TfLiteNode* node) {
    return context->ResizeTensor(context, &context->tensors[node->outputs->data[0]],
                                 TfLiteIntArrayCopy(context->tensors[node->inputs->data[0]].dims));
  };
  op->invoke = [](TfLiteContext* context, TfLiteNode* node) {
    float& state = *context->tensors[node->inputs->data[1]].data.f;
    state += *context->tensors[node->inputs->data[0]].data.f;
    *context->tensors[node->outputs->data[0]].data.f = state;
    return kTfLiteOk;
  };
}

TEST(Background, variables_are_continued) {
  for (const bool claims_variable : {false, true}) {
    Gated delegate(claims_variable ? std::set<int>{0, 1} : std::set<int>{1});
    ProgrammedOperator op("Accumulate");
    Accumulate(&op);
    TestInterpreter t(Accumulator(), op.Configure());
    ASSERT_EQ(t.Allocate(), kTfLiteOk);
    ASSERT_EQ(ApplyInBackground(&t, delegate.get()), kTfLiteOk);
    t.Set<float>(0, {1});
    for (int run = 1; run <= 4; ++run) {
      ASSERT_EQ(t.Invoke(), kTfLiteOk);
      EXPECT_THAT(t.Get<float>(0), ElementsAre(2 * run));
      EXPECT_THAT(t.Values<float>(t.Tensor(1)), ElementsAre(run));
      if (run < 2) continue;
      delegate.gate.Open();
      ASSERT_EQ(Wait(&t), kTfLiteOk);
    }
    EXPECT_EQ(delegate.script->nodes_computed, claims_variable ? 4 : 2);
    ASSERT_EQ(TfLiteInterpreterResetVariableTensors(t.get()), kTfLiteOk);
    ASSERT_EQ(t.Invoke(), kTfLiteOk);
    EXPECT_THAT(t.Get<float>(0), ElementsAre(2));
    // And back on the CPU.
    ASSERT_EQ(DeputyInterpreterRemoveDelegates(t.get()), kTfLiteOk);
    ASSERT_EQ(t.Invoke(), kTfLiteOk);
    EXPECT_THAT(t.Get<float>(0), ElementsAre(4));
  }
}

// ---- Shapes -------------------------------------------------------------------------------------

void ResizeTo(TestInterpreter* t, int rows) {
  ASSERT_EQ(t->Resize(0, {rows, 2}), kTfLiteOk);
  ASSERT_EQ(t->Allocate(), kTfLiteOk) << t->log();
}

TEST(Background, alternating_two_shapes_compiles_twice) {
  Gated delegate({0, 1});
  delegate.gate.Open();
  TestInterpreter t(SquareOfDouble());
  ASSERT_EQ(ApplyInBackground(&t, delegate.get(), 2), kTfLiteOk);
  for (int i = 0; i < 100; ++i) {
    ResizeTo(&t, 1 + i % 2);
    ExpectRuns(&t, 1 + i % 2);
  }
  for (int rows = 1; rows <= 2; ++rows) {
    ResizeTo(&t, rows);
    ASSERT_EQ(Wait(&t), kTfLiteOk);
    EXPECT_EQ(StatusOf(t).state, kDeputyBackgroundActive);
    ExpectRuns(&t, rows);
  }
  EXPECT_EQ(StatusOf(t).preparations, 2);
  EXPECT_EQ(StatusOf(t).kept_shapes, 2);
  EXPECT_EQ(delegate.script->calls[kScriptedPrepareDelegate], 2);
  EXPECT_EQ(delegate.script->calls[kScriptedInit], 2);
  EXPECT_GT(StatusOf(t).delegate_inferences, 0);
  EXPECT_EQ(StatusOf(t).delegate_inferences + StatusOf(t).cpu_inferences, 102);
}

TEST(Background, the_least_recently_used_shape_goes) {
  Gated delegate({0, 1});
  delegate.gate.Open();
  TestInterpreter t(SquareOfDouble());
  ASSERT_EQ(ApplyInBackground(&t, delegate.get(), 2), kTfLiteOk);
  const auto preparations_after = [&](int rows) {
    ResizeTo(&t, rows);
    EXPECT_EQ(Wait(&t), kTfLiteOk);
    ExpectRuns(&t, rows);
    return StatusOf(t).preparations;
  };
  EXPECT_EQ(preparations_after(1), 1);
  EXPECT_EQ(preparations_after(2), 2);
  EXPECT_EQ(preparations_after(1), 2);
  EXPECT_EQ(preparations_after(3), 3);  // drops the shape of 2 rows
  EXPECT_EQ(preparations_after(1), 3);
  EXPECT_EQ(preparations_after(2), 4);
  EXPECT_EQ(delegate.script->frees, 2);
  EXPECT_EQ(StatusOf(t).kept_shapes, 2);
}

// With one shape, the plan of the former shape is dropped before the next one is prepared, so that
// the delegate never runs and compiles at the same time.
TEST(Background, one_shape_is_kept_by_default) {
  Gated delegate({0, 1});
  delegate.gate.Open();
  TestInterpreter t(SquareOfDouble());
  ASSERT_EQ(ApplyInBackground(&t, delegate.get()), kTfLiteOk);
  for (int i = 0; i < 4; ++i) {
    ResizeTo(&t, 1 + i % 2);
    ASSERT_EQ(Wait(&t), kTfLiteOk);
    EXPECT_EQ(StatusOf(t).kept_shapes, 1);
    ExpectRuns(&t, 1 + i % 2);
  }
  EXPECT_EQ(StatusOf(t).preparations, 4);
  EXPECT_EQ(delegate.script->frees, 3);
}

TEST(Background, a_resize_during_the_preparation) {
  Gated delegate({0, 1});
  TestInterpreter t(SquareOfDouble());
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  ASSERT_EQ(ApplyInBackground(&t, delegate.get(), 2), kTfLiteOk);
  delegate.gate.WaitForVisitor();
  ResizeTo(&t, 3);
  ExpectRuns(&t, 3);
  EXPECT_EQ(StatusOf(t).state, kDeputyBackgroundPreparing);
  EXPECT_EQ(StatusOf(t).preparations, 1);
  delegate.gate.Open();
  ASSERT_EQ(Wait(&t), kTfLiteOk);
  EXPECT_EQ(StatusOf(t).state, kDeputyBackgroundActive);
  EXPECT_EQ(StatusOf(t).preparations, 2);
  ExpectRuns(&t, 3);
  ResizeTo(&t, 1);
  EXPECT_EQ(StatusOf(t).state, kDeputyBackgroundActive);
  ExpectRuns(&t, 1);
  EXPECT_EQ(delegate.script->nodes_computed, 4);
}

TEST(Background, a_resize_needs_an_allocation_first) {
  Gated delegate({0, 1});
  delegate.gate.Open();
  TestInterpreter t(SquareOfDouble());
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  ASSERT_EQ(ApplyInBackground(&t, delegate.get()), kTfLiteOk);
  ASSERT_EQ(Wait(&t), kTfLiteOk);
  ASSERT_EQ(t.Resize(0, {3, 2}), kTfLiteOk);
  EXPECT_EQ(t.Invoke(), kTfLiteError);
  EXPECT_THAT(t.log(), HasSubstr("not ready"));
}

// Nodes are prepared for a number of threads.
TEST(Background, another_number_of_threads_prepares_again) {
  Gated delegate({0, 1});
  delegate.gate.Open();
  TestInterpreter t(SquareOfDouble());
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  ASSERT_EQ(ApplyInBackground(&t, delegate.get()), kTfLiteOk);
  ASSERT_EQ(Wait(&t), kTfLiteOk);
  ExpectRuns(&t, 1);
  ASSERT_EQ(DeputyInterpreterSetNumThreads(t.get(), 2), kTfLiteOk);
  EXPECT_EQ(StatusOf(t).kept_shapes, 0);
  ExpectRuns(&t, 1);
  ASSERT_EQ(Wait(&t), kTfLiteOk);
  EXPECT_EQ(StatusOf(t).state, kDeputyBackgroundActive);
  EXPECT_EQ(StatusOf(t).preparations, 2);
  ExpectRuns(&t, 1);
}

TEST(Background, another_number_of_threads_during_the_preparation) {
  Gated delegate({0, 1});
  TestInterpreter t(SquareOfDouble());
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  ASSERT_EQ(ApplyInBackground(&t, delegate.get()), kTfLiteOk);
  delegate.gate.WaitForVisitor();
  ASSERT_EQ(DeputyInterpreterSetNumThreads(t.get(), 2), kTfLiteOk);
  ExpectRuns(&t, 1);
  delegate.gate.Open();
  ASSERT_EQ(Wait(&t), kTfLiteOk);
  EXPECT_EQ(StatusOf(t).state, kDeputyBackgroundActive);
  EXPECT_EQ(StatusOf(t).preparations, 2);
  EXPECT_EQ(delegate.script->frees, 1);
  ExpectRuns(&t, 1);
}

// ---- Failures -----------------------------------------------------------------------------------

TEST(Background, a_compilation_that_fails_leaves_the_cpu) {
  for (const auto policy : {kDeputyPolicyTfLite, kDeputyPolicyHot}) {
    Programmed delegate([](TfLiteContext* context, TfLiteDelegate*) {
      context->ReportError(context, "the compiler found %s", "no registers");
      return kTfLiteError;
    });
    TestInterpreter t(SquareOfDouble(), WithPolicy(policy));
    ASSERT_EQ(t.Allocate(), kTfLiteOk);
    const uint64_t digest = DeputyInterpreterGetGraphDigest(t.get());
    ASSERT_EQ(ApplyInBackground(&t, &delegate.base), kTfLiteOk);
    ASSERT_EQ(Wait(&t), kTfLiteOk);
    EXPECT_EQ(StatusOf(t).state, kDeputyBackgroundFailed);
    EXPECT_THAT(StatusOf(t).failure, HasSubstr("the compiler found no registers"));
    EXPECT_THAT(t.log(), HasSubstr("the CPU runs the model: the compiler found no registers"));
    auto delegation = Sized<DeputyDelegationStatus>();
    ASSERT_EQ(DeputyInterpreterGetDelegationStatus(t.get(), &delegation), kTfLiteOk);
    EXPECT_EQ(delegation.delegates_skipped, policy == kDeputyPolicyHot ? 1 : 0);
    EXPECT_EQ(delegation.degraded, policy == kDeputyPolicyHot ? 1 : 0);
    t.ClearLog();
    ExpectRuns(&t, 1);
    ExpectRuns(&t, 1);
    EXPECT_EQ(t.log(), "");
    EXPECT_EQ(StatusOf(t).preparations, 1);
    EXPECT_EQ(StatusOf(t).cpu_inferences, 2);
    EXPECT_EQ(DeputyInterpreterGetGraphDigest(t.get()), digest);
    // Other shapes are tried.
    ResizeTo(&t, 2);
    ASSERT_EQ(Wait(&t), kTfLiteOk);
    ExpectRuns(&t, 2);
    EXPECT_EQ(StatusOf(t).preparations, 2);
    ResizeTo(&t, 1);
    ExpectRuns(&t, 1);
    EXPECT_EQ(StatusOf(t).preparations, 2);
    EXPECT_EQ(StatusOf(t).state, kDeputyBackgroundFailed);
  }
}

size_t CountThreads() {
  size_t threads = 0;
  DIR* const tasks = opendir("/proc/self/task");
  while (readdir(tasks) != nullptr) ++threads;
  closedir(tasks);
  return threads;
}

TEST(Background, a_compilation_that_hangs_leaves_the_cpu) {
  // The thread that is given up uses the delegate and the model without synchronisation with the
  // test, so both live until the process ends.
  static Gated& delegate = *new Gated({0, 1});
  static const std::vector<uint8_t>& model = *new std::vector<uint8_t>(SquareOfDouble());
  const size_t threads = CountThreads();
  {
    const Owned<TfLiteModel> owned(TfLiteModelCreate(model.data(), model.size()));
    const Owned<TfLiteInterpreter> t(TfLiteInterpreterCreate(owned.get(), nullptr));
    ASSERT_EQ(TfLiteInterpreterAllocateTensors(t.get()), kTfLiteOk);
    TfLiteDelegate* const hanging = delegate.get();
    const DeputyBackgroundOptions options = {sizeof options, 1, 1};
    ASSERT_EQ(DeputyInterpreterApplyInBackground(t.get(), &hanging, 1, &options), kTfLiteOk);
    delegate.gate.WaitForVisitor();
    ASSERT_EQ(DeputyInterpreterWaitForBackground(t.get(), -1), kTfLiteOk);
    auto status = Sized<DeputyBackgroundStatus>();
    ASSERT_EQ(DeputyInterpreterGetBackgroundStatus(t.get(), &status), kTfLiteOk);
    EXPECT_EQ(status.state, kDeputyBackgroundTimedOut);
    EXPECT_STREQ(status.failure, "it took longer than 1 ms");
    EXPECT_THAT(DeputyInterpreterLastError(t.get()), HasSubstr("it took longer than 1 ms"));
    EXPECT_EQ(TfLiteInterpreterInvoke(t.get()), kTfLiteOk);
    // No other preparation is begun.
    const int dims[] = {5, 2};
    ASSERT_EQ(TfLiteInterpreterResizeInputTensor(t.get(), 0, dims, 2), kTfLiteOk);
    ASSERT_EQ(TfLiteInterpreterAllocateTensors(t.get()), kTfLiteOk);
    ASSERT_EQ(DeputyInterpreterGetBackgroundStatus(t.get(), &status), kTfLiteOk);
    EXPECT_EQ(status.preparations, 1);
    EXPECT_EQ(TfLiteInterpreterInvoke(t.get()), kTfLiteOk);
    // The deletion does not wait for the delegate.
  }
  delegate.gate.Open();
  while (CountThreads() > threads) std::this_thread::yield();
}

TEST(Background, a_deletion_waits_for_the_preparation) {
  for (const bool removes : {false, true}) {
    Gated delegate({0, 1});
    std::thread opener([&delegate] {
      delegate.gate.WaitForVisitor();
      delegate.gate.Open();
    });
    {
      TestInterpreter t(SquareOfDouble());
      EXPECT_EQ(t.Allocate(), kTfLiteOk);
      EXPECT_EQ(ApplyInBackground(&t, delegate.get()), kTfLiteOk);
      if (removes) {
        EXPECT_EQ(DeputyInterpreterRemoveDelegates(t.get()), kTfLiteOk);
        EXPECT_EQ(delegate.script->frees, 1);
        EXPECT_EQ(StatusOf(t).state, kDeputyBackgroundNone);
        ExpectRuns(&t, 1);
      }
    }
    EXPECT_EQ(delegate.script->frees, 1);
    opener.join();
  }
}

TEST(Background, dynamic_outputs_stay_on_the_cpu) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {2}, "x");
  const int shape = m.AddTensor(kTfLiteInt32, {1}, "shape");
  const int sum = m.AddTensor(kTfLiteFloat32, {2}, "sum");
  const int y = m.AddTensor(kTfLiteFloat32, {2}, "y");
  m.AddOp(kTfLiteBuiltinAdd, {x, x}, {sum}, schema::CreateAddOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinReshape, {sum, shape}, {y});
  m.SetInputs({x, shape});
  m.SetOutputs({y});
  Gated delegate({0}, kTfLiteDelegateFlagsAllowDynamicTensors);
  delegate.gate.Open();
  TestInterpreter t(m.Finish());
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  ASSERT_EQ(ApplyInBackground(&t, delegate.get()), kTfLiteOk);
  ASSERT_EQ(Wait(&t), kTfLiteOk);
  EXPECT_EQ(StatusOf(t).state, kDeputyBackgroundFailed);
  EXPECT_STREQ(StatusOf(t).failure,
               "subgraph 0: tensor 3 'y': expected a static tensor, found a dynamic one");
  t.Set<float>(0, {1, 2});
  t.Set<int32_t>(1, {2});
  ASSERT_EQ(t.Invoke(), kTfLiteOk);
  EXPECT_THAT(t.Get<float>(0), ElementsAre(2, 4));
}

// Under Hot the fallback works in the background plan as elsewhere.
TEST(Background, a_kernel_that_fails_is_recomputed_under_hot) {
  Gated delegate({0, 1});
  delegate.gate.Open();
  delegate.script.FailAt(kScriptedInvoke, 0);
  TestInterpreter t(SquareOfDouble(), WithPolicy(kDeputyPolicyHot));
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  ASSERT_EQ(ApplyInBackground(&t, delegate.get()), kTfLiteOk);
  ASSERT_EQ(Wait(&t), kTfLiteOk);
  ExpectRuns(&t, 1);
  auto status = Sized<DeputyDelegationStatus>();
  ASSERT_EQ(DeputyInterpreterGetDelegationStatus(t.get(), &status), kTfLiteOk);
  EXPECT_EQ(status.degraded, 1);
  EXPECT_EQ(status.recomputed_nodes, 1);
  EXPECT_THAT(t.log(), HasSubstr("Scripted"));
  ExpectRuns(&t, 1);
  ASSERT_EQ(DeputyInterpreterGetDelegationStatus(t.get(), &status), kTfLiteOk);
  EXPECT_EQ(status.degraded, 0);
}

TEST(Background, the_delegate_fallback_of_tensorflow_lite) {
  Gated delegate({0, 1});
  delegate.gate.Open();
  delegate.script.FailAt(kScriptedInvoke, 0);
  TestInterpreter t(SquareOfDouble(), [](TfLiteInterpreterOptions* options) {
    DeputyInterpreterOptionsSetDelegatePolicy(options, kDeputyPolicyTfLite);
    TfLiteInterpreterOptionsSetEnableDelegateFallback(options, true);
  });
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  ASSERT_EQ(ApplyInBackground(&t, delegate.get()), kTfLiteOk);
  ASSERT_EQ(Wait(&t), kTfLiteOk);
  t.Set<float>(0, {1, 2});
  EXPECT_EQ(t.Invoke(), kTfLiteDelegateError);
  EXPECT_THAT(t.Get<float>(0), ElementsAre(4, 16));
  EXPECT_EQ(StatusOf(t).state, kDeputyBackgroundNone);
  ExpectRuns(&t, 1);
}

// Each callback of the delegate fails once, in every way: the first result is the CPU's, no
// inference crashes or is wrong, and afterwards the CPU runs the model.
TEST(Background, every_callback_may_fail) {
  const ScriptedFailure failures[] = {
      kScriptedErrorStatus, kScriptedNullInit,     kScriptedInitSentinel, kScriptedBadIndex,
      kScriptedWrongShape,  kScriptedBadTemporary, kScriptedLateError,    kScriptedThrow};
  for (const auto policy : {kDeputyPolicyTfLite, kDeputyPolicyHot}) {
    for (int callback = 0; callback < kScriptedCallbackCount; ++callback) {
      for (int call = 0; call < 3; ++call) {
        for (const ScriptedFailure failure : failures) {
          SCOPED_TRACE(testing::Message() << "callback " << callback << " call " << call
                                          << " failure " << failure << " policy " << policy);
          Scripted delegate({0, 1, 3, 4});
          delegate->outputs_on_device = true;
          delegate.FailAt(static_cast<ScriptedCallback>(callback), call);
          delegate->failure = failure;
          delegate->throw_now = [] { throw std::runtime_error("thrown by the test"); };
          TestInterpreter t(Chain(5), WithPolicy(policy));
          ASSERT_EQ(t.Allocate(), kTfLiteOk);
          ASSERT_EQ(ApplyInBackground(&t, delegate.get()), kTfLiteOk);
          const auto run = [&t, policy](bool may_fail) {
            t.Set<float>(0, {1, 2, 3, 4});
            const TfLiteStatus status = t.Invoke();
            if (status != kTfLiteOk) {
              ASSERT_TRUE(may_fail && policy == kDeputyPolicyTfLite) << t.log();
            } else {
              ASSERT_THAT(t.Get<float>(0), ElementsAre(4, 22, 2, 1.875f));
            }
          };
          run(true);
          ASSERT_EQ(Wait(&t), kTfLiteOk);
          for (int i = 0; i < 3; ++i) run(true);
          ASSERT_EQ(DeputyInterpreterRemoveDelegates(t.get()), kTfLiteOk);
          run(false);
        }
      }
    }
  }
}

// ---- Other calls while delegates are prepared ---------------------------------------------------

TEST(Background, other_delegates_are_refused) {
  Gated delegate({0, 1});
  Scripted other({0});
  TestInterpreter t(SquareOfDouble());
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  ASSERT_EQ(ApplyInBackground(&t, delegate.get()), kTfLiteOk);
  for (const bool is_ready : {false, true}) {
    if (is_ready) {
      delegate.gate.Open();
      ASSERT_EQ(Wait(&t), kTfLiteOk);
    }
    EXPECT_EQ(Apply(&t, other.get()), kTfLiteApplicationError);
    EXPECT_THAT(t.log(), HasSubstr("expected no delegates in the background"));
    EXPECT_EQ(ApplyInBackground(&t, other.get()), kTfLiteApplicationError);
    EXPECT_EQ(DeputyInterpreterReplaceDelegate(t.get(), delegate.get(), other.get()),
              kTfLiteApplicationError);
    EXPECT_EQ(other->calls[kScriptedPrepareDelegate], 0);
    ExpectRuns(&t, 1);
  }
  ASSERT_EQ(DeputyInterpreterRemoveDelegates(t.get()), kTfLiteOk);
  EXPECT_EQ(Apply(&t, other.get()), kTfLiteOk);
  EXPECT_EQ(ApplyInBackground(&t, delegate.get()), kTfLiteApplicationError);
  EXPECT_THAT(t.log(), HasSubstr("expected an interpreter without delegates"));
  ExpectRuns(&t, 1);
}

// A custom operator between two nodes that the delegate claims; it cancels the inference if the
// test requires it.
TEST(Background, a_cancellation_ends_the_inference_only) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1}, "x");
  const int state = m.AddTensor(kTfLiteFloat32, {1}, "state", {.is_variable = true});
  const int y = m.AddTensor(kTfLiteFloat32, {1}, "y");
  const int z = m.AddTensor(kTfLiteFloat32, {1}, "z");
  m.AddCustomOp("Accumulate", {x, state}, {y});
  m.AddOp(kTfLiteBuiltinAdd, {y, y}, {z}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({z});
  Gated delegate({1});
  ProgrammedOperator op("Accumulate");
  Accumulate(&op);
  TestInterpreter* cancelled = nullptr;
  const KernelFunction add = op.invoke;
  op.invoke = [&](TfLiteContext* context, TfLiteNode* node) {
    if (cancelled != nullptr) TfLiteInterpreterCancel(cancelled->get());
    return add(context, node);
  };
  TestInterpreter t(m.Finish(), [&](TfLiteInterpreterOptions* options) {
    TfLiteInterpreterOptionsEnableCancellation(options, true);
    op.Configure()(options);
  });
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  ASSERT_EQ(ApplyInBackground(&t, delegate.get()), kTfLiteOk);
  delegate.gate.WaitForVisitor();
  for (int run = 1; run <= 3; run += 2) {
    t.Set<float>(0, {1});
    cancelled = &t;
    EXPECT_EQ(t.Invoke(), kTfLiteCancelled);
    EXPECT_THAT(t.log(), HasSubstr("Client requested cancel during Invoke()"));
    t.ClearLog();
    cancelled = nullptr;
    ASSERT_EQ(t.Invoke(), kTfLiteOk);
    EXPECT_THAT(t.Get<float>(0), ElementsAre(2 * run + 2));
    EXPECT_EQ(StatusOf(t).state, run == 1 ? kDeputyBackgroundPreparing : kDeputyBackgroundActive);
    delegate.gate.Open();
    ASSERT_EQ(Wait(&t), kTfLiteOk);
  }
  EXPECT_EQ(delegate.script->nodes_computed, 1);
  EXPECT_EQ(StatusOf(t).delegate_inferences, 2);
}

// Runs in flight pass their inputs and outputs in memory of their own; the delegate takes over
// between two of them.
TEST(Background, asynchronous_runs_switch) {
  Gated delegate({0, 1});
  TestInterpreter t(SquareOfDouble());
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  ASSERT_EQ(ApplyInBackground(&t, delegate.get()), kTfLiteOk);
  std::vector<std::array<float, 2>> x(60), y(60);
  std::vector<DeputyRun*> runs(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    if (i == 20) delegate.gate.Open();
    x[i] = {1.0f * static_cast<float>(i), 3};
    const DeputyRunInput input = {x[i].data(), sizeof x[i]};
    const DeputyRunOutput output = {y[i].data(), sizeof y[i]};
    auto request = Sized<DeputyRunRequest>();
    request.inputs = &input;
    request.outputs = &output;
    request.input_count = request.output_count = 1;
    ASSERT_EQ(DeputyInterpreterRunAsync(t.get(), &request, &runs[i]), kTfLiteOk) << t.log();
    if (i == 19 || i == 39) {  // the CPU runs the first 20 runs, the delegate the last 20
      ASSERT_TRUE(DeputyRunWait(runs[i], -1, nullptr));
      ASSERT_EQ(DeputyInterpreterWaitForBackground(t.get(), i == 19 ? 0 : -1),
                i == 19 ? kTfLiteError : kTfLiteOk);
    }
  }
  for (size_t i = 0; i < x.size(); ++i) {
    TfLiteStatus status = kTfLiteError;
    ASSERT_TRUE(DeputyRunWait(runs[i], -1, &status));
    EXPECT_EQ(status, kTfLiteOk);
    EXPECT_THAT(y[i], ElementsAre(4 * x[i][0] * x[i][0], 36)) << i;
    DeputyRunDelete(runs[i]);
  }
  EXPECT_EQ(StatusOf(t).state, kDeputyBackgroundActive);
  EXPECT_GE(StatusOf(t).cpu_inferences, 20);
  EXPECT_GE(StatusOf(t).delegate_inferences, 20);
  EXPECT_EQ(StatusOf(t).delegate_inferences * 2, delegate.script->nodes_computed);
  ExpectRuns(&t, 1);
}

TEST(Background, profiles_and_reports_describe_the_plan_that_runs) {
  Scripted delegate({1});
  TestInterpreter t(SquareOfDouble());
  std::vector<std::string> names;
  const auto note = [](void* data, const DeputyOpEvent* event) {
    static_cast<std::vector<std::string>*>(data)->push_back(event->operator_name);
  };
  ASSERT_EQ(DeputyInterpreterSetProfileCallback(t.get(), note, &names), kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  ExpectRuns(&t, 1);
  EXPECT_THAT(names, ElementsAre("ADD", "MUL"));
  names.clear();
  ASSERT_EQ(ApplyInBackground(&t, delegate.get()), kTfLiteOk);
  EXPECT_EQ(DeputyInterpreterGetDelegateCount(t.get()), 0);
  ASSERT_EQ(Wait(&t), kTfLiteOk);
  ExpectRuns(&t, 1);
  EXPECT_THAT(names, ElementsAre("ADD", "Scripted"));
  ASSERT_EQ(DeputyInterpreterGetDelegateCount(t.get()), 1);
  auto info = Sized<DeputyDelegateInfo>();
  ASSERT_EQ(DeputyInterpreterGetDelegateInfo(t.get(), 0, &info), kTfLiteOk);
  EXPECT_EQ(info.delegate, delegate.get());
  EXPECT_STREQ(info.name, "Scripted");
  EXPECT_EQ(info.node_count, 1);
  auto run = Sized<DeputyNodeRun>();
  ASSERT_EQ(DeputyInterpreterGetNodeRun(t.get(), 0, 1, &run), kTfLiteOk);
  EXPECT_EQ(run.runner, 2);
  EXPECT_EQ(run.delegate_index, 0);
  int32_t delegated = 0, total = 0;
  EXPECT_EQ(DeputyInterpreterCheckDelegation(t.get(), kDeputyRequirePartial, &delegated, &total),
            kTfLiteOk);
  EXPECT_EQ(delegated, 1);
  EXPECT_EQ(total, 2);
  // A callback that is removed after the switch is not called any more.
  names.clear();
  ASSERT_EQ(DeputyInterpreterSetProfileCallback(t.get(), nullptr, nullptr), kTfLiteOk);
  ExpectRuns(&t, 1);
  EXPECT_THAT(names, ElementsAre());
  ASSERT_EQ(DeputyInterpreterSetProfileCallback(t.get(), note, &names), kTfLiteOk);
  ExpectRuns(&t, 1);
  EXPECT_THAT(names, ElementsAre("ADD", "Scripted"));
}

TEST(Background, placements_hold) {
  Gated delegate({0, 1});
  delegate.gate.Open();
  TestInterpreter t(SquareOfDouble(), [](TfLiteInterpreterOptions* options) {
    auto placement = Sized<DeputyPlacement>();
    placement.selector = kDeputySelectOperator;
    placement.subgraph_index = -1;
    placement.name = "MUL";
    ASSERT_EQ(DeputyInterpreterOptionsAddPlacement(options, &placement), kTfLiteOk);
  });
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  ASSERT_EQ(ApplyInBackground(&t, delegate.get()), kTfLiteOk);
  ASSERT_EQ(Wait(&t), kTfLiteOk);
  ExpectRuns(&t, 1);
  EXPECT_EQ(delegate.script->nodes_computed, 1);
}

TEST(Background, several_delegates_are_applied_in_order) {
  Scripted first({0}), second({1});
  TestInterpreter t(SquareOfDouble());
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  TfLiteDelegate* const both[] = {first.get(), second.get()};
  ASSERT_EQ(DeputyInterpreterApplyInBackground(t.get(), both, 2, nullptr), kTfLiteOk);
  ASSERT_EQ(Wait(&t), kTfLiteOk);
  EXPECT_EQ(PartitionsOf(t), 2);
  ExpectRuns(&t, 1);
  EXPECT_EQ(first->nodes_computed, 1);
  EXPECT_EQ(second->nodes_computed, 1);
}

// ---- Refusals -----------------------------------------------------------------------------------

TEST(Background, wrong_arguments_are_refused) {
  Scripted delegate({0});
  TfLiteDelegate* handle = delegate.get();
  TestInterpreter t(SquareOfDouble());
  EXPECT_EQ(DeputyInterpreterApplyInBackground(nullptr, &handle, 1, nullptr), kTfLiteError);
  EXPECT_EQ(DeputyInterpreterApplyInBackground(t.get(), nullptr, 1, nullptr), kTfLiteError);
  EXPECT_EQ(DeputyInterpreterApplyInBackground(t.get(), &handle, 0, nullptr), kTfLiteError);
  EXPECT_EQ(ApplyInBackground(&t, handle, -1), kTfLiteError);
  EXPECT_EQ(ApplyInBackground(&t, handle, 0, -1), kTfLiteError);
  auto small = Sized<DeputyBackgroundOptions>();
  small.struct_size = 8;
  EXPECT_EQ(DeputyInterpreterApplyInBackground(t.get(), &handle, 1, &small), kTfLiteError);
  EXPECT_EQ(ApplyInBackground(&t, nullptr), kTfLiteApplicationError);
  EXPECT_EQ(DeputyInterpreterWaitForBackground(nullptr, 0), kTfLiteError);
  EXPECT_EQ(DeputyInterpreterWaitForBackground(t.get(), 0), kTfLiteOk);
  DeputyBackgroundStatus status{};
  EXPECT_EQ(DeputyInterpreterGetBackgroundStatus(t.get(), &status), kTfLiteError);
  status.struct_size = sizeof status;
  EXPECT_EQ(DeputyInterpreterGetBackgroundStatus(nullptr, &status), kTfLiteError);
  EXPECT_EQ(StatusOf(t).state, kDeputyBackgroundNone);
}

TEST(Background, interpreters_that_cannot_be_copied_are_refused) {
  Scripted delegate({0});
  TfLiteDelegate* const handle = delegate.get();
  const Owned<TfLiteInterpreter> built(DeputyInterpreterCreateEmpty(nullptr));
  EXPECT_EQ(DeputyInterpreterApplyInBackground(built.get(), &handle, 1, nullptr),
            kTfLiteApplicationError);
  EXPECT_THAT(DeputyInterpreterLastError(built.get()), HasSubstr("built or changed in code"));

  TestInterpreter validated(SquareOfDouble(), [](TfLiteInterpreterOptions* options) {
    auto on = Sized<DeputyValidationOptions>();
    on.enabled = 1;
    ASSERT_EQ(DeputyInterpreterOptionsSetValidation(options, &on), kTfLiteOk);
  });
  EXPECT_EQ(ApplyInBackground(&validated, handle), kTfLiteApplicationError);
  EXPECT_THAT(validated.log(), HasSubstr("expected no validation"));

  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1}, "x");
  const int resource = m.AddTensor(kTfLiteResource, {1}, "resource");
  const int y = m.AddTensor(kTfLiteFloat32, {1}, "y");
  m.AddOp(
      kTfLiteBuiltinVarHandle, {}, {resource},
      schema::CreateVarHandleOptions(m.fbb(), m.fbb().CreateString(""), m.fbb().CreateString("v")));
  m.AddOp(kTfLiteBuiltinAssignVariable, {resource, x}, {});
  m.AddOp(kTfLiteBuiltinReadVariable, {resource}, {y});
  m.SetInputs({x});
  m.SetOutputs({y});
  TestInterpreter with_resources(m.Finish());
  EXPECT_EQ(ApplyInBackground(&with_resources, handle), kTfLiteApplicationError);
  EXPECT_THAT(with_resources.log(), HasSubstr("resource variables"));
}

}  // namespace
}  // namespace deputy::background_test
