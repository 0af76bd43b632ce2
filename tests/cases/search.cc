// SPDX-License-Identifier: Apache-2.0
//
// Operator cases of ARG_MAX, ARG_MIN, TOPK_V2, WHERE, UNIQUE and BUCKETIZE.
#include "tests/cases/node.h"

namespace deputy {
namespace {

struct SearchRow {
  Shape shape;
  int32_t number;  // the axis, or k of TOPK_V2
  const char* refusal = "";
};

const SearchRow kArgRows[] = {
    {{7}, 0},
    {{3, 70}, 0},
    {{3, 70}, -1},
    {{2, 3, 4, 5}, 2},
    {{0, 3}, 1},
    {{2, 3}, 2, "expected an axis of -2 to 1, found 2"},
    {{2, 3}, -3, "expected an axis of -2 to 1, found -3"},
    {{}, 0, "expected 1 dimension or more"},
};

const SearchRow kTopRows[] = {
    {{7}, 7},
    {{3, 70}, 5},
    {{2, 3, 4}, 1},
    {{2, 3}, 0},
    {{2, 3}, -4},
    {{2, 3}, INT32_MAX, "expected at most 3, found 2147483647"},
    {{0, 3}, 2},
    {{2, 3}, 4, "expected at most 3, found 4"},
    {{}, 1, "expected 1 dimension or more"},
};

OpCase MakeArg(bool max, TfLiteType type, Known known, const SearchRow& row,
               TfLiteType found = kTfLiteInt64) {
  ModelBuilder builder;
  CaseInputs graph(&builder, known);
  const int input = graph.Add(builder.AddTensor(type, row.shape, "input"));
  const int axis = graph.AddNumbers<int32_t>(kTfLiteInt32, {}, {row.number}, "axis");
  const int output = builder.AddTensor(found, {1}, "output");
  const auto written =
      found == kTfLiteInt64 ? schema::TensorType::INT64 : schema::TensorType::INT32;
  if (max) {
    builder.AddOp(kTfLiteBuiltinArgMax, {input, axis}, {output},
                  schema::CreateArgMaxOptions(builder.fbb(), written));
  } else {
    builder.AddOp(kTfLiteBuiltinArgMin, {input, axis}, {output},
                  schema::CreateArgMinOptions(builder.fbb(), written));
  }
  const auto feeds = graph.Finish();
  builder.SetOutputs({output});
  return {std::string(max ? "ARG_MAX " : "ARG_MIN ") + TfLiteTypeGetName(type) + " " +
              Text(row.shape) + std::to_string(row.number) +
              (found == kTfLiteInt64 ? "" : " to INT32") + graph.suffix(),
          Rule::kEqual, builder.Finish(), row.refusal, feeds};
}

OpCase MakeTop(TfLiteType type, Known known, const SearchRow& row) {
  ModelBuilder builder;
  CaseInputs graph(&builder, known);
  const int input = graph.Add(builder.AddTensor(type, row.shape, "input"));
  const int k = graph.AddNumbers<int32_t>(kTfLiteInt32, {}, {row.number}, "k");
  const int values = builder.AddTensor(type, {1}, "values");
  const int indices = builder.AddTensor(kTfLiteInt32, {1}, "indices");
  builder.AddOp(kTfLiteBuiltinTopkV2, {input, k}, {values, indices});
  const auto feeds = graph.Finish();
  builder.SetOutputs({values, indices});
  return {std::string("TOPK_V2 ") + TfLiteTypeGetName(type) + " " + Text(row.shape) +
              std::to_string(row.number) + graph.suffix(),
          Rule::kEqual, builder.Finish(), row.refusal, feeds};
}

OpCase MakeWhere(TfLiteType type, const Shape& shape, const char* refusal = "") {
  ModelBuilder builder;
  const int input = builder.AddTensor(type, shape, "input");
  const int output = builder.AddTensor(kTfLiteInt64, {1, 1}, "output");
  builder.AddOp(kTfLiteBuiltinWhere, {input}, {output});
  builder.SetInputs({input});
  builder.SetOutputs({output});
  return {std::string("WHERE ") + TfLiteTypeGetName(type) + " " + Text(shape), Rule::kEqual,
          builder.Finish(), refusal};
}

NodeRow Unique(const NodeTensor& input, TfLiteType positions, const char* refusal = "") {
  return {kTfLiteBuiltinUnique, "UNIQUE", {input}, {input.type, positions}, refusal};
}

const NodeRow kUniqueRows[] = {
    Unique({kTfLiteFloat32, {7}, {3, 1, 3, -2, 1, 0, -2}}, kTfLiteInt32),
    Unique({kTfLiteInt64, {4}, {9e18, 1, 9e18, -9e18}}, kTfLiteInt64),
    Unique({kTfLiteInt8, {300}}, kTfLiteInt32),
    Unique({kTfLiteUInt8, {0}}, kTfLiteInt64),
    Unique({kTfLiteInt8, {2, 3}}, kTfLiteInt32, "expected 1 dimensions"),
    Unique({kTfLiteBool, {3}}, kTfLiteInt32, "expected type"),
    {kTfLiteBuiltinUnique, "UNIQUE", {{kTfLiteInt8, {3}}}, {kTfLiteInt16, kTfLiteInt32}, "INT8"},
};

void AddUnique(ModelBuilder* builder, const NodeRow& row, const std::vector<int32_t>& inputs,
               const std::vector<int32_t>& outputs) {
  builder->AddOp(row.code, inputs, outputs,
                 schema::CreateUniqueOptions(builder->fbb(), SchemaType(row.outputs[1])));
}

// A row of BUCKETIZE, whose options are the boundaries.
NodeRow Bucketize(const NodeTensor& input, const std::vector<int32_t>& boundaries,
                  const char* refusal = "") {
  return {
      kTfLiteBuiltinBucketize, "BUCKETIZE", {input}, {kTfLiteInt32}, refusal, false, boundaries};
}

const NodeRow kBucketizeRows[] = {
    Bucketize({kTfLiteFloat32, {3, 70}}, {-1, 0, 1}),
    Bucketize({kTfLiteInt64, {3}, {-9e18, 0, 9e18}}, {0, 0, 7}),
    Bucketize({kTfLiteInt32, {}}, {4}),
    Bucketize({kTfLiteFloat32, {3}}, {1, 0}, "boundaries: expected ascending values"),
    Bucketize({kTfLiteInt8, {3}}, {1}, "expected type"),
};

void AddBucketize(ModelBuilder* builder, const NodeRow& row, const std::vector<int32_t>& inputs,
                  const std::vector<int32_t>& outputs) {
  const std::vector<float> boundaries(row.options.begin(), row.options.end());
  builder->AddOp(row.code, inputs, outputs,
                 schema::CreateBucketizeOptionsDirect(builder->fbb(), &boundaries));
}

}  // namespace

std::vector<OpCase> SearchCases() {
  std::vector<OpCase> cases;
  for (TfLiteType type : {kTfLiteFloat32, kTfLiteInt8, kTfLiteUInt8, kTfLiteInt32, kTfLiteBool}) {
    for (const SearchRow& row : kArgRows) {
      for (Known known : {Known::kBefore, Known::kAtRunTime}) {
        cases.push_back(MakeArg(true, type, known, row));
        cases.push_back(MakeArg(false, type, known, row));
        if (known == Known::kBefore && row.shape.size() == 2) {
          cases.push_back(MakeArg(true, type, known, row, kTfLiteInt32));
          cases.push_back(MakeArg(false, type, known, row, kTfLiteInt32));
        }
      }
    }
    for (const Shape& shape : {Shape{9}, Shape{2, 3, 4}, Shape{3, 0}}) {
      cases.push_back(MakeWhere(type, shape));
    }
  }
  for (TfLiteType type : {kTfLiteFloat32, kTfLiteInt8, kTfLiteInt16, kTfLiteInt64}) {
    for (const SearchRow& row : kTopRows) {
      cases.push_back(MakeTop(type, Known::kBefore, row));
      cases.push_back(MakeTop(type, Known::kAtRunTime, row));
    }
  }
  cases.push_back(MakeWhere(kTfLiteBool, {}, "expected 1 dimension or more"));
  cases.push_back(MakeWhere(kTfLiteInt16, {3}, "expected type"));
  cases.push_back(MakeTop(kTfLiteBool, Known::kBefore, {{3}, 1, "expected type"}));
  cases.push_back(MakeArg(true, kTfLiteInt16, Known::kBefore, {{3}, 0, "expected type"}));
  for (OpCase& one : NodeCases(kUniqueRows, AddUnique)) cases.push_back(std::move(one));
  for (OpCase& one : NodeCases(kBucketizeRows, AddBucketize)) cases.push_back(std::move(one));
  return cases;
}

}  // namespace deputy
