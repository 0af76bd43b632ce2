// SPDX-License-Identifier: Apache-2.0
//
// Tests tensors that several nodes may write, variables, and tensors that custom operators modify
// in place. They are supported while they keep their shape; a node that would change the shape for
// an earlier node is refused.

#include "core/exec/shared_shapes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/model_builder.h"
#include "tests/support/test_interpreter.h"

namespace deputy::shared_shapes_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TensorExtras Variable() {
  TensorExtras extras;
  extras.is_variable = true;
  return extras;
}

void Add(ModelBuilder& m, int left, int right, int sum) {
  m.AddOp(kTfLiteBuiltinAdd, {left, right}, {sum}, schema::CreateAddOptions(m.fbb()));
}

// A model with the tensors x (input), c (constant), v (variable) and y (output); tests add the
// nodes.
struct Memory {
  ModelBuilder m;
  int x = m.AddTensor(kTfLiteFloat32, {4}, "x");
  int c = m.AddConstant<float>(kTfLiteFloat32, {1}, {10}, "c");
  int v = m.AddTensor(kTfLiteFloat32, {4}, "v", Variable());
  int y = m.AddTensor(kTfLiteFloat32, {4}, "y");
  Memory() {
    m.SetInputs({x});
    m.SetOutputs({y});
  }
};

TEST(Variable, is_read_before_it_is_written_and_keeps_its_contents) {
  Memory model;
  Add(model.m, model.x, model.v, model.y);
  Add(model.m, model.x, model.c, model.v);
  TestInterpreter t(model.m.Finish());
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  t.Set<float>(0, {1, 2, 3, 4});
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_THAT(t.Get<float>(0), ElementsAre(1, 2, 3, 4));
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_THAT(t.Get<float>(0), ElementsAre(12, 14, 16, 18));
}

TEST(Variable, written_before_its_consumer_adopts_a_new_shape) {
  Memory model;
  Add(model.m, model.x, model.c, model.v);
  Add(model.m, model.x, model.v, model.y);
  TestInterpreter t(model.m.Finish());
  for (const int count : {4, 6, 2}) {
    ASSERT_EQ(t.Resize(0, {count}), kTfLiteOk);
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    t.Set<float>(0, std::vector<float>(static_cast<size_t>(count), 1));
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_EQ(t.Get<float>(0), std::vector<float>(static_cast<size_t>(count), 12));
  }
}

