// SPDX-License-Identifier: Apache-2.0
//
// QUANTIZE and DEQUANTIZE, with one scale and with one per slice.
#include "tests/cases/case.h"

namespace deputy {
namespace {

struct Row {
  TfLiteBuiltinOperator code;
  TfLiteType from, to;
  Shape shape;
  int per_channel_axis = -1;  // of the quantised side
  const char* refusal = "";
};

const Row kRows[] = {
    {kTfLiteBuiltinQuantize, kTfLiteFloat32, kTfLiteInt8, {1}},
    {kTfLiteBuiltinQuantize, kTfLiteFloat32, kTfLiteInt8, {}},
    {kTfLiteBuiltinQuantize, kTfLiteFloat32, kTfLiteInt8, {0, 3}},
    {kTfLiteBuiltinQuantize, kTfLiteFloat32, kTfLiteInt8, {7, 301}},
    {kTfLiteBuiltinQuantize, kTfLiteFloat32, kTfLiteInt8, {5, 6}, 0},
    {kTfLiteBuiltinQuantize, kTfLiteFloat32, kTfLiteInt8, {2, 5, 6}, 1},
    {kTfLiteBuiltinQuantize, kTfLiteFloat32, kTfLiteInt8, {5, 6}, 1},
    {kTfLiteBuiltinQuantize, kTfLiteInt8, kTfLiteInt8, {7, 301}},
    {kTfLiteBuiltinDequantize, kTfLiteInt8, kTfLiteFloat32, {1}},
    {kTfLiteBuiltinDequantize, kTfLiteInt8, kTfLiteFloat32, {7, 301}},
    {kTfLiteBuiltinDequantize, kTfLiteInt8, kTfLiteFloat32, {5, 6}, 0},
    {kTfLiteBuiltinDequantize, kTfLiteInt8, kTfLiteFloat32, {2, 5, 6}, 1},
    {kTfLiteBuiltinDequantize, kTfLiteFloat16, kTfLiteFloat32, {1}},
    {kTfLiteBuiltinDequantize, kTfLiteFloat16, kTfLiteFloat32, {0}},
    {kTfLiteBuiltinDequantize, kTfLiteFloat16, kTfLiteFloat32, {65, 1031}},
    {kTfLiteBuiltinQuantize,
     kTfLiteFloat32,
     kTfLiteFloat32,
     {4},
     -1,
     "expected type UINT8 or INT16 or INT8"},
    {kTfLiteBuiltinQuantize, kTfLiteInt32, kTfLiteInt8, {4}, -1, "expected a positive scale"},
    {kTfLiteBuiltinDequantize,
     kTfLiteInt32,
     kTfLiteFloat32,
     {4},
     -1,
     "expected type UINT8 or INT16 or INT8 or FLOAT16"},
};

OpCase MakeCase(const Row& row) {
  ModelBuilder builder;
  const auto extras = [&](TfLiteType type, float scale, int zero_point) {
    if (type != kTfLiteInt8) return TensorExtras();
    if (row.per_channel_axis < 0) return PerTensor(scale, zero_point);
    return PerChannel(scale, row.shape[static_cast<size_t>(row.per_channel_axis)],
                      row.per_channel_axis);
  };
  const int input = builder.AddTensor(row.from, row.shape, "input", extras(row.from, 0.03f, 8));
  const int output = builder.AddTensor(row.to, row.shape, "output", extras(row.to, 0.011f, -9));
  builder.AddOp(row.code, {input}, {output});
  builder.SetInputs({input});
  builder.SetOutputs({output});
  return {std::string(row.code == kTfLiteBuiltinQuantize ? "QUANTIZE " : "DEQUANTIZE ") +
              TfLiteTypeGetName(row.from) + " to " + TfLiteTypeGetName(row.to) + " " +
              Text(row.shape) +
              (row.per_channel_axis < 0 ? "" : " axis " + std::to_string(row.per_channel_axis)),
          Closeness::kElement, builder.Finish(), row.refusal};
}

}  // namespace

std::vector<OpCase> QuantizeCases() {
  std::vector<OpCase> cases;
  for (const Row& row : kRows) cases.push_back(MakeCase(row));
  return cases;
}

}  // namespace deputy
