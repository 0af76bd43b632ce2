// SPDX-License-Identifier: Apache-2.0
//
// Reductions along axes that are constants, and CUMSUM. Axes that are not are in the golden files.
#include "tests/cases/case.h"

namespace deputy {
namespace {

struct Reducer {
  TfLiteBuiltinOperator code;
  const char* name;
  std::vector<TfLiteType> types;
};

const std::vector<TfLiteType> kNumbers = {kTfLiteFloat32, kTfLiteInt8,  kTfLiteUInt8,
                                          kTfLiteInt16,   kTfLiteInt32, kTfLiteInt64};
const std::vector<TfLiteType> kBool = {kTfLiteBool};

const Reducer kReducers[] = {
    {kTfLiteBuiltinMean, "MEAN", kNumbers},
    {kTfLiteBuiltinSum, "SUM", kNumbers},
    {kTfLiteBuiltinReduceMax, "REDUCE_MAX", kNumbers},
    {kTfLiteBuiltinReduceMin, "REDUCE_MIN", kNumbers},
    {kTfLiteBuiltinReduceProd, "REDUCE_PROD", {kTfLiteFloat32, kTfLiteInt8, kTfLiteInt32}},
    {kTfLiteBuiltinReduceAny, "REDUCE_ANY", kBool},
    {kTfLiteBuiltinReduceAll, "REDUCE_ALL", kBool},
};

struct Row {
  Shape shape;
  std::vector<int32_t> axes;
  bool keep_dims = false;
  const char* refusal = "";
};

const Row kRows[] = {
    {{7}, {0}},
    {{}, {}},
    {{3, 5}, {0}},
    {{3, 5}, {-1}, true},
    {{2, 3, 4, 5}, {1, 2}},
    {{2, 3, 4, 5}, {0, 3}, true},
    {{2, 3, 4}, {}},
    {{3, 100}, {1}},
    {{2, 2, 2, 2, 2, 2, 2, 2}, {1, 3, 5, 7}},
    {{2, 0}, {0}},
    {{2, 3}, {2}, false, "expected an axis of -2 to 1, found 2"},
    {{2, 3}, {0, -3}, false, "expected an axis of -2 to 1, found -3"},
};

TensorExtras Scale(TfLiteType type) {
  if (type == kTfLiteInt8) return PerTensor(0.05f, 3);
  if (type == kTfLiteUInt8) return PerTensor(0.05f, 130);
  if (type == kTfLiteInt16) return PerTensor(0.001f, 0);
  return {};
}

OpCase MakeCase(const Reducer& reducer, TfLiteType type, const Row& row) {
  ModelBuilder builder;
  const int input = builder.AddTensor(type, row.shape, "input", Scale(type));
  const int axes = builder.AddConstant<int32_t>(
      kTfLiteInt32, {static_cast<int32_t>(row.axes.size())}, row.axes, "axes");
  const int output = builder.AddTensor(type, {1}, "output", Scale(type));
  builder.AddOp(reducer.code, {input, axes}, {output},
                schema::CreateReducerOptions(builder.fbb(), row.keep_dims));
  builder.SetInputs({input});
  builder.SetOutputs({output});
  return {std::string(reducer.name) + " " + TfLiteTypeGetName(type) + " " + Text(row.shape) +
              Text(row.axes) + (row.keep_dims ? " kept" : ""),
          Closeness::kSum, builder.Finish(), row.refusal};
}

OpCase MakeCumsum(TfLiteType type, const Shape& shape, int32_t axis, bool exclusive,
                  const char* refusal = "") {
  ModelBuilder builder;
  const int input = builder.AddTensor(type, shape, "input");
  const int axes = builder.AddConstant<int32_t>(kTfLiteInt32, {}, {axis}, "axis");
  const int output = builder.AddTensor(type, {1}, "output");
  builder.AddOp(kTfLiteBuiltinCumsum, {input, axes}, {output},
                schema::CreateCumsumOptions(builder.fbb(), exclusive, !exclusive));
  builder.SetInputs({input});
  builder.SetOutputs({output});
  return {std::string("CUMSUM ") + TfLiteTypeGetName(type) + " " + Text(shape) +
              std::to_string(axis) + (exclusive ? " exclusive" : ""),
          Closeness::kSum, builder.Finish(), refusal};
}

}  // namespace

std::vector<OpCase> ReduceCases() {
  std::vector<OpCase> cases;
  for (const Reducer& reducer : kReducers) {
    for (TfLiteType type : reducer.types) {
      for (const Row& row : kRows) cases.push_back(MakeCase(reducer, type, row));
    }
    cases.push_back(MakeCase(reducer, kTfLiteUInt32, {{3}, {0}, false, "expected type"}));
  }
  for (TfLiteType type : {kTfLiteFloat32, kTfLiteInt32, kTfLiteInt64}) {
    cases.push_back(MakeCumsum(type, {2, 3, 4}, 1, false));
    cases.push_back(MakeCumsum(type, {2, 3, 4}, -1, true));
    cases.push_back(MakeCumsum(type, {2, 0, 4}, 1, true));
    cases.push_back(MakeCumsum(type, {}, 0, true, "expected 1 dimension or more"));
  }
  return cases;
}

}  // namespace deputy
