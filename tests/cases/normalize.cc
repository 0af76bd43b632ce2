// SPDX-License-Identifier: Apache-2.0
//
// L2_NORMALIZATION along the last dimension.
#include "tests/cases/case.h"

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
  return cases;
}

}  // namespace deputy
