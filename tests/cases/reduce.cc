// SPDX-License-Identifier: Apache-2.0
//
// Operator cases of reductions and CUMSUM, along axes that are constants and along axes that are
// inputs.
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

struct ReduceRow {
  Shape shape;
  std::vector<int32_t> axes;
  bool keep_dims = false;
  const char* refusal = "";
};

const ReduceRow kReduceRows[] = {
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

OpCase MakeCase(const Reducer& reducer, TfLiteType type, Known known, const ReduceRow& row) {
  ModelBuilder builder;
  CaseInputs graph(&builder, known);
  const int input = graph.Add(builder.AddTensor(type, row.shape, "input", Scale(type)));
  const int axes =
      graph.AddNumbers(kTfLiteInt32, {static_cast<int32_t>(row.axes.size())}, row.axes, "axes");
  const int output = builder.AddTensor(type, {1}, "output", Scale(type));
  builder.AddOp(reducer.code, {input, axes}, {output},
                schema::CreateReducerOptions(builder.fbb(), row.keep_dims));
  const auto feeds = graph.Finish();
  builder.SetOutputs({output});
  return {std::string(reducer.name) + " " + TfLiteTypeGetName(type) + " " + Text(row.shape) +
              Text(row.axes) + (row.keep_dims ? " kept" : "") + graph.suffix(),
          Rule::kSum, builder.Finish(), row.refusal, feeds};
}

struct SumRow {
  Shape shape;
  int32_t axis;
  bool exclusive;
  const char* refusal = "";
};

const SumRow kSumRows[] = {
    {{2, 3, 4}, 1, false},
    {{2, 3, 4}, -1, true},
    {{2, 0, 4}, 1, true},
    {{}, 0, true, "expected 1 dimension or more"},
    {{2, 3}, 2, true, "expected an axis of -2 to 1, found 2"},
    {{2, 3}, INT32_MIN, true, "expected an axis of -2 to 1, found -2147483648"},
};

OpCase MakeCumsum(TfLiteType type, Known known, const SumRow& row) {
  ModelBuilder builder;
  CaseInputs graph(&builder, known);
  const int input = graph.Add(builder.AddTensor(type, row.shape, "input"));
  const int axes = graph.AddNumbers<int32_t>(kTfLiteInt32, {}, {row.axis}, "axis");
  const int output = builder.AddTensor(type, {1}, "output");
  builder.AddOp(kTfLiteBuiltinCumsum, {input, axes}, {output},
                schema::CreateCumsumOptions(builder.fbb(), row.exclusive, !row.exclusive));
  const auto feeds = graph.Finish();
  builder.SetOutputs({output});
  return {std::string("CUMSUM ") + TfLiteTypeGetName(type) + " " + Text(row.shape) +
              std::to_string(row.axis) + (row.exclusive ? " exclusive" : "") + graph.suffix(),
          Rule::kSum,
          builder.Finish(),
          row.refusal,
          feeds,
          true};
}

}  // namespace

std::vector<OpCase> ReduceCases() {
  std::vector<OpCase> cases;
  for (const Reducer& reducer : kReducers) {
    for (TfLiteType type : reducer.types) {
      for (const ReduceRow& row : kReduceRows) {
        cases.push_back(MakeCase(reducer, type, Known::kBefore, row));
        cases.push_back(MakeCase(reducer, type, Known::kAtRunTime, row));
      }
    }
    cases.push_back(
        MakeCase(reducer, kTfLiteUInt32, Known::kBefore, {{3}, {0}, false, "expected type"}));
  }
  for (TfLiteType type : {kTfLiteFloat32, kTfLiteInt32, kTfLiteInt64}) {
    for (const SumRow& row : kSumRows) {
      cases.push_back(MakeCumsum(type, Known::kBefore, row));
      cases.push_back(MakeCumsum(type, Known::kAtRunTime, row));
    }
  }
  return cases;
}

}  // namespace deputy
