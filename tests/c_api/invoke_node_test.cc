// SPDX-License-Identifier: Apache-2.0
//
// Tests DeputyInterpreterInvokeNode: it runs one delegate's node, and refuses all others.
#include <gtest/gtest.h>

#include <vector>

#include "c_api/include/c_api_experimental.h"
#include "c_api/include/deputy.h"
#include "tests/support/delegate_support.h"
#include "tests/support/model_builder.h"
#include "tests/support/test_interpreter.h"

namespace deputy::invoke_node_test {
namespace {

// b = a + a, c = b + b, d = c + c
std::vector<uint8_t> Model() {
  ModelBuilder m;
  const int a = m.AddTensor(kTfLiteFloat32, {2}, "a");
  const int b = m.AddTensor(kTfLiteFloat32, {2}, "b");
  const int c = m.AddTensor(kTfLiteFloat32, {2}, "c");
  const int d = m.AddTensor(kTfLiteFloat32, {2}, "d");
  m.AddOp(kTfLiteBuiltinAdd, {a, a}, {b}, schema::CreateAddOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinAdd, {b, b}, {c}, schema::CreateAddOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinAdd, {c, c}, {d}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({a});
  m.SetOutputs({d});
  return m.Finish();
}

TEST(InvokeNode, runs_one_node_of_a_delegate) {
  Scripted delegate({1});
  TestInterpreter t(Model());
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk);
  DeputyPartition partition = {};
  partition.struct_size = sizeof partition;
  ASSERT_EQ(DeputyInterpreterGetPartition(t.get(), 0, 0, &partition), kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  t.Set<float>(0, {1, 2});
  ASSERT_EQ(t.Invoke(), kTfLiteOk);
  EXPECT_EQ(t.Get<float>(0), (std::vector<float>{8, 16}));
  const int calls = delegate->calls[kScriptedInvoke];
  t.Set<float>(0, {5, 5});
  ASSERT_EQ(DeputyInterpreterInvokeNode(t.get(), 0, partition.node_index), kTfLiteOk) << t.log();
  EXPECT_EQ(delegate->calls[kScriptedInvoke], calls + 1);
  // The node after it has not run.
  EXPECT_EQ(t.Get<float>(0), (std::vector<float>{8, 16}));
}

TEST(InvokeNode, refuses_other_nodes) {
  Scripted delegate({1});
  TestInterpreter t(Model());
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  const int calls = delegate->calls[kScriptedInvoke];
  // Node 0 is of the CPU, node 1 was replaced.
  for (const int node : {-1, 0, 1, 2, 99}) {
    t.ClearLog();
    EXPECT_EQ(DeputyInterpreterInvokeNode(t.get(), 0, node), kTfLiteError) << node;
    EXPECT_NE(t.log().find("expected a delegate's node of the plan"), std::string::npos) << t.log();
  }
  EXPECT_EQ(DeputyInterpreterInvokeNode(t.get(), 1, 3), kTfLiteError);
  EXPECT_EQ(DeputyInterpreterInvokeNode(nullptr, 0, 3), kTfLiteError);
  EXPECT_EQ(delegate->calls[kScriptedInvoke], calls);
}

TEST(InvokeNode, needs_allocated_tensors) {
  TestInterpreter t(Model());
  EXPECT_EQ(DeputyInterpreterInvokeNode(t.get(), 0, 0), kTfLiteError);
  EXPECT_NE(t.log().find("not ready"), std::string::npos) << t.log();
}

}  // namespace
}  // namespace deputy::invoke_node_test
