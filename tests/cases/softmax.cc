// SPDX-License-Identifier: Apache-2.0
//
// Operator cases of SOFTMAX and LOG_SOFTMAX along the last dimension.
#include "tests/cases/case.h"

namespace deputy {
namespace {

struct SoftmaxRow {
  Shape shape;
  float beta = 1.0f;
  const char* refusal = "";
};

const SoftmaxRow kSoftmaxRows[] = {
    {{1}},       {{10}},   {{3, 7}, 0.5f}, {{2, 3, 4, 5}, 2.0f},
    {{1, 1001}}, {{0, 4}}, {{4, 0}},       {{}, 1.0f, "expected 1 dimension or more"},
};

TensorExtras InputScale(TfLiteType type) {
  if (type == kTfLiteInt8 || type == kTfLiteUInt8) return PerTensor(0.1f, 20);
  return type == kTfLiteInt16 ? PerTensor(0.001f, 0) : TensorExtras();
}

// Returns the only output quantisation that the kernel accepts for the type.
TensorExtras OutputScale(bool log, TfLiteType type) {
  switch (type) {
    case kTfLiteInt8:
      return log ? PerTensor(1.0f / 16, 127) : PerTensor(1.0f / 256, -128);
    case kTfLiteUInt8:
      return log ? PerTensor(1.0f / 16, 255) : PerTensor(1.0f / 256, 0);
    case kTfLiteInt16:
      return PerTensor(1.0f / 32768, 0);
    default:
      return {};
  }
}

OpCase MakeCase(bool log, TfLiteType type, const SoftmaxRow& row) {
  ModelBuilder builder;
  const int input = builder.AddTensor(type, row.shape, "input", InputScale(type));
  const int output = builder.AddTensor(type, {1}, "output", OutputScale(log, type));
  if (log) {
    builder.AddOp(kTfLiteBuiltinLogSoftmax, {input}, {output});
  } else {
    builder.AddOp(kTfLiteBuiltinSoftmax, {input}, {output},
                  schema::CreateSoftmaxOptions(builder.fbb(), row.beta));
  }
  builder.SetInputs({input});
  builder.SetOutputs({output});
  return {std::string(log ? "LOG_SOFTMAX " : "SOFTMAX ") + TfLiteTypeGetName(type) + " " +
              Text(row.shape) + " beta " + std::to_string(row.beta),
          Rule::kSum, builder.Finish(), row.refusal};
}

}  // namespace

std::vector<OpCase> SoftmaxCases() {
  std::vector<OpCase> cases;
  for (const SoftmaxRow& row : kSoftmaxRows) {
    for (TfLiteType type :
         {kTfLiteFloat32, kTfLiteFloat16, kTfLiteInt8, kTfLiteUInt8, kTfLiteInt16}) {
      cases.push_back(MakeCase(false, type, row));
    }
    for (TfLiteType type : {kTfLiteFloat32, kTfLiteInt8, kTfLiteUInt8}) {
      cases.push_back(MakeCase(true, type, row));
    }
  }
  cases.push_back(MakeCase(true, kTfLiteInt16, {{3}, 1.0f, "expected type"}));
  cases.push_back(MakeCase(false, kTfLiteInt32, {{3}, 1.0f, "expected type"}));
  return cases;
}

}  // namespace deputy
