// SPDX-License-Identifier: Apache-2.0
//
// Tests kernels for products of integers. Their sums must equal the reference's exactly.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "tests/gpu_cl/gpu_kernels_support.h"

namespace deputy::gpu_cl::gpu_integers_test {
namespace {

using compiler::Expression;
using compiler::GraphBuilder;
using compiler::Operation;
using compiler::ScalarOp;
using compiler::Shape;
using compiler::ValueId;
using testing::HasSubstr;

class GpuIntegers : public KernelTest {
 protected:
  // Adds a constant with all numbers that a filter may have.
  ValueId Filter(Shape shape) {
    std::vector<int8_t> numbers(static_cast<size_t>(compiler::ElementCount(shape)));
    for (int8_t& number : numbers) number = static_cast<int8_t>(random_() % 256 - 128);
    return g_.graph.AddConstantOf<int8_t>(kTfLiteInt8, std::move(shape),
                                          std::span<const int8_t>(numbers));
  }
  ValueId Bias(int channels) {
    std::vector<int32_t> numbers(static_cast<size_t>(channels));
    for (int32_t& number : numbers) number = static_cast<int32_t>(random_()) / 16;
    return g_.graph.AddConstantOf<int32_t>(kTfLiteInt32, {channels},
                                           std::span<const int32_t>(numbers));
  }
  // Adds an image of int8 or uint8 with numbers from the whole range.
  ValueId Image(const Shape& shape, TfLiteType type) {
    const ValueId given = g_.Input(shape, kTfLiteInt32);
    Expression e;
    const int scaled =
        e.Apply(ScalarOp::kMul, e.Operand(0, kTfLiteInt32), e.Constant(kTfLiteInt32, 37));
    e.Cast(scaled, type);
    return g_.Compute(std::move(e), {given});
  }
  void AddConv(const ConvRow& row, TfLiteType type, int zero_point) {
    const ValueId image = Image(row.image, type);
    const ValueId filter = Filter({row.channels, row.height, row.width, row.image[3] / row.groups});
    g_.Output(g_.Add(compiler::Conv2d{WindowOf(row), row.groups, zero_point},
                     {image, filter, Bias(row.channels)}, OutputShape(row), kTfLiteInt32));
    g_.Output(g_.Add(compiler::Conv2d{WindowOf(row), row.groups, zero_point}, {image, filter},
                     OutputShape(row), kTfLiteInt32));
  }
  void AddDepthwise(const ConvRow& row, TfLiteType type, int zero_point, int multiplier) {
    const int channels = row.image[3] * multiplier;
    Shape out = OutputShape(row);
    out[3] = channels;
    const ValueId image = Image(row.image, type);
    g_.Output(g_.Add(compiler::DepthwiseConv2d{WindowOf(row), multiplier, zero_point},
                     {image, Filter({1, row.height, row.width, channels}), Bias(channels)}, out,
                     kTfLiteInt32));
  }

