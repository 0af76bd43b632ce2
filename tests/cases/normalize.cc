// SPDX-License-Identifier: Apache-2.0
//
// Operator cases of L2_NORMALIZATION along the last dimension and of LOCAL_RESPONSE_NORMALIZATION.
#include "tests/cases/node.h"

namespace deputy {
namespace {

OpCase MakeCase(TfLiteType type, const Shape& shape, int output_zero_point, const char* refusal) {
  ModelBuilder builder;
  const bool quantized = type != kTfLiteFloat32;
  const int input =
      builder.AddTensor(type, shape, "input", quantized ? PerTensor(0.1f, 20) : TensorExtras());
  const int output = builder.AddTensor(
      type, {1}, "output", quantized ? PerTensor(1.0f / 128, output_zero_point) : TensorExtras());
  builder.AddOp(kTfLiteBuiltinL2Normalization, {input}, {output},
                schema::CreateL2NormOptions(builder.fbb()));
  builder.SetInputs({input});
  builder.SetOutputs({output});
  return {std::string("L2_NORMALIZATION ") + TfLiteTypeGetName(type) + " " + Text(shape) + refusal,
          Rule::kSum, builder.Finish(), refusal};
}

// A row of LOCAL_RESPONSE_NORMALIZATION. Its options are the radius, and beta in hundredths.
NodeRow Local(TfLiteType type, const Shape& shape, int32_t radius, const char* refusal = "",
              int32_t beta = 75) {
  return {kTfLiteBuiltinLocalResponseNormalization,
          "LOCAL_RESPONSE_NORMALIZATION",
          {{type, shape}},
          {type},
          refusal,
          false,
          {radius, beta},
          Rule::kSum};
}

const NodeRow kLocalRows[] = {
    Local(kTfLiteFloat32, {1, 2, 3, 70}, 2),
    Local(kTfLiteFloat32, {2, 1, 3, 5}, INT32_MAX),
    Local(kTfLiteFloat32, {1, 2, 3, 70}, 3, "", 50),
    Local(kTfLiteFloat32, {1, 2, 3, 70}, 3, "", 60),
    Local(kTfLiteFloat32, {2, 1, 3, 0}, 1),
    Local(kTfLiteFloat32, {1, 2, 3, 7}, -1, "radius: expected 0 or more, found -1"),
    Local(kTfLiteFloat32, {2, 3, 7}, 1, "expected 4 dimensions"),
    Local(kTfLiteInt8, {1, 2, 3, 7}, 1, "expected type FLOAT32"),
};

void AddLocal(ModelBuilder* builder, const NodeRow& row, const std::vector<int32_t>& inputs,
              const std::vector<int32_t>& outputs) {
  builder->AddOp(
      row.code, inputs, outputs,
      schema::CreateLocalResponseNormalizationOptions(builder->fbb(), row.options[0], 1.0f, 0.25f,
                                                      static_cast<float>(row.options[1]) / 100.0f));
}

}  // namespace

std::vector<OpCase> NormalizeCases() {
  std::vector<OpCase> cases;
  for (TfLiteType type : {kTfLiteFloat32, kTfLiteInt8, kTfLiteUInt8}) {
    const int zero_point = type == kTfLiteUInt8 ? 128 : 0;
    for (const Shape& shape :
         {Shape{1}, Shape{3, 7}, Shape{2, 3, 4, 5}, Shape{0, 4}, Shape{4, 0}}) {
      cases.push_back(MakeCase(type, shape, zero_point, ""));
    }
    cases.push_back(MakeCase(type, {}, zero_point, "expected 1 dimension or more"));
  }
  cases.push_back(MakeCase(kTfLiteInt8, {3}, 5, "expected scale 1/128 and zero point 0"));
  cases.push_back(MakeCase(kTfLiteInt16, {3}, 0, "expected type"));
  for (OpCase& one : NodeCases(kLocalRows, AddLocal)) cases.push_back(std::move(one));
  return cases;
}

}  // namespace deputy
