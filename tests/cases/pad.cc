// SPDX-License-Identifier: Apache-2.0
//
// Operator cases of PAD, PADV2 (ValueCase; the value is the third input) and MIRROR_PAD (option: 1
// for symmetric).
#include "tests/cases/movement.h"

namespace deputy {
namespace {

constexpr auto kPad = kTfLiteBuiltinPad;
constexpr auto kPadV2 = kTfLiteBuiltinPadv2;
constexpr auto kMirror = kTfLiteBuiltinMirrorPad;

const MoveRow kPadRows[] = {
    {kPad, "PAD", {{2, 3}}, {Pairs({1, 0, 2, 3})}, {}},
    {kPad, "PAD", {{1, 4, 5, 3}}, {Pairs({0, 0, 1, 1, 2, 0, 0, 0})}, {}},
    {kPad, "PAD", {{0, 3}}, {Pairs({1, 1, 0, 1})}, {}},
    {kPad, "PAD", {{2, 3}}, {Pairs({-1, 0, 0, 0})}, {}, "found -1"},
    {kPad, "PAD", {{2, 3}}, {Pairs({1, 0})}, {}, "expected dimension 0 to be 2"},
    {kPad, "PAD", {{2, 3}}, {Pairs({INT32_MAX, INT32_MAX, 0, 0})}, {}, "its dimension 0 would be"},
    {kPad,
     "PAD",
     {{1, 1, 1}},
     {Pairs({INT32_MAX - 1, 0, INT32_MAX - 1, 0, INT32_MAX - 1, 0})},
     {},
     "overflow"},
    {kPad,
     "PAD",
     {{1, 1, 1, 1, 1, 1}},
     {Pairs({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1})},
     {},
     "expected at most 5 dimensions"},
    {kMirror, "MIRROR_PAD", {{4, 5}}, {Pairs({3, 2, 0, 4})}, {0}},
    {kMirror, "MIRROR_PAD", {{4, 5}}, {Pairs({4, 2, 0, 5})}, {1}},
    {kMirror, "MIRROR_PAD", {{4, 5}}, {Pairs({4, 2, 0, 5})}, {0}, "expected 0 to 3 in dimension 0"},
    {kMirror, "MIRROR_PAD", {{4, 5}}, {Pairs({5, 0, 0, 0})}, {1}, "expected 0 to 4 in dimension 0"},
};

void AddPadOperator(ModelBuilder* builder, const MoveRow& row, const std::vector<int32_t>& inputs,
                    const std::vector<int32_t>& outputs) {
  if (row.code == kMirror) {
    const auto mode =
        row.options[0] == 1 ? schema::MirrorPadMode::SYMMETRIC : schema::MirrorPadMode::REFLECT;
    builder->AddOp(row.code, inputs, outputs, schema::CreateMirrorPadOptions(builder->fbb(), mode));
  } else {
    builder->AddOp(row.code, inputs, outputs);
  }
}

// A case of PADV2. Its value is the input after the margins, where MoveCases can only add int32
// constants.
OpCase ValueCase(const Shape& value, const char* refusal) {
  ModelBuilder builder;
  const int input = builder.AddTensor(kTfLiteFloat32, {2, 3}, "input");
  const int margins = builder.AddConstant<int32_t>(kTfLiteInt32, {2, 2}, {1, 0, 0, 2}, "margins");
  const int number = AddRandomConstant(&builder, kTfLiteFloat32, value, 5);
  const int output = builder.AddTensor(kTfLiteFloat32, {1}, "output");
  builder.AddOp(kPadV2, {input, margins, number}, {output});
  builder.SetInputs({input});
  builder.SetOutputs({output});
  return {"PADV2 FLOAT32 value " + Text(value), Rule::kEqual, builder.Finish(), refusal};
}

const MoveTypes kFurtherPadTypes[] = {
    {kPad, {kTfLiteBFloat16}},
    {kPadV2, {kTfLiteBFloat16}},
    {kMirror, {kTfLiteBFloat16, kTfLiteComplex64, kTfLiteFloat64, kTfLiteUInt64, kTfLiteUInt16}},
};

}  // namespace

std::vector<OpCase> PadCases() {
  std::vector<OpCase> cases = MoveCases(kPadRows, AddPadOperator, kFurtherPadTypes);
  cases.push_back(ValueCase({1}, ""));
  cases.push_back(ValueCase({}, ""));
  cases.push_back(ValueCase({2}, "expected 1 elements, found 2"));
  return cases;
}

}  // namespace deputy