  std::mt19937 random_{11};
  GraphBuilder g_;
};

// Channels before and after multiples of a quad, of vectors and of tiles; windows of one pixel,
// inside of the image and padded; strides, dilation, groups and batches.
const ConvRow kConvs[] = {
    {{1, 7, 7, 16}, 48, 1, 1},
    {{1, 5, 5, 3}, 40, 1, 1},
    {{2, 5, 3, 7}, 17, 1, 1},
    {{1, 1, 1, 102}, 130, 1, 1},
    {{1, 9, 9, 5}, 1, 1, 1},
    {{1, 13, 11, 4}, 24, 1, 1, 2},
    {{1, 9, 9, 9}, 24, 3, 3},
    {{2, 9, 7, 3}, 16, 3, 3, 2, 1, 1},
    {{1, 8, 8, 6}, 33, 3, 3, 1, 2, 2},
    {{1, 8, 9, 8}, 40, 5, 3, 2, 1, 2},
    {{2, 6, 6, 20}, 12, 3, 3, 1, 1, 1, 4},
    {{1, 7, 5, 34}, 34, 1, 1, 1, 1, 0, 2},
};

TEST_P(GpuIntegers, convolutions_of_int8) {
  int zero_point = -128;
  for (const ConvRow& row : kConvs) AddConv(row, kTfLiteInt8, std::min(zero_point += 20, 127));
  ExpectAgreement(g_.graph);
  EXPECT_THAT(kernels_, HasSubstr("ADD_DOT"));
  EXPECT_THAT(kernels_, testing::Not(HasSubstr("int sum =")));
}

TEST_P(GpuIntegers, convolutions_of_uint8) {
  int zero_point = 255;
  for (const ConvRow& row : kConvs) AddConv(row, kTfLiteUInt8, zero_point -= 21);
  ExpectAgreement(g_.graph);
}

// Windows per channel: heights of up to three quads, neighbours that share columns, channels before
// and after multiples of vectors, several channels per channel, a window that is too large.
TEST_P(GpuIntegers, depthwise_convolutions) {
  for (const TfLiteType type : {kTfLiteInt8, kTfLiteUInt8}) {
    const int zero_point = type == kTfLiteInt8 ? -7 : 200;
    for (const ConvRow& row : std::vector<ConvRow>{{{2, 9, 9, 16}, 16, 3, 3, 1, 1, 1},
                                                   {{1, 9, 8, 40}, 40, 3, 3, 2, 1, 1},
                                                   {{1, 9, 8, 19}, 19, 3, 3},
                                                   {{1, 7, 9, 6}, 6, 5, 5, 1, 1, 2},
                                                   {{1, 7, 9, 32}, 32, 4, 2, 3, 1, 1},
                                                   {{1, 11, 12, 24}, 24, 3, 3, 1, 2, 2},
                                                   {{1, 9, 12, 17}, 17, 7, 7, 1, 1, 3},
                                                   {{1, 5, 5, 3}, 3, 3, 3, 1, 1, 1},
                                                   {{1, 10, 12, 8}, 8, 9, 9, 1, 1, 4}}) {
      AddDepthwise(row, type, zero_point, 1);
    }
    AddDepthwise({{1, 5, 6, 5}, 10, 3, 3, 1, 1, 1}, type, zero_point, 2);
  }
  ExpectAgreement(g_.graph);
  EXPECT_THAT(kernels_, HasSubstr("outside"));
}

TEST_P(GpuIntegers, matrix_products) {
  for (const TfLiteType type : {kTfLiteInt8, kTfLiteUInt8}) {
    const int zero_point = type == kTfLiteInt8 ? 127 : 1;
    for (const auto& [m, n, k] : std::vector<std::array<int, 3>>{
             {1, 10, 64}, {3, 48, 30}, {1, 1000, 33}, {20, 17, 5}, {7, 1, 3}}) {
      const ValueId left = Image({m, k}, type);
      g_.Output(g_.Add(compiler::MatMul{false, true, zero_point}, {left, Filter({n, k}), Bias(n)},
                       {m, n}, kTfLiteInt32));
      g_.Output(g_.Add(compiler::MatMul{false, false, zero_point}, {left, Filter({k, n})}, {m, n},
                       kTfLiteInt32));
      const ValueId transposed = Image({k, m}, type);
      g_.Output(g_.Add(compiler::MatMul{true, true, zero_point}, {transposed, Filter({n, k})},
                       {m, n}, kTfLiteInt32));
    }
  }
  ExpectAgreement(g_.graph);
}

// Sums that are scaled, limited and rounded to int8 and uint8, as quantised models need them.
TEST_P(GpuIntegers, sums_are_stored_as_bytes) {
  for (const TfLiteType type : {kTfLiteInt8, kTfLiteUInt8}) {
    const double low = type == kTfLiteInt8 ? -128 : 0, high = type == kTfLiteInt8 ? 127 : 255;
    for (const ConvRow& row : {kConvs[0], kConvs[2], kConvs[7]}) {
      AddConv(row, type, 3);
      g_.graph.outputs.pop_back();
      g_.graph.outputs.pop_back();
      Operation& conv = g_.graph.operations.back();
      std::vector<float> scales(static_cast<size_t>(row.channels));
      // Powers of two, so that products are exact and no rounding depends on the order.
      for (float& scale : scales) scale = 1.0f / static_cast<float>(16 << random_() % 8);
      Expression e;
      int node = e.Cast(e.Operand(0, kTfLiteInt32), kTfLiteFloat32);
      node = e.Apply(ScalarOp::kMul, node, e.Operand(1, kTfLiteFloat32));
      node =
          e.Apply(ScalarOp::kFloor, e.Apply(ScalarOp::kAdd, node, e.Constant(kTfLiteFloat32, 4.5)));
      node = e.Apply(ScalarOp::kMax, node, e.Constant(kTfLiteFloat32, low));
      node = e.Apply(ScalarOp::kMin, node, e.Constant(kTfLiteFloat32, high));
      e.SetResult(e.Cast(node, type));
      conv.epilogue = std::move(e);
      conv.epilogue_inputs = {g_.Constant({row.channels}, scales)};
      g_.graph.value(conv.output()).type = type;
      g_.Output(conv.output());
    }
  }
  ExpectAgreement(g_.graph);
}

std::vector<KernelTarget> IntegerTargets() {
  return {{DeviceClass::kCpu, 4},
          {DeviceClass::kCpu, 8},
          {DeviceClass::kCpu, 16},
          {.device_class = DeviceClass::kCpu, .width = 8, .vnni = false},
          {.device_class = DeviceClass::kCpu, .width = 16, .vnni = false},
          {DeviceClass::kDesktop, 1},
          {DeviceClass::kMobile, 1}};
}

INSTANTIATE_TEST_SUITE_P(Targets, GpuIntegers, testing::ValuesIn(IntegerTargets()),
                         KernelTargetName);

}  // namespace
}  // namespace deputy::gpu_cl::gpu_integers_test
