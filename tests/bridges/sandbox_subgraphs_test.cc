// SPDX-License-Identifier: Apache-2.0
//
// Tests delegates in processes of their own in several subgraphs: each has the partitions that it
// has in this process, and the same results.
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

namespace deputy::sandbox_subgraphs_test {
namespace {

// b = (a + a) * factor
void AddBranch(ModelBuilder* m, const std::string& name, float factor) {
  m->AddSubgraph(name);
  const int a = m->AddTensor(kTfLiteFloat32, {2}, "a");
  const int f = m->AddConstant<float>(kTfLiteFloat32, {2}, {factor, factor}, "f");
  const int sum = m->AddTensor(kTfLiteFloat32, {2}, "sum");
  const int b = m->AddTensor(kTfLiteFloat32, {2}, "b");
  m->AddOp(kTfLiteBuiltinAdd, {a, a}, {sum}, schema::CreateAddOptions(m->fbb()));
  m->AddOp(kTfLiteBuiltinMul, {sum, f}, {b}, schema::CreateMulOptions(m->fbb()));
  m->SetInputs({a});
  m->SetOutputs({b});
}

// y = -(condition ? 6 * x : 10 * x). The branches differ in a constant only.
std::vector<uint8_t> If() {
  ModelBuilder m;
  const int condition = m.AddTensor(kTfLiteBool, {1}, "condition");
  const int x = m.AddTensor(kTfLiteFloat32, {2}, "x");
  const int product = m.AddTensor(kTfLiteFloat32, {2}, "product");
  const int y = m.AddTensor(kTfLiteFloat32, {2}, "y");
  m.AddOp(kTfLiteBuiltinIf, {condition, x}, {product}, schema::CreateIfOptions(m.fbb(), 1, 2));
  m.AddOp(kTfLiteBuiltinNeg, {product}, {y});
  m.SetInputs({condition, x});
  m.SetOutputs({y});
  AddBranch(&m, "then", 3);
  AddBranch(&m, "else", 5);
  return m.Finish();
}

// Nodes of each partition of each subgraph.
using Partitions = std::vector<std::vector<std::vector<int>>>;

Partitions PartitionsOf(const TestInterpreter& t) {
  Partitions all;
  for (int s = 0; s < DeputyInterpreterGetSubgraphCount(t.get()); ++s) {
    all.emplace_back();
    for (int i = 0; i < DeputyInterpreterGetPartitionCount(t.get(), s); ++i) {
      DeputyPartition partition = {};
      partition.struct_size = sizeof partition;
      EXPECT_EQ(DeputyInterpreterGetPartition(t.get(), s, i, &partition), kTfLiteOk);
      all.back().emplace_back(partition.nodes, partition.nodes + partition.node_count);
    }
  }
  return all;
}

std::vector<float> Invoke(TestInterpreter* t, bool condition, const std::vector<float>& x) {
  t->Set<uint8_t>(0, {static_cast<uint8_t>(condition)});
  t->Set<float>(1, x);
  EXPECT_EQ(t->Invoke(), kTfLiteOk) << t->log();
  return t->Get<float>(0);
}

class SandboxSubgraphs : public QuietTest {};

TEST_F(SandboxSubgraphs, branches_have_the_partitions_of_this_process) {
  const IsolatedPlugin isolated(If(), Library("elementwise"), "");
  const Handle in_process = External("elementwise");
  for (TfLiteDelegate* const delegate : {in_process.get(), isolated.get()}) {
    TestInterpreter t(If(), &UseHot);
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate), kTfLiteOk) << t.log();
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    EXPECT_EQ(PartitionsOf(t), (Partitions{{{1}}, {{0, 1}}, {{0, 1}}})) << t.log();
    EXPECT_EQ(Invoke(&t, true, {1, 2}), (std::vector<float>{-6, -12}));
    EXPECT_EQ(Invoke(&t, false, {1, 2}), (std::vector<float>{-10, -20}));
    EXPECT_EQ(RecomputedNodes(t), 0) << t.log();
  }
}

TEST_F(SandboxSubgraphs, nodes_of_an_earlier_delegate_in_a_branch_are_left_to_it) {
  const Handle multiplies = External("elementwise", {{"ops", "18"}});
  const IsolatedPlugin isolated(If(), Library("elementwise"), "");
  TestInterpreter t(If(), &UseHot);
  for (TfLiteDelegate* const delegate : {multiplies.get(), isolated.get()}) {
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate), kTfLiteOk) << t.log();
  }
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  EXPECT_EQ(PartitionsOf(t), (Partitions{{{1}}, {{0}, {1}}, {{0}, {1}}})) << t.log();
  EXPECT_EQ(Invoke(&t, true, {1, 2}), (std::vector<float>{-6, -12}));
  EXPECT_EQ(Invoke(&t, false, {1, 2}), (std::vector<float>{-10, -20}));
  EXPECT_EQ(RecomputedNodes(t), 0) << t.log();
}

// Each subgraph has a process, whose first invoke ends it.
TEST_F(SandboxSubgraphs, branches_run_on_the_cpu_after_the_end_of_their_process) {
  const IsolatedPlugin isolated(
      If(), BuildPath("libdeputy_layers.so"),
      "library=" + Library("elementwise") + ";layers=fault=invoke:1:crash");
  TestInterpreter t(If(), &UseHot);
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), isolated.get()), kTfLiteOk)
      << t.log();
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  EXPECT_EQ(Invoke(&t, true, {1, 2}), (std::vector<float>{-6, -12}));
  EXPECT_EQ(Invoke(&t, false, {1, 2}), (std::vector<float>{-10, -20}));
  EXPECT_GT(RecomputedNodes(t), 2) << t.log();
}

// The state x doubles while it is smaller than 100.
std::vector<uint8_t> While() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1}, "x");
  const int y = m.AddTensor(kTfLiteFloat32, {1}, "y");
  m.AddOp(kTfLiteBuiltinWhile, {x}, {y}, schema::CreateWhileOptions(m.fbb(), 1, 2));
  m.SetInputs({x});
  m.SetOutputs({y});
  m.AddSubgraph("condition");
  const int c = m.AddTensor(kTfLiteFloat32, {1}, "c");
  const int limit = m.AddConstant<float>(kTfLiteFloat32, {1}, {100}, "limit");
  const int less = m.AddTensor(kTfLiteBool, {1}, "less");
  m.AddOp(kTfLiteBuiltinLess, {c, limit}, {less});
  m.SetInputs({c});
  m.SetOutputs({less});
  m.AddSubgraph("body");
  const int b = m.AddTensor(kTfLiteFloat32, {1}, "b");
  const int twice = m.AddTensor(kTfLiteFloat32, {1}, "twice");
  m.AddOp(kTfLiteBuiltinAdd, {b, b}, {twice}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({b});
  m.SetOutputs({twice});
  return m.Finish();
}

TEST_F(SandboxSubgraphs, the_body_of_a_loop_runs_in_a_process) {
  const IsolatedPlugin isolated(While(), Library("elementwise"), "");
  TestInterpreter t(While(), &UseHot);
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), isolated.get()), kTfLiteOk)
      << t.log();
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  EXPECT_EQ(PartitionsOf(t), (Partitions{{}, {}, {{0}}})) << t.log();
  t.Set<float>(0, {3});
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_EQ(t.Get<float>(0), (std::vector<float>{192}));
  EXPECT_EQ(RecomputedNodes(t), 0) << t.log();
}

}  // namespace
}  // namespace deputy::sandbox_subgraphs_test
