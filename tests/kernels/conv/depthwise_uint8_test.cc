// SPDX-License-Identifier: Apache-2.0
//
// Compares uint8 DEPTHWISE_CONV_2D on every table, number of threads and arithmetic bit by bit with
// sums computed by the test, and with the plain code.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "c_api/include/deputy.h"
#include "kernels/cpu/cpu.h"
#include "tests/kernels/cpu/cpu_tables.h"
#include "tests/support/interpreter_queries.h"
#include "tests/support/model_builder.h"
#include "tests/support/scoped_cpu.h"
#include "tests/support/test_interpreter.h"

namespace deputy::depthwise_uint8_test {
namespace {

using Bytes = std::vector<uint8_t>;

struct Layer {
  int batches = 1, height = 1, width = 1, channels = 1, multiplier = 1;
  int filter_height = 1, filter_width = 1;
  int stride_y = 1, stride_x = 1, dilation_y = 1, dilation_x = 1;
  int input_zero = 128, filter_zero = 128, output_zero = 128;
  bool same = true, clamps = false, constant = true;

  int outputs() const { return channels * multiplier; }
  bool Fits() const {
    return same ||
           (height > (filter_height - 1) * dilation_y && width > (filter_width - 1) * dilation_x);
  }
  std::string Text() const {
    std::string text;
    for (const int number : {batches, height, width, channels, multiplier, filter_height,
                             filter_width, stride_y, stride_x, dilation_y, dilation_x, input_zero,
                             filter_zero, output_zero, int{same}, int{clamps}, int{constant}}) {
      text += std::to_string(number) + " ";
    }
    return text;
  }
};

constexpr float kInputScale = 0.02f, kFilterScale = 0.004f, kOutputScale = 0.05f;

size_t Count(int a, int b, int c) {
  return static_cast<size_t>(a) * static_cast<size_t>(b) * static_cast<size_t>(c);
}

struct Numbers {
  Bytes input, filter;
  std::vector<int32_t> bias;

