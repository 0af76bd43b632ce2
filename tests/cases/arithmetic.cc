// SPDX-License-Identifier: Apache-2.0
//
// Operator cases of ADD, SUB, MUL, DIV and ADD_N: all patterns of broadcasting, and incompatible
// shapes. Integer divisors are constants, because random ones could be 0.
#include "tests/cases/node.h"

namespace deputy {
namespace {

constexpr auto kNone = schema::ActivationFunctionType::NONE;
constexpr auto kRelu = schema::ActivationFunctionType::RELU;
constexpr auto kRelu6 = schema::ActivationFunctionType::RELU6;
constexpr auto kReluN1 = schema::ActivationFunctionType::RELU_N1_TO_1;

struct ArithmeticRow {
  Shape a, b;
  schema::ActivationFunctionType activation = kNone;
  const char* refusal = "";
};

const ArithmeticRow kArithmeticRows[] = {
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

TensorExtras Scale(TfLiteType type, float scale, int zero_point) {
  if (type == kTfLiteInt8) return PerTensor(scale, zero_point);
  if (type == kTfLiteUInt8) return PerTensor(scale, zero_point + 128);
  if (type == kTfLiteInt16) return PerTensor(scale, 0);
  return {};
}

void AddArithmetic(ModelBuilder* builder, TfLiteBuiltinOperator code, int a, int b, int out,
                   schema::ActivationFunctionType activation) {
  auto& fbb = builder->fbb();
  switch (code) {
    case kTfLiteBuiltinAdd:
      builder->AddOp(code, {a, b}, {out}, schema::CreateAddOptions(fbb, activation));
      break;
    case kTfLiteBuiltinSub:
      builder->AddOp(code, {a, b}, {out}, schema::CreateSubOptions(fbb, activation));
      break;
    case kTfLiteBuiltinMul:
      builder->AddOp(code, {a, b}, {out}, schema::CreateMulOptions(fbb, activation));
      break;
    default:
      builder->AddOp(code, {a, b}, {out}, schema::CreateDivOptions(fbb, activation));
  }
}

// Adds divisors of int8 (zero point -7) or int32 that are never 0.
int AddDivisors(ModelBuilder* builder, TfLiteType type, const Shape& shape) {
  std::vector<int8_t> bytes(CountOf(shape));
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<int8_t>(1 + i % 100);
  if (type == kTfLiteInt8) {
    return builder->AddConstant<int8_t>(type, shape, bytes, "b", PerTensor(0.021f, -7));
  }
  const std::vector<int32_t> words(bytes.begin(), bytes.end());
  return builder->AddConstant<int32_t>(type, shape, words, "b");
}

OpCase MakeCase(TfLiteBuiltinOperator code, const char* name, TfLiteType type,
                const ArithmeticRow& row) {
  ModelBuilder builder;
  const bool constant = code == kTfLiteBuiltinDiv && type != kTfLiteFloat32;
  const int a = builder.AddTensor(type, row.a, "a", Scale(type, 0.05f, 3));
  const int b = constant ? AddDivisors(&builder, type, row.b)
                         : builder.AddTensor(type, row.b, "b", Scale(type, 0.021f, -7));
  const int out = builder.AddTensor(type, {1}, "out", Scale(type, 0.043f, -20));
  AddArithmetic(&builder, code, a, b, out, row.activation);
  builder.SetInputs(constant ? std::vector<int32_t>{a} : std::vector<int32_t>{a, b});
  builder.SetOutputs({out});
  return {std::string(name) + " " + TfLiteTypeGetName(type) + " " + Text(row.a) + Text(row.b) +
              " " + schema::EnumNameActivationFunctionType(row.activation),
          Rule::kElement, builder.Finish(), row.refusal};
}

// A division in which one integer divisor is 0.
template <typename T>
OpCase MakeDivisionByZero(TfLiteType type, Known known) {
  ModelBuilder builder;
  CaseInputs graph(&builder, known);
  const int a = graph.Add(builder.AddTensor(type, {3}, "a", Scale(type, 0.05f, 3)));
  const int b = graph.AddNumbers<T>(type, {3}, {1, 0, 2}, "b", Scale(type, 0.021f, 0));
  const int out = builder.AddTensor(type, {3}, "out", Scale(type, 0.043f, -20));
  AddArithmetic(&builder, kTfLiteBuiltinDiv, a, b, out, kNone);
  const auto feeds = graph.Finish();
  builder.SetOutputs({out});
  return {std::string("DIV by zero ") + TfLiteTypeGetName(type) + graph.suffix(),
          Rule::kElement,
          builder.Finish(),
          "expected divisors other than 0, found element 1",
          feeds,
          true};
}

const NodeTensor kFloats = {kTfLiteFloat32, {3, 70}}, kIntegers = {kTfLiteInt32, {7}};

const NodeRow kNodeRows[] = {
    {kTfLiteBuiltinAddN, "ADD_N", {kFloats, kFloats, kFloats}, {kTfLiteFloat32}},
    {kTfLiteBuiltinAddN, "ADD_N", {kIntegers, kIntegers}, {kTfLiteInt32}},
    {kTfLiteBuiltinAddN, "ADD_N", {kFloats}, {kTfLiteFloat32}, "inputs: expected 2 to"},
    {kTfLiteBuiltinMul,
     "MUL",
     {{kTfLiteComplex64, {3, 7}}, {kTfLiteComplex64, {7}}},
     {kTfLiteComplex64}},
    {kTfLiteBuiltinAddN, "ADD_N", {kFloats, kIntegers}, {kTfLiteFloat32}, "expected type FLOAT32"},
    {kTfLiteBuiltinAddN,
     "ADD_N",
     {kFloats, kFloats, {kTfLiteFloat32, {70, 3}}},
     {kTfLiteFloat32},
     "expected dimension 0 to be 3, found 70"},
};

}  // namespace

std::vector<OpCase> ArithmeticCases() {
  std::vector<OpCase> cases;
  for (const ArithmeticRow& row : kArithmeticRows) {
    for (TfLiteType type :
         {kTfLiteFloat32, kTfLiteInt8, kTfLiteUInt8, kTfLiteInt16, kTfLiteInt32, kTfLiteInt64}) {
      cases.push_back(MakeCase(kTfLiteBuiltinAdd, "ADD", type, row));
      cases.push_back(MakeCase(kTfLiteBuiltinSub, "SUB", type, row));
      cases.push_back(MakeCase(kTfLiteBuiltinMul, "MUL", type, row));
    }
    for (TfLiteType type : {kTfLiteFloat32, kTfLiteInt8, kTfLiteInt32}) {
      cases.push_back(MakeCase(kTfLiteBuiltinDiv, "DIV", type, row));
    }
  }
  for (Known known : {Known::kBefore, Known::kAtRunTime}) {
    cases.push_back(MakeDivisionByZero<int8_t>(kTfLiteInt8, known));
    cases.push_back(MakeDivisionByZero<int32_t>(kTfLiteInt32, known));
  }
  const ArithmeticRow bad = {{2}, {2}, kNone, "expected type"};
  cases.push_back(MakeCase(kTfLiteBuiltinAdd, "ADD", kTfLiteBool, bad));
  cases.push_back(MakeCase(kTfLiteBuiltinSub, "SUB", kTfLiteFloat16, bad));
  cases.push_back(MakeCase(kTfLiteBuiltinMul, "MUL", kTfLiteBool, bad));
  for (OpCase& one : NodeCases(kNodeRows)) cases.push_back(std::move(one));
  return cases;
}

}  // namespace deputy
