// SPDX-License-Identifier: Apache-2.0
//
// Operator cases of unary mathematical functions. int8 inputs have their zero point at the minimum,
// so that no input of a root is negative.
#include "tests/cases/case.h"

namespace deputy {
namespace {

struct Function {
  TfLiteBuiltinOperator code;
  const char* name;
  std::vector<TfLiteType> types;
};

const Function kFunctions[] = {
    {kTfLiteBuiltinAbs, "ABS", {kTfLiteFloat32, kTfLiteInt8, kTfLiteInt16, kTfLiteInt32}},
    {kTfLiteBuiltinNeg,
     "NEG",
     {kTfLiteFloat32, kTfLiteFloat16, kTfLiteBFloat16, kTfLiteInt8, kTfLiteInt16, kTfLiteInt32,
      kTfLiteInt64}},
    {kTfLiteBuiltinCeil, "CEIL", {kTfLiteFloat32}},
    {kTfLiteBuiltinFloor, "FLOOR", {kTfLiteFloat32, kTfLiteFloat16, kTfLiteBFloat16}},
    {kTfLiteBuiltinRound, "ROUND", {kTfLiteFloat32, kTfLiteFloat16, kTfLiteBFloat16}},
    {kTfLiteBuiltinExp, "EXP", {kTfLiteFloat32, kTfLiteInt8, kTfLiteInt16}},
    {kTfLiteBuiltinLog, "LOG", {kTfLiteFloat32, kTfLiteInt8, kTfLiteInt16}},
    {kTfLiteBuiltinSqrt, "SQRT", {kTfLiteFloat32, kTfLiteInt8}},
    {kTfLiteBuiltinRsqrt, "RSQRT", {kTfLiteFloat32, kTfLiteInt8}},
    {kTfLiteBuiltinSquare, "SQUARE", {kTfLiteFloat32}},
    {kTfLiteBuiltinSin, "SIN", {kTfLiteFloat32, kTfLiteFloat16}},
    {kTfLiteBuiltinCos, "COS", {kTfLiteFloat32, kTfLiteFloat16}},
    {kTfLiteBuiltinSign, "SIGN", {kTfLiteFloat32, kTfLiteInt32, kTfLiteFloat64}},
};

TensorExtras Scale(TfLiteType type, bool input) {
  if (type == kTfLiteInt8) return input ? PerTensor(0.02f, -128) : PerTensor(0.1f, -100);
  if (type == kTfLiteInt16) return input ? PerTensor(1e-4f, 0) : PerTensor(1e-3f, 0);
  return {};
}

OpCase MakeCase(const Function& function, TfLiteType type, const Shape& shape,
                const char* refusal = "") {
  ModelBuilder builder;
  const int input = builder.AddTensor(type, shape, "input", Scale(type, true));
  const int output = builder.AddTensor(type, {1}, "output", Scale(type, false));
  builder.AddOp(function.code, {input}, {output});
  builder.SetInputs({input});
  builder.SetOutputs({output});
  return {std::string(function.name) + " " + TfLiteTypeGetName(type) + " " + Text(shape),
          Rule::kElement, builder.Finish(), refusal};
}

}  // namespace

std::vector<OpCase> UnaryCases() {
  std::vector<OpCase> cases;
  for (const Function& function : kFunctions) {
    for (TfLiteType type : function.types) {
      for (const Shape& shape : {Shape{}, Shape{5}, Shape{2, 3, 7}, Shape{0, 4}}) {
        cases.push_back(MakeCase(function, type, shape));
      }
    }
    cases.push_back(MakeCase(function, kTfLiteBool, {3}, "expected type"));
  }
  return cases;
}

}  // namespace deputy
