// SPDX-License-Identifier: Apache-2.0
//
// Compares the reference functions of layers with libdeputy's kernels in reference arithmetic:
// equal bits for integers, nearly equal values for float32, whose sums may have another order.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tensorflow/lite/kernels/internal/quantization_util.h"
#include "tensorflow/lite/kernels/internal/reference/integer_ops/conv.h"
#include "tensorflow/lite/kernels/internal/reference/integer_ops/depthwise_conv.h"
#include "tensorflow/lite/kernels/internal/reference/integer_ops/fully_connected.h"
#include "tensorflow/lite/kernels/internal/reference/integer_ops/pooling.h"
#include "tensorflow/lite/kernels/internal/reference/integer_ops/transpose_conv.h"
#include "tensorflow/lite/kernels/internal/reference/reference_ops.h"
#include "tensorflow/lite/kernels/internal/tensor_ctypes.h"
#include "tests/bindings/cpp/one_node.h"

namespace deputy::reference_layers_test {
namespace {

using tflite::GetTensorShape;
using tflite::RuntimeShape;

constexpr float kInScale = 0.05f;
constexpr float kOutScale = 0.11f;
const std::vector<float> kFilterScales = {0.01f, 0.03f, 0.002f, 0.017f};

// Stores the multipliers of a layer whose filter has kFilterScales.
struct Multipliers {
  std::vector<int32_t> multiplier = std::vector<int32_t>(4);
  std::vector<int> shift = std::vector<int>(4);
  Multipliers() {
    for (size_t i = 0; i < 4; ++i) {
      const double scale = static_cast<double>(kInScale) * static_cast<double>(kFilterScales[i]) /
                           static_cast<double>(kOutScale);
      tflite::QuantizeMultiplier(scale, &multiplier[i], &shift[i]);
    }
  }
};

std::vector<float> BiasScales() {
  std::vector<float> scales;
  for (float scale : kFilterScales) scales.push_back(scale * kInScale);
  return scales;
}

template <typename Params>
Params WindowParams(int pad, int stride) {
  Params params = {};
  params.padding_values.width = static_cast<int16_t>(pad);
  params.padding_values.height = static_cast<int16_t>(pad);
  params.stride_width = static_cast<int16_t>(stride);
  params.stride_height = static_cast<int16_t>(stride);
  params.quantized_activation_min = -128;
  params.quantized_activation_max = 127;
  params.float_activation_min = -1e30f;
  params.float_activation_max = 1e30f;
  return params;
}

template <typename Params>
Params ConvolutionParams(int pad, int stride) {
  auto params = WindowParams<Params>(pad, stride);
  params.dilation_width_factor = 1;
  params.dilation_height_factor = 1;
  params.input_offset = 7;
  params.output_offset = 3;
  return params;
}

void ExpectNear(const std::vector<float>& actual, const std::vector<float>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 1e-4) << i;
}

TEST(ReferenceLayersTest, conv_of_int8_and_float) {
  const auto in = RandomValues<int8_t>({2, 7, 6, 3}, -128, 127, {kInScale}, -7);
  const auto filter = RandomValues<int8_t>({4, 3, 3, 3}, -127, 127, kFilterScales);
  const auto bias = RandomValues<int32_t>({4}, -3000, 3000, BiasScales());
  const Values<int8_t> out{{2, 4, 3, 4}, {}, {kOutScale}, 3};
  tflite::Conv2DOptionsT options;
  options.stride_w = 2;
  options.stride_h = 2;
  const auto run = [&](auto input, auto weights, auto biases, auto output) {
    return OneNode(tflite::BuiltinOperator_CONV_2D, tflite::BuiltinOptions_Conv2DOptions, options,
                   3)
        .Input(input)
        .Input(weights)
        .Input(biases)
        .Run(output);
  };
  auto params = ConvolutionParams<tflite::ConvParams>(1, 2);
  params.padding_values.width = 0;  // SAME pads 6 columns by one, which is at the end
  const Multipliers factors;
  std::vector<int8_t> result(96);
  tflite::reference_integer_ops::ConvPerChannel(
      params, factors.multiplier.data(), factors.shift.data(), GetTensorShape(in.shape),
      in.data.data(), GetTensorShape(filter.shape), filter.data.data(), GetTensorShape(bias.shape),
      bias.data.data(), GetTensorShape(out.shape), result.data());
  EXPECT_EQ(result, run(in, filter, bias, out));

  const auto real_in = RandomValues<float>(in.shape, -1, 1);
  const auto real_filter = RandomValues<float>(filter.shape, -1, 1);
  const auto real_bias = RandomValues<float>(bias.shape, -1, 1);
  std::vector<float> real(96);
  tflite::reference_ops::Conv(params, GetTensorShape(in.shape), real_in.data.data(),
                              GetTensorShape(filter.shape), real_filter.data.data(),
                              GetTensorShape(bias.shape), real_bias.data.data(),
                              GetTensorShape(out.shape), real.data(), RuntimeShape(), nullptr);
  ExpectNear(real, run(real_in, real_filter, real_bias, Values<float>{out.shape, {}}));
}

TEST(ReferenceLayersTest, depthwise_conv_of_int8_and_float) {
  const auto in = RandomValues<int8_t>({1, 5, 5, 2}, -128, 127, {kInScale}, -7);
  const auto filter = RandomValues<int8_t>({1, 3, 3, 4}, -127, 127, kFilterScales, 0, 3);
  const auto bias = RandomValues<int32_t>({4}, -3000, 3000, BiasScales());
  const Values<int8_t> out{{1, 5, 5, 4}, {}, {kOutScale}, 3};
  tflite::DepthwiseConv2DOptionsT options;
  options.stride_w = 1;
  options.stride_h = 1;
  options.depth_multiplier = 2;
  const auto run = [&](auto input, auto weights, auto biases, auto output) {
    return OneNode(tflite::BuiltinOperator_DEPTHWISE_CONV_2D,
                   tflite::BuiltinOptions_DepthwiseConv2DOptions, options, 3)
        .Input(input)
        .Input(weights)
        .Input(biases)
        .Run(output);
  };
  auto params = ConvolutionParams<tflite::DepthwiseParams>(1, 1);
  params.depth_multiplier = 2;
  const Multipliers factors;
  std::vector<int8_t> result(100);
  tflite::reference_integer_ops::DepthwiseConvPerChannel(
      params, factors.multiplier.data(), factors.shift.data(), GetTensorShape(in.shape),
      in.data.data(), GetTensorShape(filter.shape), filter.data.data(), GetTensorShape(bias.shape),
      bias.data.data(), GetTensorShape(out.shape), result.data());
  EXPECT_EQ(result, run(in, filter, bias, out));

  const auto real_in = RandomValues<float>(in.shape, -1, 1);
  const auto real_filter = RandomValues<float>(filter.shape, -1, 1);
  const auto real_bias = RandomValues<float>(bias.shape, -1, 1);
  std::vector<float> real(100);
  tflite::reference_ops::DepthwiseConv(params, GetTensorShape(in.shape), real_in.data.data(),
                                       GetTensorShape(filter.shape), real_filter.data.data(),
                                       GetTensorShape(bias.shape), real_bias.data.data(),
                                       GetTensorShape(out.shape), real.data());
  ExpectNear(real, run(real_in, real_filter, real_bias, Values<float>{out.shape, {}}));
}

TEST(ReferenceLayersTest, fully_connected_of_int8) {
  const auto in = RandomValues<int8_t>({5, 19}, -128, 127, {kInScale}, -7);
  const auto filter = RandomValues<int8_t>({4, 19}, -127, 127, {kFilterScales[0]});
  const auto bias = RandomValues<int32_t>({4}, -3000, 3000, {kInScale * kFilterScales[0]});
  const Values<int8_t> out{{5, 4}, {}, {kOutScale}, 3};
  tflite::FullyConnectedParams params = {};
  params.input_offset = 7;
  params.output_offset = 3;
  params.output_multiplier = Multipliers().multiplier[0];
  params.output_shift = Multipliers().shift[0];
  params.quantized_activation_min = -128;
  params.quantized_activation_max = 127;
  std::vector<int8_t> result(20);
  tflite::reference_integer_ops::FullyConnected(params, GetTensorShape(in.shape), in.data.data(),
                                                GetTensorShape(filter.shape), filter.data.data(),
                                                GetTensorShape(bias.shape), bias.data.data(),
                                                GetTensorShape(out.shape), result.data());
  EXPECT_EQ(result, OneNode(tflite::BuiltinOperator_FULLY_CONNECTED,
                            tflite::BuiltinOptions_FullyConnectedOptions,
                            tflite::FullyConnectedOptionsT(), 4)
                        .Input(in)
                        .Input(filter)
                        .Input(bias)
                        .Run(out));
}

TEST(ReferenceLayersTest, transpose_conv_scatters_inputs) {
  const std::vector<float> in = {1, 2, 3, 4};
  const std::vector<float> filter = {1, 10, 100, 1000};
  const std::vector<float> bias = {0.5f};
  auto params = ConvolutionParams<tflite::ConvParams>(0, 2);
  std::vector<float> result(16);
  tflite::reference_ops::TransposeConv(params, RuntimeShape({1, 2, 2, 1}), in.data(),
                                       RuntimeShape({1, 2, 2, 1}), filter.data(), RuntimeShape({1}),
                                       bias.data(), RuntimeShape({1, 4, 4, 1}), result.data(),
                                       RuntimeShape(), nullptr);
  EXPECT_EQ(result,
            (std::vector<float>{1.5f, 10.5f, 2.5f, 20.5f, 100.5f, 1000.5f, 200.5f, 2000.5f, 3.5f,
                                30.5f, 4.5f, 40.5f, 300.5f, 3000.5f, 400.5f, 4000.5f}));
}

TEST(ReferenceLayersTest, pools_of_int8_and_float) {
  const auto in = RandomValues<int8_t>({1, 6, 5, 3}, -128, 127, {kInScale}, -7);
  const Values<int8_t> out{{1, 3, 3, 3}, {}, {kInScale}, -7};
  tflite::Pool2DOptionsT options;
  options.stride_w = 2;
  options.stride_h = 2;
  options.filter_width = 3;
  options.filter_height = 3;
  const auto run = [&](tflite::BuiltinOperator op, auto input, auto output) {
    const int version = op == tflite::BuiltinOperator_L2_POOL_2D ? 1 : 2;
    return OneNode(op, tflite::BuiltinOptions_Pool2DOptions, options, version)
        .Input(input)
        .Run(output);
  };
  auto params = WindowParams<tflite::PoolParams>(1, 2);
  params.padding_values.height = 0;
  params.filter_width = 3;
  params.filter_height = 3;
  std::vector<int8_t> result(27);
  const RuntimeShape in_shape = GetTensorShape(in.shape);
  const RuntimeShape out_shape = GetTensorShape(out.shape);
  EXPECT_TRUE(tflite::reference_integer_ops::AveragePool(params, in_shape, in.data.data(),
                                                         out_shape, result.data()));
  EXPECT_EQ(result, run(tflite::BuiltinOperator_AVERAGE_POOL_2D, in, out));
  tflite::reference_integer_ops::MaxPool(params, in_shape, in.data.data(), out_shape,
                                         result.data());
  EXPECT_EQ(result, run(tflite::BuiltinOperator_MAX_POOL_2D, in, out));

  const auto real_in = RandomValues<float>(in.shape, -1, 1);
  const Values<float> real_out{out.shape, {}};
  std::vector<float> real(27);
  EXPECT_TRUE(tflite::reference_ops::AveragePool(params, in_shape, real_in.data.data(), out_shape,
                                                 real.data()));
  ExpectNear(real, run(tflite::BuiltinOperator_AVERAGE_POOL_2D, real_in, real_out));
  tflite::reference_ops::MaxPool(params, in_shape, real_in.data.data(), out_shape, real.data());
  EXPECT_EQ(real, run(tflite::BuiltinOperator_MAX_POOL_2D, real_in, real_out));
  tflite::reference_ops::L2Pool(params, in_shape, real_in.data.data(), out_shape, real.data());
  ExpectNear(real, run(tflite::BuiltinOperator_L2_POOL_2D, real_in, real_out));
}

}  // namespace
}  // namespace deputy::reference_layers_test