TEST(Variable, that_a_later_node_would_reshape_is_refused) {
  Memory model;
  Add(model.m, model.x, model.v, model.y);
  Add(model.m, model.x, model.c, model.v);
  TestInterpreter t(model.m.Finish());
  ASSERT_EQ(t.Resize(0, {1}), kTfLiteOk);
  EXPECT_EQ(t.Allocate(), kTfLiteError);
  EXPECT_THAT(t.log(), HasSubstr("Node number 1 (ADD) failed to prepare.; subgraph 0 node 1 ADD: "
                                 "tensor 2 'v': expected FLOAT32 [4], for which earlier nodes were "
                                 "prepared, found FLOAT32 [1]"));
  EXPECT_EQ(t.Invoke(), kTfLiteError);
  ASSERT_EQ(t.Resize(0, {4}), kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << "the graph is as before";
  EXPECT_EQ(t.Invoke(), kTfLiteOk);
}

TEST(Variable, that_two_producers_would_shape_differently_is_refused) {
  ModelBuilder m;
  const int big = m.AddTensor(kTfLiteFloat32, {1000}, "big");
  const int small = m.AddTensor(kTfLiteFloat32, {4}, "small");
  const int v = m.AddTensor(kTfLiteFloat32, {4}, "v", Variable());
  Add(m, big, big, v);
  Add(m, small, small, v);
  m.SetInputs({big, small});
  m.SetOutputs({v});
  TestInterpreter t(m.Finish());
  EXPECT_EQ(t.Allocate(), kTfLiteError);
  EXPECT_THAT(t.log(), HasSubstr("expected FLOAT32 [1000], for which earlier nodes were prepared, "
                                 "found FLOAT32 [4]"));
}

TEST(Variable, whose_type_a_later_node_would_change_is_refused) {
  ModelBuilder m;
  TensorExtras quantized = Variable();
  quantized.scale = {0.5f};
  quantized.zero_point = {0};
  const int q = m.AddTensor(kTfLiteInt8, {4}, "q", {.scale = {0.5f}, .zero_point = {0}});
  const int v = m.AddTensor(kTfLiteInt8, {4}, "v", quantized);
  const int y = m.AddTensor(kTfLiteFloat32, {4}, "y");
  m.AddOp(kTfLiteBuiltinDequantize, {v}, {y});
  m.AddOp(kTfLiteBuiltinDequantize, {q}, {v});
  m.SetInputs({q});
  m.SetOutputs({y});
  TestInterpreter t(m.Finish());
  EXPECT_EQ(t.Allocate(), kTfLiteError);
  EXPECT_THAT(t.log(), HasSubstr("expected INT8 [4], for which earlier nodes were prepared, found "
                                 "FLOAT32 [4]"));
}

// RESHAPE makes its output dynamic if the shape is a graph input.
TEST(Variable, that_a_later_node_would_make_dynamic_is_refused) {
  Memory model;
  const int shape = model.m.AddTensor(kTfLiteInt32, {1}, "shape");
  Add(model.m, model.x, model.v, model.y);
  model.m.AddOp(kTfLiteBuiltinReshape, {model.x, shape}, {model.v});
  model.m.SetInputs({model.x, shape});
  TestInterpreter t(model.m.Finish());
  EXPECT_EQ(t.Allocate(), kTfLiteError);
  EXPECT_THAT(t.log(), HasSubstr("for which earlier nodes were prepared, found another allocation "
                                 "type"));
  EXPECT_EQ(t.Invoke(), kTfLiteError);
}

// ---- In place -----------------------------------------------------------------------------------

// A client's operator on float32 that negates its input, in place or not, and keeps the first
// `kept` elements, or all of them if `kept` is 0.
template <int kept>
const TfLiteRegistration* Negation() {
  static TfLiteRegistration registration = [] {
    TfLiteRegistration r{};
    r.prepare = [](TfLiteContext* context, TfLiteNode* node) {
      const TfLiteIntArray* dims = context->tensors[node->inputs->data[0]].dims;
      TfLiteIntArray* copy = TfLiteIntArrayCopy(dims);
      if (kept != 0) copy->data[0] = kept;
      return context->ResizeTensor(context, &context->tensors[node->outputs->data[0]], copy);
    };
    r.invoke = [](TfLiteContext* context, TfLiteNode* node) {
      const TfLiteTensor& input = context->tensors[node->inputs->data[0]];
      TfLiteTensor& output = context->tensors[node->outputs->data[0]];
      for (size_t i = 0; i < output.bytes / 4; ++i) output.data.f[i] = -input.data.f[i];
      return kTfLiteOk;
    };
    r.version = 1;
    return r;
  }();
  return &registration;
}

void AddNegations(TfLiteInterpreterOptions* options) {
  TfLiteInterpreterOptionsAddCustomOp(options, "Negate", Negation<0>(), 1, 1);
  TfLiteInterpreterOptionsAddCustomOp(options, "NegateOne", Negation<1>(), 1, 1);
}

// y = x + x, which the named operator then modifies in place.
std::vector<uint8_t> InPlace(const char* name) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {4}, "x");
  const int y = m.AddTensor(kTfLiteFloat32, {4}, "y");
  Add(m, x, x, y);
  m.AddCustomOp(name, {y}, {y});
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

TEST(InPlaceForClients, client_operator_works_in_place_on_a_builtins_output) {
  TestInterpreter t(InPlace("Negate"), &AddNegations);
  for (const int count : {4, 2}) {
    ASSERT_EQ(t.Resize(0, {count}), kTfLiteOk);
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    t.Set<float>(0, std::vector<float>(static_cast<size_t>(count), 3));
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_EQ(t.Get<float>(0), std::vector<float>(static_cast<size_t>(count), -6));
  }
}

