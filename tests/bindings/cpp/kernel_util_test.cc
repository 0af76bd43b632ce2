// SPDX-License-Identifier: Apache-2.0
//
// Tests kernels/kernel_util.h, kernels/kernel_quantization.h and kernels/padding.h.
#include "tensorflow/lite/kernels/kernel_util.h"

#include <gtest/gtest.h>

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "tensorflow/lite/kernels/op_macros.h"
#include "tensorflow/lite/kernels/padding.h"
#include "tensorflow/lite/util.h"

namespace tflite {
namespace {

std::string reported;

void Report(TfLiteContext* /*context*/, const char* format, ...) {
  char text[512];
  va_list args;
  va_start(args, format);
  std::vsnprintf(text, sizeof text, format, args);
  va_end(args);
  reported = text;
}

// A context with tensors 0 and 1, and a node that reads 0, nothing and 1, and writes 1.
class KernelUtilTest : public testing::Test {
 protected:
  KernelUtilTest() {
    reported.clear();
    context_.ReportError = &Report;
    context_.tensors = tensors_;
    context_.tensors_size = 2;
    inputs_ = BuildTfLiteArray({0, kTfLiteOptionalTensor, 1});
    outputs_ = BuildTfLiteArray({1});
    node_.inputs = inputs_.get();
    node_.outputs = outputs_.get();
    node_.temporaries = outputs_.get();
    node_.intermediates = outputs_.get();
    tensors_[1].is_variable = true;
  }

  void SetShapes(const std::vector<int>& first, const std::vector<int>& second) {
    shapes_[0] = BuildTfLiteArray(first);
    shapes_[1] = BuildTfLiteArray(second);
    tensors_[0].dims = shapes_[0].get();
    tensors_[1].dims = shapes_[1].get();
  }

