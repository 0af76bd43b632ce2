// SPDX-License-Identifier: Apache-2.0
//
// Operator cases of the StableHLO operators with two operands, STABLEHLO_PAD, STABLEHLO_GATHER and
// STABLEHLO_SCATTER: shapes, and invalid axes, slices, margins and indices.
#include "tests/cases/case.h"

namespace deputy {
namespace {

using Longs = std::vector<int64_t>;

struct PadRow {
  Shape shape;
  Longs low, high, between;
  const char* refusal = "";
};
constexpr int64_t kMost = INT64_MAX, kLeast = INT64_MIN;
const PadRow kPads[] = {
    {{2, 3}, {1, 0}, {0, 2}, {0, 1}},
    {{4}, {-2}, {0}, {3}},
    {{0, 3}, {1, 1}, {2, 0}, {0, 0}},
    {{2}, {kLeast}, {kMost}, {0}},
    {{2}, {kMost}, {kLeast}, {0}, "cannot be padded"},
    {{1}, {3}, {0}, {kMost - 1}},
    {{2}, {0}, {0}, {-1}, "dimension 0 cannot be padded by 0, 0 and -1"},
    {{2}, {kMost}, {0}, {0}, "cannot be padded"},
    {{2}, {kMost}, {kMost}, {0}, "cannot be padded"},
    {{3}, {0}, {0}, {kMost}, "cannot be padded"},
    {{2}, {1}, {INT32_MAX}, {0}, "cannot be padded"},
};

OpCase MakePad(const PadRow& row) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, row.shape, "x");
  const int value = m.AddConstant<float>(kTfLiteFloat32, {}, {0.5f}, "value");
  const int y = m.AddTensor(kTfLiteFloat32, row.shape, "y");
  m.AddOp(kTfLiteBuiltinStablehloPad, {x, value}, {y},
          schema::CreateStablehloPadOptionsDirect(m.fbb(), &row.low, &row.high, &row.between));
  m.SetInputs({x});
  m.SetOutputs({y});
  return {"STABLEHLO_PAD " + Text(row.shape) + std::to_string(row.low[0]) + " " +
              std::to_string(row.high[0]) + " " + std::to_string(row.between[0]),
          Rule::kEqual, m.Finish(), row.refusal};
}

// GATHER from, or SCATTER to, a 4x5 matrix at the indices of a 2xN tensor.
struct WindowRow {
  const char* name;
  std::vector<int32_t> indices;
  Longs window_axes, fixed, component_axes;
  int64_t vector_axis;
  Longs sizes;  // slice sizes
  Shape other;  // shape of the output of GATHER, or of the updates of SCATTER
  const char* refusal = "";
};
const WindowRow kWindows[] = {
    {"rows", {3, 0}, {1}, {0}, {0}, 1, {1, 5}, {2, 5}},
    {"beyond", {INT32_MAX, INT32_MIN}, {1}, {0}, {0}, 1, {1, 5}, {2, 5}},
    {"windows", {1, 2, 3, 4}, {1, 2}, {}, {0, 1}, 1, {2, 2}, {2, 2, 2}},
    {"axis twice", {3, 0}, {1}, {0}, {0, 0}, 1, {1, 5}, {2, 5}, "expected different axes of 2"},
    {"axis too high", {3, 0}, {2}, {0}, {0}, 1, {1, 5}, {2, 5}, "expected different axes of 2"},
    {"negative axis", {3, 0}, {1}, {-1}, {0}, 1, {1, 5}, {2, 5}, "expected different axes of 2"},
    {"huge axis", {3, 0}, {1}, {0}, {kMost}, 1, {1, 5}, {2, 5}, "expected different axes of 2"},
    {"no such component axis", {3, 0}, {1}, {0}, {0}, 2, {1, 5}, {2, 5}, "more than 2 dimensions"},
    {"too few components", {3, 0}, {1}, {0}, {0, 1}, 1, {1, 5}, {2, 5}, "expected dimension 1"},
    {"too few windows", {3, 0}, {1}, {}, {0}, 1, {1, 5}, {2, 5}, "expected 2 axes of windows"},
};

int AddReplacement(ModelBuilder* m) {
  const int index = m->AddSubgraph("second");
  m->SelectSubgraph(index);
  const int a = m->AddTensor(kTfLiteFloat32, {}, "a"), b = m->AddTensor(kTfLiteFloat32, {}, "b");
  m->SetInputs({a, b});
  m->SetOutputs({b});
  m->SelectSubgraph(0);
  return index;
}

