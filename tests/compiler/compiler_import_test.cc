// SPDX-License-Identifier: Apache-2.0
//
// Tests the import: graphs of partitions, and the reasons of refusals. The conformance target
// "compiled" tests that operators compute TensorFlow Lite's results.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compiler/operator_name.h"
#include "core/model/op_names.h"
#include "tests/compiler/importer.h"
#include "tests/support/model_builder.h"

namespace deputy::compiler::compiler_import_test {
namespace {

using testing::StartsWith;

TensorExtras Scale(float scale, int zero_point) {
  TensorExtras extras;
  extras.scale = {scale};
  extras.zero_point = {zero_point};
  return extras;
}

TEST(Import, an_operator_with_its_activation) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {2, 3}, "x");
  const int w = m.AddConstant<float>(kTfLiteFloat32, {3}, {1, 2, 3}, "w");
  const int y = m.AddTensor(kTfLiteFloat32, {2, 3}, "y");
  m.AddOp(kTfLiteBuiltinAdd, {x, w}, {y},
          schema::CreateAddOptions(m.fbb(), schema::ActivationFunctionType::RELU6));
  m.SetInputs({x});
  m.SetOutputs({y});
  const Importer import(m.Finish());
  EXPECT_EQ(import.Refused(), "");
  EXPECT_EQ(FindFault(import.graph), "");
  EXPECT_EQ(import.text,
            "input %0 FLOAT32[2,3] 'x'\n"
            "%2 = elementwise(%0, %1{FLOAT32[3]}) (a + b) FLOAT32[2,3]  # node 0\n"
            "%3 = elementwise(%2) min(6, max(0, a)) FLOAT32[2,3] 'y'  # node 0\n"
            "output %3\n");
}

// A quantised value is dequantised once for all users, and results are quantised again.
TEST(Import, quantised_tensors_are_reals_between_conversions) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteInt8, {2}, "x", Scale(0.5f, 1));
  const int y = m.AddTensor(kTfLiteInt8, {2}, "y", Scale(0.25f, 0));
  m.AddOp(kTfLiteBuiltinMul, {x, x}, {y}, schema::CreateMulOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  const Importer import(m.Finish());
  EXPECT_EQ(import.Refused(), "");
  EXPECT_EQ(import.text,
            "input %0 INT8[2] 'x'\n"
            "%1 = elementwise(%0) ((FLOAT32(a) - 1) * 0.5) FLOAT32[2]  # node 0\n"
            "%2 = elementwise(%1, %1) (a * b) FLOAT32[2]  # node 0\n"
            "%3 = elementwise(%2) INT8(min(select((-128 < $5), $5, -128), 127)) where "
            "$5 = (round_away((a / 0.25)) + 0) INT8[2] 'y'  # node 0\n"
            "output %3\n");
}

// A delegate gets the shape that the runtime has prepared for a resized batch.
TEST(Import, a_constant_reshape_follows_a_resized_batch) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, 2, 3}, "x");
  const int to = m.AddConstant<int32_t>(kTfLiteInt32, {2}, {1, 6}, "to");
  const int y = m.AddTensor(kTfLiteFloat32, {1, 6}, "y");
  m.AddOp(kTfLiteBuiltinReshape, {x, to}, {y}, schema::CreateReshapeOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  Importer import(m.Finish());
  EXPECT_THAT(import.text, testing::HasSubstr("FLOAT32[1,6]"));
  import.works.clear();
  ASSERT_EQ(import.interpreter.Resize(0, {4, 2, 3}), kTfLiteOk);
  ASSERT_EQ(import.interpreter.Allocate(), kTfLiteOk) << import.interpreter.log();
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(import.interpreter.get(), &import.delegate),
            kTfLiteOk);
  EXPECT_EQ(import.Refused(), "");
  EXPECT_THAT(import.text, testing::HasSubstr("FLOAT32[4,6]"));
}

// A shape that is computed from other shapes is a constant when a node reads it.
TEST(Import, constant_subgraphs_are_folded_on_import) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {2, 3, 4}, "x");
  const int shape = m.AddTensor(kTfLiteInt32, {3}), two = m.AddTensor(kTfLiteInt32, {2});
  const int begin = m.AddConstant<int32_t>(kTfLiteInt32, {1}, {0});
  const int size = m.AddConstant<int32_t>(kTfLiteInt32, {1}, {2});
  const int sum = m.AddTensor(kTfLiteFloat32, {2, 3});
  const int axis = m.AddConstant<int32_t>(kTfLiteInt32, {1}, {2});
  m.AddOp(kTfLiteBuiltinSum, {x, axis}, {sum}, schema::CreateReducerOptions(m.fbb(), false));
  m.AddOp(kTfLiteBuiltinShape, {x}, {shape},
          schema::CreateShapeOptions(m.fbb(), schema::TensorType::INT32));
  m.AddOp(kTfLiteBuiltinSlice, {shape, begin, size}, {two});
  m.SetInputs({x});
  m.SetOutputs({sum, two});
  const Importer import(m.Finish());
  EXPECT_EQ(import.Refused(), "");
  EXPECT_EQ(import.text,
            "input %0 FLOAT32[2,3,4] 'x'\n"
            "%2 = reduce(%0) sum axes 2 FLOAT32[2,3,1]  # node 0\n"
            "%3 = view(%2) FLOAT32[2,3]  # node 0\n"
            "%9 = view(%8{INT32[2]}) INT32[2]\n"
            "output %9\n"
            "output %3\n");
}

