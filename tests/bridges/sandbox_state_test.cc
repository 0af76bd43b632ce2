// SPDX-License-Identifier: Apache-2.0
//
// Tests delegates in a process of their own whose nodes have state: results, and the state after
// the end of the process.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "c_api/include/c_api.h"
#include "c_api/include/deputy.h"
#include "c_api/include/deputy_graph.h"
#include "tests/support/isolated_plugin.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"
#include "tests/support/plugin_support.h"
#include "tests/support/test_interpreter.h"

namespace deputy::sandbox_state_test {
namespace {

// Each of two units keeps the products of the last three inputs with its weights.
std::vector<uint8_t> Model() {
  ModelBuilder m;
  TensorExtras variable;
  variable.is_variable = true;
  const int x = m.AddTensor(kTfLiteFloat32, {1, 1}, "x");
  const int feature = m.AddConstant<float>(kTfLiteFloat32, {2, 1}, {1, 2}, "feature");
  const int time = m.AddConstant<float>(kTfLiteFloat32, {2, 3}, {100, 10, 1, 1, 1, 1}, "time");
  const int state = m.AddTensor(kTfLiteFloat32, {1, 6}, "state", variable);
  const int y = m.AddTensor(kTfLiteFloat32, {1, 2}, "y");
  m.AddOp(kTfLiteBuiltinSvdf, {x, feature, time, -1, state}, {y},
          schema::CreateSVDFOptions(m.fbb(), 1));
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

std::vector<float> Step(TestInterpreter* t, float x) {
  t->Set<float>(0, {x});
  EXPECT_EQ(t->Invoke(), kTfLiteOk) << t->log();
  return t->Get<float>(0);
}

void ExpectApplied(const TestInterpreter& t, TfLiteDelegate* delegate) {
  ASSERT_NE(delegate, nullptr);
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate), kTfLiteOk) << t.log();
  ASSERT_EQ(DeputyInterpreterGetPartitionCount(t.get(), 0), 1) << t.log();
}

class SandboxState : public QuietTest {};

// Runs without a delegate, with one in this process and with one in a process of its own.
TEST_F(SandboxState, variables_are_as_in_process) {
  const IsolatedPlugin isolated(Model(), Library("varying"), "");
  const Handle in_process = External("varying");
  for (TfLiteDelegate* const delegate :
       {static_cast<TfLiteDelegate*>(nullptr), in_process.get(), isolated.get()}) {
    TestInterpreter t(Model());
    if (delegate != nullptr) ExpectApplied(t, delegate);
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    EXPECT_EQ(Step(&t, 1), (std::vector<float>{1, 2}));
    EXPECT_EQ(Step(&t, 2), (std::vector<float>{12, 6}));
    EXPECT_EQ(Step(&t, 3), (std::vector<float>{123, 12}));
    EXPECT_EQ(Step(&t, 4), (std::vector<float>{234, 18}));
    ASSERT_EQ(TfLiteInterpreterResetVariableTensors(t.get()), kTfLiteOk);
    EXPECT_EQ(Step(&t, 5), (std::vector<float>{5, 10}));
  }
}

// Runs four steps. The second call of the delegate fails.
void ExpectStateAfterFailure(const IsolatedPlugin& delegate) {
  TestInterpreter t(Model(), &UseHot);
  ExpectApplied(t, delegate.get());
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  EXPECT_EQ(Step(&t, 1), (std::vector<float>{1, 2}));
  EXPECT_EQ(RecomputedNodes(t), 0);
  EXPECT_EQ(Step(&t, 2), (std::vector<float>{12, 6}));
  EXPECT_EQ(RecomputedNodes(t), 1) << t.log();
  EXPECT_EQ(Step(&t, 3), (std::vector<float>{123, 12}));
  EXPECT_EQ(Step(&t, 4), (std::vector<float>{234, 18}));
}

TEST_F(SandboxState, variables_survive_the_end_of_the_process) {
  ExpectStateAfterFailure(IsolatedPlugin(Model(), Library("varying"), "die=2"));
}

// The policy is not Hot, which restores variables itself.
TEST_F(SandboxState, a_call_that_ends_the_process_changes_no_variable) {
  const IsolatedPlugin delegate(Model(), Library("varying"), "die=2");
  TestInterpreter t(Model());
  ExpectApplied(t, delegate.get());
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  EXPECT_EQ(Step(&t, 1), (std::vector<float>{1, 2}));
  t.Set<float>(0, {2});
  EXPECT_NE(t.Invoke(), kTfLiteOk);
  EXPECT_EQ(TestInterpreter::Values<float>(t.Tensor(3)), (std::vector<float>{0, 0, 1, 0, 0, 2}));
}

TEST_F(SandboxState, variables_survive_a_failed_call) {
  ExpectStateAfterFailure(
      IsolatedPlugin(Model(), BuildPath("libdeputy_layers.so"),
                     "library=" + Library("varying") + ";layers=fault=invoke:2:fail"));
}

TEST_F(SandboxState, variables_survive_the_replacement_of_the_delegate) {
  const IsolatedPlugin first(Model(), Library("varying"), "");
  const IsolatedPlugin second(Model(), Library("varying"), "");
  const Handle in_process = External("varying");
  TestInterpreter t(Model());
  ExpectApplied(t, first.get());
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  EXPECT_EQ(Step(&t, 1), (std::vector<float>{1, 2}));
  ASSERT_EQ(DeputyInterpreterReplaceDelegate(t.get(), first.get(), second.get()), kTfLiteOk);
  EXPECT_EQ(Step(&t, 2), (std::vector<float>{12, 6}));
  ASSERT_EQ(DeputyInterpreterReplaceDelegate(t.get(), second.get(), in_process.get()), kTfLiteOk);
  EXPECT_EQ(Step(&t, 3), (std::vector<float>{123, 12}));
}

}  // namespace
}  // namespace deputy::sandbox_state_test
