// SPDX-License-Identifier: Apache-2.0
//
// Tests functions on vectors, spectrograms and the output shape of RESHAPE.
#include "tensorflow/lite/kernels/internal/tensor_utils.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdarg>
#include <cstdint>
#include <vector>

#include "tensorflow/lite/kernels/internal/reshape_utils.h"
#include "tensorflow/lite/kernels/internal/spectrogram.h"

namespace deputy::tensor_utils_test {
namespace {

namespace utils = tflite::tensor_utils;
using Bytes = std::vector<int8_t>;
using Floats = std::vector<float>;

TEST(TensorUtilsTest, quantises_with_and_without_zero_point) {
  const Floats values = {-1, 0.75f, 2};
  Bytes bytes(3);
  float min = 0;
  float max = 0;
  float scale = 0;
  int32_t offset = 0;
  utils::SymmetricQuantizeFloats(values.data(), 3, bytes.data(), &min, &max, &scale);
  EXPECT_EQ(bytes, (Bytes{-64, 48, 127}));
  EXPECT_FLOAT_EQ(scale, 2.0f / 127);
  utils::AsymmetricQuantizeFloats(values.data(), 3, bytes.data(), &scale, &offset);
  EXPECT_EQ(bytes, (Bytes{-128, 21, 127}));
  EXPECT_EQ(offset, -43);
  const Floats zeros = {0, 0};
  utils::AsymmetricQuantizeFloats(zeros.data(), 2, bytes.data(), &scale, &offset);
  EXPECT_EQ(scale, 1);
}

TEST(TensorUtilsTest, multiplies_matrices_by_batches) {
  const Floats matrix = {1, 2, 3, 4};
  const Floats vectors = {1, 1, 0, 2};
  Floats result = {100, 0, 0, 0};
  utils::MatrixBatchVectorMultiplyAccumulate(matrix.data(), 2, 2, vectors.data(), 2, result.data());
  EXPECT_EQ(result, (Floats{103, 7, 4, 8}));
  const Bytes weights = {1, 2, 3, 4};
  const Bytes quantized = {5, 5, 1, 3};
  const Floats scales = {0.5f, 2};
  const Floats row_scales = {1, 10};
  const std::vector<int32_t> offsets = {4, 1};
  result.assign(4, 0.0f);
  utils::MatrixBatchVectorMultiplyAccumulate(weights.data(), 2, 2, quantized.data(), scales.data(),
                                             2, result.data(), row_scales.data(), offsets.data());
  EXPECT_EQ(result, (Floats{1.5f, 35, 8, 160}));
}

TEST(TensorUtilsTest, packs_and_unpacks_small_integers) {
  const Bytes nibbles = {-8, 7, -1};
  Bytes packed(2);
  utils::PackInt8IntoDenseInt(nibbles.data(), 3, 4, packed.data());
  EXPECT_EQ(packed, (Bytes{0x78, 0x0f}));
  Bytes unpacked(3);
  utils::UnpackDenseInt4IntoInt8(packed.data(), 3, unpacked.data());
  EXPECT_EQ(unpacked, nibbles);
  const Bytes pairs = {-2, 1, 0, -1, 1};
  utils::PackInt8IntoDenseInt(pairs.data(), 5, 2, packed.data());
  unpacked.resize(5);
  utils::UnpackPackedIntToInt8(packed.data(), 5, 2, unpacked.data());
  EXPECT_EQ(unpacked, pairs);
  utils::UnpackPackedIntToInt8(packed.data(), 5, 2, unpacked.data(), true);
  EXPECT_EQ(unpacked, (Bytes{2, 1, 0, 3, 1}));
}

TEST(TensorUtilsTest, vectors) {
  Floats values = {1, 2, 3, 4};
  const Floats vector = {10, 20};
  utils::VectorBatchVectorAdd(vector.data(), 2, 2, values.data());
  EXPECT_EQ(values, (Floats{11, 22, 13, 24}));
  utils::CwiseClipping(values.data(), 4, 13.0f);
  EXPECT_EQ(values, (Floats{11, 13, 13, 13}));
  Floats sums(2);
  utils::ReductionSumVector(values.data(), sums.data(), 2, 2);
  EXPECT_EQ(sums, (Floats{24, 26}));
  EXPECT_EQ(utils::VectorVectorDotProduct(vector.data(), sums.data(), 2), 760);
  const Floats two = {1, 3};
  utils::MeanStddevNormalization(two.data(), sums.data(), 2, 1);
  EXPECT_NEAR(sums[0], -1, 1e-6);
  EXPECT_NEAR(sums[1], 1, 1e-6);
  utils::ApplyActivationToVector(two.data(), 2, kTfLiteActSigmoid, sums.data());
  EXPECT_NEAR(sums[1], 1 / (1 + std::exp(-3.0f)), 1e-6);
}

// A cosine with two periods per window has its energy in channel 2 and, because of the window, in
// its neighbours.
TEST(SpectrogramTest, finds_a_frequency_in_parts_of_audio) {
  tflite::internal::Spectrogram spectrogram;
  ASSERT_TRUE(spectrogram.Initialize(16, 8));
  EXPECT_EQ(spectrogram.output_frequency_channels(), 9);
  std::vector<std::vector<float>> frames;
  size_t count = 0;
  for (int part = 0; part < 4; ++part) {
    Floats audio;
    for (int i = 0; i < 8; ++i) {
      audio.push_back(std::cos(2 * 3.14159265f * 2 * static_cast<float>(part * 8 + i) / 16));
    }
    ASSERT_TRUE(spectrogram.ComputeSquaredMagnitudeSpectrogram(audio, &frames));
    count += frames.size();
  }
  EXPECT_EQ(count, 3u);
  ASSERT_EQ(frames.size(), 1u);
  const Floats expected = {0, 4, 16, 4, 0, 0, 0, 0, 0};
  for (size_t i = 0; i < 9; ++i) EXPECT_NEAR(frames[0][i], expected[i], 1e-4) << i;
  EXPECT_FALSE(spectrogram.Initialize(1, 1));
  EXPECT_FALSE(spectrogram.ComputeSquaredMagnitudeSpectrogram(Floats{1}, &frames));
}

struct Shape {
  int size;
  int data[4];
  TfLiteIntArray& array() { return *reinterpret_cast<TfLiteIntArray*>(this); }
};

void IgnoreError(TfLiteContext* /*context*/, const char* /*format*/, ...) {}

TEST(ReshapeUtilsTest, infers_the_open_dimension) {
  TfLiteContext context = {};
  context.ReportError = IgnoreError;
  const auto resolve = [&](std::initializer_list<int> input, Shape* output) {
    return tflite::reshape_internal::ResolveOutputShape(&context, tflite::RuntimeShape(input),
                                                        output->array());
  };
  Shape shape = {3, {2, -1, 3}};
  EXPECT_EQ(resolve({4, 6}, &shape), kTfLiteOk);
  EXPECT_EQ(shape.data[1], 4);
  shape = {2, {-1, 5}};
  EXPECT_EQ(resolve({4, 6}, &shape), kTfLiteError);
  shape = {2, {-1, -1}};
  EXPECT_EQ(resolve({4}, &shape), kTfLiteError);
  shape = {2, {-2, -2}};
  EXPECT_EQ(resolve({4}, &shape), kTfLiteError);
  shape = {2, {-1, 3}};
  EXPECT_EQ(resolve({0, 6}, &shape), kTfLiteOk);
  EXPECT_EQ(shape.data[0], 0);
  shape = {2, {-1, 0}};
  EXPECT_EQ(resolve({0, 6}, &shape), kTfLiteOk);
  EXPECT_EQ(shape.data[0], 6);
}

}  // namespace
}  // namespace deputy::tensor_utils_test
