// SPDX-License-Identifier: Apache-2.0
//
// RESHAPE: the shape from a constant, or from the options. SQUEEZE (options: the axes) and
// EXPAND_DIMS. SHAPE and RANK have golden rows only: there is nothing to compute differently.
#include "tests/cases/movement.h"

namespace deputy {
namespace {

struct Row {
  Shape from;
  Shape to;
  const char* refusal = "";
};

const Row kRows[] = {
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

const MoveRow kOtherRows[] = {
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

void AddOperator(ModelBuilder* builder, const MoveRow& row, const std::vector<int32_t>& inputs,
                 const std::vector<int32_t>& outputs) {
  if (row.code == kTfLiteBuiltinSqueeze) {
    const auto dims = builder->fbb().CreateVector(row.options);
    builder->AddOp(row.code, inputs, outputs, schema::CreateSqueezeOptions(builder->fbb(), dims));
  } else {
    builder->AddOp(row.code, inputs, outputs);
  }
}

OpCase MakeCase(TfLiteType type, bool shape_in_options, const Row& row) {
  ModelBuilder builder;
  const int input = builder.AddTensor(type, row.from, "input");
  std::vector<int32_t> inputs = {input};
  if (!shape_in_options) {
    inputs.push_back(builder.AddConstant<int32_t>(
        kTfLiteInt32, {static_cast<int32_t>(row.to.size())}, row.to, "shape"));
  }
  const int output = builder.AddTensor(type, {1}, "output");
  const auto new_shape =
      builder.fbb().CreateVector(shape_in_options ? row.to : std::vector<int32_t>{});
  builder.AddOp(kTfLiteBuiltinReshape, inputs, {output},
                schema::CreateReshapeOptions(builder.fbb(), new_shape));
  builder.SetInputs({input});
  builder.SetOutputs({output});
  return {std::string("RESHAPE ") + TfLiteTypeGetName(type) + " " + Text(row.from) + " to " +
              Text(row.to) + (shape_in_options ? " by options" : ""),
          Closeness::kEqual, builder.Finish(), row.refusal};
}

}  // namespace

std::vector<OpCase> ShapeCases() {
  std::vector<OpCase> cases = MoveCases(kOtherRows, AddOperator);
  for (const Row& row : kRows) {
    for (TfLiteType type : {kTfLiteFloat32, kTfLiteInt8}) {
      cases.push_back(MakeCase(type, false, row));
      cases.push_back(MakeCase(type, true, row));
    }
  }
  return cases;
}

}  // namespace deputy
