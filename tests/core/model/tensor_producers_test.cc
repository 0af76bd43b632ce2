// SPDX-License-Identifier: Apache-2.0
//
// Tests models whose graph is invalid: tensors with two producers, consumers before producers,
// constants that are written or fed. Such models load, and are refused where TensorFlow Lite
// refuses an inconsistent model.
#include "core/model/tensor_producers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "c_api/include/deputy.h"
#include "tests/support/delegate_support.h"
#include "tests/support/load_result.h"
#include "tests/support/model_builder.h"
#include "tests/support/test_interpreter.h"

namespace deputy::tensor_producers_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// The tensors of the models of ModelOf, of four float32 each: the graph's input x, a constant c, a
// variable v, and a, b for outputs of nodes. The graph's output is b, unless a case changes it.
enum Tensor : int { kX, kC, kV, kA, kB };

struct Case {
  std::string name;
  std::function<void(ModelBuilder&)> build;
  std::string text;  // the error message; "" for a valid graph
};

void PrintTo(const Case& test, std::ostream* out) { *out << test.name; }

std::string CaseName(const testing::TestParamInfo<Case>& info) { return info.param.name; }

std::vector<uint8_t> ModelOf(const Case& test) {
  ModelBuilder m;
  m.AddTensor(kTfLiteFloat32, {4}, "x");
  m.AddConstant<float>(kTfLiteFloat32, {4}, {1, 2, 3, 4}, "c");
  TensorExtras variable;
  variable.is_variable = true;
  m.AddTensor(kTfLiteFloat32, {4}, "v", variable);
  m.AddTensor(kTfLiteFloat32, {4}, "a");
  m.AddTensor(kTfLiteFloat32, {4}, "b");
  m.SetInputs({kX});
  m.SetOutputs({kB});
  test.build(m);
  return m.Finish();
}

void Add(ModelBuilder& m, int left, int right, int sum) {
  m.AddOp(kTfLiteBuiltinAdd, {left, right}, {sum}, schema::CreateAddOptions(m.fbb()));
}

void Split(ModelBuilder& m, std::vector<int> outputs) {
  const int axis = m.AddConstant<int32_t>(kTfLiteInt32, {1}, {0}, "axis");
  m.AddOp(kTfLiteBuiltinSplit, {axis, kX}, outputs,
          schema::CreateSplitOptions(m.fbb(), static_cast<int32_t>(outputs.size())));
}

const Case kWrong[] = {
    {"two_nodes_produce_one_tensor",
     [](ModelBuilder& m) {
       Add(m, kX, kC, kB);
       Add(m, kX, kX, kB);
     },
     "subgraph 0 node 1 ADD: output 0: expected a tensor without another producer, found the "
     "output of node 0, tensor 4 'b'"},
    {"one_node_produces_one_tensor_twice",
     [](ModelBuilder& m) {
       Split(m, {kB, kB});
     },
     "subgraph 0 node 0 SPLIT: output 1: expected a tensor once, found again tensor 4 'b'"},
    {"one_node_writes_a_variable_twice",
     [](ModelBuilder& m) {
       Split(m, {kV, kV});
     },
     "node 0 SPLIT: output 1: expected a tensor once, found again tensor 2 'v'"},
    {"a_constant_is_written",
     [](ModelBuilder& m) {
       Add(m, kX, kX, kC);
       Add(m, kX, kC, kB);
     },
     "subgraph 0 node 0 ADD: output 0: expected no constant, found the constant tensor 1 'c'"},
    {"a_constant_is_written_by_a_custom_operator_in_place",
     [](ModelBuilder& m) { m.AddCustomOp("Mine", {kC}, {kC}); },
     "node 0 Mine: output 0: expected no constant, found the constant tensor 1 'c'"},
    {"the_graphs_input_is_written",
     [](ModelBuilder& m) {
       Add(m, kC, kC, kX);
       Add(m, kX, kC, kB);
     },
     "node 0 ADD: output 0: expected no subgraph input, found the input tensor 0 'x'"},
    {"a_custom_operator_writes_the_graphs_input_from_another_tensor",
     [](ModelBuilder& m) { m.AddCustomOp("Mine", {kC}, {kX}); },
     "node 0 Mine: output 0: expected no subgraph input, found the input tensor 0 'x'"},
    {"a_node_reads_the_output_of_a_later_node",
     [](ModelBuilder& m) {
       Add(m, kX, kA, kB);
       Add(m, kX, kX, kA);
     },
     "subgraph 0 node 0 ADD: input 1: expected a tensor with an earlier producer, found the "
     "output of node 1, tensor 3 'a'"},
    {"a_constant_is_the_graphs_input",
     [](ModelBuilder& m) {
       Add(m, kX, kC, kB);
       m.SetInputs({kX, kC});
     },
     "subgraph 0 subgraph input 1: expected no constant, found tensor 1 'c'"},
    {"a_constant_is_a_signatures_input",
     [](ModelBuilder& m) {
       Add(m, kX, kC, kB);
       m.AddSignature("run", {{"weights", kC}}, {{"y", kB}});
     },
     "signature 0 'run': input 'weights': expected no constant, found tensor 1 'c'"},
};