TEST(InPlaceForClients, client_operator_works_in_place_on_a_graph_input) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {2}, "x");
  m.AddCustomOp("Negate", {x}, {x});
  m.SetInputs({x});
  m.SetOutputs({x});
  TestInterpreter t(m.Finish(), &AddNegations);
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  t.Set<float>(0, {1, 2});
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_THAT(t.Get<float>(0), ElementsAre(-1, -2));
}

// t = |x|; a = RESHAPE(t), a view; the custom operator modifies t in place; the outputs are -a and
// -t.
std::vector<uint8_t> ViewOfAnOverwrittenTensor() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {4}, "x");
  const int t = m.AddTensor(kTfLiteFloat32, {4}, "t");
  const int shape = m.AddConstant<int32_t>(kTfLiteInt32, {2}, {2, 2}, "shape");
  const int a = m.AddTensor(kTfLiteFloat32, {2, 2}, "a");
  const int out = m.AddTensor(kTfLiteFloat32, {2, 2}, "out");
  const int last = m.AddTensor(kTfLiteFloat32, {4}, "last");
  m.AddOp(kTfLiteBuiltinAbs, {x}, {t});
  m.AddOp(kTfLiteBuiltinReshape, {t, shape}, {a});
  m.AddCustomOp("Own", {t}, {t});
  m.AddOp(kTfLiteBuiltinNeg, {a}, {out});
  m.AddOp(kTfLiteBuiltinNeg, {t}, {last});
  m.SetInputs({x});
  m.SetOutputs({out, last});
  return m.Finish();
}

TEST(InPlaceForClients, a_view_keeps_its_values_when_its_source_is_overwritten) {
  TestInterpreter t(ViewOfAnOverwrittenTensor(), [](TfLiteInterpreterOptions* options) {
    TfLiteInterpreterOptionsAddCustomOp(options, "Own", Negation<0>(), 1, 1);
  });
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  t.Set<float>(0, {1, -2, 3, -4});
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_THAT(t.Get<float>(0), ElementsAre(-1, -2, -3, -4));
  EXPECT_THAT(t.Get<float>(1), ElementsAre(1, 2, 3, 4));
}

TEST(InPlaceForClients, client_operator_that_would_shrink_a_builtins_output_is_refused) {
  TestInterpreter t(InPlace("NegateOne"), &AddNegations);
  EXPECT_EQ(t.Allocate(), kTfLiteError);
  EXPECT_THAT(t.log(), HasSubstr("Node number 1 (NegateOne) failed to prepare."));
  EXPECT_THAT(t.log(), HasSubstr("tensor 1 'y': expected FLOAT32 [4], for which earlier nodes were "
                                 "prepared, found FLOAT32 [1]"));
}

// Convolution2DTransposeBias is a kernel of the library, so the permission for clients' operators
// to work in place does not apply to it.
TEST(InPlaceForClients, custom_operators_of_deputy_are_refused) {
  ModelBuilder m;
  const int weights = m.AddConstant<float>(kTfLiteFloat32, {1, 1, 1, 1}, {2}, "weights");
  const int bias = m.AddConstant<float>(kTfLiteFloat32, {1}, {0}, "bias");
  const int x = m.AddTensor(kTfLiteFloat32, {1, 4, 4, 1}, "x");
  // The options are padding SAME and strides of one, in the layout of the C struct.
  m.AddCustomOp("Convolution2DTransposeBias", {x, weights, bias}, {x},
                {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0});
  m.SetInputs({x});
  m.SetOutputs({x});
  TestInterpreter t(m.Finish());
  EXPECT_EQ(t.Allocate(), kTfLiteError);
  EXPECT_THAT(t.log(), HasSubstr("expected outputs that are no inputs, found tensor 2 in both"));
}

}  // namespace
}  // namespace deputy::shared_shapes_test
