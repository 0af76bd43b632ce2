// SPDX-License-Identifier: Apache-2.0
//
// Tests graphs for which a static delegate is refused, with the reason; and slices whose shape only
// the model declares.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "c_api/include/deputy.h"
#include "tests/support/delegate_support.h"
#include "tests/support/interpreter_queries.h"
#include "tests/support/model_builder.h"
#include "tests/support/test_interpreter.h"

namespace deputy::static_shapes_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TfLiteStatus Apply(TestInterpreter* t, Scripted* delegate) {
  return TfLiteInterpreterModifyGraphWithDelegate(t->get(), delegate->get());
}

// ---- The reason of a refusal --------------------------------------------------------------------

TEST(StaticShapes, the_error_names_tensor_node_and_source_of_the_shape) {
  ModelBuilder m;
  const int n = m.AddTensor(kTfLiteInt32, {2}, "n");
  const int sum = m.AddTensor(kTfLiteInt32, {2}, "sum");
  const int one = m.AddConstant<int32_t>(kTfLiteInt32, {1}, {1});
  const int value = m.AddConstant<float>(kTfLiteFloat32, {}, {2});
  const int filled = m.AddTensor(kTfLiteFloat32, {1, 1}, "filled");
  m.AddOp(kTfLiteBuiltinAdd, {n, one}, {sum}, schema::CreateAddOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinFill, {sum, value}, {filled});
  m.SetInputs({n});
  m.SetOutputs({filled});
  Scripted first({}), second({});
  TestInterpreter t(m.Finish());
  const char* const kReason =
      "node 1 FILL: tensor 4 'filled': its shape may depend on tensor 1 'sum' of node 0 ADD, which "
      "is not constant";
  EXPECT_EQ(Apply(&t, &first), kTfLiteApplicationError);
  EXPECT_THAT(t.log(), HasSubstr("with a graph that has dynamic-sized tensors (tensor#4 is a "
                                 "dynamic-sized tensor)."));
  EXPECT_THAT(t.log(), HasSubstr(kReason));
  // The second refusal has the same reason, which is in the record of each delegate.
  EXPECT_EQ(Apply(&t, &second), kTfLiteApplicationError);
  for (const int delegate : {0, 1}) {
    const DeputyDelegateInfo info = DelegateInfoOf(t.get(), delegate);
    EXPECT_THAT(info.failure, HasSubstr(kReason));
  }
}

TEST(StaticShapes, the_error_names_inputs_of_the_graph) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {4}, "x");
  const int shape = m.AddTensor(kTfLiteInt32, {2}, "shape");
  const int y = m.AddTensor(kTfLiteFloat32, {2, 2}, "y");
  m.AddOp(kTfLiteBuiltinReshape, {x, shape}, {y});
  m.SetInputs({x, shape});
  m.SetOutputs({y});
  Scripted delegate({});
  TestInterpreter t(m.Finish());
  EXPECT_EQ(Apply(&t, &delegate), kTfLiteApplicationError);
  EXPECT_THAT(t.log(), HasSubstr("node 0 RESHAPE: tensor 2 'y': its shape may depend on tensor 1 "
                                 "'shape' of the graph's inputs, which is not constant"));
}

TEST(StaticShapes, the_error_names_the_operator_that_determines_the_shape) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteBool, {4}, "x");
  const int y = m.AddTensor(kTfLiteInt64, {1, 1}, "y");
  m.AddOp(kTfLiteBuiltinWhere, {x}, {y});
  m.SetInputs({x});
  m.SetOutputs({y});
  Scripted delegate({});
  TestInterpreter t(m.Finish());
  EXPECT_EQ(Apply(&t, &delegate), kTfLiteApplicationError);
  EXPECT_THAT(t.log(), HasSubstr("node 0 WHERE: tensor 1 'y': its shape depends on the values that "
                                 "the node computes"));
}

// ---- Dynamic delegates that require propagated shapes -------------------------------------------

// A model x -> RELU -> y -> an operator that only a delegate supports.
std::vector<uint8_t> WithForeignOperator() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, 4}, "x");
  const int y = m.AddTensor(kTfLiteFloat32, {1, 4}, "y");
  const int z = m.AddTensor(kTfLiteFloat32, {1, 4}, "z");
  m.AddOp(kTfLiteBuiltinRelu, {x}, {y});
  m.AddCustomOp("UnregisteredOp", {y}, {z});
  m.SetInputs({x});
  m.SetOutputs({z});
  return m.Finish();
}

TEST(StaticShapes, propagated_shapes_reach_the_prepare_of_a_dynamic_delegate) {
  for (const bool wanted : {false, true}) {
    int rows = 0;
    Programmed delegate(
        [&rows](TfLiteContext* context, TfLiteDelegate*) {
          rows = context->tensors[1].dims->data[0];
          return kTfLiteOk;
        },
        kTfLiteDelegateFlagsAllowDynamicTensors |
            (wanted ? int64_t{kTfLiteDelegateFlagsRequirePropagatedShapes} : 0));
    TestInterpreter t(WithForeignOperator());
    ASSERT_EQ(t.Resize(0, {5, 4}), kTfLiteOk);
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), &delegate.base), kTfLiteOk)
        << t.log();
    EXPECT_EQ(rows, wanted ? 5 : 1);
  }
}

// ---- Slices with a declared shape ---------------------------------------------------------------