  TfLiteContext context_{};
  TfLiteTensor tensors_[2] = {};
  TfLiteNode node_{};
  IntArrayUniquePtr inputs_, outputs_, shapes_[2];
};

TEST_F(KernelUtilTest, tensors_are_found_by_position) {
  EXPECT_EQ(NumInputs(&node_), 3);
  EXPECT_EQ(GetInput(&context_, &node_, 2), &tensors_[1]);
  EXPECT_EQ(GetInput(&context_, &node_, 1), nullptr);
  EXPECT_EQ(GetOptionalInputTensor(&context_, &node_, 1), nullptr);
  EXPECT_EQ(GetInput(&context_, &node_, 3), nullptr);
  EXPECT_EQ(GetVariableInput(&context_, &node_, 0), nullptr);
  EXPECT_EQ(GetVariableInput(&context_, &node_, 2), &tensors_[1]);
  EXPECT_EQ(GetOutput(&context_, &node_, 0), &tensors_[1]);
  EXPECT_EQ(GetTemporary(&context_, &node_, 0), &tensors_[1]);
  EXPECT_EQ(GetIntermediates(&context_, &node_, 1), nullptr);
  EXPECT_EQ(reported, "");
}

TEST_F(KernelUtilTest, safe_functions_report) {
  const TfLiteTensor* input = nullptr;
  EXPECT_EQ(GetInputSafe(&context_, &node_, 0, &input), kTfLiteOk);
  EXPECT_EQ(input, &tensors_[0]);
  EXPECT_EQ(GetInputSafe(&context_, &node_, 3, &input), kTfLiteError);
  EXPECT_EQ(reported, "Invalid tensor index 3 (not in [0, 3))\n");
  EXPECT_EQ(GetInputSafe(&context_, &node_, 1, &input), kTfLiteError);
  EXPECT_EQ(reported, "Tensor at index 1 was optional but was expected\n");
  TfLiteTensor* output = nullptr;
  EXPECT_EQ(GetOutputSafe(&context_, &node_, -1, &output), kTfLiteError);
  EXPECT_EQ(reported, "Invalid tensor index -1 (not in [0, 1))\n");
}

TEST_F(KernelUtilTest, shapes_are_broadcast) {
  TfLiteIntArray* shape = nullptr;
  SetShapes({2, 1, 4}, {3, 1});
  ASSERT_EQ(CalculateShapeForBroadcast(&context_, &tensors_[0], &tensors_[1], &shape), kTfLiteOk);
  EXPECT_EQ(GetShapeDebugString(shape), "[2,3,4]");
  std::free(shape);
  SetShapes({1}, {2, 0});
  ASSERT_EQ(CalculateShapeForBroadcast(&context_, &tensors_[0], &tensors_[1], &shape), kTfLiteOk);
  EXPECT_EQ(GetShapeDebugString(shape), "[2,0]");
  std::free(shape);
  SetShapes({2}, {3, 4});
  EXPECT_EQ(CalculateShapeForBroadcast(&context_, &tensors_[0], &tensors_[1], &shape),
            kTfLiteError);
  EXPECT_EQ(reported, "Given shapes, [2] and [3,4], are not broadcastable.");
  EXPECT_EQ(CalculateShapeForBroadcast(&context_, &tensors_[0], &tensors_[1], &tensors_[1], &shape),
            kTfLiteError);
  EXPECT_EQ(reported, "Given shapes, [2], [3,4] and [3,4], are not broadcastable.");
  EXPECT_FALSE(HaveSameShapes(&tensors_[0], &tensors_[1]));
  EXPECT_EQ(NumElements(&tensors_[1]), 12);
}

TEST_F(KernelUtilTest, contents_are_lost_when_the_allocation_type_changes) {
  TfLiteTensor& tensor = tensors_[0];
  tensor.allocation_type = kTfLitePersistentRo;
  tensor.data.raw = static_cast<char*>(std::malloc(8));
  EXPECT_TRUE(IsConstantOrPersistentTensor(&tensor));
  EXPECT_FALSE(IsConstantTensor(&tensor));
  SetTensorToDynamic(&tensor);
  EXPECT_TRUE(IsDynamicTensor(&tensor));
  EXPECT_EQ(tensor.data.raw, nullptr);
  char arena[4];
  tensor.allocation_type = kTfLiteArenaRw;
  tensor.data.raw = arena;
  SetTensorToPersistentRo(&tensor);
  EXPECT_EQ(tensor.data.raw, nullptr);
}

TEST_F(KernelUtilTest, products_are_checked) {
  std::size_t product = 7;
  EXPECT_EQ(CheckedShapeProduct(&context_, {2, 3}, "too large", product), kTfLiteOk);
  EXPECT_EQ(product, 6U);
  const int huge[] = {1 << 30, 1 << 30, 1 << 30};
  EXPECT_EQ(CheckedShapeProduct(&context_, huge, 3, "too large", product), kTfLiteError);
  EXPECT_NE(reported.find("too large"), std::string::npos);
  EXPECT_EQ(CheckedShapeProduct(&context_, {2, -3}, "too large", product), kTfLiteError);
  EXPECT_NE(reported.find("Encountered a negative dimension."), std::string::npos);
  int small = 0;
  EXPECT_EQ(CheckedShapeProductToInt(&context_, {65536, 32768}, "too large", small), kTfLiteError);
  EXPECT_EQ(CheckedShapeProductToInt(&context_, {65536, 32767}, "too large", small), kTfLiteOk);
  EXPECT_EQ(small, 2147418112);
}

TEST_F(KernelUtilTest, a_tensor_is_described) {
  SetShapes({}, {5});
  tensors_[1].type = kTfLiteBFloat16;
  EXPECT_EQ(GetShapeDebugString(tensors_[0].dims), "[]");
  EXPECT_EQ(GetTensorDebugString(&tensors_[1]),
            "{\n  type: BFLOAT16\n  data: {...}\n  dims: [5]\n}");
  EXPECT_EQ(TfLiteTypeGetSize(kTfLiteInt4), 0);
  EXPECT_EQ(TfLiteTypeGetSizeBits(kTfLiteInt4), 4);
  EXPECT_EQ(TfLiteTypeGetSize(kTfLiteComplex128), 16);
  EXPECT_EQ(TfLiteTypeGetSize(kTfLiteString), 0);
}

TEST_F(KernelUtilTest, quantised_ranges_of_activations) {
  TfLiteTensor& output = tensors_[1];
  output.type = kTfLiteInt8;
  output.params = {0.5F, -10};
  std::int32_t min = 0;
  std::int32_t max = 0;
  ASSERT_EQ(CalculateActivationRangeQuantized(&context_, kTfLiteActRelu6, &output, &min, &max),
            kTfLiteOk);
  EXPECT_EQ(min, -10);
  EXPECT_EQ(max, 2);
  ASSERT_EQ(CalculateActivationRangeQuantized(&context_, kTfLiteActReluN1To1, &output, &min, &max),
            kTfLiteOk);
  EXPECT_EQ(min, -12);
  EXPECT_EQ(max, -8);
  ASSERT_EQ(CalculateActivationRangeQuantized(&context_, kTfLiteActTanh, &output, &min, &max),
            kTfLiteOk);
  EXPECT_EQ(min, -128);
  EXPECT_EQ(max, 127);
  output.params.scale = 1e-10F;
  EXPECT_EQ(CalculateActivationRangeQuantized(&context_, kTfLiteActRelu6, &output, &min, &max),
            kTfLiteError);
  EXPECT_NE(reported.find("no_integer_overflow_from_quantization was not true"), std::string::npos);
  output.type = kTfLiteInt32;
  EXPECT_EQ(CalculateActivationRangeQuantized(&context_, kTfLiteActNone, &output, &min, &max),
            kTfLiteError);
  float float_min = 0;
  float float_max = 0;
  CalculateActivationRange(kTfLiteActRelu, &float_min, &float_max);
  EXPECT_EQ(float_min, 0.0F);
  EXPECT_EQ(float_max, std::numeric_limits<float>::max());
}

TEST_F(KernelUtilTest, factors_of_a_convolution_per_channel) {
  TfLiteTensor input{}, filter{}, output{};
  input.type = filter.type = output.type = kTfLiteInt8;
  input.params = {0.5F, 0};
  output.params = {1.0F, 0};
  const FloatArrayUniquePtr scales = BuildTfLiteArray<float>({0.5F, 2.0F});
  const IntArrayUniquePtr dims = BuildTfLiteArray({2, 1});
  TfLiteAffineQuantization affine = {scales.get(), nullptr, 0};
  filter.dims = dims.get();
  input.quantization = filter.quantization = {kTfLiteAffineQuantization, &affine};
  std::int32_t multipliers[2];
  std::int32_t shifts[2];
  std::int32_t min = 0;
  std::int32_t max = 0;
  ASSERT_EQ(PopulateConvolutionQuantizationParams(&context_, &input, &filter, nullptr, &output,
                                                  kTfLiteActRelu, nullptr, nullptr, &min, &max,
                                                  multipliers, shifts),
            kTfLiteOk);
  EXPECT_EQ(multipliers[0], 1 << 30);  // 0.25 = 0.5 * 2^-1
  EXPECT_EQ(shifts[0], -1);
  EXPECT_EQ(multipliers[1], 1 << 30);  // 1 = 0.5 * 2^1
  EXPECT_EQ(shifts[1], 1);
  EXPECT_EQ(min, 0);
  EXPECT_EQ(max, 127);
  EXPECT_EQ(PopulateConvolutionQuantizationParams(&context_, &input, &filter, nullptr, &output,
                                                  kTfLiteActRelu, nullptr, nullptr, &min, &max,
                                                  multipliers, shifts, 3),
            kTfLiteError);
}

TEST_F(KernelUtilTest, the_scale_of_a_bias_is_checked) {
  TfLiteTensor input{}, filter{}, bias{}, output{};
  input.params.scale = 0.5F;
  filter.params.scale = 0.25F;
  bias.params.scale = 0.125F;
  output.params.scale = 0.5F;
  double multiplier = 0;
  EXPECT_EQ(
      GetQuantizedConvolutionMultipler(&context_, &input, &filter, &bias, &output, &multiplier),
      kTfLiteOk);
  EXPECT_EQ(multiplier, 0.25);
  bias.params.scale = 0.14F;
  EXPECT_EQ(
      GetQuantizedConvolutionMultipler(&context_, &input, &filter, &bias, &output, &multiplier),
      kTfLiteError);
}

TfLiteStatus Unsupported(TfLiteContext* context) {
  TF_LITE_UNSUPPORTED_TYPE(context, kTfLiteInt64, "MyOp");
}

TEST_F(KernelUtilTest, an_unsupported_type_is_named) {
  EXPECT_EQ(Unsupported(&context_), kTfLiteError);
  EXPECT_NE(reported.find("Type INT64 is unsupported by op MyOp."), std::string::npos);
}

TEST(PaddingTest, sizes_and_offsets) {
  int height = 0;
  int width = 0;
  const TfLitePaddingValues same =
      ComputePaddingHeightWidth(2, 2, 1, 1, 224, 225, 3, 3, kTfLitePaddingSame, &height, &width);
  EXPECT_EQ(height, 112);
  EXPECT_EQ(width, 113);
  EXPECT_EQ(same.height, 0);
  EXPECT_EQ(same.height_offset, 1);
  EXPECT_EQ(same.width, 1);
  EXPECT_EQ(same.width_offset, 0);
  EXPECT_EQ(ComputeOutSize(kTfLitePaddingValid, 10, 3, 2, 2), 3);
  EXPECT_EQ(ComputeOutSize(kTfLitePaddingValid, 10, 3, 0), 0);
  int size = 5;
  EXPECT_EQ(ComputeOutSizeChecked(kTfLitePaddingUnknown, 10, 3, 1, 1, &size), kTfLiteError);
  EXPECT_EQ(size, 5);
}

}  // namespace
}  // namespace tflite
