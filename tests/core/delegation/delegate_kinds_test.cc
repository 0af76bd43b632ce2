// SPDX-License-Identifier: Apache-2.0
//
// Tests variants of delegates in plain C (tests/support/element_delegate.c): one whose Prepare adds
// tensors to the graph, one whose outputs have a shape only at run time. Delegates with buffer
// handles and opaque ones are in delegate_test.cc.
#include <gtest/gtest.h>

#include <string>

#include "c_api/include/deputy.h"
#include "tests/support/element_delegate.h"
#include "tests/support/model_builder.h"
#include "tests/support/test_interpreter.h"

namespace deputy::delegate_kinds_test {
namespace {

constexpr int64_t kStatic = kTfLiteDelegateFlagsNone;
constexpr int64_t kDynamic = kTfLiteDelegateFlagsAllowDynamicTensors;

// A chain of nodes that alternately add c and multiply by c. Tensor 0 is x, tensor 1 is c, and
// tensor 2 + i is the output of node i.
std::vector<uint8_t> Chain(int length) {
  ModelBuilder m;
  int last = m.AddTensor(kTfLiteFloat32, {1, 4}, "x");
  const int c = m.AddConstant<float>(kTfLiteFloat32, {4}, {1, 2, -1, 0.5f}, "c");
  m.SetInputs({last});
  for (int i = 0; i < length; ++i) {
    const int next = m.AddTensor(kTfLiteFloat32, {1, 4}, "y" + std::to_string(i));
    if (i % 2 == 0) {
      m.AddOp(kTfLiteBuiltinAdd, {last, c}, {next}, schema::CreateAddOptions(m.fbb()));
    } else {
      m.AddOp(kTfLiteBuiltinMul, {last, c}, {next}, schema::CreateMulOptions(m.fbb()));
    }
    last = next;
  }
  m.SetOutputs({last});
  return m.Finish();
}

TfLiteStatus Modify(TestInterpreter* t, ElementDelegate* delegate) {
  return TfLiteInterpreterModifyGraphWithDelegate(t->get(), &delegate->base);
}

std::vector<float> RunOnce(TestInterpreter* t, const std::vector<float>& x) {
  EXPECT_EQ(t->Allocate(), kTfLiteOk) << t->log();
  t->Set<float>(0, x);
  EXPECT_EQ(t->Invoke(), kTfLiteOk) << t->log();
  return t->Get<float>(0);
}

// Returns an input of `rows` rows with four values each.
std::vector<float> Input(int rows) {
  std::vector<float> x;
  for (int i = 0; i < 4 * rows; ++i) x.push_back(static_cast<float>(i % 7) - 2.5f);
  return x;
}

// ---- Tensors that Prepare adds ------------------------------------------------------------------

TEST(AddedTensors, hold_intermediate_results_in_runtime_memory) {
  TestInterpreter cpu(Chain(5));
  ElementDelegate delegate;
  ElementDelegateInit(&delegate, kStatic);
  delegate.added_tensors = true;
  TestInterpreter t(Chain(5));
  ASSERT_EQ(Modify(&t, &delegate), kTfLiteOk) << t.log();
  EXPECT_EQ(delegate.first_added, 7);
  EXPECT_EQ(DeputyInterpreterGetTensorCount(t.get(), 0), 7 + 5);
  EXPECT_EQ(RunOnce(&t, Input(1)), RunOnce(&cpu, Input(1)));
  EXPECT_EQ(delegate.nodes_computed, 5);
  EXPECT_EQ(delegate.next_added, 4);  // one per output, except the graph's
  for (int i = 0; i < delegate.next_added; ++i) {
    const TfLiteTensor* added = DeputyInterpreterGetTensor(t.get(), 0, delegate.first_added + i);
    EXPECT_EQ(added->allocation_type, kTfLiteArenaRw);
    EXPECT_EQ(added->bytes, 4 * sizeof(float));
    EXPECT_NE(added->data.raw, nullptr);
  }
}

TEST(AddedTensors, are_reused_after_every_resize) {
  TestInterpreter cpu(Chain(5));
  ElementDelegate delegate;
  ElementDelegateInit(&delegate, kStatic);
  delegate.added_tensors = true;
  TestInterpreter t(Chain(5));
  ASSERT_EQ(Modify(&t, &delegate), kTfLiteOk) << t.log();
  for (int round = 0; round < 100; ++round) {
    const int rows = 1 + round % 3;
    ASSERT_EQ(t.Resize(0, {rows, 4}), kTfLiteOk);
    ASSERT_EQ(cpu.Resize(0, {rows, 4}), kTfLiteOk);
    ASSERT_EQ(RunOnce(&t, Input(rows)), RunOnce(&cpu, Input(rows)));
    ASSERT_EQ(DeputyInterpreterGetTensorCount(t.get(), 0), 7 + 5);
  }
  EXPECT_EQ(delegate.nodes_computed, 500);
  EXPECT_EQ(delegate.prepares, 100);  // the first resize keeps the shape
}

// ---- Outputs whose shape is known only at run time ----------------------------------------------

TEST(DynamicOutputs, following_nodes_are_prepared_once_the_shape_is_known) {
  const bool refused[] = {false, false, false, false, true, false};  // node 2 stays on the CPU
  TestInterpreter cpu(Chain(4));
  ElementDelegate delegate;
  ElementDelegateInit(&delegate, kDynamic);
  delegate.dynamic_outputs = true;
  delegate.refused_outputs = refused;
  delegate.refused_output_count = 6;
  TestInterpreter t(Chain(4));
  ASSERT_EQ(Modify(&t, &delegate), kTfLiteOk) << t.log();
  for (int rows : {1, 3, 2}) {
    ASSERT_EQ(t.Resize(0, {rows, 4}), kTfLiteOk);
    ASSERT_EQ(cpu.Resize(0, {rows, 4}), kTfLiteOk);
    EXPECT_EQ(RunOnce(&t, Input(rows)), RunOnce(&cpu, Input(rows)));
    const TfLiteTensor* output = TfLiteInterpreterGetOutputTensor(t.get(), 0);
    EXPECT_EQ(output->allocation_type, kTfLiteDynamic);
    EXPECT_EQ(TestInterpreter::Shape(output), (std::vector<int>{rows, 4}));
  }
  EXPECT_EQ(delegate.nodes_computed, 3 * 3);
  EXPECT_EQ(delegate.prepares, 1);  // a resize does not undo a dynamic delegate
  EXPECT_EQ(delegate.kernels_made, 2);
}

TEST(DynamicOutputs, after_a_static_delegate_are_an_application_error) {
  const bool all_but_first[] = {false, false, false, true, true, true};
  TestInterpreter cpu(Chain(4));
  ElementDelegate still, moving;
  ElementDelegateInit(&still, kStatic);
  still.refused_outputs = all_but_first;
  still.refused_output_count = 6;
  ElementDelegateInit(&moving, kDynamic);
  moving.dynamic_outputs = true;
  TestInterpreter t(Chain(4));
  ASSERT_EQ(Modify(&t, &still), kTfLiteOk) << t.log();
  EXPECT_EQ(Modify(&t, &moving), kTfLiteApplicationError);
  EXPECT_EQ(moving.prepares, 1);
  EXPECT_EQ(RunOnce(&t, Input(1)), RunOnce(&cpu, Input(1)));
  EXPECT_EQ(still.nodes_computed + moving.nodes_computed, 0);  // both delegates were removed
}

}  // namespace
}  // namespace deputy::delegate_kinds_test
