// SPDX-License-Identifier: Apache-2.0
//
// REDUCE_WINDOW (option: the function) and DILATE.
#include "tests/cases/node.h"

namespace deputy {
namespace {

struct Row {
  Shape shape;
  std::vector<double> window, strides, dilations;
  const char* refusal = "";
  int32_t function = 1;
};

const Row kReduceRows[] = {
    {{6, 70}, {3, 2}, {1, 2}, {2, 1}},
    {{6, 7}, {3, 2}, {1, 2}, {2, 1}, "", 2},
    {{6, 7}, {3, 2}, {1, 2}, {2, 1}, "", 3},
    {{6, 7}, {3, 2}, {1, 2}, {2, 1}, "", 4},
    {{2, 9}, {1, 4}, {1, 1}, {1, 1}, "", 5},
    {{2, 9}, {1, 4}, {1, 1}, {1, 1}, "", 6},
    {{7}, {8}, {1}, {1}},
    {{7}, {4e18}, {4e18}, {4e18}},
    {{0, 3}, {1, 1}, {1, 1}, {1, 1}},
    {{7}, {0}, {1}, {1}, "1 or more, found 0, 1 and 1 in dimension 0"},
    {{7}, {2}, {0}, {1}, "1 or more, found 2, 0 and 1"},
    {{7}, {2}, {-1}, {1}, "1 or more, found 2, -1 and 1"},
    {{7}, {2}, {1}, {-4e18}, "1 or more"},
    {{7}, {2, 2}, {1}, {1}, "expected 1 elements, found 2"},
    {{7}, {2}, {1}, {1}, "expected valid options", 0},
    {{}, {}, {}, {}, "expected 1 to 6 dimensions, found 0"},
};

NodeRow Reduce(TfLiteType type, const Row& row) {
  const auto vector = [](const std::vector<double>& values) {
    return NodeTensor{kTfLiteInt64, {static_cast<int32_t>(values.size())}, values};
  };
  return {kTfLiteBuiltinReduceWindow,
          "REDUCE_WINDOW",
          {{type, row.shape},
           {type, {}, {2}},
           vector(row.window),
           vector(row.strides),
           vector(row.dilations)},
          {type},
          row.refusal,
          false,
          {row.function},
          Rule::kSum};
}

void AddReduce(ModelBuilder* builder, const NodeRow& row, const std::vector<int32_t>& inputs,
               const std::vector<int32_t>& outputs) {
  const auto function = static_cast<schema::ReduceWindowFunction>(row.options[0]);
  builder->AddOp(row.code, inputs, outputs,
                 schema::CreateReduceWindowOptions(builder->fbb(), function));
}

NodeRow Dilate(TfLiteType type, const Shape& shape, const std::vector<double>& dilations,
               const char* refusal = "") {
  return {kTfLiteBuiltinDilate,
          "DILATE",
          {{type, shape},
           {kTfLiteInt32, {static_cast<int32_t>(dilations.size())}, dilations},
           {type, {}}},
          {type},
          refusal,
          false,
          {},
          Rule::kEqual};
}

const NodeRow kDilateRows[] = {
    Dilate(kTfLiteFloat32, {3, 4}, {2, 3}),
    Dilate(kTfLiteInt8, {2, 3, 5}, {1, 4, 1}),
    Dilate(kTfLiteInt64, {1}, {INT32_MAX}),
    Dilate(kTfLiteFloat32, {0, 4}, {2, 3}),
    Dilate(kTfLiteFloat32, {3, 4}, {0, 3}, "expected dilations of 1 or more, found 0"),
    Dilate(kTfLiteFloat32, {3, 4}, {2, INT32_MIN}, "expected dilations of 1 or more"),
    Dilate(kTfLiteFloat32, {3, 4}, {INT32_MAX, 1}, "its dimension 0 would be 4294967295"),
    Dilate(kTfLiteFloat32, {2, 2, 2}, {INT32_MAX - 1, INT32_MAX - 1, INT32_MAX - 1}, "overflow"),
    Dilate(kTfLiteFloat32, {3, 4}, {2}, "expected dimension 0 to be 2, found 1"),
    Dilate(kTfLiteFloat32, {}, {1}, "expected 1 dimension or more"),
};

}  // namespace

std::vector<OpCase> WindowCases() {
  std::vector<NodeRow> rows;
  for (const Row& row : kReduceRows) {
    rows.push_back(Reduce(kTfLiteFloat32, row));
    rows.push_back(Reduce(kTfLiteInt8, row));
  }
  rows.push_back(Reduce(kTfLiteUInt32, {{3}, {1}, {1}, {1}, "expected type"}));
  // Upstream takes no windows that are only known when the model runs.
  std::vector<OpCase> cases;
  for (OpCase& one : NodeCases(rows, AddReduce)) {
    if (!one.feeds.empty() && one.refusal.empty()) one.refusal = "expected a constant, found none";
    if (one.feeds.empty() || one.refusal.starts_with("expected a constant")) {
      cases.push_back(std::move(one));
    }
  }
  for (OpCase& one : NodeCases(kDilateRows)) cases.push_back(std::move(one));
  return cases;
}

}  // namespace deputy
