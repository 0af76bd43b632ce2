// SPDX-License-Identifier: Apache-2.0
//
// Operator cases of AVERAGE_POOL_2D, MAX_POOL_2D and L2_POOL_2D.
#include "tests/cases/case.h"

namespace deputy {
namespace {

constexpr auto kNone = schema::ActivationFunctionType::NONE;

struct PoolRow {
  Shape input;
  int filter_y, filter_x;
  int stride_y = 1, stride_x = 1;
  schema::Padding padding = kSame;
  schema::ActivationFunctionType activation = kNone;
  const char* refusal = "";
};

const PoolRow kPoolRows[] = {
    {{1, 1, 1, 1}, 1, 1},
    {{1, 4, 4, 3}, 2, 2, 2, 2},
    {{1, 5, 7, 3}, 2, 3, 2, 2, kValid},
    {{2, 7, 7, 33}, 3, 3, 2, 2, kSame},
    {{1, 7, 7, 64}, 7, 7, 1, 1, kValid},
    {{1, 6, 5, 40}, 5, 4, 1, 3, kSame, schema::ActivationFunctionType::RELU6},
    {{1, 3, 3, 2}, 9, 9, 1, 1, kSame, schema::ActivationFunctionType::RELU},
    {{1, 3, 3, 2}, 4, 4, 1, 1, kValid},
    {{1, 3, 3, 2}, 9, 9, 1, 1, kValid},
    {{0, 3, 3, 2}, 2, 2},
    {{1, 3, 3, 0}, 2, 2},
    {{1, 3, 3, 2}, 2, 2, 0, 1, kSame, kNone, "height: expected filter, stride"},
    {{1, 3, 3, 2}, 2, 2, 1, -5, kSame, kNone, "width: expected filter, stride"},
    {{1, 3, 3, 2}, 0, 2, 1, 1, kSame, kNone, "height: expected filter, stride"},
    {{3, 3, 2}, 2, 2, 1, 1, kSame, kNone, "expected 4 dimensions, found 3"},
};

OpCase MakeCase(TfLiteBuiltinOperator code, const char* name, TfLiteType type, const PoolRow& row) {
  ModelBuilder builder;
  const int zero_point = type == kTfLiteInt8 ? -4 : type == kTfLiteUInt8 ? 120 : 0;
  const TensorExtras extras =
      type == kTfLiteFloat32 ? TensorExtras() : PerTensor(0.05f, zero_point);
  const int input = builder.AddTensor(type, row.input, "input", extras);
  const int output = builder.AddTensor(type, {1}, "output", extras);
  builder.AddOp(code, {input}, {output},
                schema::CreatePool2DOptions(builder.fbb(), row.padding, row.stride_x, row.stride_y,
                                            row.filter_x, row.filter_y, row.activation));
  builder.SetInputs({input});
  builder.SetOutputs({output});
  return {std::string(name) + " " + TfLiteTypeGetName(type) + " " + Text(row.input) + " " +
              Text({row.filter_y, row.filter_x}) + " stride " + Text({row.stride_y, row.stride_x}) +
              " " + schema::EnumNamePadding(row.padding),
          Rule::kElement, builder.Finish(), row.refusal};
}

}  // namespace

std::vector<OpCase> PoolCases() {
  std::vector<OpCase> cases;
  for (const PoolRow& row : kPoolRows) {
    for (TfLiteType type : {kTfLiteFloat32, kTfLiteInt8, kTfLiteUInt8, kTfLiteInt16}) {
      cases.push_back(MakeCase(kTfLiteBuiltinAveragePool2d, "AVERAGE_POOL_2D", type, row));
      cases.push_back(MakeCase(kTfLiteBuiltinMaxPool2d, "MAX_POOL_2D", type, row));
    }
    cases.push_back(MakeCase(kTfLiteBuiltinL2Pool2d, "L2_POOL_2D", kTfLiteFloat32, row));
  }
  return cases;
}

}  // namespace deputy
