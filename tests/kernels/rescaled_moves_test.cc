// SPDX-License-Identifier: Apache-2.0
//
// Tests data movement between tensors of different scales in a graph: with equal scales an output
// may use its input's memory, but rescaled values must not, because other nodes read the input.
// quantized_accuracy_test tests the values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "c_api/include/deputy.h"
#include "tests/support/model_builder.h"
#include "tests/support/test_interpreter.h"

namespace deputy::rescaled_moves_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TensorExtras Scaled(float scale, int zero) {
  TensorExtras extras;
  extras.scale = {scale};
  extras.zero_point = {zero};
  return extras;
}

using AddMove = std::function<void(ModelBuilder* m, int from, const std::vector<int>& to)>;

// A model of input -> ABS -> t -> the movement -> outputs; and t -> ABS -> the last output, after
// the movement.
std::vector<uint8_t> ModelAround(const std::vector<std::vector<int32_t>>& shapes,
                                 const AddMove& add) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteInt8, {1, 2, 2}, "x", Scaled(0.5f, 0));
  const int t = m.AddTensor(kTfLiteInt8, {1, 2, 2}, "t", Scaled(0.5f, 0));
  m.AddOp(kTfLiteBuiltinAbs, {x}, {t}, 1);
  std::vector<int> outputs;
  for (const auto& shape : shapes) {
    outputs.push_back(m.AddTensor(kTfLiteInt8, shape, "moved", Scaled(0.25f, 3)));
  }
  add(&m, t, outputs);
  outputs.push_back(m.AddTensor(kTfLiteInt8, {1, 2, 2}, "again", Scaled(0.5f, 0)));
  m.AddOp(kTfLiteBuiltinAbs, {t}, {outputs.back()}, 1);
  m.SetInputs({x});
  m.SetOutputs(outputs);
  return m.Finish();
}

void AddReshape(ModelBuilder* m, int from, const std::vector<int>& to) {
  const int shape = m->AddConstant<int32_t>(kTfLiteInt32, {1}, {4}, "shape");
  m->AddOp(kTfLiteBuiltinReshape, {from, shape}, to, schema::CreateReshapeOptions(m->fbb()));
}

void AddSqueeze(ModelBuilder* m, int from, const std::vector<int>& to) {
  m->AddOp(kTfLiteBuiltinSqueeze, {from}, to, schema::CreateSqueezeOptions(m->fbb()));
}

void AddExpandDims(ModelBuilder* m, int from, const std::vector<int>& to) {
  const int axis = m->AddConstant<int32_t>(kTfLiteInt32, {}, {0}, "axis");
  m->AddOp(kTfLiteBuiltinExpandDims, {from, axis}, to, schema::CreateExpandDimsOptions(m->fbb()));
}

void AddTranspose(ModelBuilder* m, int from, const std::vector<int>& to) {
  const int order = m->AddConstant<int32_t>(kTfLiteInt32, {3}, {1, 0, 2}, "order");
  m->AddOp(kTfLiteBuiltinTranspose, {from, order}, to, schema::CreateTransposeOptions(m->fbb()));
}

void AddSlice(ModelBuilder* m, int from, const std::vector<int>& to) {
  const int begin = m->AddConstant<int32_t>(kTfLiteInt32, {3}, {0, 0, 0}, "begin");
  const int size = m->AddConstant<int32_t>(kTfLiteInt32, {3}, {1, 2, 2}, "size");
  m->AddOp(kTfLiteBuiltinSlice, {from, begin, size}, to, schema::CreateSliceOptions(m->fbb()));
}

void AddConcatenation(ModelBuilder* m, int from, const std::vector<int>& to) {
  m->AddOp(kTfLiteBuiltinConcatenation, {from}, to,
           schema::CreateConcatenationOptions(m->fbb(), 0));
}

void AddPack(ModelBuilder* m, int from, const std::vector<int>& to) {
  m->AddOp(kTfLiteBuiltinPack, {from}, to, schema::CreatePackOptions(m->fbb(), 1, 0));
}

struct Row {
  const char* name;
  std::vector<int32_t> shape;
  AddMove add;
};

const Row kWhole[] = {
    {"RESHAPE", {4}, &AddReshape},
    {"SQUEEZE", {2, 2}, &AddSqueeze},
    {"EXPAND_DIMS", {1, 1, 2, 2}, &AddExpandDims},
    {"TRANSPOSE", {2, 1, 2}, &AddTranspose},
    {"SLICE", {1, 2, 2}, &AddSlice},
    {"CONCATENATION", {1, 2, 2}, &AddConcatenation},
    {"PACK", {1, 1, 2, 2}, &AddPack},
};

