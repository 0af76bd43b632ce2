// SPDX-License-Identifier: Apache-2.0
//
// Operator cases of the activation functions.
#include "tests/cases/case.h"

namespace deputy {
namespace {

struct Activation {
  TfLiteBuiltinOperator code;
  const char* name;
  std::vector<TfLiteType> types;
  // Quantisation of the int8 output that the kernel requires; scale 0 if it has no requirement.
  float int8_scale = 0.0f;
  int int8_zero_point = 0;
};

const std::vector<TfLiteType> kWide = {kTfLiteFloat32, kTfLiteInt8, kTfLiteUInt8, kTfLiteInt16};
const std::vector<TfLiteType> kNarrow = {kTfLiteFloat32, kTfLiteInt8, kTfLiteUInt8};
const std::vector<TfLiteType> kSmooth = {kTfLiteFloat32, kTfLiteFloat16, kTfLiteInt8, kTfLiteUInt8,
                                         kTfLiteInt16};
const std::vector<TfLiteType> kSigmoid = {kTfLiteFloat32, kTfLiteFloat16, kTfLiteBFloat16,
                                          kTfLiteInt8,    kTfLiteUInt8,   kTfLiteInt16};

const Activation kActivations[] = {
    {kTfLiteBuiltinRelu, "RELU", kWide},
    {kTfLiteBuiltinRelu6, "RELU6", kWide},
    {kTfLiteBuiltinReluN1To1, "RELU_N1_TO_1", kNarrow},
    {kTfLiteBuiltinRelu0To1, "RELU_0_TO_1", kNarrow},
    {kTfLiteBuiltinLeakyRelu, "LEAKY_RELU", kWide},
    {kTfLiteBuiltinElu, "ELU", {kTfLiteFloat32, kTfLiteInt8}},
    {kTfLiteBuiltinHardSwish, "HARD_SWISH", kNarrow},
    {kTfLiteBuiltinLogistic, "LOGISTIC", kSigmoid, 1.0f / 256, -128},
    {kTfLiteBuiltinTanh, "TANH", kSigmoid, 1.0f / 128, 0},
    {kTfLiteBuiltinGelu, "GELU", kSmooth},
};

TensorExtras InputScale(TfLiteType type) {
  switch (type) {
    case kTfLiteInt8:
      return PerTensor(0.05f, -9);
    case kTfLiteUInt8:
      return PerTensor(0.05f, 119);
    case kTfLiteInt16:
      return PerTensor(0.0003f, 0);
    default:
      return {};
  }
}

TensorExtras OutputScale(const Activation& activation, TfLiteType type) {
  const bool fixed = activation.int8_scale != 0.0f;
  switch (type) {
    case kTfLiteInt8:
      return fixed ? PerTensor(activation.int8_scale, activation.int8_zero_point)
                   : PerTensor(0.04f, 11);
    case kTfLiteUInt8:
      return fixed ? PerTensor(activation.int8_scale, activation.int8_zero_point + 128)
                   : PerTensor(0.04f, 139);
    case kTfLiteInt16:
      return PerTensor(1.0f / 32768, 0);
    default:
      return {};
  }
}

void AddActivation(ModelBuilder* builder, const Activation& activation, int input, int output) {
  if (activation.code == kTfLiteBuiltinLeakyRelu) {
    builder->AddOp(activation.code, {input}, {output},
                   schema::CreateLeakyReluOptions(builder->fbb(), 0.1f));
  } else if (activation.code == kTfLiteBuiltinGelu) {
    builder->AddOp(activation.code, {input}, {output},
                   schema::CreateGeluOptions(builder->fbb(), true));
  } else {
    builder->AddOp(activation.code, {input}, {output});
  }
}

OpCase MakeCase(const Activation& activation, TfLiteType type, const Shape& shape) {
  ModelBuilder builder;
  const int input = builder.AddTensor(type, shape, "input", InputScale(type));
  const int output = builder.AddTensor(type, {1}, "output", OutputScale(activation, type));
  AddActivation(&builder, activation, input, output);
  builder.SetInputs({input});
  builder.SetOutputs({output});
  return {std::string(activation.name) + " " + TfLiteTypeGetName(type) + " " + Text(shape),
          Rule::kElement, builder.Finish(), ""};
}

struct Refusal {
  TfLiteType type;
  TensorExtras input, output;
  const char* text;
};

OpCase MakeRefusal(const Activation& activation, const Refusal& row) {
  ModelBuilder builder;
  const int input = builder.AddTensor(row.type, {2, 3}, "input", row.input);
  const int output = builder.AddTensor(row.type, {1}, "output", row.output);
  AddActivation(&builder, activation, input, output);
  builder.SetInputs({input});
  builder.SetOutputs({output});
  return {
      std::string(activation.name) + " " + TfLiteTypeGetName(row.type) + " refused: " + row.text,
      Rule::kElement, builder.Finish(), row.text};
}

OpCase MakePrelu(TfLiteType type, const Shape& shape, const Shape& slopes, const char* refusal) {
  ModelBuilder builder;
  const bool quantized = type == kTfLiteInt8;
  const int input = builder.AddTensor(type, shape, "input", InputScale(type));
  const int alpha = AddRandomConstant(&builder, type, slopes, 7,
                                      quantized ? PerTensor(0.01f, 3) : TensorExtras());
  const int output = builder.AddTensor(type, {1}, "output", InputScale(type));
  builder.AddOp(kTfLiteBuiltinPrelu, {input, alpha}, {output});
  builder.SetInputs({input});
  builder.SetOutputs({output});
  return {std::string("PRELU ") + TfLiteTypeGetName(type) + " " + Text(shape) + Text(slopes),
          Rule::kElement, builder.Finish(), refusal};
}

}  // namespace

std::vector<OpCase> ActivationCases() {
  std::vector<OpCase> cases;
  for (const Activation& activation : kActivations) {
    for (TfLiteType type : activation.types) {
      for (const Shape& shape :
           {Shape{}, Shape{5}, Shape{2, 3, 7}, Shape{0, 4}, Shape{1, 9, 9, 33}}) {
        cases.push_back(MakeCase(activation, type, shape));
      }
    }
    const Refusal kRefusals[] = {
        {kTfLiteInt32, {}, {}, "expected type"},
        {kTfLiteInt8, {}, PerTensor(0.1f, 0), "expected a positive scale"},
    };
    for (const Refusal& row : kRefusals) cases.push_back(MakeRefusal(activation, row));
    if (activation.types.back() == kTfLiteInt16 && activation.code != kTfLiteBuiltinGelu) {
      cases.push_back(MakeRefusal(activation, {kTfLiteInt16, PerTensor(0.001f, 4),
                                               PerTensor(1.0f / 32768, 0), "zero point 0"}));
    }
  }
  cases.push_back(MakeRefusal(
      kActivations[6],
      {kTfLiteInt8, PerTensor(1.0f, 0), PerTensor(0.001f, 0), "expected a scale greater than"}));
  for (TfLiteType type : {kTfLiteFloat32, kTfLiteInt8}) {
    cases.push_back(MakePrelu(type, {2, 3, 4}, {4}, ""));
    cases.push_back(MakePrelu(type, {2, 3, 4}, {3, 1}, ""));
    cases.push_back(MakePrelu(type, {0, 3}, {1, 3}, ""));
    cases.push_back(MakePrelu(type, {3}, {2, 3}, "broadcasts"));
    cases.push_back(MakePrelu(type, {3}, {4}, "broadcasts"));
  }
  return cases;
}

}  // namespace deputy
