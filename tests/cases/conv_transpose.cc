// SPDX-License-Identifier: Apache-2.0
//
// Operator cases of TRANSPOSE_CONV: strides above, at and below the filter's size, sizes around the
// tiles, with and without bias, and invalid output shapes.
#include "tests/cases/weights_form.h"

namespace deputy {
namespace {

struct ConvTransposeRow {
  Shape input;    // [batch, height, width, channels]
  Shape weights;  // [out, height, width, in]
  Shape output;   // the shape tensor, four elements
  int stride_y = 2, stride_x = 2;
  schema::Padding padding = kSame;
  bool bias = true;
  schema::ActivationFunctionType activation = schema::ActivationFunctionType::NONE;
  const char* refusal = "";
};

constexpr auto kNone = schema::ActivationFunctionType::NONE;

const ConvTransposeRow kConvTransposeRows[] = {
    {{1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}, 1, 1},
    {{1, 3, 4, 5}, {7, 3, 3, 5}, {1, 6, 8, 7}},
    {{2, 3, 4, 5}, {7, 3, 3, 5}, {2, 5, 8, 7}, 2, 2, kSame, false},
    {{1, 3, 4, 16}, {1, 2, 2, 16}, {1, 6, 8, 1}},
    {{1, 3, 4, 3}, {2, 3, 4, 3}, {1, 7, 10, 2}, 2, 2, kValid},
    {{1, 3, 3, 17},
     {65, 2, 3, 17},
     {1, 9, 12, 65},
     3,
     4,
     kSame,
     true,
     schema::ActivationFunctionType::RELU6},
    {{1, 4, 4, 2}, {3, 5, 5, 2}, {1, 4, 4, 3}, 1, 1},
    {{0, 4, 4, 2}, {3, 5, 5, 2}, {0, 8, 8, 3}},
    {{1, 20, 20, 24}, {16, 4, 4, 24}, {1, 40, 40, 16}},
    {{2, 5, 11, 6}, {3, 2, 2, 6}, {2, 10, 22, 3}},
    {{1, 4, 9, 16}, {2, 2, 2, 16}, {1, 8, 18, 2}, 2, 2, kValid, false},
    {{1, 3, 10, 5}, {40, 1, 3, 5}, {1, 3, 30, 40}, 1, 3},
    {{1, 3, 4, 5}, {7, 3, 3, 5}, {2, 6, 8, 7}, 2, 2, kSame, true, kNone, "expected 1 batches of 7"},
    {{1, 3, 4, 5}, {7, 3, 3, 5}, {1, 6, 8, 6}, 2, 2, kSame, true, kNone, "expected 1 batches of 7"},
    {{1, 3, 4, 5}, {7, 3, 3, 5}, {1, 9, 8, 7}, 2, 2, kSame, true, kNone, "height: an output of 9"},
    {{1, 3, 4, 5}, {7, 3, 3, 5}, {1, 6, 6, 7}, 2, 2, kSame, true, kNone, "width: an output of 6"},
    {{1, 3, 4, 5}, {7, 3, 3, 5}, {1, 0, 8, 7}, 2, 2, kSame, true, kNone, "an output of 0"},
    {{1, 3, 4, 5}, {7, 3, 3, 5}, {1, -6, 8, 7}, 2, 2, kSame, true, kNone, "dimensions from 0"},
    {{1, 3, 4, 5}, {7, 3, 3, 4}, {1, 6, 8, 7}, 2, 2, kSame, true, kNone, "expected dimension 3"},
    {{1, 3, 4, 5}, {7, 3, 3, 5}, {1, 6, 8, 7}, 0, 2, kSame, true, kNone, "strides: expected 1"},
};

OpCase MakeCase(CaseForm form, Known known, const ConvTransposeRow& row) {
  ModelBuilder builder;
  CaseInputs graph(&builder, known);
  const int channels = row.weights[0];
  const FormTensors t =
      TensorsOf(form, channels, 0, CountOf(row.weights) / static_cast<size_t>(channels) / 4 + 1);
  const int shape = graph.AddNumbers(kTfLiteInt32, {4}, row.output, "shape");
  const int weights = AddRandomConstant(&builder, t.weights, row.weights, 1, t.weights_extras);
  const int input = graph.Add(builder.AddTensor(t.data, row.input, "input", t.input_extras));
  const int bias = row.bias ? AddFormBias(&builder, t, channels, 2) : -1;
  const int output = builder.AddTensor(t.data, {1}, "output", t.output_extras);
  builder.AddOp(kTfLiteBuiltinTransposeConv, {shape, weights, input, bias}, {output},
                schema::CreateTransposeConvOptions(builder.fbb(), row.padding, row.stride_x,
                                                   row.stride_y, row.activation),
                4);
  const auto feeds = graph.Finish();
  builder.SetOutputs({output});
  return {std::string("TRANSPOSE_CONV ") + t.name + " " + Text(row.input) + Text(row.weights) +
              Text(row.output) + " " + schema::EnumNamePadding(row.padding) + " stride " +
              Text({row.stride_y, row.stride_x}) + graph.suffix(),
          Rule::kSum, builder.Finish(), row.refusal, feeds};
}

}  // namespace

std::vector<OpCase> ConvTransposeCases() {
  std::vector<OpCase> cases;
  for (const ConvTransposeRow& row : kConvTransposeRows) {
    for (CaseForm form : kAllForms) {
      cases.push_back(MakeCase(form, Known::kBefore, row));
      cases.push_back(MakeCase(form, Known::kAtRunTime, row));
    }
  }
  return cases;
}

}  // namespace deputy
