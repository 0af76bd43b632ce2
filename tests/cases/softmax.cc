// SPDX-License-Identifier: Apache-2.0
//
// SOFTMAX along the last dimension.
#include "tests/cases/case.h"

namespace deputy {
namespace {

struct Row {
  Shape shape;
  float beta = 1.0f;
  const char* refusal = "";
};

const Row kRows[] = {
    {{1}},          {{10}},      {{3, 7}, 0.5f},      {{2, 3, 4, 5}, 2.0f},
    {{1, 1001}},    {{0, 4}},    {{4, 0}},            {{}, 1.0f, "expected 1 dimension or more"},
};

OpCase MakeCase(TfLiteType type, const Row& row) {
  ModelBuilder builder;
  const bool quantized = type == kTfLiteInt8;
  const int input = builder.AddTensor(type, row.shape, "input",
                                      quantized ? PerTensor(0.1f, 20) : TensorExtras());
  const int output = builder.AddTensor(type, {1}, "output",
                                       quantized ? PerTensor(1.0f / 256, -128) : TensorExtras());
  builder.AddOp(kTfLiteBuiltinSoftmax, {input}, {output},
                schema::CreateSoftmaxOptions(builder.fbb(), row.beta));
  builder.SetInputs({input});
  builder.SetOutputs({output});
  return {std::string("SOFTMAX ") + TfLiteTypeGetName(type) + " " + Text(row.shape) + " beta " +
              std::to_string(row.beta),
          Closeness::kSum, builder.Finish(), row.refusal};
}

}  // namespace

std::vector<OpCase> SoftmaxCases() {
  std::vector<OpCase> cases;
  for (const Row& row : kRows) {
    for (TfLiteType type : {kTfLiteFloat32, kTfLiteInt8}) cases.push_back(MakeCase(type, row));
  }
  return cases;
}

}  // namespace deputy
