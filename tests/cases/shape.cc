// SPDX-License-Identifier: Apache-2.0
//
// Operator cases of RESHAPE, with the shape from a constant or from the options; of SQUEEZE
// (options: the axes), EXPAND_DIMS and BROADCAST_ARGS; and of SHAPE and RANK, whose results are
// constants once the shapes are known.
#include "tests/cases/movement.h"
#include "tests/cases/node.h"

namespace deputy {
namespace {

struct ShapeRow {
  Shape from;
  Shape to;
  const char* refusal = "";
};

const ShapeRow kShapeRows[] = {
    {{6}, {2, 3}},
    {{2, 3}, {-1}},
    {{2, 3, 4}, {4, -1, 2}},
    {{1}, {}},
    {{}, {1, 1, 1}},
    {{0, 3}, {5, 0}},
    {{0, 3}, {-1, 3}},
    {{2, 3}, {3, 3}, "expected a shape of 6 elements"},
    {{2, 3}, {-1, 4}, "expected a shape of 6 elements"},
    {{2, 3}, {-1, -1}, "at most one -1"},
    {{2, 3}, {-2, -3}, "at most one -1"},
    {{2, 3}, {2147483647, 2147483647, 2147483647}, "overflow"},
};

const MoveRow kOtherShapeRows[] = {
    {kTfLiteBuiltinSqueeze, "SQUEEZE", {{2, 1, 3, 1}}, {}, {}},
    {kTfLiteBuiltinSqueeze, "SQUEEZE", {{2, 1, 3, 1}}, {}, {-3}},
    {kTfLiteBuiltinSqueeze, "SQUEEZE", {{2, 1, 3, 1}}, {}, {0}, "expected dimension 0 to be 1"},
    {kTfLiteBuiltinSqueeze, "SQUEEZE", {{2, 1, 3, 1}}, {}, {4}, "expected an axis of -4 to 3"},
    {kTfLiteBuiltinExpandDims, "EXPAND_DIMS", {{2, 3}}, {Scalar(-1)}, {}},
    {kTfLiteBuiltinExpandDims, "EXPAND_DIMS", {{2, 0}}, {Scalar(1)}, {}},
    {kTfLiteBuiltinExpandDims, "EXPAND_DIMS", {{2, 3}}, {Scalar(3)}, {}, "an axis of -3 to 2"},
    {kTfLiteBuiltinExpandDims,
     "EXPAND_DIMS",
     {{2, 3}},
     {Vector({0, 1})},
     {},
     "expected 1 elements"},
};

void AddShapeOperator(ModelBuilder* builder, const MoveRow& row, const std::vector<int32_t>& inputs,
                      const std::vector<int32_t>& outputs) {
  if (row.code == kTfLiteBuiltinSqueeze) {
    const auto dims = builder->fbb().CreateVector(row.options);
    builder->AddOp(row.code, inputs, outputs, schema::CreateSqueezeOptions(builder->fbb(), dims));
  } else {
    builder->AddOp(row.code, inputs, outputs);
  }
}

OpCase MakeCase(TfLiteType type, bool shape_in_options, Known known, const ShapeRow& row) {
  ModelBuilder builder;
  CaseInputs graph(&builder, known);
  std::vector<int32_t> inputs = {graph.Add(builder.AddTensor(type, row.from, "input"))};
  if (!shape_in_options) {
    inputs.push_back(
        graph.AddNumbers(kTfLiteInt32, {static_cast<int32_t>(row.to.size())}, row.to, "shape"));
  }
  const int output = builder.AddTensor(type, {1}, "output");
  const auto new_shape =
      builder.fbb().CreateVector(shape_in_options ? row.to : std::vector<int32_t>{});
  builder.AddOp(kTfLiteBuiltinReshape, inputs, {output},
                schema::CreateReshapeOptions(builder.fbb(), new_shape));
  const auto feeds = graph.Finish();
  builder.SetOutputs({output});
  return {std::string("RESHAPE ") + TfLiteTypeGetName(type) + " " + Text(row.from) + " to " +
              Text(row.to) + (shape_in_options ? " by options" : "") + graph.suffix(),
          Rule::kEqual, builder.Finish(), row.refusal, feeds};
}

// A case of SHAPE or RANK, followed by a MAXIMUM that reads its result.
OpCase MakeShapeOrRank(bool rank, const Shape& shape) {
  ModelBuilder builder;
  const int input = builder.AddTensor(kTfLiteFloat32, shape, "input");
  const int result = builder.AddTensor(kTfLiteInt32, {1}, "result");
  const int other = builder.AddTensor(kTfLiteInt32, {1}, "other");
  const int output = builder.AddTensor(kTfLiteInt32, {1}, "output");
  if (rank) {
    builder.AddOp(kTfLiteBuiltinRank, {input}, {result});
  } else {
    builder.AddOp(kTfLiteBuiltinShape, {input}, {result},
                  schema::CreateShapeOptions(builder.fbb(), schema::TensorType::INT32));
  }
  builder.AddOp(kTfLiteBuiltinMaximum, {result, other}, {output});
  builder.SetInputs({input, other});
  builder.SetOutputs({output});
  return {std::string(rank ? "RANK " : "SHAPE ") + Text(shape), Rule::kEqual, builder.Finish(), ""};
}

NodeRow Broadcast(TfLiteType type, const std::vector<double>& a, const std::vector<double>& b,
                  const char* refusal = "") {
  return {
      kTfLiteBuiltinBroadcastArgs,
      "BROADCAST_ARGS",
      {{type, {static_cast<int32_t>(a.size())}, a}, {type, {static_cast<int32_t>(b.size())}, b}},
      {type},
      refusal};
}

const NodeRow kBroadcastRows[] = {
    Broadcast(kTfLiteInt32, {2, 1}, {1, 3}),
    Broadcast(kTfLiteInt64, {4}, {2, 3, 1}),
    Broadcast(kTfLiteInt32, {0, 1}, {1, -7}),
    Broadcast(kTfLiteInt32, {2, 3}, {3, 3}, "a shape that broadcasts, found 3 against 2"),
    Broadcast(kTfLiteInt64, {0}, {9e15}, "a shape that broadcasts"),
    Broadcast(kTfLiteInt16, {2}, {2}, "expected type INT32 or INT64"),
};

const MoveTypes kFurtherShapeTypes[] = {
    {kTfLiteBuiltinSqueeze, {kTfLiteBFloat16, kTfLiteComplex64, kTfLiteComplex128, kTfLiteInt4}},
    {kTfLiteBuiltinExpandDims, {kTfLiteBFloat16, kTfLiteComplex64, kTfLiteFloat64, kTfLiteInt2}},
    {kTfLiteBuiltinShape, {kTfLiteBFloat16, kTfLiteComplex64, kTfLiteComplex128, kTfLiteInt4}},
    {kTfLiteBuiltinRank, {kTfLiteBFloat16, kTfLiteComplex64, kTfLiteComplex128, kTfLiteUInt4}},
};

}  // namespace

std::vector<OpCase> ShapeCases() {
  std::vector<OpCase> cases = MoveCases(kOtherShapeRows, AddShapeOperator, kFurtherShapeTypes);
  for (const ShapeRow& row : kShapeRows) {
    for (TfLiteType type : {kTfLiteFloat32, kTfLiteInt8}) {
      cases.push_back(MakeCase(type, true, Known::kBefore, row));
      cases.push_back(MakeCase(type, false, Known::kBefore, row));
      cases.push_back(MakeCase(type, false, Known::kAtRunTime, row));
    }
  }
  for (const Shape& shape : {Shape{}, Shape{3}, Shape{2, 0, 4}, Shape{1, 2, 1, 2, 1, 2, 1, 2}}) {
    cases.push_back(MakeShapeOrRank(false, shape));
    cases.push_back(MakeShapeOrRank(true, shape));
  }
  for (OpCase& one : NodeCases(kBroadcastRows)) cases.push_back(std::move(one));
  return cases;
}

}  // namespace deputy
