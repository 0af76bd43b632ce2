// SPDX-License-Identifier: Apache-2.0
//
// Tests that int8 convolutions of 3x3 by Winograd's transforms are bit-identical with sums over
// windows, also for the largest numbers, with epilogues and on any number of threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "c_api/include/deputy.h"
#include "kernels/conv/conv.h"
#include "tests/support/interpreter_queries.h"
#include "tests/support/model_builder.h"
#include "tests/support/scoped_cpu.h"
#include "tests/support/test_interpreter.h"

namespace deputy::winograd_int8_test {
namespace {

using Bytes = std::vector<int8_t>;

struct Layer {
  int batches, height, width, in, out;
  bool same = true;
  bool has_sum = false;     // followed by an ADD
  bool has_stride = false;  // followed by a strided 1x1 layer
  bool is_extreme = false;  // all values are the minimum or the maximum
  int zero_point = 3;
};

constexpr Layer kShapes[] = {
    {1, 16, 16, 32, 32},  {1, 17, 19, 48, 40},         {2, 15, 13, 32, 35}, {3, 9, 21, 64, 70},
    {1, 11, 40, 64, 130}, {1, 14, 14, 160, 96, false}, {1, 7, 7, 256, 64},  {5, 6, 7, 192, 33},
    {1, 64, 5, 96, 32},   {2, 3, 50, 112, 48, false},  {1, 29, 28, 32, 32},
};

TensorExtras Steps(float scale, int zero_point) {
  TensorExtras extras;
  extras.scale = {scale};
  extras.zero_point = {zero_point};
  return extras;
}

Bytes Random(int count, uint32_t seed, bool is_extreme, int lowest) {
  std::mt19937 engine(seed);
  Bytes made(static_cast<size_t>(count));
  for (int8_t& value : made) {
    const int any = std::uniform_int_distribution<int>(lowest, 127)(engine);
    value = static_cast<int8_t>(is_extreme ? (any < 0 ? lowest : 127) : any);
  }
  return made;
}

std::vector<uint8_t> ModelOf(const Layer& l) {
  constexpr float kInputScale = 0.02f, kWeightScale = 0.01f;
  ModelBuilder m;
  const int height = l.same ? l.height : l.height - 2, width = l.same ? l.width : l.width - 2;
  const std::vector<int32_t> shape = {l.batches, height, width, l.out};
  const int x = m.AddTensor(kTfLiteInt8, {l.batches, l.height, l.width, l.in}, "",
                            Steps(kInputScale, l.zero_point));
  const int addend = m.AddTensor(kTfLiteInt8, shape, "", Steps(0.05f, -7));
  const int w = m.AddConstant<int8_t>(kTfLiteInt8, {l.out, 3, 3, l.in},
                                      Random(l.out * 9 * l.in, 3, l.is_extreme, -127), "",
                                      Steps(kWeightScale, 0));
  std::vector<int32_t> biases(static_cast<size_t>(l.out));
  for (size_t i = 0; i < biases.size(); ++i) biases[i] = static_cast<int32_t>(i * 7919 % 5000);
  const int b = m.AddConstant<int32_t>(kTfLiteInt32, {l.out}, biases, "",
                                       Steps(kInputScale * kWeightScale, 0));
  const float range = l.is_extreme ? 60.0f * static_cast<float>(l.in) : 40.0f;
  int value = m.AddTensor(kTfLiteInt8, shape, "", Steps(range / 128, 5));
  m.AddOp(
      kTfLiteBuiltinConv2d, {x, w, b}, {value},
      schema::CreateConv2DOptions(m.fbb(), l.same ? schema::Padding::SAME : schema::Padding::VALID,
                                  1, 1, schema::ActivationFunctionType::NONE));
  if (l.has_sum) {
    const int sum = m.AddTensor(kTfLiteInt8, shape, "", Steps(0.4f, 1));
    m.AddOp(kTfLiteBuiltinAdd, {value, addend}, {sum}, schema::CreateAddOptions(m.fbb()));
    value = sum;
  }
  if (l.has_stride) {
    const int weights =
        m.AddConstant<int8_t>(kTfLiteInt8, {16, 1, 1, l.out}, Random(16 * l.out, 9, false, -127),
                              "", Steps(kWeightScale, 0));
    const int bias = m.AddConstant<int32_t>(kTfLiteInt32, {16}, std::vector<int32_t>(16), "",
                                            Steps(range / 128 * kWeightScale, 0));
    const int out = m.AddTensor(kTfLiteInt8, {l.batches, (height + 1) / 2, (width + 1) / 2, 16}, "",
                                Steps(1.0f, 0));
    m.AddOp(kTfLiteBuiltinConv2d, {value, weights, bias}, {out},
            schema::CreateConv2DOptions(m.fbb(), schema::Padding::VALID, 2, 2));
    value = out;
  }
  m.SetInputs({x, addend});
  m.SetOutputs({value});
  return m.Finish();
}

struct Found {
  Bytes output;
  std::string implementation;
};

Found Infer(const Layer& l, const CpuKernels& cpu, int threads = 1) {
  const ScopedCpu on_cpu(&cpu);
  TestInterpreter t(ModelOf(l), [&](TfLiteInterpreterOptions* options) {
    TfLiteInterpreterOptionsSetNumThreads(options, threads);
  });
  Found found;
  if (t.get() == nullptr || t.Allocate() != kTfLiteOk) {
    ADD_FAILURE() << t.log();
    return found;
  }
  const int height = l.same ? l.height : l.height - 2, width = l.same ? l.width : l.width - 2;
  t.Set(0, Random(l.batches * l.height * l.width * l.in, 1, l.is_extreme, -128));
  t.Set(1, Random(l.batches * height * width * l.out, 2, false, -128));
  EXPECT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  found.output = t.Get<int8_t>(0);
  const DeputyNodeRun run = NodeRunOf(t.get(), 0);
  found.implementation = run.implementation;
  return found;
}

class WinogradInt8 : public testing::Test {
 protected:
  void SetUp() override {
    const CpuKernels* const cpu = FindCpu("avx2");
    if (cpu == nullptr) GTEST_SKIP() << "this machine has no AVX2";
    by_tiles_ = over_windows_ = *cpu;
    over_windows_.gemm_s8.winograd = nullptr;
    ASSERT_NE(by_tiles_.gemm_s8.winograd, nullptr);
  }
  // Compares both algorithms for all shapes, with layers that `change` modifies.
  template <typename Change>
  void Compare(const Change& change) const {
    int taken = 0;
    for (Layer layer : kShapes) {
      change(&layer);
      const Found expected = Infer(layer, over_windows_);
      EXPECT_NE(expected.implementation, "winograd_int8");
      const auto [least, most] =
          std::minmax_element(expected.output.begin(), expected.output.end());
      EXPECT_LT(*least, *most) << "all expected outputs are equal";
      for (int threads : {1, 2, 5}) {
        const Found found = Infer(layer, by_tiles_, threads);
        taken += found.implementation == "winograd_int8" ? 1 : 0;
        EXPECT_TRUE(found.output == expected.output)
            << layer.batches << 'x' << layer.height << 'x' << layer.width << 'x' << layer.in
            << " to " << layer.out << ", threads " << threads;
      }
    }
    EXPECT_GE(taken, 3 * 7);
  }

