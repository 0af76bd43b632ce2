// SPDX-License-Identifier: Apache-2.0
//
// Compares DepthwiseLinesS8Kernels of every CPU table with plain sums, and the int8
// DEPTHWISE_CONV_2D on every table and number of threads with the plain code; all bit by bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "kernels/cpu/cpu.h"
#include "tests/kernels/cpu/cpu_tables.h"
#include "tests/support/model_builder.h"
#include "tests/support/scoped_cpu.h"
#include "tests/support/test_interpreter.h"

namespace deputy::depthwise_int8_test {
namespace {

using Bytes = std::vector<int8_t>;

size_t Count(int a, int b, int c) {
  return static_cast<size_t>(a) * static_cast<size_t>(b) * static_cast<size_t>(c);
}

Bytes RandomBytes(size_t count, uint32_t seed) {
  std::mt19937 engine(seed);
  std::uniform_int_distribution<int> values(-128, 127);
  Bytes made(count);
  for (int8_t& value : made) value = static_cast<int8_t>(values(engine));
  return made;
}

std::vector<const CpuKernels*> TablesWithLines() {
  std::vector<const CpuKernels*> tables;
  for (const CpuKernels* cpu : CpuTables()) {
    if (cpu->depthwise_s8.lines != nullptr) tables.push_back(cpu);
  }
  return tables;
}

// ---- The table's lines ------------------------------------------------------------------------

struct Line {
  int lines, columns, channels, size, stride, before, after;
  int above = 0;  // number of input rows missing at the top
  float factor = 1e-3f;
  int32_t largest_bias = 1000;
  int32_t zero_point = -5, low = -128, high = 127;

  int width() const { return (columns - 1) * stride + size - before - after; }
  int rows() const { return (lines - 1) * stride + size; }
};

constexpr int32_t kInputZeroPoint = -7;

struct Numbers {
  Bytes input, weights;
  std::vector<int32_t> bias;
  std::vector<float> factors;

