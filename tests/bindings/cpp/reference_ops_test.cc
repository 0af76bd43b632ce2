// SPDX-License-Identifier: Apache-2.0
//
// Compares reference functions of element-wise operators, activations and reductions with
// libdeputy's kernels in reference arithmetic (equal bits for integers), and others with literal
// values.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "tensorflow/lite/kernels/internal/optimized/optimized_ops.h"
#include "tensorflow/lite/kernels/internal/quantization_util.h"
#include "tensorflow/lite/kernels/internal/reference/integer_ops/add.h"
#include "tensorflow/lite/kernels/internal/reference/integer_ops/l2normalization.h"
#include "tensorflow/lite/kernels/internal/reference/integer_ops/log_softmax.h"
#include "tensorflow/lite/kernels/internal/reference/integer_ops/logistic.h"
#include "tensorflow/lite/kernels/internal/reference/integer_ops/mul.h"
#include "tensorflow/lite/kernels/internal/reference/integer_ops/tanh.h"
#include "tensorflow/lite/kernels/internal/reference/reference_ops.h"
#include "tensorflow/lite/kernels/internal/tensor_ctypes.h"
#include "tests/bindings/cpp/one_node.h"

namespace deputy::reference_ops_test {
namespace {

using tflite::GetTensorShape;
using tflite::RuntimeShape;

// Scales inputs of ADD and SUB to twice the larger scale, with 20 bits of headroom.
template <typename T>
tflite::ArithmeticParams AdditionParams(const Values<T>& a, const Values<T>& b,
                                        const Values<T>& out) {
  tflite::ArithmeticParams params = {};
  params.left_shift = 20;
  params.input1_offset = -a.zero();
  params.input2_offset = -b.zero();
  params.output_offset = out.zero();
  const double twice_max = 2.0 * static_cast<double>(std::max(a.scale(), b.scale()));
  tflite::QuantizeMultiplierSmallerThanOneExp(static_cast<double>(a.scale()) / twice_max,
                                              &params.input1_multiplier, &params.input1_shift);
  tflite::QuantizeMultiplierSmallerThanOneExp(static_cast<double>(b.scale()) / twice_max,
                                              &params.input2_multiplier, &params.input2_shift);
  tflite::QuantizeMultiplierSmallerThanOneExp(
      twice_max / (double{1 << 20} * static_cast<double>(out.scale())), &params.output_multiplier,
      &params.output_shift);
  params.quantized_activation_min = std::numeric_limits<T>::min();
  params.quantized_activation_max = std::numeric_limits<T>::max();
  return params;
}

TEST(ReferenceOpsTest, add_sub_and_mul_of_int8) {
  const auto a = RandomValues<int8_t>({2, 3, 1, 5}, -128, 127, {0.07f}, 4);
  const auto b = RandomValues<int8_t>({3, 4, 1}, -128, 127, {0.031f}, -9);
  const Values<int8_t> out{{2, 3, 4, 5}, {}, {0.09f}, 2};
  const RuntimeShape a_shape = GetTensorShape(a.shape);
  const RuntimeShape b_shape = GetTensorShape(b.shape);
  const RuntimeShape out_shape = GetTensorShape(out.shape);
  std::vector<int8_t> result(120);
  auto params = AdditionParams(a, b, out);
  tflite::reference_integer_ops::BroadcastAdd4DSlow(params, a_shape, a.data.data(), b_shape,
                                                    b.data.data(), out_shape, result.data());
  EXPECT_EQ(result, OneNode(tflite::BuiltinOperator_ADD, tflite::BuiltinOptions_AddOptions,
                            tflite::AddOptionsT())
                        .Input(a)
                        .Input(b)
                        .Run(out));
  tflite::reference_ops::BroadcastQuantSubSlow(params, a_shape, a.data.data(), b_shape,
                                               b.data.data(), out_shape, result.data());
  EXPECT_EQ(result, OneNode(tflite::BuiltinOperator_SUB, tflite::BuiltinOptions_SubOptions,
                            tflite::SubOptionsT())
                        .Input(a)
                        .Input(b)
                        .Run(out));
  tflite::QuantizeMultiplier(static_cast<double>(a.scale()) * static_cast<double>(b.scale()) /
                                 static_cast<double>(out.scale()),
                             &params.output_multiplier, &params.output_shift);
  tflite::reference_integer_ops::BroadcastMul4DSlow(params, a_shape, a.data.data(), b_shape,
                                                    b.data.data(), out_shape, result.data());
  EXPECT_EQ(result, OneNode(tflite::BuiltinOperator_MUL, tflite::BuiltinOptions_MulOptions,
                            tflite::MulOptionsT())
                        .Input(a)
                        .Input(b)
                        .Run(out));
}

TEST(ReferenceOpsTest, div_of_uint8) {
  const auto a = RandomValues<uint8_t>({3, 7}, 0, 255, {0.07f}, 100);
  const auto b = RandomValues<uint8_t>({3, 7}, 130, 255, {0.031f}, 120);
  const Values<uint8_t> out{{3, 7}, {}, {0.2f}, 128};
  auto params = AdditionParams(a, b, out);
  tflite::QuantizeMultiplier(static_cast<double>(a.scale()) / (static_cast<double>(b.scale()) *
                                                               static_cast<double>(out.scale())),
                             &params.output_multiplier, &params.output_shift);
  const RuntimeShape shape = GetTensorShape(a.shape);
  std::vector<uint8_t> result(21);
  tflite::reference_ops::Div(params, shape, a.data.data(), shape, b.data.data(), shape,
                             result.data());
  EXPECT_EQ(result, OneNode(tflite::BuiltinOperator_DIV, tflite::BuiltinOptions_DivOptions,
                            tflite::DivOptionsT())
                        .Input(a)
                        .Input(b)
                        .Run(out));
}

TEST(ReferenceOpsTest, float_arithmetic_broadcasts_and_clamps) {
  const std::vector<float> a = {1, 2, 3, 4};
  const std::vector<float> b = {10, 20};
  std::vector<float> result(4);
  tflite::ArithmeticParams params = {};
  params.float_activation_max = 22;
  const RuntimeShape a_shape({2, 2});
  const RuntimeShape b_shape({2});
  tflite::reference_ops::BroadcastAdd4DSlow(params, a_shape, a.data(), b_shape, b.data(), a_shape,
                                            result.data());
  EXPECT_EQ(result, (std::vector<float>{11, 22, 13, 22}));
  tflite::reference_ops::BroadcastSubSlow(params, b_shape, b.data(), a_shape, a.data(), a_shape,
                                          result.data());
  EXPECT_EQ(result, (std::vector<float>{9, 18, 7, 16}));
  tflite::reference_ops::BroadcastMul4DSlow(params, a_shape, a.data(), b_shape, b.data(), a_shape,
                                            result.data());
  EXPECT_EQ(result, (std::vector<float>{10, 22, 22, 22}));
  tflite::reference_ops::BroadcastDivSlow(params, b_shape, b.data(), a_shape, a.data(), a_shape,
                                          result.data());
  EXPECT_EQ(result, (std::vector<float>{10, 10, 10.0f / 3, 5}));
  bool less[4];
  tflite::reference_ops::Broadcast4DSlowLess(tflite::ComparisonParams(), a_shape, a.data(),
                                             RuntimeShape(), &a[2], a_shape, less);
  EXPECT_TRUE(less[0] && less[1] && !less[2] && !less[3]);
}

TEST(ReferenceOpsTest, softmax_of_int8_and_float) {
  const auto in = RandomValues<int8_t>({7, 11}, -128, 127, {0.08f}, 5);
  const Values<int8_t> out{in.shape, {}, {1.0f / 256}, -128};
  const RuntimeShape shape = GetTensorShape(in.shape);
  tflite::SoftmaxOptionsT options;
  options.beta = 1.5f;
  tflite::SoftmaxParams params = {};
  params.beta = 1.5;
  int shift = 0;
  tflite::PreprocessSoftmaxScaling(params.beta, static_cast<double>(in.scale()), 5,
                                   &params.input_multiplier, &shift);
  params.input_left_shift = shift;
  params.diff_min = -tflite::CalculateInputRadius(5, shift);
  std::vector<int8_t> result(77);
  tflite::reference_ops::Softmax(params, shape, in.data.data(), shape, result.data());
  EXPECT_EQ(result,
            OneNode(tflite::BuiltinOperator_SOFTMAX, tflite::BuiltinOptions_SoftmaxOptions, options)
                .Input(in)
                .Run(out));
  const std::vector<float> real = {0, std::log(3.0f)};
  std::vector<float> probabilities(2);
  params.beta = 1;
  tflite::reference_ops::Softmax(params, RuntimeShape({1, 2}), real.data(), RuntimeShape({1, 2}),
                                 probabilities.data());
  EXPECT_NEAR(probabilities[0], 0.25f, 1e-6);
  EXPECT_NEAR(probabilities[1], 0.75f, 1e-6);
}

TEST(ReferenceOpsTest, log_softmax_of_int8) {
  const auto in = RandomValues<int8_t>({7, 11}, -128, 127, {0.08f}, 5);
  const Values<int8_t> out{in.shape, {}, {16.0f / 256}, 127};
  tflite::SoftmaxParams params = {};
  int shift = 0;
  int reverse_shift = 0;
  tflite::PreprocessLogSoftmaxScalingExp(1.0, static_cast<double>(in.scale()), 5,
                                         &params.input_multiplier, &shift,
                                         &params.reverse_scaling_divisor, &reverse_shift);
  std::vector<int8_t> result(77);
  tflite::reference_integer_ops::LogSoftmax(
      params.input_multiplier, shift, params.reverse_scaling_divisor, reverse_shift,
      -tflite::CalculateInputRadius(5, shift), 7, 11, in.data.data(), result.data());
  EXPECT_EQ(result, OneNode(tflite::BuiltinOperator_LOG_SOFTMAX,
                            tflite::BuiltinOptions_LogSoftmaxOptions, tflite::LogSoftmaxOptionsT())
                        .Input(in)
                        .Run(out));
}

// int16 inputs of the scale 2^-12 need no multiplier.
TEST(ReferenceOpsTest, logistic_and_tanh_of_int16) {
  const auto in = RandomValues<int16_t>({400}, -32768, 32767, {1.0f / 4096});
  const Values<int16_t> out{in.shape, {}, {1.0f / 32768}};
  const RuntimeShape shape = GetTensorShape(in.shape);
  std::vector<int16_t> result(400);
  tflite::reference_integer_ops::Logistic(0, 0, 400, in.data.data(), result.data());
  EXPECT_EQ(result, OneNode(tflite::BuiltinOperator_LOGISTIC, tflite::BuiltinOptions_NONE,
                            tflite::AddOptionsT(), 3)
                        .Input(in)
                        .Run(out));
  tflite::reference_integer_ops::Tanh(0, 0, shape, in.data.data(), shape, result.data());
  EXPECT_EQ(result, OneNode(tflite::BuiltinOperator_TANH, tflite::BuiltinOptions_NONE,
                            tflite::AddOptionsT(), 3)
                        .Input(in)
                        .Run(out));
}

// The library computes int8 from tables of real values, so results may differ by one step.
TEST(ReferenceOpsTest, logistic_and_tanh_of_int8) {
  Values<int8_t> in{{256}, {}, {0.05f}, 3};
  for (int i = -128; i < 128; ++i) in.data.push_back(static_cast<int8_t>(i));
  int32_t multiplier = 0;
  int shift = 0;
  tflite::QuantizeMultiplier(static_cast<double>(in.scale()) * double{1 << 27}, &multiplier,
                             &shift);
  const int radius = tflite::CalculateInputRadius(4, shift, 31);
  const RuntimeShape shape = GetTensorShape(in.shape);
  std::vector<int8_t> result(256);
  tflite::reference_integer_ops::Logistic(in.zero(), radius, multiplier, shift, 256, in.data.data(),
                                          result.data());
  for (size_t i = 0; i < 256; ++i) {
    const float x = in.scale() * static_cast<float>(in.data[i] - in.zero());
    EXPECT_NEAR(result[i], std::min(127.0f, 256.0f / (1.0f + std::exp(-x)) - 128.0f), 1.0f) << x;
  }
  tflite::reference_integer_ops::Tanh(in.zero(), radius, multiplier, shift, shape, in.data.data(),
                                      shape, result.data());
  for (size_t i = 0; i < 256; ++i) {
    const float x = in.scale() * static_cast<float>(in.data[i] - in.zero());
    EXPECT_NEAR(result[i], std::min(127.0f, 128.0f * std::tanh(x)), 1.0f) << x;
  }
}

TEST(ReferenceOpsTest, leaky_relu_and_l2_normalization_of_int8) {
  const auto in = RandomValues<int8_t>({6, 9}, -128, 127, {0.05f}, 3);
  const Values<int8_t> out{in.shape, {}, {0.04f}, -5};
  const RuntimeShape shape = GetTensorShape(in.shape);
  tflite::LeakyReluOptionsT options;
  options.alpha = 0.3f;
  tflite::LeakyReluParams params = {};
  params.input_offset = 3;
  params.output_offset = -5;
  int shift = 0;
  const double ratio = static_cast<double>(in.scale()) / static_cast<double>(out.scale());
  tflite::QuantizeMultiplier(ratio, &params.output_multiplier_identity, &shift);
  params.output_shift_identity = shift;
  const double alpha_scale = static_cast<double>(in.scale() * options.alpha / out.scale());
  tflite::QuantizeMultiplier(alpha_scale, &params.output_multiplier_alpha, &shift);
  params.output_shift_alpha = shift;
  std::vector<int8_t> result(54);
  tflite::reference_ops::QuantizeLeakyRelu(params, shape, in.data.data(), shape, result.data());
  EXPECT_EQ(result, OneNode(tflite::BuiltinOperator_LEAKY_RELU,
                            tflite::BuiltinOptions_LeakyReluOptions, options)
                        .Input(in)
                        .Run(out));
  tflite::reference_integer_ops::L2Normalization(3, 6, 9, in.data.data(), result.data());
  EXPECT_EQ(result, OneNode(tflite::BuiltinOperator_L2_NORMALIZATION,
                            tflite::BuiltinOptions_L2NormOptions, tflite::L2NormOptionsT())
                        .Input(in)
                        .Run(Values<int8_t>{in.shape, {}, {1.0f / 128}, 0}));
}

TEST(ReferenceOpsTest, mean_of_int8) {
  const auto in = RandomValues<int8_t>({2, 5, 4, 3}, -128, 127, {0.05f}, 3);
  const Values<int8_t> out{{2, 3}, {}, {0.02f}, -5};
  const Values<int32_t> axes{{2}, {1, 2}};
  int32_t multiplier = 0;
  int shift = 0;
  tflite::QuantizeMultiplier(static_cast<double>(in.scale()) / static_cast<double>(out.scale()),
                             &multiplier, &shift);
  int index[4];
  int resolved[2];
  int32_t sums[6];
  std::vector<int8_t> result(6);
  EXPECT_TRUE(tflite::reference_ops::QuantizedMeanOrSum(
      in.data.data(), in.zero(), in.shape.data(), 4, result.data(), multiplier, shift, out.zero(),
      out.shape.data(), 2, axes.data.data(), 2, false, index, resolved, sums, false));
  EXPECT_EQ(result, OneNode(tflite::BuiltinOperator_MEAN, tflite::BuiltinOptions_ReducerOptions,
                            tflite::ReducerOptionsT())
                        .Input(in)
                        .Input(axes)
                        .Run(out));
  const int invalid_axis = 4;
  EXPECT_FALSE(tflite::reference_ops::QuantizedMeanOrSum(
      in.data.data(), in.zero(), in.shape.data(), 4, result.data(), multiplier, shift, out.zero(),
      out.shape.data(), 2, &invalid_axis, 1, false, index, resolved, sums, false));
}

TEST(ReferenceOpsTest, quantize_dequantize_and_requantize) {
  const std::vector<float> real = {-1, -0.05f, 0, 0.05f, 0.15f, 100};
  const RuntimeShape shape({6});
  std::vector<int8_t> quantized(6);
  tflite::QuantizationParams params;
  params.scale = 0.1;
  params.zero_point = 2;
  tflite::reference_ops::AffineQuantize(params, shape, real.data(), shape, quantized.data());
  EXPECT_EQ(quantized, (std::vector<int8_t>{-8, 1, 2, 3, 4, 127}));
  std::vector<float> restored(6);
  tflite::DequantizationParams back = {0.5, 2};
  tflite::reference_ops::Dequantize(back, shape, quantized.data(), shape, restored.data());
  EXPECT_EQ(restored, (std::vector<float>{-5, -0.5f, 0, 0.5f, 1, 62.5f}));
  std::vector<int16_t> wide(6);
  tflite::reference_ops::Requantize(quantized.data(), 6, 1 << 30, 2, 2, 0, wide.data());
  EXPECT_EQ(wide, (std::vector<int16_t>{-20, -2, 0, 2, 4, 250}));
  const float scales[] = {1, 10};
  const int32_t zeros[] = {0, 1};
  tflite::PerChannelDequantizationParams channels = {scales, zeros, 0};
  tflite::reference_ops::PerChannelDequantize(channels, RuntimeShape({2, 3}), quantized.data(),
                                              RuntimeShape({2, 3}), restored.data());
  EXPECT_EQ(restored, (std::vector<float>{-8, 1, 2, 20, 30, 1260}));
}

TEST(ReferenceOpsTest, prelu_and_hard_swish) {
  tflite::PreluParams params = {};
  params.output_multiplier_1 = 1 << 30;
  params.output_shift_1 = 1;
  params.output_multiplier_2 = 1 << 30;
  params.output_shift_2 = 0;
  const std::vector<int8_t> in = {-100, -10, 0, 10};
  const int8_t alpha = 2;
  std::vector<int8_t> result(4);
  const RuntimeShape shape({4});
  tflite::reference_ops::BroadcastPrelu4DSlow(params, shape, in.data(), RuntimeShape(), &alpha,
                                              shape, result.data());
  EXPECT_EQ(result, (std::vector<int8_t>{-100, -10, 0, 10}));
  const std::vector<float> real = {-4, -1, 0, 1, 5};
  std::vector<float> swish(5);
  tflite::reference_ops::HardSwish(RuntimeShape({5}), real.data(), RuntimeShape({5}), swish.data());
  EXPECT_EQ(swish, (std::vector<float>{-0.0f, -2.0f / 6, 0, 4.0f / 6, 5}));
}

TEST(ReferenceOpsTest, optimized_ops_has_the_reference_functions) {
  const std::vector<float> in = {1, 2, 3, 4, 5, 6};
  std::vector<float> result(6);
  tflite::TransposeParams params = {2, {1, 0}};
  tflite::optimized_ops::Transpose(params, RuntimeShape({2, 3}), in.data(), RuntimeShape({3, 2}),
                                   result.data());
  EXPECT_EQ(result, (std::vector<float>{1, 4, 2, 5, 3, 6}));
}

}  // namespace
}  // namespace deputy::reference_ops_test
