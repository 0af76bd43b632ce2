// SPDX-License-Identifier: Apache-2.0
//
// Operator cases of MAXIMUM, MINIMUM, POW, SQUARED_DIFFERENCE, FLOOR_DIV, FLOOR_MOD, BITWISE_XOR,
// RIGHT_SHIFT and ATAN2. Exponents and divisors of integers are constants, because random ones
// could be negative or 0.
#include "tests/cases/node.h"

namespace deputy {
namespace {

struct BinaryOperator {
  TfLiteBuiltinOperator code;
  const char* name;
  std::vector<TfLiteType> types;
  bool refuses_some_integers;  // some integers are refused as second operand
};

const BinaryOperator kOperators[] = {
    {kTfLiteBuiltinMaximum,
     "MAXIMUM",
     {kTfLiteFloat32, kTfLiteFloat16, kTfLiteBFloat16, kTfLiteInt8, kTfLiteUInt8, kTfLiteInt16,
      kTfLiteInt32, kTfLiteInt64},
     false},
    {kTfLiteBuiltinMinimum,
     "MINIMUM",
     {kTfLiteFloat32, kTfLiteFloat16, kTfLiteBFloat16, kTfLiteInt8, kTfLiteUInt8, kTfLiteInt16,
      kTfLiteInt32, kTfLiteInt64},
     false},
    {kTfLiteBuiltinPow, "POW", {kTfLiteFloat32, kTfLiteInt32}, true},
    {kTfLiteBuiltinSquaredDifference,
     "SQUARED_DIFFERENCE",
     {kTfLiteFloat32, kTfLiteInt8, kTfLiteInt32},
     false},
    {kTfLiteBuiltinFloorDiv,
     "FLOOR_DIV",
     {kTfLiteFloat32, kTfLiteInt8, kTfLiteInt16, kTfLiteInt32},
     true},
    {kTfLiteBuiltinFloorMod,
     "FLOOR_MOD",
     {kTfLiteFloat32, kTfLiteInt8, kTfLiteInt16, kTfLiteInt32, kTfLiteInt64},
     true},
};

// A row of BITWISE_XOR, RIGHT_SHIFT or ATAN2, which are listed by their tensors.
NodeRow Pair(TfLiteBuiltinOperator code, const char* name, TfLiteType type, const Shape& a,
             const Shape& b, const char* refusal = "") {
  return {code, name, {{type, a}, {type, b}}, {type}, refusal};
}

std::vector<NodeRow> PlainRows() {
  std::vector<NodeRow> rows;
  for (const TfLiteType type :
       {kTfLiteInt8, kTfLiteUInt8, kTfLiteInt16, kTfLiteUInt16, kTfLiteInt32, kTfLiteUInt32}) {
    for (const auto& [code, name] : {std::pair{kTfLiteBuiltinBitwiseXor, "BITWISE_XOR"},
                                     std::pair{kTfLiteBuiltinRightShift, "RIGHT_SHIFT"}}) {
      rows.push_back(Pair(code, name, type, {3, 70}, {70}));
      rows.push_back(Pair(code, name, type, {}, {2, 3}));
      rows.push_back(Pair(code, name, type, {2}, {3}, "broadcasts"));
    }
  }
  for (const TfLiteType type : {kTfLiteFloat32, kTfLiteFloat16, kTfLiteBFloat16}) {
    rows.push_back(Pair(kTfLiteBuiltinAtan2, "ATAN2", type, {3, 70}, {3, 70}));
    rows.push_back(Pair(kTfLiteBuiltinAtan2, "ATAN2", type, {3, 70}, {70}, "2 dimensions"));
    rows.push_back(Pair(kTfLiteBuiltinAtan2, "ATAN2", type, {3, 2}, {2, 3}, "dimension 0 to be 3"));
  }
  rows.push_back(
      Pair(kTfLiteBuiltinBitwiseXor, "BITWISE_XOR", kTfLiteInt64, {2}, {2}, "expected type"));
  rows.push_back(
      Pair(kTfLiteBuiltinRightShift, "RIGHT_SHIFT", kTfLiteFloat32, {2}, {2}, "expected type"));
  rows.push_back({kTfLiteBuiltinAtan2,
                  "ATAN2 to float16",
                  {{kTfLiteFloat32, {2}}, {kTfLiteFloat32, {2}}},
                  {kTfLiteFloat16},
                  "expected type FLOAT32"});
  rows.push_back({kTfLiteBuiltinRightShift,
                  "RIGHT_SHIFT",
                  {{kTfLiteInt8, {6}, {-128, -1, 5, 127, -7, 9}},
                   {kTfLiteInt8, {6}, {7, 100, -3, 127, -128, 0}}},
                  {kTfLiteInt8}});
  return rows;
}

struct BinaryRow {
  Shape a, b;
  const char* refusal = "";
};

const BinaryRow kBinaryRows[] = {
    {{}, {}},
    {{7}, {7}},
    {{2, 3, 4}, {4}},
    {{4}, {2, 3, 4}},
    {{2, 1, 4}, {1, 3, 1}},
    {{1, 8, 8, 17}, {1, 1, 1, 17}},
    {{2, 1, 2, 1, 2, 1, 2, 1}, {1, 3, 1, 3, 1, 3, 1, 2}},
    {{2, 0, 3}, {2, 1, 3}},
    {{3}, {4}, "broadcasts"},
};

// Adds a constant 1, 2, 3, 1, ... of an integer type: valid divisors and exponents.
template <typename T>
int AddSmallIntegers(ModelBuilder* builder, TfLiteType type, const Shape& shape) {
  std::vector<T> values(CountOf(shape));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(1 + i % 3);
  return builder->AddConstant<T>(type, shape, values, "b");
}

int AddRight(ModelBuilder* builder, TfLiteType type, const Shape& shape) {
  switch (type) {
    case kTfLiteInt8:
      return AddSmallIntegers<int8_t>(builder, type, shape);
    case kTfLiteInt16:
      return AddSmallIntegers<int16_t>(builder, type, shape);
    case kTfLiteInt32:
      return AddSmallIntegers<int32_t>(builder, type, shape);
    case kTfLiteInt64:
      return AddSmallIntegers<int64_t>(builder, type, shape);
    default:
      return type == kTfLiteFloat32 ? AddRandomConstant(builder, type, shape, 5)
                                    : AddSmallIntegers<uint8_t>(builder, type, shape);
  }
}

OpCase MakeCase(const BinaryOperator& op, TfLiteType type, const BinaryRow& row) {
  ModelBuilder builder;
  const bool scaled = type == kTfLiteInt8 && !op.refuses_some_integers;
  const TensorExtras extras = scaled ? PerTensor(0.05f, 3) : TensorExtras();
  const int a = builder.AddTensor(type, row.a, "a", extras);
  const int b = op.refuses_some_integers ? AddRight(&builder, type, row.b)
                                         : builder.AddTensor(type, row.b, "b", extras);
  const int out = builder.AddTensor(type, {1}, "out", extras);
  builder.AddOp(op.code, {a, b}, {out});
  builder.SetInputs(op.refuses_some_integers ? std::vector<int32_t>{a}
                                             : std::vector<int32_t>{a, b});
  builder.SetOutputs({out});
  return {std::string(op.name) + " " + TfLiteTypeGetName(type) + " " + Text(row.a) + Text(row.b),
          Rule::kElement, builder.Finish(), row.refusal};
}

// A case in which the operator refuses the value `number` of its second operand during Invoke.
OpCase MakeRefused(const BinaryOperator& op, int32_t number, Known known, const char* refusal) {
  ModelBuilder builder;
  CaseInputs graph(&builder, known);
  const int a = graph.Add(builder.AddTensor(kTfLiteInt32, {3}, "a"));
  const int b = graph.AddNumbers<int32_t>(kTfLiteInt32, {3}, {1, number, 2}, "b");
  const int out = builder.AddTensor(kTfLiteInt32, {3}, "out");
  builder.AddOp(op.code, {a, b}, {out});
  const auto feeds = graph.Finish();
  builder.SetOutputs({out});
  return {std::string(op.name) + " by " + std::to_string(number) + graph.suffix(),
          Rule::kElement,
          builder.Finish(),
          refusal,
          feeds,
          true};
}

}  // namespace

std::vector<OpCase> BinaryCases() {
  std::vector<OpCase> cases;
  for (const BinaryOperator& op : kOperators) {
    for (TfLiteType type : op.types) {
      for (const BinaryRow& row : kBinaryRows) cases.push_back(MakeCase(op, type, row));
    }
    cases.push_back(MakeCase(op, kTfLiteBool, {{2}, {2}, "expected type"}));
    const bool is_power = op.code == kTfLiteBuiltinPow;
    for (Known known : {Known::kBefore, Known::kAtRunTime}) {
      if (op.refuses_some_integers)
        cases.push_back(MakeRefused(op, is_power ? -1 : 0, known, "in element 1"));
    }
  }
  for (OpCase& one : NodeCases(PlainRows())) cases.push_back(std::move(one));
  return cases;
}

}  // namespace deputy