// y = RELU(x[begin : begin + size]) for x with 4 elements; the model declares that y has two.
std::vector<uint8_t> DeclaredSlice(const std::vector<int32_t>& signature = {}) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {4}, "x");
  const int begin = m.AddTensor(kTfLiteInt32, {1}, "begin");
  const int size = m.AddTensor(kTfLiteInt32, {1}, "size");
  const int part = m.AddTensor(kTfLiteFloat32, {2}, "part", {.signature = signature});
  const int y = m.AddTensor(kTfLiteFloat32, {2}, "y", {.signature = signature});
  m.AddOp(kTfLiteBuiltinSlice, {x, begin, size}, {part});
  m.AddOp(kTfLiteBuiltinRelu, {part}, {y});
  m.SetInputs({x, begin, size});
  m.SetOutputs({y});
  return m.Finish();
}

std::vector<float> Part(TestInterpreter* t, int begin, int size) {
  t->Set<float>(0, {1, 2, 3, 4});
  t->Set<int32_t>(1, {begin});
  t->Set<int32_t>(2, {size});
  EXPECT_EQ(t->Invoke(), kTfLiteOk) << t->log();
  return t->Get<float>(0);
}

TEST(StaticShapes, a_slice_of_declared_shape_is_static) {
  Scripted delegate({});
  TestInterpreter t(DeclaredSlice());
  ASSERT_EQ(Apply(&t, &delegate), kTfLiteOk) << t.log();
  EXPECT_THAT(Part(&t, 1, 2), ElementsAre(2, 3));
  EXPECT_THAT(Part(&t, 2, -1), ElementsAre(3, 4));
}

TEST(StaticShapes, a_slice_of_open_shape_is_dynamic) {
  Scripted delegate({});
  TestInterpreter t(DeclaredSlice({-1}));
  EXPECT_EQ(Apply(&t, &delegate), kTfLiteApplicationError);
}

TEST(StaticShapes, a_slice_may_differ_from_its_declared_shape) {
  TestInterpreter t(DeclaredSlice());
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  EXPECT_THAT(Part(&t, 1, 2), ElementsAre(2, 3));
  EXPECT_THAT(Part(&t, 0, 3), ElementsAre(1, 2, 3));
  EXPECT_THAT(Part(&t, 3, 1), ElementsAre(4));
  ASSERT_EQ(t.Resize(0, {6}), kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  t.Set<float>(0, {1, 2, 3, 4, 5, 6});
  t.Set<int32_t>(1, {1});
  t.Set<int32_t>(2, {-1});
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_THAT(t.Get<float>(0), ElementsAre(2, 3, 4, 5, 6));
}

// The memory of the previous allocation must not make the output dynamic.
TEST(StaticShapes, a_slice_to_the_end_is_static_after_a_resize) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {4}, "x");
  const int begin = m.AddConstant<int32_t>(kTfLiteInt32, {1}, {1});
  const int size = m.AddConstant<int32_t>(kTfLiteInt32, {1}, {-1});
  const int y = m.AddTensor(kTfLiteFloat32, {3}, "y");
  m.AddOp(kTfLiteBuiltinSlice, {x, begin, size}, {y});
  m.SetInputs({x});
  m.SetOutputs({y});
  TestInterpreter t(m.Finish());
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  ASSERT_EQ(t.Resize(0, {5}), kTfLiteOk);
  Scripted delegate({});
  ASSERT_EQ(Apply(&t, &delegate), kTfLiteOk) << t.log();
  t.Set<float>(0, {1, 2, 3, 4, 5});
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_THAT(t.Get<float>(0), ElementsAre(2, 3, 4, 5));
}

TEST(StaticShapes, a_branch_may_differ_from_its_declared_shape) {
  ModelBuilder m;
  const int choose = m.AddTensor(kTfLiteBool, {1}, "choose");
  const int x = m.AddTensor(kTfLiteFloat32, {4}, "x");
  const int begin = m.AddTensor(kTfLiteInt32, {1}, "begin");
  const int size = m.AddTensor(kTfLiteInt32, {1}, "size");
  const int y = m.AddTensor(kTfLiteFloat32, {2}, "y");
  const int z = m.AddTensor(kTfLiteFloat32, {2}, "z");
  m.AddOp(kTfLiteBuiltinIf, {choose, x, begin, size}, {y}, schema::CreateIfOptions(m.fbb(), 1, 2));
  m.AddOp(kTfLiteBuiltinRelu, {y}, {z});
  m.SetInputs({choose, x, begin, size});
  m.SetOutputs({z});
  for (int branch = 0; branch < 2; ++branch) {
    m.AddSubgraph();
    const int in = m.AddTensor(kTfLiteFloat32, {4}, "in");
    const int from = m.AddTensor(kTfLiteInt32, {1}, "from");
    const int count = m.AddTensor(kTfLiteInt32, {1}, "count");
    const int out = m.AddTensor(kTfLiteFloat32, {2}, "out");
    m.AddOp(kTfLiteBuiltinSlice, {in, from, count}, {out});
    m.SetInputs({in, from, count});
    m.SetOutputs({out});
  }
  TestInterpreter t(m.Finish());
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  for (const int count : {2, 3, 1}) {
    t.Set<uint8_t>(0, {1});
    t.Set<float>(1, {1, 2, 3, 4});
    t.Set<int32_t>(2, {0});
    t.Set<int32_t>(3, {count});
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    std::vector<float> expected = {1, 2, 3};
    expected.resize(static_cast<size_t>(count));
    EXPECT_EQ(t.Get<float>(0), expected);
  }
}

}  // namespace
}  // namespace deputy::static_shapes_test