void Infer(TestInterpreter* interpreter, const std::vector<int8_t>& input) {
  ASSERT_EQ(interpreter->Allocate(), kTfLiteOk) << interpreter->log();
  interpreter->Set<int8_t>(0, input);
  ASSERT_EQ(interpreter->Invoke(), kTfLiteOk) << interpreter->log();
}

void UseReference(TfLiteInterpreterOptions* options) {
  DeputyInterpreterOptionsSetArithmetic(options, kDeputyArithmeticReference);
}

TEST(RescaledMoves, preserve_real_values_and_the_input) {
  for (const Row& row : kWhole) {
    SCOPED_TRACE(row.name);
    TestInterpreter interpreter(ModelAround({row.shape}, row.add));
    Infer(&interpreter, {-1, 2, -50, 100});
    EXPECT_THAT(interpreter.Get<int8_t>(0), ElementsAre(5, 7, 103, 127));
    EXPECT_THAT(interpreter.Get<int8_t>(1), ElementsAre(1, 2, 50, 100));
  }
}

TEST(RescaledMoves, preserve_real_values_of_every_part) {
  const AddMove split = [](ModelBuilder* m, int from, const std::vector<int>& to) {
    const int axis = m->AddConstant<int32_t>(kTfLiteInt32, {}, {1}, "axis");
    m->AddOp(kTfLiteBuiltinSplit, {axis, from}, to, schema::CreateSplitOptions(m->fbb(), 2));
  };
  const AddMove unpack = [](ModelBuilder* m, int from, const std::vector<int>& to) {
    m->AddOp(kTfLiteBuiltinUnpack, {from}, to, schema::CreateUnpackOptions(m->fbb(), 2, 1));
  };
  for (const auto& [shape, add] : {std::pair(std::vector<int32_t>{1, 1, 2}, split),
                                   std::pair(std::vector<int32_t>{1, 2}, unpack)}) {
    TestInterpreter interpreter(ModelAround({shape, shape}, add));
    Infer(&interpreter, {-1, 2, -50, 100});
    EXPECT_THAT(interpreter.Get<int8_t>(0), ElementsAre(5, 7));
    EXPECT_THAT(interpreter.Get<int8_t>(1), ElementsAre(103, 127));
    EXPECT_THAT(interpreter.Get<int8_t>(2), ElementsAre(1, 2, 50, 100));
  }
}

// In the reference arithmetic, as in TensorFlow Lite, kernels copy the quantised values, or refuse
// if they check the scales.
TEST(RescaledMoves, equal_tflite_in_the_reference_arithmetic) {
  for (const AddMove& add : {AddMove(&AddReshape), AddMove(&AddSqueeze)}) {
    TestInterpreter interpreter(ModelAround({{4}}, add), &UseReference);
    Infer(&interpreter, {-1, 2, -50, 100});
    EXPECT_THAT(interpreter.Get<int8_t>(0), ElementsAre(1, 2, 50, 100));
  }
  TestInterpreter interpreter(ModelAround({{1, 1, 2, 2}}, &AddExpandDims), &UseReference);
  EXPECT_EQ(interpreter.Allocate(), kTfLiteError);
  EXPECT_THAT(interpreter.log(), HasSubstr("EXPAND_DIMS: tensor 2 'moved': expected exactly scale "
                                           "0.5 and zero point 0 like tensor 1, found 0.25 and 3"));
}

// A tensor that is read twice is rescaled from its original values each time.
TEST(RescaledMoves, accept_one_tensor_as_both_parts) {
  const AddMove twice = [](ModelBuilder* m, int from, const std::vector<int>& to) {
    m->AddOp(kTfLiteBuiltinConcatenation, {from, from}, to,
             schema::CreateConcatenationOptions(m->fbb(), 0));
  };
  TestInterpreter interpreter(ModelAround({{2, 2, 2}}, twice));
  for (int run = 0; run < 2; ++run) {
    Infer(&interpreter, {-1, 2, -50, 100});
    EXPECT_THAT(interpreter.Get<int8_t>(0), ElementsAre(5, 7, 103, 127, 5, 7, 103, 127));
    EXPECT_THAT(interpreter.Get<int8_t>(1), ElementsAre(1, 2, 50, 100));
  }
}

TEST(RescaledMoves, of_tensors_without_a_scale_copy_the_integers) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteInt8, {2, 2}, "x");
  const int y = m.AddTensor(kTfLiteInt8, {4}, "y", Scaled(0.25f, 3));
  AddReshape(&m, x, {y});
  m.SetInputs({x});
  m.SetOutputs({y});
  TestInterpreter interpreter(m.Finish());
  Infer(&interpreter, {-1, 2, -50, 100});
  EXPECT_THAT(interpreter.Get<int8_t>(0), ElementsAre(-1, 2, -50, 100));
}

}  // namespace
}  // namespace deputy::rescaled_moves_test
