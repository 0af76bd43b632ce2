// SPDX-License-Identifier: Apache-2.0
//
// FULLY_CONNECTED: one row and many, widths around the tiles, with and without bias and constant
// weights, and weights with a zero point.
#include "tests/cases/case.h"

namespace deputy {
namespace {

struct Row {
  Shape input;
  Shape weights;  // [units, depth]
  bool bias = true;
  bool constant_weights = true;
  bool keep_num_dims = false;
  schema::ActivationFunctionType activation = schema::ActivationFunctionType::NONE;
  const char* refusal = "";
};

constexpr auto kNoActivation = schema::ActivationFunctionType::NONE;

const Row kRows[] = {
    {{1, 1}, {1, 1}},
    {{1, 7}, {5, 7}},
    {{1, 64}, {10, 64}},
    {{1, 33}, {200, 33}},
    {{1, 256}, {65, 256}, false},
    {{5, 12}, {16, 12}, true, false},
    {{7, 12}, {17, 12}, false, false},
    {{13, 31}, {31, 31}, true, true, false, schema::ActivationFunctionType::RELU},
    {{2, 3, 4, 5}, {6, 5}},
    {{2, 3, 4, 5}, {6, 5}, true, true, true},
    {{2, 6}, {3, 4}},
    {{8}, {3, 8}},
    {{0, 8}, {3, 8}},
    {{2, 8}, {0, 8}},
    {{64, 100}, {120, 100}},
    {{1, 1000}, {1000, 1000}},
    {{2, 5}, {3, 4}, true, true, false, kNoActivation, "expected rows of 4 values"},
    {{2, 6}, {3, 4}, true, true, true, kNoActivation, "expected the last dimension to be 4"},
    {{2, 4}, {3, 4, 1}, true, true, false, kNoActivation, "expected 2 dimensions, found 3"},
    {{2, 4}, {3, 4}, true, true, false, schema::ActivationFunctionType::TANH,
     "fused activation"},
};

enum class Scales { kOne, kOneWithZeroPoint, kPerChannel };

OpCase MakeCase(TfLiteType type, Scales scales, const Row& row) {
  constexpr float kInputScale = 0.02f, kWeightScale = 0.01f;
  ModelBuilder builder;
  TensorExtras input_extras, weights_extras, bias_extras, output_extras;
  const int units = row.weights[0];
  if (type == kTfLiteInt8) {
    input_extras = PerTensor(kInputScale, 9);
    weights_extras = scales == Scales::kPerChannel
                         ? PerChannel(kWeightScale, units, 0)
                         : PerTensor(kWeightScale, scales == Scales::kOne ? 0 : -6);
    bias_extras = weights_extras;
    for (float& scale : bias_extras.scale) scale *= kInputScale;
    bias_extras.zero_point.assign(bias_extras.scale.size(), 0);
    output_extras = PerTensor(kInputScale * kWeightScale * 400.0f, -3);
  }
  const int input = builder.AddTensor(type, row.input, "input", input_extras);
  const int weights =
      row.constant_weights ? AddRandomConstant(&builder, type, row.weights, 3, weights_extras)
                           : builder.AddTensor(type, row.weights, "weights", weights_extras);
  std::vector<int32_t> inputs = {input, weights};
  if (row.bias) inputs.push_back(AddRandomBias(&builder, type, units, 4, bias_extras));
  const int output = builder.AddTensor(type, {1}, "output", output_extras);
  builder.AddOp(kTfLiteBuiltinFullyConnected, inputs, {output},
                schema::CreateFullyConnectedOptions(
                    builder.fbb(), row.activation,
                    schema::FullyConnectedOptionsWeightsFormat::DEFAULT, row.keep_num_dims));
  builder.SetInputs(row.constant_weights ? std::vector<int32_t>{input} : inputs);
  if (!row.constant_weights) builder.SetInputs({input, weights});
  builder.SetOutputs({output});
  const char* kind[] = {"", " zero point", " per channel"};
  return {std::string("FULLY_CONNECTED ") + TfLiteTypeGetName(type) +
              kind[static_cast<int>(scales)] + " " + Text(row.input) + Text(row.weights) +
              (row.bias ? " bias" : "") + (row.constant_weights ? "" : " live weights") +
              (row.keep_num_dims ? " keep dims" : ""),
          Closeness::kSum, builder.Finish(), row.refusal};
}

}  // namespace

std::vector<OpCase> MatmulCases() {
  std::vector<OpCase> cases;
  for (const Row& row : kRows) {
    cases.push_back(MakeCase(kTfLiteFloat32, Scales::kOne, row));
    cases.push_back(MakeCase(kTfLiteInt8, Scales::kOne, row));
    cases.push_back(MakeCase(kTfLiteInt8, Scales::kOneWithZeroPoint, row));
    // A scale per unit needs units.
    if (row.weights[0] > 0) cases.push_back(MakeCase(kTfLiteInt8, Scales::kPerChannel, row));
  }
  return cases;
}

}  // namespace deputy
