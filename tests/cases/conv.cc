// SPDX-License-Identifier: Apache-2.0
//
// Operator cases of CONV_2D and DEPTHWISE_CONV_2D: sizes around every tile edge, strides,
// dilations, paddings, groups, and invalid parameters.
#include "tests/cases/weights_form.h"

namespace deputy {
namespace {

struct ConvRow {
  Shape input;   // [batch, height, width, channels]
  Shape filter;  // CONV_2D [out, height, width, in]; DEPTHWISE [1, height, width, out]
  schema::Padding padding = kSame;
  int stride_y = 1, stride_x = 1;
  int dilation_y = 1, dilation_x = 1;
  schema::ActivationFunctionType activation = schema::ActivationFunctionType::NONE;
  const char* refusal = "";
};

const ConvRow kConvRows[] = {
    {{1, 1, 1, 1}, {1, 1, 1, 1}},
    {{1, 5, 5, 3}, {8, 3, 3, 3}},
    {{1, 5, 5, 3}, {8, 3, 3, 3}, kValid},
    {{2, 7, 6, 3}, {17, 3, 3, 3}, kSame, 2, 2},
    {{1, 9, 8, 5}, {4, 5, 3, 5}, kValid, 2, 1},
    {{1, 9, 9, 4}, {7, 3, 3, 4}, kSame, 1, 1, 2, 2},
    {{1, 9, 12, 2}, {3, 2, 4, 2}, kSame, 2, 3, 1, 2},
    {{1, 6, 6, 16}, {16, 1, 1, 16}},
    {{1, 6, 6, 15}, {33, 1, 1, 15}, kSame, 1, 1, 1, 1, schema::ActivationFunctionType::RELU6},
    {{1, 7, 7, 8}, {9, 1, 1, 8}, kSame, 2, 2},
    {{3, 4, 4, 8}, {12, 2, 2, 8}, kValid, 1, 1, 1, 1, schema::ActivationFunctionType::RELU},
    {{1, 4, 4, 6}, {4, 3, 3, 3}},
    {{2, 3, 3, 8}, {12, 2, 2, 2}},
    {{2, 5, 3, 12}, {6, 1, 1, 4}},
    {{1, 2, 2, 1}, {3, 4, 4, 1}},
    {{1, 2, 2, 1}, {3, 3, 3, 1}, kValid},
    {{0, 4, 4, 2}, {3, 3, 3, 2}},
    {{1, 24, 24, 24}, {40, 3, 3, 24}},
    {{1, 20, 21, 64}, {130, 1, 1, 64}},
    // Several tiles of output columns per row. With SAME padding, windows extend beyond the image.
    {{2, 6, 35, 3}, {24, 3, 3, 3}, kSame, 2, 2},
    {{1, 5, 20, 6}, {16, 3, 3, 6}, kSame, 2, 1},
    {{1, 9, 20, 4}, {5, 5, 5, 4}, kSame, 1, 1, 2, 1},
    {{2, 7, 19, 7}, {48, 3, 2, 7}, kValid, 1, 1},
    {{1, 11, 17, 8}, {1, 3, 3, 8}, kSame, 1, 1},
    {{1, 5, 18, 5}, {2, 2, 3, 5}, kSame, 1, 2, 1, 1, schema::ActivationFunctionType::RELU6},
    {{1, 3, 40, 2}, {33, 7, 3, 2}},
    {{2, 9, 8, 16}, {40, 1, 1, 16}, kValid, 3, 2},
    {{1, 70, 9, 3}, {65, 3, 3, 3}, kSame, 1, 1},
    // One and a half panels of columns, and left sides with more rows than one microkernel call
    // processes.
    {{1, 61, 66, 3}, {24, 5, 5, 3}, kSame, 2, 2, 1, 1, schema::ActivationFunctionType::RELU},
    {{2, 27, 133, 3}, {88, 3, 3, 3}, kSame, 2, 2, 1, 1, schema::ActivationFunctionType::RELU6},
    {{1, 35, 131, 58}, {36, 3, 3, 58}, kSame, 2, 2},
    {{1, 121, 5, 2}, {20, 3, 3, 2}},
    {{1, 13, 17, 28}, {20, 1, 1, 28}},
    {{2, 8, 11, 42}, {56, 1, 1, 42}, kSame, 1, 1, 1, 1, schema::ActivationFunctionType::RELU},
    {{1, 2, 2, 1}, {1, 4, 4, 1}, kValid, 1, 1, 1, 1, {}, "height: expected an input of 4"},
    {{1, 4, 4, 5}, {2, 3, 3, 2}, kSame, 1, 1, 1, 1, {}, "divisor of the input's 5 channels"},
    {{1, 4, 4, 4}, {3, 3, 3, 2}, kSame, 1, 1, 1, 1, {}, "output channels for 2 groups"},
    {{1, 4, 4, 2}, {3, 3, 3, 2}, kSame, 0, 1, 1, 1, {}, "height: expected filter, stride"},
    {{1, 4, 4, 2}, {3, 3, 3, 2}, kSame, 1, -1, 1, 1, {}, "width: expected filter, stride"},
    {{1, 4, 4, 2}, {3, 3, 3, 2}, kSame, 1, 1, 0, 1, {}, "height: expected filter, stride"},
    {{1, 4, 4, 2}, {3, 0, 3, 2}, kSame, 1, 1, 1, 1, {}, "expected dimension 1"},
    {{1, 0, 4, 2}, {3, 3, 3, 2}, kSame, 1, 1, 1, 1, {}, "expected dimension 1"},
    {{4, 4, 2}, {3, 3, 3, 2}, kSame, 1, 1, 1, 1, {}, "expected 4 dimensions, found 3"},
};

const ConvRow kDepthwiseRows[] = {
    {{1, 1, 1, 1}, {1, 1, 1, 1}},
    {{1, 5, 5, 3}, {1, 3, 3, 3}},
    {{1, 5, 6, 8}, {1, 3, 3, 8}, kValid},
    {{2, 7, 6, 16}, {1, 3, 3, 16}, kSame, 2, 2},
    {{1, 9, 9, 33}, {1, 5, 5, 33}, kSame, 1, 1, 1, 1, schema::ActivationFunctionType::RELU6},
    {{1, 9, 8, 40}, {1, 2, 3, 40}, kSame, 2, 1},
    {{1, 9, 9, 4}, {1, 3, 3, 4}, kSame, 1, 1, 2, 2},
    {{1, 5, 5, 4}, {1, 3, 3, 8}},
    {{1, 5, 5, 1}, {1, 3, 3, 5}, kValid, 1, 1, 1, 1, schema::ActivationFunctionType::RELU},
    {{1, 1, 1, 70}, {1, 3, 3, 70}},
    {{0, 4, 4, 2}, {1, 3, 3, 2}},
    {{1, 40, 40, 48}, {1, 3, 3, 48}},
    // Vectors that span several pixels, and every number of remaining columns at the end of a row.
    {{1, 4, 37, 1}, {1, 3, 3, 1}},
    {{2, 5, 50, 3}, {1, 3, 3, 3}, kSame, 2, 1},
    {{1, 6, 45, 8}, {1, 3, 3, 8}, kSame, 1, 1, 2, 2},
    {{1, 5, 23, 24}, {1, 5, 5, 24}},
    {{1, 3, 19, 36}, {1, 3, 3, 36}, kValid},
    {{1, 4, 21, 65}, {1, 3, 3, 65}},
    {{1, 3, 31, 20}, {1, 3, 3, 20}, kSame, 1, 2},
    {{1, 3, 10, 80}, {1, 3, 3, 80}, kValid},
    {{1, 3, 12, 96}, {1, 3, 3, 96}, kSame, 2, 2, 1, 1, schema::ActivationFunctionType::RELU},
    {{1, 4, 9, 130}, {1, 3, 3, 130}, kValid},
    {{1, 2, 3, 16}, {1, 5, 5, 16}},
    // Groups of four, two and one columns that share loads, and overlapping groups of eight.
    {{1, 5, 11, 144}, {1, 3, 3, 144}},
    {{2, 4, 8, 64}, {1, 3, 3, 64}, kSame, 1, 1, 1, 1, schema::ActivationFunctionType::RELU6},
    {{1, 3, 6, 200}, {1, 3, 3, 200}, kValid},
    {{1, 3, 17, 40}, {1, 3, 3, 40}},
    {{1, 4, 7, 70}, {1, 3, 3, 70}, kSame, 2, 1},
    {{1, 3, 25, 35}, {1, 5, 5, 35}, kSame, 1, 2},
    // Rows that are computed in pairs: filters that begin in the first or second row of a pair,
    // channels in several parts, few columns, few channels.
    {{1, 7, 60, 136}, {1, 3, 3, 136}},
    {{2, 9, 11, 72}, {1, 5, 5, 72}, kSame, 2, 2},
    {{1, 8, 10, 20}, {1, 5, 5, 20}, kValid, 2, 1, 1, 1, schema::ActivationFunctionType::RELU6},
    {{1, 9, 9, 12}, {1, 3, 3, 12}, kValid, 1, 2},
    {{2, 6, 3, 8}, {1, 3, 3, 8}},
    {{1, 3, 70, 5}, {1, 5, 5, 5}, kSame, 1, 3},
    // Images of width 1.
    {{8, 20, 1, 24}, {1, 5, 1, 24}},
    {{9, 13, 1, 32}, {1, 3, 1, 32}, kSame, 2, 1},
    {{1, 4, 4, 2}, {1, 3, 3, 3}, kSame, 1, 1, 1, 1, {}, "multiple of the input's 2 channels"},
    {{1, 4, 4, 2}, {2, 3, 3, 2}, kSame, 1, 1, 1, 1, {}, "expected dimension 0 to be 1"},
    {{1, 4, 4, 2}, {1, 3, 3, 2}, kSame, 0, 1, 1, 1, {}, "height: expected filter, stride"},
    {{1, 4, 4, 0}, {1, 3, 3, 0}, kSame, 1, 1, 1, 1, {}, "expected dimension 3"},
};

OpCase MakeCase(bool depthwise, CaseForm form, const ConvRow& row) {
  ModelBuilder builder;
  const int channel_axis = depthwise ? 3 : 0;
  const int channels = row.filter[static_cast<size_t>(channel_axis)];
  const size_t depth = CountOf(row.filter) / static_cast<size_t>(std::max(channels, 1));
  const FormTensors t = TensorsOf(form, channels, channel_axis, depth);
  const int input = builder.AddTensor(t.data, row.input, "input", t.input_extras);
  const int filter = AddRandomConstant(&builder, t.weights, row.filter, 1, t.weights_extras);
  const int bias = AddFormBias(&builder, t, channels, 2);
  const int output = builder.AddTensor(t.data, {1}, "output", t.output_extras);
  if (depthwise) {
    builder.AddOp(
        kTfLiteBuiltinDepthwiseConv2d, {input, filter, bias}, {output},
        schema::CreateDepthwiseConv2DOptions(builder.fbb(), row.padding, row.stride_x, row.stride_y,
                                             1, row.activation, row.dilation_x, row.dilation_y));
  } else {
    builder.AddOp(
        kTfLiteBuiltinConv2d, {input, filter, bias}, {output},
        schema::CreateConv2DOptions(builder.fbb(), row.padding, row.stride_x, row.stride_y,
                                    row.activation, row.dilation_x, row.dilation_y));
  }
  builder.SetInputs({input});
  builder.SetOutputs({output});
  std::string name = depthwise ? "DEPTHWISE_CONV_2D " : "CONV_2D ";
  name += std::string(t.name) + " " + Text(row.input) + Text(row.filter) + " " +
          schema::EnumNamePadding(row.padding) + " stride " + Text({row.stride_y, row.stride_x}) +
          " dilation " + Text({row.dilation_y, row.dilation_x});
  return {name, Rule::kSum, builder.Finish(), row.refusal};
}

}  // namespace

std::vector<OpCase> ConvCases() {
  std::vector<OpCase> cases;
  const auto add = [&](bool depthwise, const ConvRow& row) {
    for (CaseForm form : kAllForms) {
      // Quantisation per channel requires at least one channel.
      const int channels = row.filter[depthwise ? 3 : 0];
      if (channels == 0 && form != CaseForm::kFloat && form != CaseForm::kInt8) continue;
      cases.push_back(MakeCase(depthwise, form, row));
    }
    for (CaseForm form : kPackedForms) {
      if (row.filter[depthwise ? 3 : 0] == 0) continue;
      OpCase one = MakeCase(depthwise, form, row);
      const bool taken = !depthwise || form == CaseForm::kInt8Packed;
      if (!taken) one.refusal = "expected type";
      cases.push_back(std::move(one));
    }
  };
  for (const ConvRow& row : kConvRows) add(false, row);
  for (const ConvRow& row : kDepthwiseRows) add(true, row);
  return cases;
}

}  // namespace deputy