  CpuKernels by_tiles_, over_windows_;
};

TEST_F(WinogradInt8, equals_direct_convolution_bit_by_bit) {
  Compare([](Layer*) {});
}

TEST_F(WinogradInt8, padding_uses_the_zero_point) {
  for (int zero_point : {-128, 127}) {
    Compare([zero_point](Layer* layer) { layer->zero_point = zero_point; });
  }
}

TEST_F(WinogradInt8, the_largest_magnitudes_do_not_overflow) {
  Compare([](Layer* layer) { layer->is_extreme = true; });
}

TEST_F(WinogradInt8, fused_addition_equals_add) {
  Compare([](Layer* layer) { layer->has_sum = true; });
}

TEST_F(WinogradInt8, skips_unread_pixels) {
  Compare([](Layer* layer) { layer->has_stride = true; });
}

// Every number is the minimum or the maximum, and the results are single sums, without rounding
// that could hide a difference.
TEST_F(WinogradInt8, sums_of_extremes_are_exact) {
  const WinogradS8Kernels& kernels = *by_tiles_.gemm_s8.winograd;
  constexpr int kDepth = 2048, kColumns = 16;
  for (const int8_t value : {int8_t{-128}, int8_t{127}}) {
    for (const int8_t weight : {int8_t{-128}, int8_t{127}}) {
      const Bytes pixel(kDepth, value), taps(size_t{kDepth} * kColumns, weight);
      std::vector<int16_t> inputs(size_t{16} * kDepth), weights(size_t{16} * kDepth * kColumns);
      const int8_t* pixels[16];
      std::fill_n(pixels, 16, pixel.data());
      kernels.input(pixels, kDepth, inputs.data(), kDepth);
      kernels.filter(taps.data(), 0, kDepth * kColumns, weights.data(), kDepth * kColumns);
      std::vector<int32_t> products(16 * kColumns), sums(4 * kColumns), bias(kColumns, -11);
      for (size_t plane = 0; plane < 16; ++plane) {
        kernels.multiply({.rows = 1,
                          .depth = kDepth,
                          .a = inputs.data() + plane * kDepth,
                          .a_stride = kDepth,
                          .b = weights.data() + plane * kDepth * kColumns,
                          .sums = products.data() + plane * kColumns,
                          .sums_stride = kColumns});
      }
      kernels.output(products.data(), kColumns, bias.data(), sums.data(), 2 * kColumns);
      for (const int32_t sum : sums) EXPECT_EQ(sum, 9 * kDepth * int{value} * int{weight} - 11);
    }
  }
}

}  // namespace
}  // namespace deputy::winograd_int8_test
