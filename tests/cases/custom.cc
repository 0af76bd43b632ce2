// SPDX-License-Identifier: Apache-2.0
//
// Operator cases of the custom operators Convolution2DTransposeBias and
// TFLite_Detection_PostProcess, which Deputy includes.
#include <flatbuffers/flexbuffers.h>

#include <cstring>

#include "c_api/include/builtin_op_data.h"
#include "tests/cases/case.h"

namespace deputy {
namespace {

struct CustomRow {
  Shape input;    // [batch, height, width, channels]
  Shape weights;  // [out, height, width, in]
  TfLitePadding padding = kTfLitePaddingSame;
  int stride_y = 2, stride_x = 2;
  size_t options_size = 12;
  const char* refusal = "";
};

const CustomRow kCustomRows[] = {
    {{1, 1, 1, 1}, {1, 1, 1, 1}},
    {{1, 5, 6, 16}, {1, 2, 2, 16}},
    {{2, 3, 4, 7}, {9, 3, 3, 7}, kTfLitePaddingValid, 2, 3},
    {{2, 3, 4, 7}, {9, 4, 4, 7}, kTfLitePaddingSame, 1, 2, sizeof(TfLiteTransposeConvParams)},
    {{1, 3, 4, 7}, {9, 3, 3, 7}, kTfLitePaddingSame, 2, 2, 8, "options: expected 12 bytes"},
    {{1, 3, 4, 7}, {9, 3, 3, 7}, kTfLitePaddingSame, 2, 2, 0, "options: expected 12 bytes"},
    {{1, 3, 4, 7}, {9, 3, 3, 7}, kTfLitePaddingUnknown, 2, 2, 12, "expected SAME or VALID"},
    {{1, 3, 4, 7}, {9, 3, 3, 7}, kTfLitePaddingSame, 0, 2, 12, "strides: expected 1 or more"},
    {{1, 3, 4, 7}, {9, 3, 3, 7}, kTfLitePaddingSame, 2, -1, 12, "strides: expected 1 or more"},
    {{1, 3, 4, 7},
     {9, 3, 3, 7},
     kTfLitePaddingSame,
     1 << 30,
     2,
     12,
     "its height and width would be"},
    {{1, 3, 4, 7}, {9, 3, 3, 6}, kTfLitePaddingSame, 2, 2, 12, "expected dimension 3 to be 7"},
    {{3, 4, 7}, {9, 3, 3, 7}, kTfLitePaddingSame, 2, 2, 12, "expected 4 dimensions"},
};

OpCase MakeCase(const CustomRow& row) {
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

struct PostProcess {
  int boxes = 9, classes = 3, background = 1, most = 4, each = 2, per_class = 3;
  bool regular = false;
  double overlap = 0.5;
  size_t options_size = 1000;  // the options are truncated to this number of bytes
  const char* refusal = "";
};

const PostProcess kPostProcesses[] = {
    {},
    {.regular = true},
    {.boxes = 40, .classes = 1, .background = 0, .most = 7, .each = 1},
    {.boxes = 0},
    {.each = 5},
    {.most = 0},
    {.most = -1, .refusal = "expected positive numbers, found max_detections -1"},
    {.each = 0, .refusal = "max_classes_per_detection 0"},
    {.per_class = 0, .regular = true, .refusal = "detections_per_class 0"},
    {.most = 1 << 30, .each = 1 << 30, .refusal = "options: too many detections"},
    {.overlap = 0, .refusal = "expected nms_iou_threshold from 0 to 1, found 0"},
    {.classes = 4, .background = 3, .refusal = "expected 4 classes, optionally with a background"},
    {.classes = 0, .refusal = "num_classes 0"},
    {.options_size = 0, .refusal = "options: expected a FlexBuffers map"},
    {.options_size = 2, .refusal = "options: expected a FlexBuffers map"},
};

std::vector<uint8_t> OptionsOf(const PostProcess& row) {
  flexbuffers::Builder builder;
  builder.Map([&] {
    builder.Int("max_detections", row.most);
    builder.Int("max_classes_per_detection", row.each);
    builder.Int("detections_per_class", row.per_class);
    builder.Bool("use_regular_nms", row.regular);
    builder.Int("num_classes", row.classes);
    builder.Double("nms_iou_threshold", row.overlap);
    builder.Float("nms_score_threshold", -9.0f);
    for (const char* name : {"y_scale", "x_scale", "h_scale", "w_scale"}) builder.Int(name, 5);
  });
  builder.Finish();
  std::vector<uint8_t> bytes = builder.GetBuffer();
  if (bytes.size() > row.options_size) bytes.resize(row.options_size);
  return bytes;
}

OpCase MakePostProcess(const PostProcess& row) {
  ModelBuilder builder;
  const int boxes = builder.AddTensor(kTfLiteFloat32, {1, row.boxes, 4}, "boxes");
  const int scores =
      builder.AddTensor(kTfLiteFloat32, {1, row.boxes, row.classes + row.background}, "scores");
  std::vector<float> places(static_cast<size_t>(row.boxes) * 4, 0.5f);
  for (size_t i = 0; i < places.size(); i += 4) places[i] = static_cast<float>(i % 9) * 0.1f;
  const int anchors = builder.AddConstant<float>(kTfLiteFloat32, {row.boxes, 4}, places, "anchors");
  std::vector<int32_t> outputs;
  for (int i = 0; i < 4; ++i) outputs.push_back(builder.AddTensor(kTfLiteFloat32, {1}, "output"));
  builder.AddCustomOp("TFLite_Detection_PostProcess", {boxes, scores, anchors}, outputs,
                      OptionsOf(row));
  builder.SetInputs({boxes, scores});
  builder.SetOutputs(outputs);
  return {"TFLite_Detection_PostProcess " +
              Text({row.boxes, row.classes, row.background, row.most, row.each, row.per_class,
                    row.regular ? 1 : 0, static_cast<int32_t>(row.options_size)}) +
              " overlap " + std::to_string(row.overlap),
          Rule::kElement, builder.Finish(), row.refusal};
}

}  // namespace

std::vector<OpCase> CustomCases() {
  std::vector<OpCase> cases;
  for (const CustomRow& row : kCustomRows) cases.push_back(MakeCase(row));
  for (const PostProcess& row : kPostProcesses) cases.push_back(MakePostProcess(row));
  return cases;
}

}  // namespace deputy
