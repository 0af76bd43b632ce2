// SPDX-License-Identifier: Apache-2.0
//
// Tests that int16 CONV_2D has bit-identical results with every table and the reference code.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "kernels/cpu/cpu.h"
#include "tests/kernels/cpu/cpu_tables.h"
#include "tests/support/model_builder.h"
#include "tests/support/test_interpreter.h"

namespace deputy::conv_int16_test {
namespace {

struct Layer {
  int height, width, channels;      // size of the input
  int filters, groups, tall, wide;  // number of filters and groups; size of a filter
  int stride, dilation, bias_bits;
  bool same, extreme;
};

Layer RandomLayer(std::mt19937* random) {
  const auto from = [&](int low, int count) {
    return low + static_cast<int>((*random)() % static_cast<unsigned>(count));
  };
  Layer layer{};
  layer.groups = from(1, 2);
  layer.channels = layer.groups * from(1, 20);
  layer.filters = layer.groups * from(1, 21);
  layer.tall = from(1, 3);
  layer.wide = from(1, 3);
  layer.stride = from(1, 2);
  layer.dilation = layer.stride == 1 ? from(1, 2) : 1;
  layer.height = from(6, 5);
  layer.width = from(6, 14);
  layer.bias_bits = from(1, 2) * 32;
  layer.same = from(0, 2) == 0;
  layer.extreme = from(0, 2) == 0;
  return layer;
}

int Outputs(const Layer& layer, int extent, int taps) {
  const int reach = (taps - 1) * layer.dilation;
  return ((layer.same ? extent : extent - reach) + layer.stride - 1) / layer.stride;
}

std::vector<uint8_t> ModelOf(const Layer& layer, std::mt19937* random) {
  ModelBuilder m;
  TensorExtras one, weights, output;
  one.scale = {1.0f};
  weights.scale = std::vector<float>(static_cast<size_t>(layer.filters), 1.0f);
  output.scale = {std::ldexp(1.0f, 2 + static_cast<int>((*random)() % 14))};
  const std::vector<int32_t> shape = {layer.filters, layer.tall, layer.wide,
                                      layer.channels / layer.groups};
  std::vector<int8_t> values(static_cast<size_t>(shape[0] * shape[1] * shape[2] * shape[3]));
  for (int8_t& value : values) {
    value = layer.extreme ? INT8_MIN : static_cast<int8_t>((*random)());
  }
  const int x = m.AddTensor(kTfLiteInt16, {1, layer.height, layer.width, layer.channels}, "x", one);
  const int w = m.AddConstant<int8_t>(kTfLiteInt8, shape, values, "w", weights);
  int bias = -1;
  const auto count = static_cast<size_t>(layer.filters);
  if (layer.bias_bits == 64) {
    const std::vector<int64_t> biases(count, int64_t{1} << 33);
    bias = m.AddConstant<int64_t>(kTfLiteInt64, {layer.filters}, biases, "b", weights);
  } else if (layer.bias_bits == 32) {
    const std::vector<int32_t> biases(count, -70'000);
    bias = m.AddConstant<int32_t>(kTfLiteInt32, {layer.filters}, biases, "b", weights);
  }
  const int y = m.AddTensor(kTfLiteInt16,
                            {1, Outputs(layer, layer.height, layer.tall),
                             Outputs(layer, layer.width, layer.wide), layer.filters},
                            "y", output);
  const auto padding = layer.same ? schema::Padding::SAME : schema::Padding::VALID;
  m.AddOp(kTfLiteBuiltinConv2d, {x, w, bias}, {y},
          schema::CreateConv2DOptions(m.fbb(), padding, layer.stride, layer.stride,
                                      schema::ActivationFunctionType::NONE, layer.dilation,
                                      layer.dilation),
          4);
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

std::vector<int16_t> Convolved(const std::vector<uint8_t>& model, const std::vector<int16_t>& input,
                               int threads) {
  TestInterpreter t(model, [&](TfLiteInterpreterOptions* options) {
    TfLiteInterpreterOptionsSetNumThreads(options, threads);
  });
  EXPECT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  t.Set<int16_t>(0, input);
  EXPECT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  return t.Get<int16_t>(0);
}

TEST(ConvInt16, is_the_same_on_all_tables) {
  std::mt19937 random(3);
  for (int round = 0; round < 60; ++round) {
    const Layer layer = RandomLayer(&random);
    const std::vector<uint8_t> model = ModelOf(layer, &random);
    std::vector<int16_t> input(static_cast<size_t>(layer.height * layer.width * layer.channels),
                               INT16_MIN);
    if (!layer.extreme) {
      for (int16_t& value : input) value = static_cast<int16_t>(random());
    }
    OverrideCpu(FindCpu("reference"));
    const std::vector<int16_t> expected = Convolved(model, input, 1);
    for (const CpuKernels* cpu : CpuTables()) {
      OverrideCpu(cpu);
      EXPECT_EQ(Convolved(model, input, 1 + round % 2), expected)
          << cpu->name << ", round " << round;
    }
    OverrideCpu(nullptr);
  }
}

}  // namespace
}  // namespace deputy::conv_int16_test
