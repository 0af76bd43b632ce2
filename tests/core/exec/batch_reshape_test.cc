// SPDX-License-Identifier: Apache-2.0
//
// Tests RESHAPE with a constant shape after the client has resized the batch: the batch of the
// output follows where one image keeps its elements, and is refused otherwise, as in TensorFlow
// Lite.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/support/model_builder.h"
#include "tests/support/test_interpreter.h"

namespace deputy::batch_reshape_test {
namespace {

using testing::HasSubstr;

// A model of RESHAPE from the declared shape to `to`, as a constant or in the options.
std::vector<uint8_t> Model(const std::vector<int>& from, const std::vector<int>& to,
                           bool in_options = false) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, from, "x");
  std::vector<int> inputs = {x};
  if (!in_options) {
    inputs.push_back(m.AddConstant<int32_t>(kTfLiteInt32, {static_cast<int>(to.size())}, to));
  }
  const int y = m.AddTensor(kTfLiteFloat32, to, "y");
  m.AddOp(kTfLiteBuiltinReshape, inputs, {y},
          schema::CreateReshapeOptionsDirect(m.fbb(), in_options ? &to : nullptr));
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

std::vector<float> Ramp(int count) {
  std::vector<float> values;
  for (int i = 0; i < count; ++i) values.push_back(static_cast<float>(i));
  return values;
}

TEST(BatchReshape, the_output_follows_a_resized_batch) {
  for (const bool in_options : {false, true}) {
    TestInterpreter t(Model({1, 2, 3}, {1, 6}, in_options));
    for (const int batch : {8, 1, 3, 0}) {
      ASSERT_EQ(t.Resize(0, {batch, 2, 3}), kTfLiteOk);
      ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
      t.Set<float>(0, Ramp(6 * batch));
      ASSERT_EQ(t.Invoke(), kTfLiteOk);
      EXPECT_EQ(t.Get<float>(0), Ramp(6 * batch));
      EXPECT_EQ(TestInterpreter::Shape(TfLiteInterpreterGetOutputTensor(t.get(), 0)),
                (std::vector<int>{batch, 6}));
    }
  }
}

TEST(BatchReshape, a_declared_batch_of_eight_follows) {
  TestInterpreter t(Model({8, 5}, {8, 5, 1}));
  ASSERT_EQ(t.Resize(0, {2, 5}), kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  EXPECT_EQ(TestInterpreter::Shape(TfLiteInterpreterGetOutputTensor(t.get(), 0)),
            (std::vector<int>{2, 5, 1}));
}

TEST(BatchReshape, an_ambiguous_batch_is_refused) {
  struct Case {
    std::vector<int> from, to, resized;
  };
  const std::vector<Case> cases = {
      {{1, 4}, {2, 2}, {5, 4}},        // images are divided
      {{2, 4}, {1, 8}, {4, 4}},        // images are joined
      {{1, 2, 3}, {1, 6}, {1, 4, 3}},  // the height was resized
      {{1, 2, 3}, {1, 6}, {2, 4, 3}},  // batch and height were resized
      {{1, 6}, {6}, {2, 6}},           // the shape has no batch
      {{1, 2, 3}, {1, 6}, {4, 3}},     // the rank was changed
      {{2, 3}, {1, 3}, {4, 3}},        // the model's own shapes are inconsistent
  };
  for (const Case& each : cases) {
    TestInterpreter t(Model(each.from, each.to));
    ASSERT_EQ(t.Resize(0, each.resized), kTfLiteOk);
    EXPECT_EQ(t.Allocate(), kTfLiteError) << testing::PrintToString(each.resized);
    EXPECT_THAT(t.log(), HasSubstr("subgraph 0 node 0 RESHAPE: tensor"));
    EXPECT_THAT(t.log(), HasSubstr("num_input_elements != num_output_elements"));
  }
}

TEST(BatchReshape, a_model_with_inconsistent_shapes_is_refused) {
  TestInterpreter t(Model({2, 3}, {1, 3}));
  EXPECT_EQ(t.Allocate(), kTfLiteError);
}

TEST(BatchReshape, a_shape_of_the_client_is_not_changed) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, 16}, "x");
  const int shape = m.AddTensor(kTfLiteInt32, {2}, "shape");
  const int y = m.AddTensor(kTfLiteFloat32, {1, 16}, "y");
  m.AddOp(kTfLiteBuiltinReshape, {x, shape}, {y}, schema::CreateReshapeOptions(m.fbb()));
  m.SetInputs({x, shape});
  m.SetOutputs({y});
  TestInterpreter t(m.Finish());
  ASSERT_EQ(t.Resize(0, {3, 16}), kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  t.Set<int32_t>(1, {1, 16});
  EXPECT_EQ(t.Invoke(), kTfLiteError);
  t.Set<int32_t>(1, {1, 48});
  EXPECT_EQ(t.Invoke(), kTfLiteOk) << t.log();
}

// TRANSPOSE moves the height, which the client resizes, to dimension 0.
TEST(BatchReshape, another_dimension_in_the_place_of_the_batch_is_refused) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {4, 1, 3}, "x");
  const int order = m.AddConstant<int32_t>(kTfLiteInt32, {3}, {1, 0, 2});
  const int moved = m.AddTensor(kTfLiteFloat32, {1, 4, 3}, "moved");
  const int to = m.AddConstant<int32_t>(kTfLiteInt32, {2}, {1, 12});
  const int y = m.AddTensor(kTfLiteFloat32, {1, 12}, "y");
  m.AddOp(kTfLiteBuiltinTranspose, {x, order}, {moved}, schema::CreateTransposeOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinReshape, {moved, to}, {y}, schema::CreateReshapeOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  TestInterpreter t(m.Finish());
  ASSERT_EQ(t.Resize(0, {4, 2, 3}), kTfLiteOk);
  EXPECT_EQ(t.Allocate(), kTfLiteError);
}

// Nothing is resized, but a node's output has another batch than the model declares for it.
TEST(BatchReshape, an_undeclared_batch_inside_the_model_is_refused) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {2, 4}, "x");
  const int inner = m.AddTensor(kTfLiteFloat32, {1, 4}, "inner");
  const int to = m.AddConstant<int32_t>(kTfLiteInt32, {3}, {1, 2, 2});
  const int y = m.AddTensor(kTfLiteFloat32, {1, 2, 2}, "y");
  m.AddOp(kTfLiteBuiltinLogistic, {x}, {inner});
  m.AddOp(kTfLiteBuiltinReshape, {inner, to}, {y}, schema::CreateReshapeOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  TestInterpreter t(m.Finish());
  EXPECT_EQ(t.Allocate(), kTfLiteError);
}

TEST(BatchReshape, a_refused_batch_leaves_the_interpreter_usable) {
  TestInterpreter t(Model({1, 4}, {2, 2}));
  ASSERT_EQ(t.Resize(0, {5, 4}), kTfLiteOk);
  EXPECT_EQ(t.Allocate(), kTfLiteError);
  ASSERT_EQ(t.Resize(0, {1, 4}), kTfLiteOk);
  EXPECT_EQ(t.Allocate(), kTfLiteOk);
  EXPECT_EQ(t.Invoke(), kTfLiteOk);
}

}  // namespace
}  // namespace deputy::batch_reshape_test