  explicit Numbers(const Layer& l) : bias(static_cast<size_t>(l.outputs())) {
    std::mt19937 engine(static_cast<uint32_t>(l.channels * 31 + l.filter_zero));
    std::uniform_int_distribution<int> any(0, 255);
    input.resize(Count(l.batches * l.height, l.width, l.channels));
    filter.resize(Count(l.filter_height, l.filter_width, l.outputs()));
    for (uint8_t& value : input) value = static_cast<uint8_t>(any(engine));
    // Many filter values are at the limits of the range.
    for (uint8_t& value : filter) {
      const int pick = any(engine);
      value = static_cast<uint8_t>(pick < 40 ? 0 : pick < 80 ? 255 : any(engine));
    }
    for (int32_t& value : bias) value = (any(engine) - 128) * 40;
  }
};

std::vector<uint8_t> ModelOf(const Layer& l, const Numbers& n) {
  ModelBuilder m;
  const std::vector<int32_t> filter_shape = {1, l.filter_height, l.filter_width, l.outputs()};
  const TensorExtras of_filter = {.scale = {kFilterScale}, .zero_point = {l.filter_zero}};
  const int x = m.AddTensor(kTfLiteUInt8, {l.batches, l.height, l.width, l.channels}, "x",
                            {.scale = {kInputScale}, .zero_point = {l.input_zero}});
  const int w = l.constant
                    ? m.AddConstant<uint8_t>(kTfLiteUInt8, filter_shape, n.filter, "w", of_filter)
                    : m.AddTensor(kTfLiteUInt8, filter_shape, "w", of_filter);
  const int b = m.AddConstant<int32_t>(kTfLiteInt32, {l.outputs()}, n.bias, "b",
                                       {.scale = {kInputScale * kFilterScale}});
  const int y =
      m.AddTensor(kTfLiteUInt8, {1}, "y", {.scale = {kOutputScale}, .zero_point = {l.output_zero}});
  m.AddOp(
      kTfLiteBuiltinDepthwiseConv2d, {x, w, b}, {y},
      schema::CreateDepthwiseConv2DOptions(
          m.fbb(), l.same ? schema::Padding::SAME : schema::Padding::VALID, l.stride_x, l.stride_y,
          l.multiplier,
          l.clamps ? schema::ActivationFunctionType::RELU6 : schema::ActivationFunctionType::NONE,
          l.dilation_x, l.dilation_y));
  if (l.constant) {
    m.SetInputs({x});
  } else {
    m.SetInputs({x, w});
  }
  m.SetOutputs({y});
  return m.Finish();
}

std::string ImplementationOf(const TestInterpreter& t) {
  const DeputyNodeRun run = NodeRunOf(t.get(), 0);
  return run.implementation == nullptr ? "" : run.implementation;
}

struct RunSettings {
  const char* table;
  int threads;
  DeputyArithmetic arithmetic;
};

Bytes Run(const Layer& l, const Numbers& n, const RunSettings& settings) {
  const ScopedCpu cpu(FindCpu(settings.table));
  TestInterpreter t(ModelOf(l, n), [&](TfLiteInterpreterOptions* options) {
    TfLiteInterpreterOptionsSetNumThreads(options, settings.threads);
    DeputyInterpreterOptionsSetArithmetic(options, settings.arithmetic);
  });
  EXPECT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  const bool plain = std::string(settings.table) == "reference";
  EXPECT_EQ(ImplementationOf(t), plain ? "reference" : "columns_uint8");
  t.Set<uint8_t>(0, n.input);
  Bytes out;
  // The second run reads the weights packed by the first.
  for (int i = 0; i < 2; ++i) {
    if (!l.constant) t.Set<uint8_t>(1, n.filter);
    EXPECT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    out = t.Get<uint8_t>(0);
  }
  return out;
}

// Number of outputs along an axis, and the padding before it.
struct Axis {
  int outputs, before;
};
Axis AxisOf(const Layer& l, int input, int filter, int stride, int dilation) {
  const int span = (filter - 1) * dilation + 1;
  if (!l.same) return {(input - span) / stride + 1, 0};
  const int outputs = (input + stride - 1) / stride;
  return {outputs, std::max(0, (outputs - 1) * stride + span - input) / 2};
}

int32_t SumAt(const Layer& l, const Numbers& n, int batch, int y, int x, int channel) {
  int32_t sum = n.bias[static_cast<size_t>(channel)];
  for (int ky = 0; ky < l.filter_height; ++ky) {
    for (int kx = 0; kx < l.filter_width; ++kx) {
      const int iy = y + ky * l.dilation_y, ix = x + kx * l.dilation_x;
      if (iy < 0 || iy >= l.height || ix < 0 || ix >= l.width) continue;
      const size_t pixel = Count((batch * l.height + iy) * l.width + ix, l.channels, 1);
      const size_t tap = Count(ky * l.filter_width + kx, l.outputs(), 1);
      sum += (n.input[pixel + static_cast<size_t>(channel / l.multiplier)] - l.input_zero) *
             (n.filter[tap + static_cast<size_t>(channel)] - l.filter_zero);
    }
  }
  return sum;
}

// Computes the result of the default arithmetic: the sum times a float32 factor, rounded to even.
Bytes Expected(const Layer& l, const Numbers& n) {
  const auto factor =
      static_cast<float>(double{kInputScale} * double{kFilterScale} / double{kOutputScale});
  const Axis rows = AxisOf(l, l.height, l.filter_height, l.stride_y, l.dilation_y);
  const Axis columns = AxisOf(l, l.width, l.filter_width, l.stride_x, l.dilation_x);
  const int high = l.clamps ? std::min(255, l.output_zero + 120) : 255;
  const int low = l.clamps ? l.output_zero : 0;
  Bytes out;
  for (int b = 0; b < l.batches; ++b) {
    for (int y = 0; y < rows.outputs; ++y) {
      for (int x = 0; x < columns.outputs; ++x) {
        for (int c = 0; c < l.outputs(); ++c) {
          const int32_t sum =
              SumAt(l, n, b, y * l.stride_y - rows.before, x * l.stride_x - columns.before, c);
          const float steps = std::clamp(static_cast<float>(sum) * factor, -1000.0f, 1000.0f);
          out.push_back(static_cast<uint8_t>(
              std::clamp(static_cast<int>(std::nearbyint(steps)) + l.output_zero, low, high)));
        }
      }
    }
  }
  return out;
}

void Check(const Layer& l) {
  if (!l.Fits()) return;
  const Numbers numbers(l);
  for (const DeputyArithmetic arithmetic : {kDeputyArithmeticDefault, kDeputyArithmeticReference}) {
    const Bytes plain = Run(l, numbers, {"reference", 1, arithmetic});
    if (arithmetic == kDeputyArithmeticDefault) {
      EXPECT_EQ(plain, Expected(l, numbers)) << l.Text();
    }
    for (const CpuKernels* cpu : CpuTables()) {
      for (const int threads : {1, 3}) {
        EXPECT_EQ(Run(l, numbers, {cpu->name, threads, arithmetic}), plain)
            << cpu->name << ", " << threads << " threads: " << l.Text();
      }
    }
  }
}

TEST(DepthwiseUInt8, every_zero_point_of_the_filter_near_a_number_of_parts) {
  for (const int zero : {0, 1, 2, 100, 127, 128, 129, 200, 254, 255}) {
    Check({.height = 7,
           .width = 9,
           .channels = 24,
           .filter_height = 3,
           .filter_width = 3,
           .filter_zero = zero});
  }
}

TEST(DepthwiseUInt8, random_layers) {
  std::mt19937 engine(20);
  const auto pick = [&](int low, int high) {
    return low + static_cast<int>(engine() % static_cast<uint32_t>(high - low + 1));
  };
  for (int i = 0; i < 150; ++i) {
    Layer l = {.batches = pick(1, 2), .height = pick(1, 12), .width = pick(1, 20)};
    l.channels = pick(1, 40);
    l.multiplier = pick(0, 2) == 0 ? pick(2, 5) : 1;
    l.filter_height = pick(1, 5);
    l.filter_width = pick(0, 1) == 0 ? l.filter_height : pick(1, 5);
    l.stride_y = pick(1, 3);
    l.stride_x = pick(0, 1) == 0 ? l.stride_y : pick(1, 3);
    // The upstream operator does not support dilation together with a stride.
    if (l.stride_y == 1 && l.stride_x == 1) {
      l.dilation_y = pick(1, 3);
      l.dilation_x = pick(1, 3);
    }
    l.input_zero = pick(0, 3) == 0 ? pick(0, 1) * 255 : pick(0, 255);
    l.filter_zero = pick(0, 3) == 0 ? pick(0, 1) * 255 : pick(0, 255);
    l.output_zero = pick(0, 255);
    l.same = pick(0, 2) != 0;
    l.clamps = pick(0, 2) == 0;
    l.constant = pick(0, 4) != 0;
    Check(l);
  }
}

}  // namespace
}  // namespace deputy::depthwise_uint8_test
