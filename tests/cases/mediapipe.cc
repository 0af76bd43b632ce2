// SPDX-License-Identifier: Apache-2.0
//
// Operator cases of MediaPipe's custom operators except Convolution2DTransposeBias: invalid shapes
// and options, and arbitrary indices.
#include <flatbuffers/flexbuffers.h>

#include <cstring>
#include <limits>

#include "c_api/include/builtin_op_data.h"
#include "tests/cases/case.h"

namespace deputy {
namespace {

// ---- MaxPoolingWithArgmax2D and MaxUnpooling2D ------------------------------------------------

struct Pooling {
  Shape shape;
  int filter_y = 2, filter_x = 2, stride_y = 2, stride_x = 2;
  int padding = kTfLitePaddingValid;
  const char* refusal = "";
  size_t options_size = sizeof(TfLitePoolParams);
  int activation = kTfLiteActNone;
  // Position in every window to which MaxUnpooling2D writes the value.
  float index = 0.1f;
  Shape indices = {};  // shape of the indices; empty: `shape`
};

constexpr int kMediapipeSame = kTfLitePaddingSame, kMediapipeValid = kTfLitePaddingValid;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

const Pooling kPoolings[] = {
    {{1, 4, 6, 3}},
    {{2, 5, 7, 33}, 3, 2, 1, 3, kMediapipeSame},
    {{1, 4, 6, 3}, 2, 2, 2, 2, kMediapipeSame, "", 24, kTfLiteActRelu},
    {{1, 4, 6, 3}, 2, 2, 2, 2, kMediapipeSame, "", 40, 1 << 20},
    {{1, 4, 6, 3}, INT32_MAX, INT32_MAX, 1, 1, kMediapipeSame},
    {{1, 2, 6, 3}, 3, 2, 2, 2},
    {{0, 4, 6, 3}},
    {{1, 4, 6, 0}},
    {{1, 2, 6, 3}, 9, 2, 2, 2, kMediapipeValid, "expected an input of 9 or more"},
    {{1, 4, 6, 3}, 2, 2, 2, 2, kTfLitePaddingUnknown, "expected SAME or VALID"},
    {{1, 4, 6, 3}, 2, 2, 2, 2, -9, "expected SAME or VALID"},
    {{1, 4, 6, 3}, 0, 2, 2, 2, kMediapipeSame, "1 or more, found 0, 2 and 1"},
    {{1, 4, 6, 3},
     2,
     2,
     2,
     INT32_MIN,
     kMediapipeSame,
     "expected filter, stride and dilation of 1 or more"},
    {{1, 4, 6, 3}, 2, 2, 2, 2, kMediapipeSame, "options: expected 24 bytes or more, found 23", 23},
    {{1, 4, 6, 3}, 2, 2, 2, 2, kMediapipeSame, "options: expected 24 bytes or more, found 0", 0},
    {{4, 6, 3}, 2, 2, 2, 2, kMediapipeSame, "expected 4 dimensions, found 3"},
};

const Pooling kUnpoolings[] = {
    {{1, 4, 6, 3}},
    {{2, 5, 7, 33}, 3, 2, 3, 2, kMediapipeSame, "", 24, kTfLiteActRelu, 5.1f},
    {{1, 4, 6, 3}, 3, 3, 2, 2, kMediapipeSame, "", 24, kTfLiteActNone, 8.1f},
    {{1, 1, 1, 1}, 2, 2, 2, 2, kMediapipeSame, "", 24, kTfLiteActNone, -0.5f},
    {{1, 0, 6, 3}},
    {{1, 4, 6, 3},
     2,
     2,
     2,
     2,
     kMediapipeSame,
     "expected indices from 0 to 3, found 4",
     24,
     0,
     4.0f},
    {{1, 4, 6, 3},
     2,
     2,
     2,
     2,
     kMediapipeSame,
     "expected indices from 0 to 3, found -1",
     24,
     0,
     -1.0f},
    {{1, 4, 6, 3}, 2, 2, 2, 2, kMediapipeSame, "expected indices from 0 to 3", 24, 0, kInfinity},
    {{1, 4, 6, 3},
     2,
     2,
     2,
     2,
     kMediapipeSame,
     "expected indices from 0 to 3",
     24,
     0,
     kInfinity - kInfinity},
    {{1, 4, 6, 3}, 2, 2, 2, 2, kMediapipeSame, "expected indices from 0 to 3", 24, 0, 3e38f},
    {{1, 4, 6, 3},
     2,
     2,
     3,
     3,
     kMediapipeSame,
     "expected a position inside it for window 0, 0, found -1, ",
     24,
     0},
    {{1, 2, 6, 3},
     2,
     2,
     INT32_MAX,
     2,
     kMediapipeSame,
     "expected a position inside it for window 0, 0",
     24,
     0},
    {{1, 4, 6, 3}, 1 << 30, 2, 2, 2, kMediapipeSame, "its dimension 1 would be 4294967296"},
    {{1, 4, 6, 3},
     2,
     0,
     2,
     2,
     kMediapipeSame,
     "filters and strides of 1 or more, found 2 x 0 and 2 x 2"},
    {{1, 4, 6, 3}, 2, 2, -2, 2, kMediapipeSame, "expected filters and strides of 1 or more"},
    {{1, 4, 6, 3}, 2, 2, 2, 2, kMediapipeSame, "options: expected 24 bytes or more, found 9", 9},
    {{1, 4, 6, 3},
     2,
     2,
     2,
     2,
     kMediapipeSame,
     "expected dimension 3 to be 3",
     24,
     0,
     0.1f,
     {1, 4, 6, 2}},
    {{4, 6, 3}, 2, 2, 2, 2, kMediapipeSame, "expected 4 dimensions, found 3"},
};

// Serialises the options; padding and activation may be invalid values.
std::vector<uint8_t> OptionsOf(const Pooling& row) {
  const int numbers[] = {row.padding,  row.stride_x, row.stride_y,
                         row.filter_x, row.filter_y, row.activation};
  std::vector<uint8_t> bytes(std::max(row.options_size, sizeof numbers));
  std::memcpy(bytes.data(), numbers, sizeof numbers);
  bytes.resize(row.options_size);
  return bytes;
}

std::string NameOf(const char* op, const Pooling& row) {
  return std::string(op) + " " + Text(row.shape) +
         Text({row.filter_y, row.filter_x, row.stride_y, row.stride_x}) + " padding " +
         std::to_string(row.padding) + " activation " + std::to_string(row.activation) +
         " options " + std::to_string(row.options_size) + " index " + std::to_string(row.index) +
         Text(row.indices);
}

OpCase MakePooling(const Pooling& row) {
  ModelBuilder m;
  const int input = m.AddTensor(kTfLiteFloat32, row.shape, "input");
  const int output = m.AddTensor(kTfLiteFloat32, {1}, "output");
  const int indices = m.AddTensor(kTfLiteFloat32, {1}, "indices");
  m.AddCustomOp("MaxPoolingWithArgmax2D", {input}, {output, indices}, OptionsOf(row));
  m.SetInputs({input});
  m.SetOutputs({output, indices});
  return {NameOf("MaxPoolingWithArgmax2D", row), Rule::kElement, m.Finish(), row.refusal};
}

OpCase MakeUnpooling(const Pooling& row, Known known) {
  ModelBuilder m;
  CaseInputs graph(&m, known);
  const int input = graph.Add(m.AddTensor(kTfLiteFloat32, row.shape, "input"));
  const Shape shape = row.indices.empty() ? row.shape : row.indices;
  const std::vector<float> numbers(CountOf(shape), row.index);
  const int indices = graph.AddNumbers(kTfLiteFloat32, shape, numbers, "indices");
  const int output = m.AddTensor(kTfLiteFloat32, {1}, "output");
  m.AddCustomOp("MaxUnpooling2D", {input, indices}, {output}, OptionsOf(row));
  const auto feeds = graph.Finish();
  m.SetOutputs({output});
  const bool late = std::strstr(row.refusal, "expected indices") != nullptr ||
                    std::strstr(row.refusal, "expected a position") != nullptr;
  return {NameOf("MaxUnpooling2D", row) + graph.suffix(),
          Rule::kElement,
          m.Finish(),
          row.refusal,
          feeds,
          late};
}

// ---- Operators of two tensors -----------------------------------------------------------------

struct Pair {
  const char* op;
  int version;
  Shape a, b, output;
  const char* refusal = "";
  float number = 0.5f;  // value of all elements of the second tensor
};

const Pair kPairs[] = {
    {"TransformLandmarks", 2, {1, 80, 3}, {1, 4, 4}, {1}},
    {"TransformLandmarks", 2, {1, 7, 2}, {8}, {1}, "", 3e38f},
    {"TransformLandmarks", 2, {1, 0, 3}, {1, 4, 4}, {1}},
    {"TransformLandmarks", 2, {1, 80, 4}, {1, 4, 4}, {1}, "expected dimension 2 to be 2 or 3"},
    {"TransformLandmarks", 2, {2, 80, 3}, {1, 4, 4}, {1}, "expected dimension 0 to be 1, found 2"},
    {"TransformLandmarks", 2, {1, 80, 3}, {7}, {1}, "expected 8 elements or more, found 7"},
    {"TransformLandmarks", 2, {1, 80, 3}, {0, 4}, {1}, "expected 8 elements or more, found 0"},
    {"TransformLandmarks", 2, {80, 3}, {1, 4, 4}, {1}, "expected 3 dimensions, found 2"},
    {"TransformTensorBilinear", 2, {1, 9, 7, 5}, {1, 4, 4}, {1, 3, 11, 5}},
    {"TransformTensorBilinear", 2, {1, 9, 7, 5}, {1, 4, 4}, {1, 3, 11, 5}, "", 3e38f},
    {"TransformTensorBilinear", 2, {1, 9, 7, 5}, {1, 4, 4}, {1, 3, 11, 5}, "", -kInfinity},
    {"TransformTensorBilinear", 2, {1, 0, 7, 5}, {1, 4, 4}, {1, 3, 11, 5}},
    {"TransformTensorBilinear", 2, {1, 9, 7, 5}, {1, 4, 4}, {1, 0, 11, 5}},
    {"TransformTensorBilinear", 2, {1, 9, 7, 5}, {7}, {1, 3, 11, 5}, "expected 8 elements or more"},
    {"TransformTensorBilinear",
     2,
     {1, 9, 7, 5},
     {8},
     {1, 3, 11, 4},
     "dimension 3 to be 5, found 4"},
    {"TransformTensorBilinear",
     2,
     {1, 9, 7, 5},
     {8},
     {2, 3, 11, 5},
     "dimension 0 to be 1, found 2"},
    {"TransformTensorBilinear",
     2,
     {2, 9, 7, 5},
     {8},
     {1, 3, 11, 5},
     "dimension 0 to be 1, found 2"},
    {"TransformTensorBilinear", 2, {1, 9, 7, 5}, {8}, {3, 11, 5}, "expected 4 dimensions, found 3"},
    {"Resampler", 1, {2, 5, 6, 3}, {2, 5, 6, 2}, {1}},
    {"Resampler", 1, {2, 5, 6, 3}, {2, 5, 6, 2}, {1}, "", kInfinity},
    {"Resampler", 1, {2, 5, 6, 3}, {2, 5, 6, 2}, {1}, "", kInfinity - kInfinity},
    {"Resampler", 1, {2, 5, 6, 3}, {2, 5, 6, 2}, {1}, "", -3e38f},
    {"Resampler", 1, {2, 0, 6, 3}, {2, 0, 6, 2}, {1}},
    {"Resampler", 1, {2, 5, 6, 3}, {2, 5, 6, 3}, {1}, "expected dimension 3 to be 2, found 3"},
    {"Resampler", 1, {2, 5, 6, 3}, {1, 5, 6, 2}, {1}, "expected dimension 0 to be 2, found 1"},
    {"Resampler", 1, {2, 5, 6, 3}, {2, 5, 5, 2}, {1}, "expected dimension 2 to be 6, found 5"},
    {"Resampler", 1, {5, 6, 3}, {1, 5, 6, 2}, {1}, "expected 4 dimensions, found 3"},
};

OpCase MakePair(const Pair& row, Known known) {
  ModelBuilder m;
  CaseInputs graph(&m, known);
  const int a = graph.Add(m.AddTensor(kTfLiteFloat32, row.a, "a"));
  const std::vector<float> numbers(CountOf(row.b), row.number);
  const int b = graph.AddNumbers(kTfLiteFloat32, row.b, numbers, "b");
  const int output = m.AddTensor(kTfLiteFloat32, row.output, "output");
  m.AddCustomOp(row.op, {a, b}, {output}, {}, row.version);
  const auto feeds = graph.Finish();
  m.SetOutputs({output});
  return {std::string(row.op) + " " + Text(row.a) + Text(row.b) + Text(row.output) + " of " +
              std::to_string(row.number) + graph.suffix(),
          Rule::kElement, m.Finish(), row.refusal, feeds};
}

// ---- Landmarks2TransformMatrix ----------------------------------------------------------------

struct ToMatrix {
  Shape shape = {1, 10, 3};
  std::vector<int32_t> subset = {1, 2, 3, 9};
  int left = 0, right = 4, height = 16, width = 24;
  float scale = 1.5f;
  const char* refusal = "";
  size_t options_size = 1000;
  bool typed = true;
};

const ToMatrix kToMatrices[] = {
    {},
    {.shape = {1, 1, 30}, .subset = {7}},
    {.shape = {1, 70000, 3}, .subset = {69999, 5}},
    {.subset = {}, .refusal = "options: subset_idxs: found none"},
    {.refusal = "options: subset_idxs: found none", .typed = false},
    {.subset = {1, 10}, .refusal = "expected landmark 10 among its 10"},
    {.subset = {-1, 1}, .refusal = "expected landmark -1 among its 10"},
    {.subset = {INT32_MAX, 1}, .refusal = "expected landmark 2147483647 among its 10"},
    {.left = -1, .refusal = "expected landmark -1 among its 10"},
    {.left = INT32_MIN, .refusal = "expected landmark -2147483648 among its 10"},
    {.right = 10, .refusal = "expected landmark 10 among its 10"},
    {.height = 0, .refusal = "expected an output of 1 x 1 or more, found 0 x 24"},
    {.width = -5, .refusal = "expected an output of 1 x 1 or more, found 16 x -5"},
    {.scale = 0, .refusal = "expected positive scales, found 0 and 0"},
    {.scale = kInfinity - kInfinity, .refusal = "expected positive scales"},
    {.shape = {1, 0, 3}, .refusal = "among its 0"},
    {.shape = {10, 3}, .refusal = "expected 3 dimensions, found 2"},
    {.refusal = "options: expected a FlexBuffers map", .options_size = 0},
    {.refusal = "options: expected a FlexBuffers map", .options_size = 3},
};

OpCase MakeToMatrix(const ToMatrix& row) {
  ModelBuilder m;
  const int input = m.AddTensor(kTfLiteFloat32, row.shape, "landmarks");
  const int output = m.AddTensor(kTfLiteFloat32, {1}, "output");
  flexbuffers::Builder options;
  options.Map([&] {
    if (row.typed) {
      options.Vector("subset_idxs", row.subset.data(), row.subset.size());
    } else {
      options.Vector("subset_idxs", [&] { options.String("1"); });
    }
    options.Int("left_rotation_idx", row.left);
    options.Int("right_rotation_idx", row.right);
    options.Int("output_height", row.height);
    options.Int("output_width", row.width);
    options.Float("target_rotation_radians", 0.25f);
    options.Float("scale_x", row.scale);
    options.Float("scale_y", row.scale);
  });
  options.Finish();
  std::vector<uint8_t> bytes = options.GetBuffer();
  if (bytes.size() > row.options_size) bytes.resize(row.options_size);
  m.AddCustomOp("Landmarks2TransformMatrix", {input}, {output}, bytes, 2);
  m.SetInputs({input});
  m.SetOutputs({output});
  return {"Landmarks2TransformMatrix " + Text(row.shape) + Text(row.subset) +
              Text({row.left, row.right, row.height, row.width}) + " scale " +
              std::to_string(row.scale) + " options " + std::to_string(row.options_size) +
              (row.typed ? "" : " of another type"),
          Rule::kSum, m.Finish(), row.refusal};
}

}  // namespace

std::vector<OpCase> MediapipeCases() {
  std::vector<OpCase> cases;
  for (const Pooling& row : kPoolings) cases.push_back(MakePooling(row));
  for (const Known known : {Known::kBefore, Known::kAtRunTime}) {
    for (const Pooling& row : kUnpoolings) cases.push_back(MakeUnpooling(row, known));
    for (const Pair& row : kPairs) cases.push_back(MakePair(row, known));
  }
  for (const ToMatrix& row : kToMatrices) cases.push_back(MakeToMatrix(row));
  return cases;
}

}  // namespace deputy
