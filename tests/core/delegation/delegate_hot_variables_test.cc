// SPDX-License-Identifier: Apache-2.0
//
// Tests the policy Hot with variables of called subgraphs: an inference that is restarted begins
// with the values that the variables had at its start.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "c_api/include/deputy.h"
#include "tests/support/delegate_support.h"
#include "tests/support/model_builder.h"
#include "tests/support/test_interpreter.h"

namespace deputy::delegate_hot_variables_test {
namespace {

using testing::ElementsAre;

// y = (x + 0.5) * w. The delegate may claim node 0, the sum; w is the newest value of a state to
// which each call of the last subgraph adds x. The last subgraph is called through another one,
// `calls` times in sequence. If `length_follows_value`, it receives x copies of x.
std::vector<uint8_t> StateInACalledSubgraph(int calls, bool length_follows_value = false) {
  ModelBuilder m;
  const auto tensor = [&] { return m.AddTensor(kTfLiteFloat32, {1}); };
  const int yes = m.AddConstant<uint8_t>(kTfLiteBool, {1}, {1});
  const int half = m.AddConstant<float>(kTfLiteFloat32, {1}, {0.5f});
  const int x = tensor(), sum = tensor(), w = tensor(), y = tensor();
  m.AddOp(kTfLiteBuiltinAdd, {x, half}, {sum}, schema::CreateAddOptions(m.fbb()));
  int argument = x;
  if (length_follows_value) m.AddCustomOp("Repeat", {x}, {argument = tensor()});
  m.AddOp(kTfLiteBuiltinIf, {yes, argument}, {w}, schema::CreateIfOptions(m.fbb(), 1, 1));
  m.AddOp(kTfLiteBuiltinMul, {sum, w}, {y}, schema::CreateMulOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  m.AddSubgraph("caller");
  const int yes_here = m.AddConstant<uint8_t>(kTfLiteBool, {1}, {1});
  const int from = tensor();
  int newest = from;
  for (int n = 0; n < calls; ++n) {
    newest = tensor();
    m.AddOp(kTfLiteBuiltinIf, {yes_here, from}, {newest}, schema::CreateIfOptions(m.fbb(), 2, 2));
  }
  m.SetInputs({from});
  m.SetOutputs({newest});
  m.AddSubgraph("state");
  TensorExtras variable;
  variable.is_variable = true;
  const int in = tensor(), positive = tensor(), out = tensor();
  const int state = m.AddTensor(kTfLiteFloat32, {1}, "state", variable);
  m.AddOp(kTfLiteBuiltinRelu, {in}, {positive});  // node 0, which the delegate does not support
  m.AddCustomOp("Accumulate", {positive, state}, {out});
  m.SetInputs({in});
  m.SetOutputs({out});
  return m.Finish();
}

TfLiteStatus AddToState(TfLiteContext* context, TfLiteNode* node) {
  TfLiteTensor& state = context->tensors[node->inputs->data[1]];
  TfLiteTensor& out = context->tensors[node->outputs->data[0]];
  out.data.f[0] = state.data.f[0] += context->tensors[node->inputs->data[0]].data.f[0];
  return kTfLiteOk;
}

TEST(HotVariables, restart_restores_variables_of_called_subgraphs) {
  for (const int calls : {1, 3}) {
    for (const int lost_in : {-1, 0, 1}) {  // inference of the failure; -1: none
      TfLiteRegistration accumulate{};
      accumulate.invoke = &AddToState;
      Scripted delegate({0});
      delegate->outputs_on_device = true;
      if (lost_in >= 0) delegate.FailAt(kScriptedCopyFrom, lost_in);
      TestInterpreter t(StateInACalledSubgraph(calls), [&](TfLiteInterpreterOptions* options) {
        DeputyInterpreterOptionsSetDelegatePolicy(options, kDeputyPolicyHot);
        TfLiteInterpreterOptionsAddCustomOp(options, "Accumulate", &accumulate, 1, 1);
      });
      ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk);
      ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
      for (int run = 0; run < 3; ++run) {
        t.Set<float>(0, {2});
        ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
        const float state = static_cast<float>(2 * calls * (run + 1));
        EXPECT_THAT(t.Get<float>(0), ElementsAre(2.5f * state)) << "lost in " << lost_in;
      }
      DeputyDelegationStatus status{};
      status.struct_size = sizeof status;
      ASSERT_EQ(DeputyInterpreterGetDelegationStatus(t.get(), &status), kTfLiteOk);
      EXPECT_EQ(status.restarts, lost_in >= 0 ? 1 : 0);
      EXPECT_GT(status.saving_ns, 0);
    }
  }
}

// The prepare of an operator that writes x copies of x, whose shape is known only at run time.
TfLiteStatus PrepareRepeat(TfLiteContext* context, TfLiteNode* node) {
  TfLiteTensor& out = context->tensors[node->outputs->data[0]];
  if (out.allocation_type != kTfLiteDynamic) out.data.raw = nullptr;
  out.allocation_type = kTfLiteDynamic;
  return kTfLiteOk;
}

TfLiteStatus Repeat(TfLiteContext* context, TfLiteNode* node) {
  const float x = context->tensors[node->inputs->data[0]].data.f[0];
  TfLiteTensor* out = &context->tensors[node->outputs->data[0]];
  TfLiteIntArray* dims = TfLiteIntArrayCreate(1);
  dims->data[0] = static_cast<int>(x);
  if (context->ResizeTensor(context, out, dims) != kTfLiteOk) return kTfLiteError;
  for (int i = 0; i < out->dims->data[0]; ++i) out->data.f[i] = x;
  return kTfLiteOk;
}

// A call with another shape resets the callee's variables, in the restarted inference as in the
// failed one.
TEST(HotVariables, restart_repeats_resets_of_variables) {
  TfLiteRegistration accumulate{}, repeat{};
  accumulate.invoke = &AddToState;
  repeat.prepare = &PrepareRepeat;
  repeat.invoke = &Repeat;
  for (const bool lost : {false, true}) {
    Scripted delegate({0}, kTfLiteDelegateFlagsAllowDynamicTensors);
    delegate->outputs_on_device = true;
    if (lost) delegate.FailAt(kScriptedCopyFrom, 2);
    TestInterpreter t(StateInACalledSubgraph(1, true), [&](TfLiteInterpreterOptions* options) {
      DeputyInterpreterOptionsSetDelegatePolicy(options, kDeputyPolicyHot);
      TfLiteInterpreterOptionsAddCustomOp(options, "Accumulate", &accumulate, 1, 1);
      TfLiteInterpreterOptionsAddCustomOp(options, "Repeat", &repeat, 1, 1);
    });
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk);
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    std::vector<float> states;
    for (const float x : {2, 2, 3, 3}) {
      t.Set<float>(0, {x});
      ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
      states.push_back(t.Get<float>(0)[0] / (x + 0.5f));
    }
    EXPECT_THAT(states, ElementsAre(2, 4, 3, 6)) << "lost " << lost;
  }
}

}  // namespace
}  // namespace deputy::delegate_hot_variables_test
