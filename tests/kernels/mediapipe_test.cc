// SPDX-License-Identifier: Apache-2.0
//
// Compares MediaPipe's custom operators, for which TensorFlow Lite has no kernels, with results
// computed by hand. tests/cases/mediapipe.cc tests refusals.
#include <flatbuffers/flexbuffers.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "c_api/include/builtin_op_data.h"
#include "tests/support/model_builder.h"
#include "tests/support/test_interpreter.h"

namespace deputy::mediapipe_test {
namespace {

using testing::ElementsAre;
using testing::FloatNear;
using testing::Pointwise;

using Floats = std::vector<float>;

struct Tensor {
  std::vector<int32_t> shape;
  Floats values;
};

// Runs one operator and returns its outputs; `shapes` are the output shapes in the file.
std::vector<Floats> RunOperator(const char* op, const std::vector<Tensor>& inputs,
                                const std::vector<std::vector<int32_t>>& shapes,
                                const std::vector<uint8_t>& options, int version) {
  ModelBuilder m;
  std::vector<int32_t> input_tensors, output_tensors;
  for (const Tensor& input : inputs) {
    input_tensors.push_back(m.AddTensor(kTfLiteFloat32, input.shape));
  }
  for (const auto& shape : shapes) output_tensors.push_back(m.AddTensor(kTfLiteFloat32, shape));
  m.AddCustomOp(op, input_tensors, output_tensors, options, version);
  m.SetInputs(input_tensors);
  m.SetOutputs(output_tensors);
  TestInterpreter interpreter(m.Finish());
  std::vector<Floats> outputs(shapes.size());
  if (interpreter.get() == nullptr || interpreter.Allocate() != kTfLiteOk) {
    ADD_FAILURE() << interpreter.log();
    return outputs;
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    interpreter.Set<float>(static_cast<int>(i), inputs[i].values);
  }
  EXPECT_EQ(interpreter.Invoke(), kTfLiteOk) << interpreter.log();
  for (size_t i = 0; i < shapes.size(); ++i) {
    outputs[i] = interpreter.Get<float>(static_cast<int>(i));
  }
  return outputs;
}

std::vector<uint8_t> PoolOptions(TfLitePadding padding, int filter, int stride,
                                 TfLiteFusedActivation activation = kTfLiteActNone) {
  TfLitePoolParams params = {};
  params.padding = padding;
  params.filter_height = params.filter_width = filter;
  params.stride_height = params.stride_width = stride;
  params.activation = activation;
  std::vector<uint8_t> bytes(sizeof params);
  std::memcpy(bytes.data(), &params, sizeof params);
  return bytes;
}

std::vector<Floats> Pool(const Tensor& input, const std::vector<uint8_t>& options) {
  return RunOperator("MaxPoolingWithArgmax2D", {input}, {{1}, {1}}, options, 1);
}

TEST(MediapipePooling, returns_the_first_of_equal_maxima) {
  const auto out = Pool({{1, 2, 4, 1},
                         {1, 5, 2, 2,  // row 0
                          3, 4, 9, 9}},
                        PoolOptions(kTfLitePaddingValid, 2, 2));
  EXPECT_THAT(out[0], ElementsAre(5, 9));
  EXPECT_THAT(out[1], ElementsAre(1 + 0.1f, 2 + 0.1f));
}

TEST(MediapipePooling, counts_taps_in_the_padding) {
  const auto out = Pool({{1, 2, 2, 1}, {1, 2, 3, 4}}, PoolOptions(kTfLitePaddingSame, 3, 1));
  EXPECT_THAT(out[0], ElementsAre(4, 4, 4, 4));
  EXPECT_THAT(out[1], ElementsAre(8 + 0.1f, 7 + 0.1f, 5 + 0.1f, 4 + 0.1f));
}

TEST(MediapipePooling, clamps_values_and_separates_channels) {
  const auto out = Pool({{2, 1, 2, 2},
                         {-1, 7, -2, 3,  // image 0
                          2, 3, 4, 5}},
                        PoolOptions(kTfLitePaddingSame, 2, 2, kTfLiteActRelu6));
  EXPECT_THAT(out[0], ElementsAre(0, 6, 4, 5));
  EXPECT_THAT(out[1], ElementsAre(0.1f, 0.1f, 1 + 0.1f, 1 + 0.1f));
}

TEST(MediapipePooling, nothing_is_greater_than_nan) {
  const auto out = Pool({{1, 1, 2, 1}, {NAN, NAN}}, PoolOptions(kTfLitePaddingSame, 2, 2));
  EXPECT_THAT(out[0], ElementsAre(std::numeric_limits<float>::lowest()));
  EXPECT_THAT(out[1], ElementsAre(0.1f));
}

TEST(MediapipeUnpooling, restores_values_to_their_positions) {
  const auto out =
      RunOperator("MaxUnpooling2D", {{{1, 1, 2, 1}, {5, 9}}, {{1, 1, 2, 1}, {1.1f, 2.1f}}}, {{1}},
                  PoolOptions(kTfLitePaddingValid, 2, 2), 1);
  EXPECT_THAT(out[0], ElementsAre(0, 5, 0, 0,  // row 0
                                  0, 0, 9, 0));
}

TEST(MediapipeUnpooling, keeps_batch_elements_separate) {
  const auto out =
      RunOperator("MaxUnpooling2D", {{{2, 1, 1, 1}, {5, 9}}, {{2, 1, 1, 1}, {1.1f, 2.1f}}}, {{1}},
                  PoolOptions(kTfLitePaddingValid, 2, 2), 1);
  EXPECT_THAT(out[0], ElementsAre(0, 5, 0, 0,  // image 0
                                  0, 0, 9, 0));
}

TEST(MediapipeUnpooling, the_last_value_of_a_position_is_kept) {
  // Windows of 3 by 3 with a stride of 2: the second window begins at the last column of the first.
  const auto out =
      RunOperator("MaxUnpooling2D", {{{1, 1, 2, 1}, {5, 9}}, {{1, 1, 2, 1}, {2.1f, 0.1f}}}, {{1}},
                  PoolOptions(kTfLitePaddingSame, 3, 2), 1);
  EXPECT_THAT(out[0], ElementsAre(0, 0, 9, 0, 0, 0,  // row 0
                                  0, 0, 0, 0, 0, 0,  // row 1
                                  0, 0, 0, 0, 0, 0));
}

const Floats kMatrix = {2, 0, 9, 1,   // x
                        0, 3, 9, -1,  // y
                        0, 0, 1, 0,   // z
                        0, 0, 0, 1};

TEST(MediapipeLandmarks, are_transformed_in_two_coordinates) {
  const auto out = RunOperator(
      "TransformLandmarks", {{{1, 2, 3}, {1, 2, 7, 0, -1, 5}}, {{1, 4, 4}, kMatrix}}, {{1}}, {}, 2);
  EXPECT_THAT(out[0], ElementsAre(3, 5, 7, 1, -4, 5));
  const auto flat = RunOperator("TransformLandmarks",
                                {{{1, 2, 2}, {1, 2, 0, -1}}, {{1, 4, 4}, kMatrix}}, {{1}}, {}, 2);
  EXPECT_THAT(flat[0], ElementsAre(3, 5, 1, -4));
}

TEST(MediapipeTensor, is_sampled_at_pixel_centers) {
  const Tensor ramp = {{1, 3, 4, 1}, {0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23}};
  const Tensor same = {{4, 4}, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}};
  const auto out = RunOperator("TransformTensorBilinear", {ramp, same}, {{1, 2, 2, 1}}, {}, 2);
  EXPECT_THAT(out[0], ElementsAre(0, 1, 10, 11));
  // The factor of two samples at 0.5, 2.5 and 4.5, of which the last is outside of the image.
  const Tensor twice = {{4, 4}, {2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}};
  const auto far = RunOperator("TransformTensorBilinear", {ramp, twice}, {{1, 1, 3, 1}}, {}, 2);
  EXPECT_THAT(far[0], ElementsAre(5.5f, 7.5f, 0));
  // A position beyond the last row by less than a pixel is outside, too.
  const Tensor moved = {{4, 4}, {1, 0, 0, 0, 0, 1, 0, 1.5f, 0, 0, 1, 0, 0, 0, 0, 1}};
  const auto edge = RunOperator("TransformTensorBilinear", {ramp, moved}, {{1, 2, 1, 1}}, {}, 2);
  EXPECT_THAT(edge[0], ElementsAre(15, 0));
}

std::vector<uint8_t> MatrixOptions() {
  flexbuffers::Builder options;
  options.Map([&] {
    const int32_t subset[] = {2, 3, 2};
    options.Vector("subset_idxs", subset, std::size(subset));
    options.Int("left_rotation_idx", 0);
    options.Int("right_rotation_idx", 1);
    options.Int("output_height", 8);
    options.Int("output_width", 16);
    options.Float("target_rotation_radians", 0.0f);
    options.Float("scale_x", 1.5f);
    options.Float("scale_y", 2.0f);
  });
  options.Finish();
  return options.GetBuffer();
}

TEST(MediapipeMatrix, maps_the_output_to_the_bounding_box_of_the_landmarks) {
  // The landmarks' box is 4 x 8 around (4, 7); with the options' scales it becomes 6 x 16.
  const Tensor upright = {{1, 4, 3}, {0, 0, 1, 10, 0, 1, 2, 3, 1, 6, 11, 1}};
  const auto out = RunOperator("Landmarks2TransformMatrix", {upright}, {{1}}, MatrixOptions(), 2);
  EXPECT_THAT(out[0], ElementsAre(0.375f, 0, 0, 1,  // x
                                  0, 2, 0, -1,      // y
                                  0, 0, 1, 0,       // z
                                  0, 0, 0, 1));
}

TEST(MediapipeMatrix, rotates_with_the_line_between_two_landmarks) {
  // The box is rotated by a right angle: it is 8 wide along y and 4 high along -x.
  const Tensor turned = {{1, 4, 3}, {0, 0, 1, 0, 10, 1, 2, 3, 1, 6, 11, 1}};
  const auto out = RunOperator("Landmarks2TransformMatrix", {turned}, {{1}}, MatrixOptions(), 2);
  const Floats expected = {0, -1, 0, 8, 0.75f, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 1};
  EXPECT_THAT(out[0], Pointwise(FloatNear(1e-5f), expected));
}

TEST(MediapipeResampler, interpolates_four_pixels_with_zeros_outside) {
  const Tensor image = {{1, 2, 3, 1}, {1, 2, 5, 3, 4, 6}};
  const Tensor warp = {{1, 2, 3, 2}, {1, 0, 0.5f, 0.5f, -0.5f, 0, 3, 0, 2.5f, 1.5f, NAN, 0}};
  const auto out = RunOperator("Resampler", {image, warp}, {{1}}, {}, 1);
  EXPECT_THAT(out[0], ElementsAre(2, 2.5f, 0.5f, 0, 1.5f, 0));
}

TEST(MediapipeResampler, samples_each_batch_element) {
  const Tensor images = {{2, 1, 1, 2}, {1, 2, 3, 4}};
  const Tensor warp = {{2, 1, 1, 2}, {0, 0, 0.25f, 0}};
  const auto out = RunOperator("Resampler", {images, warp}, {{1}}, {}, 1);
  EXPECT_THAT(out[0], ElementsAre(1, 2, 2.25f, 3));
}

}  // namespace
}  // namespace deputy::mediapipe_test