const Case kSound[] = {
    {"a_constant_is_the_graphs_output", [](ModelBuilder& m) { m.SetOutputs({kC}); }, ""},
    {"the_graphs_input_is_its_output", [](ModelBuilder& m) { m.SetOutputs({kX}); }, ""},
    {"a_variable_is_read_before_it_is_written",
     [](ModelBuilder& m) {
       Add(m, kX, kV, kB);
       Add(m, kX, kC, kV);
     },
     ""},
    {"a_variable_is_written_by_two_nodes",
     [](ModelBuilder& m) {
       Add(m, kX, kX, kV);
       Add(m, kX, kV, kB);
       Add(m, kX, kC, kV);
     },
     ""},
    {"custom_operators_work_in_place",
     [](ModelBuilder& m) {
       m.AddCustomOp("Mine", {kX}, {kX});
       Add(m, kX, kX, kB);
       m.AddCustomOp("Mine", {kB}, {kB});
       m.AddCustomOp("Mine", {kB}, {kB});
     },
     ""},
    {"an_absent_input_is_read",
     [](ModelBuilder& m) {
       m.AddCustomOp("Mine", {kX, -1}, {kB});
       m.SetInputs({kX, -1});
     },
     ""},
};

constexpr int64_t kDelegateFlags[] = {kTfLiteDelegateFlagsNone,
                                      kTfLiteDelegateFlagsAllowDynamicTensors,
                                      kTfLiteDelegateFlagsHintFullyDelegatedToSingleDelegate,
                                      kTfLiteDelegateFlagsRequirePropagatedShapes};

class WrongGraph : public testing::TestWithParam<Case> {};

TEST_P(WrongGraph, loads_and_reports_the_fault) {
  const std::vector<uint8_t> bytes = ModelOf(GetParam());
  const LoadResult result = LoadBytes(bytes);
  ASSERT_NE(result.model, nullptr);
  EXPECT_TRUE(result.reports.empty()) << result.reports[0];
  EXPECT_THAT(result.model->desc().subgraphs[0].inconsistency, HasSubstr(GetParam().text));
}

TEST_P(WrongGraph, is_refused_at_allocation_and_invocation) {
  const std::vector<uint8_t> before = ModelOf(GetParam());
  TestInterpreter t(before);
  ASSERT_NE(t.get(), nullptr) << t.log();
  EXPECT_EQ(t.Allocate(), kTfLiteError);
  EXPECT_THAT(t.log(), StartsWith("AllocateTensors() called on inconsistent model.; "));
  EXPECT_THAT(t.log(), HasSubstr(GetParam().text));
  t.ClearLog();
  EXPECT_EQ(t.Invoke(), kTfLiteError);
  EXPECT_THAT(t.log(), StartsWith("Invoke called on model that is not consistent.; "));
}

// Applying a static delegate allocates tensors and fails; with a dynamic delegate, the later
// allocation fails. Both are as in TensorFlow Lite.
TEST_P(WrongGraph, is_refused_when_a_static_delegate_is_applied) {
  Scripted all({0, 1});
  TestInterpreter t(ModelOf(GetParam()));
  EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), all.get()), kTfLiteError);
  EXPECT_THAT(t.log(), StartsWith("AllocateTensors() called on inconsistent model.; "));
  EXPECT_EQ(all->calls[kScriptedPrepareDelegate], 0);
  EXPECT_EQ(t.Allocate(), kTfLiteError);
  EXPECT_EQ(t.Invoke(), kTfLiteError);
}