  explicit Numbers(const Line& l)
      : input(RandomBytes(Count(l.rows(), l.width(), l.channels), 1)),
        weights(RandomBytes(Count(l.size, l.size, l.channels), 2)),
        bias(static_cast<size_t>(l.channels)),
        factors(static_cast<size_t>(l.channels)) {
    std::mt19937 engine(3);
    std::uniform_int_distribution<int32_t> any_bias(-l.largest_bias, l.largest_bias);
    std::uniform_real_distribution<float> any_factor(0.5f * l.factor, l.factor);
    for (int32_t& value : bias) value = any_bias(engine);
    for (float& value : factors) value = any_factor(engine);
  }
};

int32_t SumAt(const Line& l, const Numbers& n, int line, int column, int c) {
  int32_t sum = n.bias[static_cast<size_t>(c)];
  for (int ky = 0; ky < l.size; ++ky) {
    for (int kx = 0; kx < l.size; ++kx) {
      const int y = line * l.stride + ky, x = column * l.stride - l.before + kx;
      const bool inside = y >= l.above && x >= 0 && x < l.width();
      const size_t at = Count(y * l.width() + x, l.channels, 1) + static_cast<size_t>(c);
      const size_t tap = Count(ky * l.size + kx, l.channels, 1) + static_cast<size_t>(c);
      sum += (inside ? n.input[at] : kInputZeroPoint) * n.weights[tap];
    }
  }
  return sum;
}

Bytes Plain(const Line& l, const Numbers& n) {
  Bytes out;
  for (int line = 0; line < l.lines; ++line) {
    for (int column = 0; column < l.columns; ++column) {
      for (int c = 0; c < l.channels; ++c) {
        const float scaled =
            static_cast<float>(SumAt(l, n, line, column, c)) * n.factors[static_cast<size_t>(c)];
        const float step = std::nearbyint(std::clamp(scaled, -1000.0f, 1000.0f));
        out.push_back(static_cast<int8_t>(
            std::clamp(static_cast<int32_t>(step) + l.zero_point, l.low, l.high)));
      }
    }
  }
  return out;
}

struct alignas(64) Line64 {
  int8_t bytes[64];
};

// Returns the bias with which kernels compute the same sums from inputs that are stored with
// `offset` added.
std::vector<int32_t> BiasWithout(int32_t offset, const Line& l, const Numbers& n) {
  std::vector<int32_t> bias = n.bias;
  const size_t channels = bias.size();
  for (size_t i = 0; i < Count(l.size, l.size, l.channels); ++i) {
    const uint32_t whole = static_cast<uint32_t>(offset) * static_cast<uint32_t>(n.weights[i]);
    bias[i % channels] = static_cast<int32_t>(static_cast<uint32_t>(bias[i % channels]) - whole);
  }
  return bias;
}

Bytes ByTable(const DepthwiseS8Kernels& group, const Line& l, const Numbers& n) {
  const DepthwiseLinesS8Kernels& kernels = *group.lines;
  std::vector<Line64> packed(kernels.bytes(l.size, l.channels) / 64 + 1);
  int8_t* const packed_bytes = packed.front().bytes;
  const std::vector<int32_t> bias = BiasWithout(group.left_offset(), l, n);
  if (!kernels.pack(n.weights.data(), l.size, l.channels, bias.data(), n.factors.data(),
                    packed_bytes)) {
    return {};
  }
  std::vector<const int8_t*> inputs;
  for (int line = 0; line < l.lines; ++line) {
    for (int y = line * l.stride; y < line * l.stride + l.size; ++y) {
      inputs.push_back(y < l.above ? nullptr : n.input.data() + Count(y, l.width(), l.channels));
    }
  }
  Bytes out(Count(l.lines, l.columns, l.channels));
  kernels.run({.lines = l.lines,
               .columns = l.columns,
               .channels = l.channels,
               .size = l.size,
               .stride = l.stride,
               .before = l.before,
               .width = l.width(),
               .inputs = inputs.data(),
               .input_zero_point = kInputZeroPoint,
               .packed = packed_bytes,
               .zero_point = l.zero_point,
               .low = l.low,
               .high = l.high,
               .out = out.data()});
  return out;
}

// Returns true if tables may refuse the layer because results could exceed 16 bits.
bool MayBeRefused(const Line& l) {
  const float products = 128.0f * 128.0f * static_cast<float>(l.size * l.size);
  return (products + static_cast<float>(l.largest_bias)) * l.factor > 32000.0f;
}

void Check(const Line& l) {
  if (l.width() <= 0) return;
  const Numbers numbers(l);
  const Bytes plain = Plain(l, numbers);
  for (const CpuKernels* cpu : TablesWithLines()) {
    const DepthwiseLinesS8Kernels& kernels = *cpu->depthwise_s8.lines;
    if (!kernels.accepts(l.size, l.stride, l.channels)) continue;
    const Bytes made = ByTable(cpu->depthwise_s8, l, numbers);
    if (made.empty() && MayBeRefused(l)) continue;
    EXPECT_EQ(made, plain) << cpu->name << ": " << l.lines << " lines of " << l.columns
                           << " columns, " << l.channels << " channels, filter " << l.size
                           << ", stride " << l.stride << ", before " << l.before;
  }
}

TEST(DepthwiseInt8Lines, sums_of_all_channels_and_columns) {
  for (const int size : {3, 5}) {
    for (const int stride : {1, 2}) {
      for (int channels = 8; channels <= 70; ++channels) {
        Check({1 + channels % 8, 1 + channels % 13, channels, size, stride, size / 2, size / 2});
      }
      for (const int channels : {88, 96, 112, 120, 127, 136, 144, 200}) {
        Check({3, 1 + channels % 13, channels, size, stride, size / 2, size / 2});
      }
      for (int columns = 1; columns <= 160; columns += columns < 36 ? 1 : 7) {
        for (const int channels : {8, 16, 44, 64}) {
          const int before = columns % (size + 2), after = columns % 3;
          Check({1 + columns % 3, columns, channels, size, stride, before, after, columns % 2});
        }
      }
    }
  }
}

TEST(DepthwiseInt8Lines, rows_above_the_input_are_zero_points) {
  for (const int size : {3, 5}) {
    for (const int stride : {1, 2}) {
      for (int above = 0; above < size; ++above) {
        for (const int lines : {1, 2, 3}) Check({lines, 9, 40, size, stride, 1, 2, above});
      }
    }
  }
}

TEST(DepthwiseInt8Lines, rows_that_are_all_outside_are_zero_points) {
  for (const int size : {3, 5}) {
    for (const int stride : {1, 2}) Check({3, 9, 24, size, stride, 1, 1, size + 2 * stride});
  }
}

TEST(DepthwiseInt8Lines, outputs_are_clamped) {
  for (const int32_t low : {-128, -5, 3}) {
    for (const int32_t high : {20, 127}) {
      for (const float factor : {1e-25f, 1e-4f, 0.02f, 0.3f, 200.0f, 1e25f}) {
        Line line = {2, 7, 49, 3, 1, 1, 1};
        line.low = low;
        line.high = high;
        line.factor = factor;
        Check(line);
      }
    }
  }
}

TEST(DepthwiseInt8Lines, largest_magnitudes) {
  const Line line = {2, 6, 32, 5, 1, 2, 2};
  constexpr int32_t kProducts = 25 * 128 * 128;
  Numbers numbers(line);
  std::fill(numbers.input.begin(), numbers.input.end(), int8_t{-128});
  std::fill(numbers.factors.begin(), numbers.factors.end(), 2e-5f);
  for (const int sign : {-1, 1}) {
    std::fill(numbers.weights.begin(), numbers.weights.end(),
              sign < 0 ? int8_t{127} : int8_t{-128});
    for (const int32_t bias : {(1 << 22) - kProducts - 1, (1 << 22) - kProducts, 1 << 22}) {
      std::fill(numbers.bias.begin(), numbers.bias.end(), sign * bias);
      for (const CpuKernels* cpu : TablesWithLines()) {
        const Bytes made = ByTable(cpu->depthwise_s8, line, numbers);
        if (made.empty() && bias + kProducts >= 1 << 22) continue;
        EXPECT_EQ(made, Plain(line, numbers)) << cpu->name << ": " << sign * bias;
      }
    }
  }
}

// Parameters out of range are either refused or computed correctly.
TEST(DepthwiseInt8Lines, too_large_biases_are_refused) {
  const Line line = {1, 6, 33, 3, 1, 1, 1};
  for (const CpuKernels* cpu : TablesWithLines()) {
    const DepthwiseLinesS8Kernels& kernels = *cpu->depthwise_s8.lines;
    for (const int32_t bias : {INT32_MAX - (1 << 23), INT32_MIN + (1 << 23), (1 << 22) + 1}) {
      Numbers numbers(line);
      numbers.bias.back() = bias;
      const Bytes made = ByTable(cpu->depthwise_s8, line, numbers);
      EXPECT_TRUE(made.empty() || made == Plain(line, numbers)) << cpu->name << ": " << bias;
    }
    for (const float factor : {1e38f, 1e-40f}) {
      Numbers numbers(line);
      numbers.factors.back() = factor;
      const Bytes made = ByTable(cpu->depthwise_s8, line, numbers);
      EXPECT_TRUE(made.empty() || made == Plain(line, numbers)) << cpu->name << ": " << factor;
    }
    EXPECT_FALSE(kernels.accepts(7, 1, 32));
    EXPECT_FALSE(kernels.accepts(3, 3, 32));
    EXPECT_FALSE(kernels.accepts(3, 1, 7));
  }
}

// ---- The operator -----------------------------------------------------------------------------

struct Layer {
  int batches, height, width, channels, filter_height, filter_width;
  int stride = 1, dilation = 1;
  bool same = true, clamps = false;
  int32_t bias = 500;
  int8_t lowest_weight = -128;
};

std::vector<uint8_t> ModelOf(const Layer& l) {
  ModelBuilder m;
  const auto channels = static_cast<size_t>(l.channels);
  TensorExtras weights, bias;
  for (size_t c = 0; c < channels; ++c) {
    weights.scale.push_back(0.002f + 0.0001f * static_cast<float>(c % 7));
    bias.scale.push_back(0.02f * weights.scale.back());
  }
  weights.quantized_dimension = 3;
  const int x = m.AddTensor(kTfLiteInt8, {l.batches, l.height, l.width, l.channels}, "x",
                            {.scale = {0.02f}, .zero_point = {-11}});
  Bytes values = RandomBytes(Count(l.filter_height, l.filter_width, l.channels), 5);
  for (int8_t& value : values) value = std::max(value, l.lowest_weight);
  const int w = m.AddConstant<int8_t>(kTfLiteInt8, {1, l.filter_height, l.filter_width, l.channels},
                                      values, "w", weights);
  std::vector<int32_t> biases(channels);
  for (size_t c = 0; c < channels; ++c) biases[c] = c % 2 == 0 ? l.bias : -l.bias;
  const int b = m.AddConstant<int32_t>(kTfLiteInt32, {l.channels}, biases, "b", bias);
  const int y =
      m.AddTensor(kTfLiteInt8, {1}, "y", {.scale = {0.03f}, .zero_point = {l.clamps ? -128 : 4}});
  m.AddOp(
      kTfLiteBuiltinDepthwiseConv2d, {x, w, b}, {y},
      schema::CreateDepthwiseConv2DOptions(
          m.fbb(), l.same ? schema::Padding::SAME : schema::Padding::VALID, l.stride, l.stride, 1,
          l.clamps ? schema::ActivationFunctionType::RELU6 : schema::ActivationFunctionType::NONE,
          l.dilation, l.dilation));
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

Bytes Run(const Layer& l, const char* table, int threads) {
  const ScopedCpu cpu(FindCpu(table));
  TestInterpreter t(ModelOf(l), [&](TfLiteInterpreterOptions* options) {
    TfLiteInterpreterOptionsSetNumThreads(options, threads);
  });
  Bytes out;
  EXPECT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  t.Set<int8_t>(0, RandomBytes(Count(l.batches * l.height, l.width, l.channels), 6));
  // The second run uses the weights that the first one has packed.
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    out = t.Get<int8_t>(0);
  }
  return out;
}

void CheckLayer(const Layer& l) {
  if (!l.same && (l.height < (l.filter_height - 1) * l.dilation + 1 ||
                  l.width < (l.filter_width - 1) * l.dilation + 1)) {
    return;
  }
  const Bytes plain = Run(l, "reference", 1);
  for (const CpuKernels* cpu : CpuTables()) {
    for (const int threads : {1, 3}) {
      EXPECT_EQ(Run(l, cpu->name, threads), plain)
          << cpu->name << ", " << threads << " threads: " << l.batches << " x " << l.height << " x "
          << l.width << " x " << l.channels << ", filter " << l.filter_height << " x "
          << l.filter_width << ", stride " << l.stride << ", dilation " << l.dilation;
    }
  }
}

TEST(DepthwiseInt8, odd_shapes) {
  for (int channels = 1; channels <= 70; ++channels) {
    const int size = channels % 3 == 0 ? 5 : 3;
    CheckLayer({.batches = 1 + channels % 2,
                .height = 1 + channels % 11,
                .width = 1 + channels * 7 % 40,
                .channels = channels,
                .filter_height = size,
                .filter_width = size,
                .stride = 1 + channels / 2 % 2,
                .dilation = channels % 5 == 0 && channels / 2 % 2 == 0 ? 2 : 1,
                .same = channels % 7 != 0,
                .clamps = channels % 4 == 0});
  }
}

// Tables may add two products in 16 bits if no weight is -128.
TEST(DepthwiseInt8, weights_above_the_lowest) {
  for (const int channels : {15, 16, 17, 32, 70}) {
    for (const int size : {3, 5}) {
      for (const int stride : {1, 2}) {
        Layer layer = {2, 9, 14, channels, size, size, stride};
        layer.lowest_weight = -127;
        CheckLayer(layer);
      }
    }
  }
}

TEST(DepthwiseInt8, few_channels_at_any_stride_and_dilation) {
  for (int channels = 1; channels <= 3; ++channels) {
    for (const int size : {3, 5}) {
      for (int stride = 1; stride <= 7; ++stride) {
        for (int dilation = 1; dilation <= 3; ++dilation) {
          CheckLayer({1, 16, 41, channels, size, size, stride, dilation, stride % 2 == 0});
        }
      }
    }
  }
}

TEST(DepthwiseInt8, non_square_filters) {
  for (const int channels : {8, 32, 70}) {
    CheckLayer({1, 9, 14, channels, 3, 5});
    CheckLayer({1, 9, 14, channels, 1, 3});
    CheckLayer({2, 9, 14, channels, 7, 7});
  }
}

TEST(DepthwiseInt8, biases_unsupported_by_lines) {
  Layer layer = {2, 9, 14, 40, 3, 3};
  for (const int32_t bias : {1 << 21, 1 << 23, 1 << 30}) {
    layer.bias = bias;
    CheckLayer(layer);
  }
}

}  // namespace
}  // namespace deputy::depthwise_int8_test
