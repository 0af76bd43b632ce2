// SPDX-License-Identifier: Apache-2.0
//
// ADD and MUL: shapes that broadcast in every way, and shapes that do not.
#include "tests/cases/case.h"

namespace deputy {
namespace {

constexpr auto kNone = schema::ActivationFunctionType::NONE;
constexpr auto kRelu = schema::ActivationFunctionType::RELU;
constexpr auto kRelu6 = schema::ActivationFunctionType::RELU6;
constexpr auto kReluN1 = schema::ActivationFunctionType::RELU_N1_TO_1;

struct Row {
  Shape a, b;
  schema::ActivationFunctionType activation = kNone;
  const char* refusal = "";
};

const Row kRows[] = {
    {{1}, {1}},
    {{}, {}},
    {{7}, {7}, kRelu},
    {{2, 3, 4}, {2, 3, 4}, kRelu6},
    {{2, 3, 4}, {4}},
    {{4}, {2, 3, 4}, kReluN1},
    {{2, 3, 4}, {}},
    {{}, {3, 5}},
    {{2, 1, 4}, {1, 3, 1}},
    {{3, 1}, {1, 5}, kRelu},
    {{1, 8, 8, 17}, {1, 1, 1, 17}, kRelu6},
    {{1, 8, 8, 17}, {1, 8, 8, 1}},
    {{2, 1, 2, 1, 2, 1}, {1, 3, 1, 3, 1, 3}},
    {{2, 1, 2, 1, 2, 1, 2, 1}, {1, 3, 1, 3, 1, 3, 1, 2}},
    {{0}, {1}},
    {{2, 0, 3}, {2, 1, 3}},
    {{64, 300}, {64, 300}},
    {{3}, {4}, kNone, "broadcasts"},
    {{0}, {3}, kNone, "broadcasts"},
    {{2, 3}, {3, 2}, kNone, "broadcasts"},
};

OpCase MakeCase(TfLiteBuiltinOperator code, const char* name, TfLiteType type, const Row& row) {
  ModelBuilder builder;
  const bool quantized = type == kTfLiteInt8;
  const int a =
      builder.AddTensor(type, row.a, "a", quantized ? PerTensor(0.05f, 3) : TensorExtras());
  const int b =
      builder.AddTensor(type, row.b, "b", quantized ? PerTensor(0.021f, -7) : TensorExtras());
  const int out =
      builder.AddTensor(type, {1}, "out", quantized ? PerTensor(0.043f, -20) : TensorExtras());
  if (code == kTfLiteBuiltinAdd) {
    builder.AddOp(code, {a, b}, {out}, schema::CreateAddOptions(builder.fbb(), row.activation));
  } else {
    builder.AddOp(code, {a, b}, {out}, schema::CreateMulOptions(builder.fbb(), row.activation));
  }
  builder.SetInputs({a, b});
  builder.SetOutputs({out});
  return {std::string(name) + " " + TfLiteTypeGetName(type) + " " + Text(row.a) + Text(row.b) +
              " " + schema::EnumNameActivationFunctionType(row.activation),
          Closeness::kElement, builder.Finish(), row.refusal};
}

}  // namespace

std::vector<OpCase> ArithmeticCases() {
  std::vector<OpCase> cases;
  for (const Row& row : kRows) {
    for (TfLiteType type : {kTfLiteFloat32, kTfLiteInt8}) {
      cases.push_back(MakeCase(kTfLiteBuiltinAdd, "ADD", type, row));
      cases.push_back(MakeCase(kTfLiteBuiltinMul, "MUL", type, row));
    }
  }
  return cases;
}

}  // namespace deputy