TEST_P(WrongGraph, is_refused_when_a_dynamic_delegate_allocates) {
  Scripted none({}, kTfLiteDelegateFlagsAllowDynamicTensors);
  TestInterpreter t(ModelOf(GetParam()));
  EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), none.get()), kTfLiteOk);
  EXPECT_EQ(t.Allocate(), kTfLiteError);
  EXPECT_EQ(t.Invoke(), kTfLiteError);
}

TEST_P(WrongGraph, is_refused_with_every_kind_of_delegate) {
  for (const int64_t flags : kDelegateFlags) {
    for (const DeputyDelegatePolicy policy : {kDeputyPolicyTfLite, kDeputyPolicyHot}) {
      Scripted all({0, 1}, flags);
      TestInterpreter t(ModelOf(GetParam()), [policy](TfLiteInterpreterOptions* options) {
        DeputyInterpreterOptionsSetDelegatePolicy(options, policy);
      });
      TfLiteInterpreterModifyGraphWithDelegate(t.get(), all.get());
      EXPECT_EQ(t.Allocate(), kTfLiteError);
      EXPECT_EQ(t.Invoke(), kTfLiteError);
      EXPECT_EQ(all->calls[kScriptedPrepareKernel], 0);
      EXPECT_EQ(all->calls[kScriptedInvoke], 0);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Graphs, WrongGraph, testing::ValuesIn(kWrong), CaseName);

class SoundGraph : public testing::TestWithParam<Case> {};

TEST_P(SoundGraph, is_consistent) {
  const std::vector<uint8_t> bytes = ModelOf(GetParam());
  const LoadResult result = LoadBytes(bytes);
  ASSERT_NE(result.model, nullptr);
  EXPECT_EQ(result.model->desc().subgraphs[0].inconsistency, "");
}

INSTANTIATE_TEST_SUITE_P(Graphs, SoundGraph, testing::ValuesIn(kSound), CaseName);

// ---- Called subgraphs ---------------------------------------------------------------------------

// A model of IF(condition, x), both of whose branches call subgraph 1, which `fill` writes.
std::vector<uint8_t> Calling(const std::function<void(ModelBuilder&)>& fill) {
  ModelBuilder m;
  const int condition = m.AddTensor(kTfLiteBool, {1}, "condition");
  const int x = m.AddTensor(kTfLiteFloat32, {4}, "x");
  const int y = m.AddTensor(kTfLiteFloat32, {4}, "y");
  m.AddOp(kTfLiteBuiltinIf, {condition, x}, {y}, schema::CreateIfOptions(m.fbb(), 1, 1));
  m.SetInputs({condition, x});
  m.SetOutputs({y});
  m.AddSubgraph("branch");
  fill(m);
  return m.Finish();
}

TEST(CalledSubgraph, with_a_constant_as_its_input_is_refused) {
  TestInterpreter t(Calling([](ModelBuilder& m) {
    const int c = m.AddConstant<float>(kTfLiteFloat32, {4}, {1, 2, 3, 4}, "c");
    const int y = m.AddTensor(kTfLiteFloat32, {4}, "y");
    m.AddOp(kTfLiteBuiltinAdd, {c, c}, {y}, schema::CreateAddOptions(m.fbb()));
    m.SetInputs({c});
    m.SetOutputs({y});
  }));
  EXPECT_EQ(t.Allocate(), kTfLiteError);
  EXPECT_THAT(t.log(), HasSubstr("subgraph 1 subgraph input 0: expected no constant, found tensor "
                                 "0 'c'"));
}

TEST(CalledSubgraph, with_an_input_out_of_range_is_refused) {
  TestInterpreter t(Calling([](ModelBuilder& m) {
    const int y = m.AddTensor(kTfLiteFloat32, {4}, "y");
    m.SetInputs({1000000});
    m.SetOutputs({y});
  }));
  EXPECT_EQ(t.Allocate(), kTfLiteError);
}

// ---- Tensors without a producer ----------------------------------------------------------------

// A tensor without a producer holds uninitialised memory, which must not be read, as in TensorFlow
// Lite.
TEST(UnproducedTensor, is_refused_if_a_node_reads_it) {
  TestInterpreter t(ModelOf({"", [](ModelBuilder& m) { Add(m, kX, kA, kB); }, ""}));
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  t.Set<float>(0, {1, 2, 3, 4});
  EXPECT_EQ(t.Invoke(), kTfLiteError);
  EXPECT_THAT(t.log(), StartsWith("Input tensor 3 lacks data"));
}

// ---- Inputs and outputs out of range ------------------------------------------------------------

// A model of y = x + x with the given indices as the graph's inputs and outputs.
std::vector<uint8_t> Doubling(const std::vector<int>& inputs, const std::vector<int>& outputs) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {4}, "x");
  const int y = m.AddTensor(kTfLiteFloat32, {4}, "y");
  Add(m, x, x, y);
  m.SetInputs(inputs);
  m.SetOutputs(outputs);
  return m.Finish();
}

