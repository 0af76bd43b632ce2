// SPDX-License-Identifier: Apache-2.0
//
// The custom operators that ship: Convolution2DTransposeBias.
#include <cstring>

#include "c_api/include/builtin_op_data.h"
#include "tests/cases/case.h"

namespace deputy {
namespace {

struct Row {
  Shape input;    // [batch, height, width, channels]
  Shape weights;  // [out, height, width, in]
  TfLitePadding padding = kTfLitePaddingSame;
  int stride_y = 2, stride_x = 2;
  size_t options_size = 12;
  const char* refusal = "";
};

const Row kRows[] = {
    {{1, 1, 1, 1}, {1, 1, 1, 1}},
    {{1, 5, 6, 16}, {1, 2, 2, 16}},
    {{2, 3, 4, 7}, {9, 3, 3, 7}, kTfLitePaddingValid, 2, 3},
    {{2, 3, 4, 7}, {9, 4, 4, 7}, kTfLitePaddingSame, 1, 2, sizeof(TfLiteTransposeConvParams)},
    {{1, 3, 4, 7}, {9, 3, 3, 7}, kTfLitePaddingSame, 2, 2, 8, "options: expected 12 bytes"},
    {{1, 3, 4, 7}, {9, 3, 3, 7}, kTfLitePaddingSame, 2, 2, 0, "options: expected 12 bytes"},
    {{1, 3, 4, 7}, {9, 3, 3, 7}, kTfLitePaddingUnknown, 2, 2, 12, "expected SAME or VALID"},
    {{1, 3, 4, 7}, {9, 3, 3, 7}, kTfLitePaddingSame, 0, 2, 12, "strides: expected 1 or more"},
    {{1, 3, 4, 7}, {9, 3, 3, 7}, kTfLitePaddingSame, 2, -1, 12, "strides: expected 1 or more"},
    {{1, 3, 4, 7}, {9, 3, 3, 7}, kTfLitePaddingSame, 1 << 30, 2, 12, "its picture would be"},
    {{1, 3, 4, 7}, {9, 3, 3, 6}, kTfLitePaddingSame, 2, 2, 12, "expected dimension 3 to be 7"},
    {{3, 4, 7}, {9, 3, 3, 7}, kTfLitePaddingSame, 2, 2, 12, "expected 4 dimensions"},
};

OpCase MakeCase(const Row& row) {
  ModelBuilder builder;
  const int input = builder.AddTensor(kTfLiteFloat32, row.input, "input");
  const int weights = AddRandomConstant(&builder, kTfLiteFloat32, row.weights, 1);
  const int bias = AddRandomBias(&builder, kTfLiteFloat32, row.weights[0], 2);
  const int output = builder.AddTensor(kTfLiteFloat32, {1}, "output");
  TfLiteTransposeConvParams params = {};
  params.padding = row.padding;
  params.stride_height = row.stride_y;
  params.stride_width = row.stride_x;
  std::vector<uint8_t> options(row.options_size);
  if (!options.empty()) std::memcpy(options.data(), &params, options.size());
  builder.AddCustomOp("Convolution2DTransposeBias", {input, weights, bias}, {output}, options);
  builder.SetInputs({input});
  builder.SetOutputs({output});
  return {std::string("Convolution2DTransposeBias ") + Text(row.input) + Text(row.weights) +
              " padding " + std::to_string(row.padding) + " stride " +
              Text({row.stride_y, row.stride_x}) + " options " + std::to_string(row.options_size),
          Rule::kSum, builder.Finish(), row.refusal};
}

}  // namespace

std::vector<OpCase> CustomCases() {
  std::vector<OpCase> cases;
  for (const Row& row : kRows) cases.push_back(MakeCase(row));
  return cases;
}

}  // namespace deputy
