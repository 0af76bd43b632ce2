// SPDX-License-Identifier: Apache-2.0
//
// Operator cases of REDUCE_WINDOW (option: the function), STABLEHLO_REDUCE_WINDOW and DILATE.
#include "tests/cases/node.h"

namespace deputy {
namespace {

struct ReduceWindowRow {
  Shape shape;
  std::vector<double> window, strides, dilations;
  const char* refusal = "";
  int32_t function = 1;
};

const ReduceWindowRow kReduceRows[] = {
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

NodeRow Reduce(TfLiteType type, const ReduceWindowRow& row) {
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

using Longs = std::vector<int64_t>;

struct StablehloRow {
  Shape shape;
  Longs window, strides, dilations, base, padding;
  const char* refusal = "";
  TfLiteBuiltinOperator body = kTfLiteBuiltinStablehloAdd;
  int operators = 1;  // number of operators in the body
  int subgraph = 1;   // index of the body's subgraph
  bool options = true;
};

constexpr int64_t kMaxInt64 = INT64_MAX, kMinInt64 = INT64_MIN;
const StablehloRow kStablehloRows[] = {
    {{6, 70}, {3, 2}, {1, 2}, {2, 1}, {2, 3}, {1, 2, 3, 0}},
    {{6, 7}, {3, 2}, {}, {}, {}, {}, "", kTfLiteBuiltinMaximum},
    {{6, 7}, {3, 2}, {}, {}, {}, {-1, 2, 0, -3}, "", kTfLiteBuiltinMinimum},
    {{2, 9}, {1, 4}, {}, {}, {1, 2}, {}, "", kTfLiteBuiltinStablehloMultiply},
    {{7}, {8}, {}, {}, {}, {}},
    {{7}, {kMaxInt64}, {kMaxInt64}, {kMaxInt64}, {}, {}},
    {{0, 3}, {1, 1}, {}, {}, {}, {}},
    {{0, 3}, {2, 1}, {}, {}, {}, {1, 1, 0, 0}},
    {{0, 3},
     {1, 1},
     {},
     {},
     {kMaxInt64, kMaxInt64},
     {},
     "cannot be dilated by 9223372036854775807"},
    {{7}, {2}, {}, {}, {}, {-7, 0}, "expected a padding that leaves at least one"},
    {{7}, {2}, {}, {}, {}, {kMinInt64, 3}, "expected a padding that leaves at least one"},
    {{7, 7}, {2, 2}, {}, {}, {}, {-9, 0, -9, 0}, "expected a padding that leaves at least one"},
    {{7}, {2}, {}, {}, {}, {kMaxInt64, 3}, "cannot be dilated by 1 and padded by"},
    {{7}, {2}, {}, {}, {}, {INT32_MAX, 0}, "cannot be dilated by 1 and padded by 2147483647"},
    {{7}, {2}, {}, {}, {1 << 30}, {}, "cannot be dilated by 1073741824"},
    {{7}, {2}, {}, {}, {0}, {}, "cannot be dilated by 0"},
    {{7}, {2}, {}, {}, {kMinInt64}, {}, "cannot be dilated by -9223372036854775808"},
    {{7}, {0}, {}, {}, {}, {}, "1 or more, found 0, 1 and 1 in dimension 0"},
    {{7}, {2}, {0}, {}, {}, {}, "1 or more, found 2, 0 and 1"},
    {{7}, {2}, {}, {kMinInt64}, {}, {}, "1 or more, found 2, 1 and -9223372036854775808"},
    {{7, 3}, {2}, {}, {}, {}, {}, "1 or more"},
    {{7}, {2}, {1, 1}, {}, {}, {}, "does not have the expected size (2 != 1)"},
    {{7}, {2}, {}, {}, {}, {1}, "does not have the expected size (1 != 2)"},
    {{7}, {}, {}, {}, {}, {}, "cannot be empty"},
    {{7}, Longs(9, 1), {}, {}, {}, {}, "Found too many dimensions"},
    {{7}, {2}, {}, {}, {}, {}, "Could not get", kTfLiteBuiltinAdd, 1, 1, false},
    {{7}, {2}, {}, {}, {}, {}, "expected a sum, a product", kTfLiteBuiltinSub},
    {{7}, {2}, {}, {}, {}, {}, "expected 1 operator, found 0", kTfLiteBuiltinAdd, 0},
    {{7}, {2}, {}, {}, {}, {}, "expected 1 operator, found 2", kTfLiteBuiltinAdd, 2},
    {{}, {1}, {}, {}, {}, {}, "expected 1 to 6 dimensions, found 0"},
};

std::string ListText(const Longs& list) {
  std::string text = "[";
  for (const int64_t number : list) text += std::to_string(number) + ",";
  return text + "]";
}

void AddBody(ModelBuilder* m, TfLiteType type, const StablehloRow& row) {
  m->SelectSubgraph(m->AddSubgraph("body"));
  const int a = m->AddTensor(type, {}, "a"), b = m->AddTensor(type, {}, "b");
  int last = a;
  for (int i = 0; i < row.operators; ++i) {
    const int next = m->AddTensor(type, {}, "c");
    if (row.body == kTfLiteBuiltinAdd) {
      m->AddOp(row.body, {last, b}, {next}, schema::CreateAddOptions(m->fbb()));
    } else if (row.body == kTfLiteBuiltinSub) {
      m->AddOp(row.body, {last, b}, {next}, schema::CreateSubOptions(m->fbb()));
    } else {
      m->AddOp(row.body, {last, b}, {next});
    }
    last = next;
  }
  m->SetInputs({a, b});
  m->SetOutputs({last});
  m->SelectSubgraph(0);
}

OpCase MakeStablehlo(TfLiteType type, const StablehloRow& row) {
  ModelBuilder m;
  const int x = m.AddTensor(type, row.shape, "x");
  const int start = type == kTfLiteInt32 ? m.AddConstant<int32_t>(type, {}, {1}, "start")
                                         : m.AddConstant<float>(type, {}, {0.5f}, "start");
  const int y = m.AddTensor(type, row.shape, "y");
  AddBody(&m, type, row);
  if (row.options) {
    m.AddOp(kTfLiteBuiltinStablehloReduceWindow, {x, start}, {y},
            schema::CreateStablehloReduceWindowOptionsDirect(m.fbb(), &row.window, &row.strides,
                                                             &row.base, &row.dilations,
                                                             &row.padding, row.subgraph));
  } else {
    m.AddOp(kTfLiteBuiltinStablehloReduceWindow, {x, start}, {y});
  }
  m.SetInputs({x});
  m.SetOutputs({y});
  return {std::string("STABLEHLO_REDUCE_WINDOW ") + TfLiteTypeGetName(type) + Text(row.shape) +
              ListText(row.window) + ListText(row.strides) + ListText(row.dilations) +
              ListText(row.base) + ListText(row.padding) + " body " + std::to_string(row.body) +
              " of " + std::to_string(row.operators) + " in " + std::to_string(row.subgraph) +
              (row.options ? "" : " without options"),
          Rule::kSum, m.Finish(), row.refusal};
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
    Dilate(kTfLiteBFloat16, {2, 3, 5}, {1, 4, 2}),
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
  for (const ReduceWindowRow& row : kReduceRows) {
    rows.push_back(Reduce(kTfLiteFloat32, row));
    rows.push_back(Reduce(kTfLiteInt8, row));
  }
  rows.push_back(Reduce(kTfLiteUInt32, {{3}, {1}, {1}, {1}, "expected type"}));
  // Upstream supports the window's parameters only as constants, so cases that feed them expect a
  // refusal.
  std::vector<OpCase> cases;
  for (OpCase& one : NodeCases(rows, AddReduce)) {
    if (!one.feeds.empty() && one.refusal.empty()) one.refusal = "expected a constant, found none";
    if (one.feeds.empty() || one.refusal.starts_with("expected a constant")) {
      cases.push_back(std::move(one));
    }
  }
  for (const StablehloRow& row : kStablehloRows) {
    cases.push_back(MakeStablehlo(kTfLiteFloat32, row));
    cases.push_back(MakeStablehlo(kTfLiteInt32, row));
  }
  for (const int subgraph : {-1, 2, INT32_MAX}) {
    const StablehloRow row = {
        {7}, {2},     {}, {}, {}, {}, "expected a subgraph index 0..1", kTfLiteBuiltinMaximum,
        1,   subgraph};
    cases.push_back(MakeStablehlo(kTfLiteFloat32, row));
  }
  for (OpCase& one : NodeCases(kDilateRows)) cases.push_back(std::move(one));
  return cases;
}

}  // namespace deputy