// Accesses inputs and outputs through the interpreter and a signature runner: no call may crash,
// and those that need a consistent graph must be refused. As in TensorFlow Lite, a graph with an
// input that does not exist has no inputs.
void ExpectRefusals(TestInterpreter* t) {
  ASSERT_NE(t->get(), nullptr) << t->log();
  const int inputs = TfLiteInterpreterGetInputTensorCount(t->get());
  for (int i = -1; i <= inputs; ++i) {
    const bool exists = TfLiteInterpreterGetInputTensor(t->get(), i) != nullptr;
    EXPECT_EQ(exists, i >= 0 && i < inputs);
    t->Resize(i, {8});
  }
  const int outputs = TfLiteInterpreterGetOutputTensorCount(t->get());
  for (int i = -1; i <= outputs; ++i) TfLiteInterpreterGetOutputTensor(t->get(), i);
  TfLiteSignatureRunner* runner = TfLiteInterpreterGetSignatureRunner(t->get(), nullptr);
  ASSERT_NE(runner, nullptr);
  EXPECT_EQ(TfLiteSignatureRunnerAllocateTensors(runner), kTfLiteError);
  EXPECT_EQ(TfLiteSignatureRunnerInvoke(runner), kTfLiteError);
  TfLiteSignatureRunnerDelete(runner);
  EXPECT_EQ(TfLiteInterpreterResetVariableTensors(t->get()), kTfLiteOk);
  EXPECT_EQ(t->Allocate(), kTfLiteError);
  EXPECT_THAT(t->log(), HasSubstr("AllocateTensors() called on inconsistent model.; subgraph 0 "));
  EXPECT_EQ(t->Invoke(), kTfLiteError);
}

TEST(IndicesOutOfRange, of_the_graphs_inputs_are_refused) {
  for (const int index : {2, 1000000, -2, -1000000, 0x7fffffff}) {
    TestInterpreter t(Doubling({0, index}, {1}));
    ExpectRefusals(&t);
    EXPECT_EQ(TfLiteInterpreterGetInputTensorCount(t.get()), 0);
  }
}

TEST(IndicesOutOfRange, of_the_graphs_outputs_are_refused) {
  for (const int index : {2, 1000000, -2, -1000000, 0x7fffffff}) {
    TestInterpreter t(Doubling({0}, {1, index}));
    ExpectRefusals(&t);
    EXPECT_EQ(TfLiteInterpreterGetOutputTensorCount(t.get()), 0);
  }
}

TEST(IndicesOutOfRange, are_refused_with_every_kind_of_delegate) {
  for (const int64_t flags : kDelegateFlags) {
    for (const DeputyDelegatePolicy policy : {kDeputyPolicyTfLite, kDeputyPolicyHot}) {
      Scripted all({0}, flags);
      TestInterpreter t(Doubling({0, 1000000}, {1, 1000000}),
                        [policy](TfLiteInterpreterOptions* options) {
                          DeputyInterpreterOptionsSetDelegatePolicy(options, policy);
                        });
      TfLiteInterpreterModifyGraphWithDelegate(t.get(), all.get());
      ExpectRefusals(&t);
    }
  }
}

}  // namespace
}  // namespace deputy::tensor_producers_test
