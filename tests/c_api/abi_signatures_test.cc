// SPDX-License-Identifier: Apache-2.0
//
// Tests section 3.4 of docs/abi_contract.md: runners of a model's signatures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "c_api/include/c_api.h"
#include "c_api/include/c_api_experimental.h"
#include "tests/c_api/abi_case.h"
#include "tests/support/delegate_support.h"
#include "tests/support/model_builder.h"
#include "tests/support/programmed.h"
#include "tests/support/test_interpreter.h"

namespace deputy::abi_signatures_test {
namespace {

using testing::ElementsAre;

struct DeleteRunner {
  void operator()(TfLiteSignatureRunner* runner) const { TfLiteSignatureRunnerDelete(runner); }
};
using Runner = std::unique_ptr<TfLiteSignatureRunner, DeleteRunner>;

Runner RunnerOf(const TestInterpreter& t, const char* key) {
  return Runner(TfLiteInterpreterGetSignatureRunner(t.get(), key));
}

// A model with two signatures: "main" for subgraph 0, a chain of two nodes; "sum" for subgraph 1, o
// = a + b.
std::vector<uint8_t> TwoSignatures() {
  ModelBuilder m;
  AddChain(&m, 2);
  m.AddSubgraph("second");
  const int a = m.AddTensor(kTfLiteFloat32, {1, 4});
  const int b = m.AddTensor(kTfLiteFloat32, {1, 4});
  const int o = m.AddTensor(kTfLiteFloat32, {1, 4});
  m.AddOp(kTfLiteBuiltinAdd, {a, b}, {o}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({a, b});
  m.SetOutputs({o});
  m.AddSignature("sum", {{"a", 0}, {"b", 1}}, {{"o", 2}}, 1);
  m.AddSignature("main", {{"x", 0}}, {{"y", 3}}, 0);
  return m.Finish();
}

// y = x + x, where the tensors have no names.
std::vector<uint8_t> Unnamed() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {4});
  const int y = m.AddTensor(kTfLiteFloat32, {4});
  m.AddOp(kTfLiteBuiltinAdd, {x, x}, {y}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

const AbiCase kCases[] = {
    {"3.4b", "an unknown key gives no runner",
     [] {
       TestInterpreter t(TwoSignatures());
       EXPECT_EQ(RunnerOf(t, "unknown"), nullptr);
     }},
    {"3.4c", "each call creates a new runner",
     [] {
       TestInterpreter t(TwoSignatures());
       const Runner first = RunnerOf(t, "sum"), second = RunnerOf(t, "sum");
       EXPECT_NE(first, nullptr);
       EXPECT_NE(second, nullptr);
       EXPECT_NE(first, second);
     }},
    {"3.4e", "runners of one key share tensors, which exist before allocation",
     [] {
       TestInterpreter t(TwoSignatures());
       const Runner first = RunnerOf(t, "sum"), second = RunnerOf(t, "sum");
       TfLiteTensor* a = TfLiteSignatureRunnerGetInputTensor(first.get(), "a");
       ASSERT_NE(a, nullptr);
       EXPECT_EQ(TfLiteSignatureRunnerGetInputTensor(second.get(), "a"), a);
       EXPECT_THAT(t.Shape(a), ElementsAre(1, 4));
     }},
    {"3.4f", "an unknown name gives null and a message",
     [] {
       TestInterpreter t(TwoSignatures());
       const Runner sum = RunnerOf(t, "sum");
       EXPECT_EQ(TfLiteSignatureRunnerGetInputTensor(sum.get(), "o"), nullptr);
       EXPECT_NE(t.log(), "");
       t.ClearLog();
       EXPECT_EQ(TfLiteSignatureRunnerGetOutputTensor(sum.get(), "a"), nullptr);
       EXPECT_NE(t.log(), "");
     }},
    {"3.4g", "Invoke before AllocateTensors is an error",
     [] {
       TestInterpreter t(TwoSignatures());
       const Runner sum = RunnerOf(t, "sum");
       EXPECT_EQ(TfLiteSignatureRunnerInvoke(sum.get()), kTfLiteError);
     }},
    {"3.4i", "AllocateTensors allocates the signature's subgraph only",
     [] {
       TestInterpreter t(TwoSignatures());
       const Runner sum = RunnerOf(t, "sum");
       EXPECT_EQ(TfLiteSignatureRunnerAllocateTensors(sum.get()), kTfLiteOk) << t.log();
       EXPECT_EQ(TfLiteSignatureRunnerInvoke(sum.get()), kTfLiteOk) << t.log();
       EXPECT_EQ(t.Invoke(), kTfLiteError);
       EXPECT_EQ(t.Tensor(0)->data.raw, nullptr);
     }},
    {"3.4j", "runners of one key share the state of their subgraph",
     [] {
       TestInterpreter t(TwoSignatures());
       const Runner first = RunnerOf(t, "sum"), second = RunnerOf(t, "sum");
       EXPECT_EQ(TfLiteSignatureRunnerAllocateTensors(first.get()), kTfLiteOk) << t.log();
       EXPECT_EQ(TfLiteSignatureRunnerInvoke(second.get()), kTfLiteOk) << t.log();
     }},
    {"3.4k", "counts are those of the subgraph",
     [] {
       TestInterpreter t(TwoSignatures());
       const Runner sum = RunnerOf(t, "sum"), main = RunnerOf(t, "main");
       EXPECT_EQ(TfLiteSignatureRunnerGetInputCount(sum.get()), 2u);
       EXPECT_EQ(TfLiteSignatureRunnerGetOutputCount(sum.get()), 1u);
       EXPECT_EQ(TfLiteSignatureRunnerGetInputCount(main.get()), 1u);
     }},
    {"3.4l", "Cancel is an error if cancellation was not enabled",
     [] {
       TestInterpreter without(TwoSignatures());
       EXPECT_EQ(TfLiteSignatureRunnerCancel(RunnerOf(without, "sum").get()), kTfLiteError);
       TestInterpreter with(TwoSignatures(), [](TfLiteInterpreterOptions* options) {
         TfLiteInterpreterOptionsEnableCancellation(options, true);
       });
       EXPECT_EQ(TfLiteSignatureRunnerCancel(RunnerOf(with, "sum").get()), kTfLiteOk);
     }},
    {"3.4n", "a null key without signatures gives subgraph 0 by its tensors' names",
     [] {
       TestInterpreter t(Chain(2));
       const Runner runner = RunnerOf(t, nullptr);
       ASSERT_NE(runner, nullptr);
       EXPECT_EQ(TfLiteSignatureRunnerGetInputTensor(runner.get(), "x"), t.Tensor(0));
       EXPECT_EQ(TfLiteSignatureRunnerGetOutputTensor(runner.get(), "y1"), t.Tensor(3));
     }},
    {"3.4o", "tensors without names are called input0 and output0 there",
     [] {
       TestInterpreter t(Unnamed());
       const Runner runner = RunnerOf(t, nullptr);
       ASSERT_NE(runner, nullptr);
       EXPECT_EQ(TfLiteSignatureRunnerGetInputTensor(runner.get(), "input0"), t.Tensor(0));
       EXPECT_EQ(TfLiteSignatureRunnerGetOutputTensor(runner.get(), "output0"), t.Tensor(1));
     }},
    {"3.4p", "a null key gives null and a message if no signature uses subgraph 0",
     [] {
       ModelBuilder m;
       AddChain(&m, 1);
       m.AddSubgraph("second");
       AddChain(&m, 1);
       m.AddSignature("other", {{"x", 0}}, {{"y", 2}}, 1);
       TestInterpreter t(m.Finish());
       EXPECT_EQ(RunnerOf(t, nullptr), nullptr);
       EXPECT_NE(t.log(), "");
     }},
    {"3.4q", "a runner may be deleted after its interpreter",
     [] {
       Runner runner;
       {
         TestInterpreter t(TwoSignatures());
         runner = RunnerOf(t, "sum");
         EXPECT_EQ(TfLiteSignatureRunnerAllocateTensors(runner.get()), kTfLiteOk) << t.log();
       }
       runner.reset();
     }},
    {"3.4r", "stale outputs are copied back even if the interpreter may leave them",
     [] {
       Scripted delegate({0, 1});
       delegate->outputs_on_device = true;
       TestInterpreter t(TwoSignatures());
       ASSERT_EQ(Apply(&t, delegate.get()), kTfLiteOk) << t.log();
       TfLiteSetAllowBufferHandleOutput(t.get(), true);
       t.Set<float>(0, {1, 1, 1, 1});
       EXPECT_EQ(t.Invoke(), kTfLiteOk) << t.log();
       EXPECT_TRUE(t.Tensor(3)->data_is_stale);
       const Runner main = RunnerOf(t, "main");
       EXPECT_EQ(TfLiteSignatureRunnerInvoke(main.get()), kTfLiteOk) << t.log();
       const TfLiteTensor* y = TfLiteSignatureRunnerGetOutputTensor(main.get(), "y");
       EXPECT_FALSE(y->data_is_stale);
       EXPECT_THAT(t.Values<float>(y), ElementsAre(2, 6, 0, 0.75f));
     }},
};

using AbiSignatures = AbiContract;
TEST_P(AbiSignatures, holds) { GetParam().check(); }
INSTANTIATE_TEST_SUITE_P(Contract, AbiSignatures, testing::ValuesIn(kCases), AbiCaseName);

}  // namespace
}  // namespace deputy::abi_signatures_test