OpCase MakeWindows(const WindowRow& row, bool gather, Known known) {
  ModelBuilder m;
  CaseInputs graph(&m, known);
  const int x = graph.Add(m.AddTensor(kTfLiteFloat32, {4, 5}, "x"));
  const Shape index_shape = {2, static_cast<int32_t>(row.indices.size() / 2)};
  const int indices = graph.AddNumbers(kTfLiteInt32, index_shape, row.indices, "indices");
  if (gather) {
    const int y = m.AddTensor(kTfLiteFloat32, row.other, "y");
    m.AddOp(kTfLiteBuiltinStablehloGather, {x, indices}, {y},
            schema::CreateStablehloGatherOptionsDirect(m.fbb(), &row.window_axes, &row.fixed,
                                                       &row.component_axes, row.vector_axis,
                                                       &row.sizes));
    m.SetOutputs({y});
  } else {
    const int body = AddReplacement(&m);
    const int updates = graph.Add(m.AddTensor(kTfLiteFloat32, row.other, "updates"));
    const int y = m.AddTensor(kTfLiteFloat32, {4, 5}, "y");
    m.AddOp(kTfLiteBuiltinStablehloScatter, {x, indices, updates}, {y},
            schema::CreateStablehloScatterOptionsDirect(m.fbb(), false, &row.window_axes,
                                                        &row.fixed, &row.component_axes,
                                                        row.vector_axis, false, body));
    m.SetOutputs({y});
  }
  const auto feeds = graph.Finish();
  return {
      std::string(gather ? "STABLEHLO_GATHER " : "STABLEHLO_SCATTER ") + row.name + graph.suffix(),
      Rule::kEqual, m.Finish(), row.refusal, feeds};
}

struct PairRow {
  TfLiteBuiltinOperator code;
  const char* name;
  TfLiteType type;
  Shape a, b;
  const char* refusal = "";
};
const PairRow kPairs[] = {
    {kTfLiteBuiltinStablehloAdd, "STABLEHLO_ADD", kTfLiteFloat32, {70, 1000}, {70, 1000}},
    {kTfLiteBuiltinStablehloAdd, "STABLEHLO_ADD", kTfLiteFloat16, {2, 3}, {2, 3}},
    {kTfLiteBuiltinStablehloAdd, "STABLEHLO_ADD", kTfLiteFloat32, {2, 3}, {3}, "the shape of the"},
    {kTfLiteBuiltinStablehloAdd, "STABLEHLO_ADD", kTfLiteBool, {5, 7}, {5, 7}},
    {kTfLiteBuiltinStablehloMultiply, "STABLEHLO_MULTIPLY", kTfLiteInt64, {2, 3}, {2, 3}},
    {kTfLiteBuiltinStablehloMinimum, "STABLEHLO_MINIMUM", kTfLiteBool, {5, 7}, {5, 7}},
    {kTfLiteBuiltinStablehloMaximum, "STABLEHLO_MAXIMUM", kTfLiteFloat32, {2, 3}, {2, 3}},
    {kTfLiteBuiltinStablehloMinimum, "STABLEHLO_MINIMUM", kTfLiteUInt8, {2, 3}, {2, 3}},
    {kTfLiteBuiltinStablehloAnd, "STABLEHLO_AND", kTfLiteInt32, {2, 3}, {2, 3}},
    {kTfLiteBuiltinStablehloAnd,
     "STABLEHLO_AND",
     kTfLiteFloat32,
     {2},
     {2},
     "expected type INT32 or"},
    {kTfLiteBuiltinStablehloShiftLeft, "STABLEHLO_SHIFT_LEFT", kTfLiteInt32, {0, 3}, {0, 3}},
    {kTfLiteBuiltinStablehloShiftLeft, "STABLEHLO_SHIFT_LEFT", kTfLiteInt8, {9, 3}, {9, 3}},
};

OpCase MakePair(const PairRow& row) {
  ModelBuilder m;
  const int a = m.AddTensor(row.type, row.a, "a"), b = m.AddTensor(row.type, row.b, "b");
  const int y = m.AddTensor(row.type, row.a, "y");
  m.AddOp(row.code, {a, b}, {y});
  m.SetInputs({a, b});
  m.SetOutputs({y});
  return {std::string(row.name) + " " + TfLiteTypeGetName(row.type) + Text(row.a) + Text(row.b),
          Rule::kElement, m.Finish(), row.refusal};
}

}  // namespace

std::vector<OpCase> StablehloCases() {
  std::vector<OpCase> cases;
  for (const PairRow& row : kPairs) cases.push_back(MakePair(row));
  for (const PadRow& row : kPads) cases.push_back(MakePad(row));
  for (const WindowRow& row : kWindows) {
    for (const Known known : {Known::kBefore, Known::kAtRunTime}) {
      cases.push_back(MakeWindows(row, true, known));
      cases.push_back(MakeWindows(row, false, known));
    }
  }
  const WindowRow large = {"slice too large",
                           {1, 2},
                           {1},
                           {0},
                           {0},
                           1,
                           {1, 6},
                           {2, 6},
                           "expected dimension 1 to hold a slice of 6, found 5"};
  cases.push_back(MakeWindows(large, true, Known::kBefore));
  const WindowRow other_count = {"too many updates",    {1, 2}, {1}, {0}, {0}, 1, {}, {3, 5},
                                 "expected dimension 0"};
  cases.push_back(MakeWindows(other_count, false, Known::kBefore));
  return cases;
}

}  // namespace deputy
