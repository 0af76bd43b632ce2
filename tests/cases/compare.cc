// SPDX-License-Identifier: Apache-2.0
//
// Operator cases of comparisons, logic and selection.
#include "tests/cases/case.h"

namespace deputy {
namespace {

const std::vector<TfLiteType> kOrdered = {kTfLiteFloat32, kTfLiteFloat16, kTfLiteInt8, kTfLiteUInt8,
                                          kTfLiteInt16,   kTfLiteInt32,   kTfLiteInt64};
const std::vector<TfLiteType> kStrict = {kTfLiteFloat32, kTfLiteFloat16, kTfLiteBFloat16,
                                         kTfLiteInt8,    kTfLiteUInt8,   kTfLiteInt16,
                                         kTfLiteInt32,   kTfLiteInt64};

struct CompareOperator {
  TfLiteBuiltinOperator code;
  const char* name;
  std::vector<TfLiteType> types;
};

const CompareOperator kPairs[] = {
    {kTfLiteBuiltinEqual, "EQUAL", kOrdered},
    {kTfLiteBuiltinNotEqual, "NOT_EQUAL", kOrdered},
    {kTfLiteBuiltinLess, "LESS", kStrict},
    {kTfLiteBuiltinLessEqual, "LESS_EQUAL", kOrdered},
    {kTfLiteBuiltinGreater, "GREATER", kStrict},
    {kTfLiteBuiltinGreaterEqual, "GREATER_EQUAL", kOrdered},
    {kTfLiteBuiltinEqual, "EQUAL", {kTfLiteBool}},
    {kTfLiteBuiltinLogicalAnd, "LOGICAL_AND", {kTfLiteBool}},
    {kTfLiteBuiltinLogicalOr, "LOGICAL_OR", {kTfLiteBool}},
};

struct CompareRow {
  Shape a, b;
  const char* refusal = "";
};

const CompareRow kCompareRows[] = {
    {{}, {}},
    {{67}, {67}},
    {{2, 3, 4}, {4}},
    {{2, 1, 4}, {1, 3, 1}},
    {{1, 8, 8, 17}, {1, 1, 1, 17}},
    {{2, 1, 2, 1, 2, 1, 2, 1}, {1, 3, 1, 3, 1, 3, 1, 2}},
    {{2, 0, 3}, {1}},
    {{3}, {4}, "broadcasts"},
};

OpCase MakePair(const CompareOperator& op, TfLiteType type, const CompareRow& row) {
  ModelBuilder builder;
  const bool scaled = type == kTfLiteInt8 || type == kTfLiteUInt8;
  const int a = builder.AddTensor(type, row.a, "a", scaled ? PerTensor(0.05f, 3) : TensorExtras());
  const int b = builder.AddTensor(type, row.b, "b", scaled ? PerTensor(0.07f, 9) : TensorExtras());
  const int out = builder.AddTensor(kTfLiteBool, {1}, "out");
  builder.AddOp(op.code, {a, b}, {out});
  builder.SetInputs({a, b});
  builder.SetOutputs({out});
  return {std::string(op.name) + " " + TfLiteTypeGetName(type) + " " + Text(row.a) + Text(row.b),
          Rule::kEqual, builder.Finish(), row.refusal};
}

OpCase MakeNot(TfLiteType type, const Shape& shape, const char* refusal) {
  ModelBuilder builder;
  const int input = builder.AddTensor(type, shape, "input");
  const int output = builder.AddTensor(kTfLiteBool, {1}, "output");
  builder.AddOp(kTfLiteBuiltinLogicalNot, {input}, {output});
  builder.SetInputs({input});
  builder.SetOutputs({output});
  return {std::string("LOGICAL_NOT ") + TfLiteTypeGetName(type) + " " + Text(shape), Rule::kEqual,
          builder.Finish(), refusal};
}

struct Selection {
  TfLiteBuiltinOperator code;
  Shape condition, x, y;
  const char* refusal = "";
};

const Selection kSelections[] = {
    {kTfLiteBuiltinSelect, {2, 3}, {2, 3}, {2, 3}},
    {kTfLiteBuiltinSelect, {}, {2, 3}, {2, 3}},
    {kTfLiteBuiltinSelect, {4}, {4, 3, 5}, {4, 3, 5}},
    {kTfLiteBuiltinSelect, {0, 3}, {0, 3}, {0, 3}},
    {kTfLiteBuiltinSelect, {3}, {2, 3}, {2, 3}, "one condition per row"},
    {kTfLiteBuiltinSelect, {2, 3}, {2, 3}, {3}, "expected the shape of"},
    {kTfLiteBuiltinSelectV2, {65, 33}, {65, 33}, {65, 33}},
    {kTfLiteBuiltinSelectV2, {2, 1, 1}, {3, 1}, {1, 1, 7}},
    {kTfLiteBuiltinSelectV2, {1, 7, 5, 1}, {3}, {}},
    {kTfLiteBuiltinSelectV2, {2, 1, 2, 1, 2, 1, 2, 1}, {1, 3, 1, 3, 1, 3, 1, 2}, {1}},
    {kTfLiteBuiltinSelectV2, {2, 0}, {1}, {}},
    {kTfLiteBuiltinSelectV2, {2}, {2, 3}, {2, 3}, "broadcasts"},
};

OpCase MakeSelection(TfLiteType type, const Selection& row) {
  ModelBuilder builder;
  const int condition = builder.AddTensor(kTfLiteBool, row.condition, "condition");
  const int x = builder.AddTensor(type, row.x, "x");
  const int y = builder.AddTensor(type, row.y, "y");
  const int out = builder.AddTensor(type, {2}, "out");
  builder.AddOp(row.code, {condition, x, y}, {out});
  builder.SetInputs({condition, x, y});
  builder.SetOutputs({out});
  return {std::string(row.code == kTfLiteBuiltinSelect ? "SELECT " : "SELECT_V2 ") +
              TfLiteTypeGetName(type) + " " + Text(row.condition) + Text(row.x) + Text(row.y),
          Rule::kEqual, builder.Finish(), row.refusal};
}

}  // namespace

std::vector<OpCase> CompareCases() {
  std::vector<OpCase> cases;
  for (const CompareOperator& op : kPairs) {
    for (TfLiteType type : op.types) {
      for (const CompareRow& row : kCompareRows) cases.push_back(MakePair(op, type, row));
    }
  }
  for (const CompareOperator& op : kPairs) {
    if (op.code != kTfLiteBuiltinEqual) {
      cases.push_back(MakePair(op, kTfLiteUInt64, {{2}, {2}, "expected type"}));
    }
  }
  for (const Shape& shape : {Shape{}, Shape{5}, Shape{2, 3, 7}, Shape{0, 4}}) {
    cases.push_back(MakeNot(kTfLiteBool, shape, ""));
  }
  cases.push_back(MakeNot(kTfLiteInt8, {3}, "expected type BOOL"));
  for (const Selection& row : kSelections) {
    for (TfLiteType type : {kTfLiteFloat32, kTfLiteInt8, kTfLiteInt16, kTfLiteInt64,
                            kTfLiteBFloat16, kTfLiteComplex64}) {
      cases.push_back(MakeSelection(type, row));
    }
  }
  return cases;
}

}  // namespace deputy
