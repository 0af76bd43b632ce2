// SPDX-License-Identifier: Apache-2.0
//
// Tests the compiling delegate (tests/plugins/compiled.cc) in rare situations: in the body of a
// loop, together with another of its kind, failing in prepare, and applied again after that.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "c_api/include/c_api_experimental.h"
#include "c_api/include/deputy.h"
#include "tests/support/interpreter_queries.h"
#include "tests/support/model_builder.h"
#include "tests/support/plugin_support.h"
#include "tests/support/test_interpreter.h"

namespace deputy::compiler_delegate_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct DelegateDeleter {
  void operator()(TfLiteDelegate* delegate) const { DeputyPluginDeleteDelegate(delegate); }
};
using DelegateOwner = std::unique_ptr<TfLiteDelegate, DelegateDeleter>;

DelegateOwner Compiled(const char* max_steps = "1000000") {
  static DeputyPlugin* const kPlugin = DeputyPluginLoad(Library("compiled").c_str());
  const char* const keys[] = {"passes", "most_steps"};
  const char* const values[] = {"1", max_steps};
  DelegateOwner delegate(DeputyPluginCreateDelegate(kPlugin, keys, values, 2));
  EXPECT_NE(delegate, nullptr) << DeputyLastError();
  return delegate;
}

TfLiteStatus Apply(TestInterpreter* t, const DelegateOwner& delegate) {
  return TfLiteInterpreterModifyGraphWithDelegate(
      t->get(), reinterpret_cast<TfLiteOpaqueDelegate*>(delegate.get()));
}

// Returns the index of the delegate that runs a node of the model; -1 if none does.
int DelegateOf(const TestInterpreter& t, int subgraph, int node) {
  const DeputyNodeRun run = NodeRunOf(t.get(), node, subgraph);
  return run.delegate_index;
}

int Float(ModelBuilder* m) { return m->AddTensor(kTfLiteFloat32, {1}); }
int Number(ModelBuilder* m, float number) {
  return m->AddConstant<float>(kTfLiteFloat32, {1}, {number});
}
int Binary(ModelBuilder* m, TfLiteBuiltinOperator code, int a, int b) {
  const int out = Float(m);
  if (code == kTfLiteBuiltinMul) {
    m->AddOp(code, {a, b}, {out}, schema::CreateMulOptions(m->fbb()));
  } else {
    m->AddOp(code, {a, b}, {out}, schema::CreateAddOptions(m->fbb()));
  }
  return out;
}

// Adds the operators of 2x + 1; returns the result's tensor.
int Step(ModelBuilder* m, int x) {
  return Binary(m, kTfLiteBuiltinAdd, Binary(m, kTfLiteBuiltinMul, x, Number(m, 2)), Number(m, 1));
}

std::vector<uint8_t> OneStep() {
  ModelBuilder m;
  const int x = Float(&m);
  m.SetInputs({x});
  m.SetOutputs({Step(&m, x)});
  return m.Finish();
}

// A model that repeats x = 2x + 1 while x < 40.
std::vector<uint8_t> Loop() {
  ModelBuilder m;
  const int x = Float(&m), y = Float(&m);
  m.AddOp(kTfLiteBuiltinWhile, {x}, {y}, schema::CreateWhileOptions(m.fbb(), 1, 2));
  m.SetInputs({x});
  m.SetOutputs({y});
  m.AddSubgraph("condition");
  const int in = Float(&m), less = m.AddTensor(kTfLiteBool, {1});
  m.AddOp(kTfLiteBuiltinLess, {in, Number(&m, 40)}, {less});
  m.SetInputs({in});
  m.SetOutputs({less});
  m.AddSubgraph("body");
  const int from = Float(&m);
  m.SetInputs({from});
  m.SetOutputs({Step(&m, from)});
  return m.Finish();
}

void ExpectResult(TestInterpreter* t, float x, float y) {
  for (int run = 0; run < 2; ++run) {
    t->Set<float>(0, {x});
    ASSERT_EQ(t->Invoke(), kTfLiteOk) << t->log();
    EXPECT_THAT(t->Get<float>(0), ElementsAre(y));
  }
}

TEST(CompiledDelegate, runs_condition_and_body_of_a_loop) {
  const DelegateOwner delegate = Compiled();
  TestInterpreter t(Loop());
  ASSERT_EQ(Apply(&t, delegate), kTfLiteOk) << t.log();
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  ExpectResult(&t, 1, 63);  // the loop computes 1, 3, 7, 15, 31, 63
  EXPECT_EQ(DelegateOf(t, 1, 0), 0);
  EXPECT_EQ(DelegateOf(t, 2, 0), 0);
  EXPECT_EQ(DelegateOf(t, 2, 1), 0);
  EXPECT_EQ(DelegateOf(t, 0, 0), -1);
}

TEST(CompiledDelegate, claims_nothing_after_another_compiled_delegate) {
  const DelegateOwner first = Compiled(), second = Compiled();
  TestInterpreter t(OneStep());
  ASSERT_EQ(Apply(&t, first), kTfLiteOk) << t.log();
  ASSERT_EQ(Apply(&t, second), kTfLiteOk) << t.log();
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  ExpectResult(&t, 4, 9);
  EXPECT_EQ(DelegateOf(t, 0, 0), 0);
  EXPECT_EQ(DelegateOf(t, 0, 1), 0);
}

// The cost of a partition is known only after it has been compiled; if it exceeds the limit, the
// prepare of the delegate's node fails.
TEST(CompiledDelegate, late_failure_is_rolled_back_and_applied_again) {
  const DelegateOwner strict = Compiled("1"), patient = Compiled();
  TestInterpreter t(OneStep());
  EXPECT_EQ(Apply(&t, strict), kTfLiteDelegateError);
  EXPECT_THAT(t.log(), HasSubstr("compiled: it takes more than 1 steps"));
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  ExpectResult(&t, 4, 9);
  EXPECT_EQ(DelegateOf(t, 0, 0), -1);
  for (int again = 0; again < 2; ++again) EXPECT_EQ(Apply(&t, strict), kTfLiteDelegateError);
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  ExpectResult(&t, 4, 9);
  ASSERT_EQ(Apply(&t, patient), kTfLiteOk) << t.log();
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  ExpectResult(&t, 4, 9);
  EXPECT_GE(DelegateOf(t, 0, 0), 0);
  EXPECT_GE(DelegateOf(t, 0, 1), 0);
}

TEST(CompiledDelegate, late_failure_in_a_loop_body_is_rolled_back) {
  const DelegateOwner strict = Compiled("1");
  TestInterpreter t(Loop());
  EXPECT_EQ(Apply(&t, strict), kTfLiteDelegateError);
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  ExpectResult(&t, 1, 63);
}

}  // namespace
}  // namespace deputy::compiler_delegate_test