TEST(Import, reasons_name_operator_and_tensor) {
  struct Row {
    TfLiteBuiltinOperator code;
    TfLiteType type;
    const char* refusal;
  };
  const Row kRows[] = {
      {kTfLiteBuiltinSqrt, kTfLiteInt32,
       "3 SQRT: tensor 0 'x': expected FLOAT32 or FLOAT16, found INT32"},
      {kTfLiteBuiltinExp, kTfLiteInt8,
       "7 EXP: tensor 0 'x': expected a scale for INT8, found none"},
      {kTfLiteBuiltinFloor, kTfLiteBool,
       "3 FLOOR: tensor 0 'x': expected real or quantised values, found BOOL"},
      {kTfLiteBuiltinCustom, kTfLiteInt32, "1 custom operator 'Mystery'"},
      {kTfLiteBuiltinWhere, kTfLiteBool, "1 operator WHERE"},
  };
  for (const Row& row : kRows) {
    ModelBuilder m;
    const int x = m.AddTensor(row.type, {4}, "x"), y = m.AddTensor(row.type, {4}, "y");
    if (row.code == kTfLiteBuiltinCustom) {
      m.AddCustomOp("Mystery", {x}, {y});
    } else {
      m.AddOp(row.code, {x}, {y});
    }
    m.SetInputs({x});
    m.SetOutputs({y});
    EXPECT_THAT(Importer(m.Finish()).Refused(), StartsWith(row.refusal));
  }
}

// Each axis of GATHER_ND that is indexed has a table with one element per index: at most 2^20
// elements if several axes are indexed, more if it is the only one.
TEST(Import, gather_nd_counts_axes_up_to_a_million) {
  struct Row {
    std::vector<int> shape;
    int indices;
    bool taken;
  };
  constexpr int kMost = 1 << 20;
  const Row kRows[] = {
      {{kMost, 2}, 2, true},      {{kMost + 1, 2}, 2, false}, {{2, kMost}, 2, true},
      {{2, kMost + 1}, 2, false}, {{kMost + 1, 2}, 1, true},  {{2, 2, kMost + 1}, 2, true},
  };
  for (const Row& row : kRows) {
    ModelBuilder m;
    std::vector<int> to = {3};
    to.insert(to.end(), row.shape.begin() + row.indices, row.shape.end());
    const int x = m.AddTensor(kTfLiteFloat32, row.shape, "x");
    const int tuples = m.AddTensor(kTfLiteInt32, {3, row.indices}, "tuples");
    const int y = m.AddTensor(kTfLiteFloat32, to, "y");
    m.AddOp(kTfLiteBuiltinGatherNd, {x, tuples}, {y});
    m.SetInputs({x, tuples});
    m.SetOutputs({y});
    const std::string refused = Importer(m.Finish()).Refused();
    EXPECT_EQ(refused, row.taken ? ""
                                 : "4 GATHER_ND: tensor 0 'x': expected axes of at most 1048576 "
                                   "elements")
        << row.shape[0] << " " << row.shape[1];
  }
}

// Operators are named as in TensorFlow Lite's schema.
TEST(OperatorName, is_that_of_tensorflow_lite) {
  EXPECT_EQ(OperatorName(kTfLiteBuiltinAdd), "ADD");
  EXPECT_EQ(OperatorName(3), "CONV_2D");
  EXPECT_EQ(OperatorName(32), "CUSTOM");
  EXPECT_EQ(OperatorName(41), "SUB");
  EXPECT_EQ(OperatorName(51), "DELEGATE");
  EXPECT_EQ(OperatorName(126), "BATCH_MATMUL");
  EXPECT_EQ(OperatorName(127), "PLACEHOLDER_FOR_GREATER_OP_CODES");
  EXPECT_EQ(OperatorName(128), "CUMSUM");
  EXPECT_EQ(OperatorName(203), "DILATE");
  EXPECT_EQ(OperatorName(kTfLiteBuiltinNonMaxSuppressionV4), "NON_MAX_SUPPRESSION_V4");
  EXPECT_EQ(OperatorName(kTfLiteBuiltinStablehloCase), "STABLEHLO_CASE");
  for (int code = 0; code <= kTfLiteBuiltinStablehloCase; ++code) {
    EXPECT_EQ(OperatorName(code), BuiltinOperatorName(code)) << code;
  }
  EXPECT_EQ(OperatorName(-1), "-1");
  EXPECT_EQ(OperatorName(kTfLiteBuiltinStablehloCase + 1), "210");
}

}  // namespace
}  // namespace deputy::compiler::compiler_import_test
