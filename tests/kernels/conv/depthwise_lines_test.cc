// SPDX-License-Identifier: Apache-2.0
//
// Compares DepthwiseF32Kernels::lines of every CPU table bit by bit with the plain sum in the same
// order: widths around all block sizes, windows beyond both sides, epilogues, and values that are
// not finite.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "kernels/cpu/cpu.h"

#include "tests/kernels/cpu/cpu_tables.h"

namespace deputy::depthwise_lines_test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Line {
  int lines, columns, channels, rows, taps, stride, before, after;
  float low = -kInfinity, high = kInfinity;
  bool adds = false;
  EpilogueF32::Activation activation = EpilogueF32::Activation::kNone;

  // Returns the number of input columns. `after` is the number of columns by which the last window
  // extends beyond the input.
  int width() const { return (columns - 1) * stride + taps - before - after; }
  int image_rows() const { return lines + rows - 1; }
};

std::vector<float> Random(size_t count, uint32_t seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> values(-1, 1);
  std::vector<float> made(count);
  for (float& value : made) value = values(engine);
  return made;
}

struct Numbers {
  std::vector<float> input, weights, bias, addend, slopes;

  explicit Numbers(const Line& l)
      : input(Random(Count(l.image_rows(), l.width(), l.channels), 1)),
        weights(Random(Count(l.rows, l.taps, l.channels), 2)),
        bias(Random(Count(l.channels, 1, 1), 3)),
        addend(Random(Count(l.lines, l.columns, l.channels), 4)),
        slopes(Random(Count(l.channels, 1, 1), 5)) {}

  static size_t Count(int a, int b, int c) {
    return static_cast<size_t>(a) * static_cast<size_t>(b) * static_cast<size_t>(c);
  }
};

float Clamped(float x, float low, float high) {
  const float raised = x < low ? low : x;
  return high < raised ? high : raised;
}

float Followed(const Line& l, const Numbers& n, size_t i, size_t c, float x) {
  x = Clamped(x, l.low, l.high);
  if (l.adds) x = Clamped(x + n.addend[i], -0.5f, 2.0f);
  if (l.activation == EpilogueF32::Activation::kPrelu) return x >= 0 ? x : x * n.slopes[c];
  if (l.activation == EpilogueF32::Activation::kHardSwish) return x * Clamped(x + 3, 0, 6) / 6;
  return x;
}

std::vector<float> Plain(const Line& l, const Numbers& n) {
  std::vector<float> out;
  for (int line = 0; line < l.lines; ++line) {
    for (int column = 0; column < l.columns; ++column) {
      for (int c = 0; c < l.channels; ++c) {
        float sum = n.bias[static_cast<size_t>(c)];
        for (int row = 0; row < l.rows; ++row) {
          for (int tap = 0; tap < l.taps; ++tap) {
            const int x = column * l.stride - l.before + tap;
            if (x < 0 || x >= l.width()) continue;
            sum = std::fma(n.input[Numbers::Count((line + row) * l.width() + x, l.channels, 1) +
                                   static_cast<size_t>(c)],
                           n.weights[Numbers::Count(row * l.taps + tap, l.channels, 1) +
                                     static_cast<size_t>(c)],
                           sum);
          }
        }
        out.push_back(Followed(l, n, out.size(), static_cast<size_t>(c), sum));
      }
    }
  }
  return out;
}

// Computes a line with a CPU table; the addend is in the output's memory. Returns an empty result
// if the table does not support lines of that kind.
std::vector<float> ByTable(const CpuKernels& cpu, const Line& l, const Numbers& n) {
  const size_t line_values = Numbers::Count(l.width(), l.channels, 1);
  std::vector<const float*> inputs, weights;
  for (int line = 0; line < l.lines; ++line) {
    for (int row = 0; row < l.rows; ++row) {
      inputs.push_back(n.input.data() + static_cast<size_t>(line + row) * line_values);
    }
  }
  for (int row = 0; row < l.rows; ++row) {
    weights.push_back(n.weights.data() + Numbers::Count(row, l.taps, l.channels));
  }
  std::vector<float> out = n.addend;
  EpilogueF32 epilogue;
  if (l.adds) {
    epilogue.addend = out.data();
    epilogue.addend_stride = static_cast<size_t>(l.channels);
    epilogue.addend_columns = l.channels;
    epilogue.low = -0.5f;
    epilogue.high = 2.0f;
  }
  epilogue.activation = l.activation;
  epilogue.slopes = n.slopes.data();
  const bool follows = l.adds || l.activation != EpilogueF32::Activation::kNone;
  const bool done = cpu.depthwise_f32.lines({.lines = l.lines,
                                             .columns = l.columns,
                                             .channels = l.channels,
                                             .rows = l.rows,
                                             .taps = l.taps,
                                             .stride = l.stride,
                                             .before = l.before,
                                             .width = l.width(),
                                             .inputs = inputs.data(),
                                             .weights = weights.data(),
                                             .bias = n.bias.data(),
                                             .low = l.low,
                                             .high = l.high,
                                             .out = out.data(),
                                             .epilogue = follows ? &epilogue : nullptr});
  return done ? out : std::vector<float>();
}

bool Equal(float a, float b) {
  return (std::isnan(a) && std::isnan(b)) || std::bit_cast<int>(a) == std::bit_cast<int>(b);
}

// Returns true if the kernels for AArch64 support lines of that kind: whole vectors of channels
// and, with three taps, windows that lack one column at most.
bool NeonSupports(const Line& l) {
  if (l.channels % 4 != 0 || l.taps == 5) return l.channels % 4 == 0;
  return l.rows >= 2 && l.rows <= 3 && l.columns >= 2 && l.before <= 1 && l.after <= 1;
}

// Returns true if the kernels of that name support lines of that kind.
bool SupportsLine(const std::string& kernels, const Line& l) {
  if ((l.taps != 3 && l.taps != 5) || l.stride > 2) return false;
  if (kernels == "neon") return NeonSupports(l);
  return kernels == "avx512" || (l.channels >= 8 && (l.channels % 8 == 0 || !l.adds));
}

void Check(const Line& l, const Numbers& n) {
  for (const CpuKernels* cpu : CpuTables()) {
    if (cpu->depthwise_f32.lines == nullptr) continue;
    const std::vector<float> out = ByTable(*cpu, l, n), plain = Plain(l, n);
    EXPECT_EQ(!out.empty(), SupportsLine(cpu->depthwise_f32.name, l))
        << cpu->name << ": " << l.channels << " channels";
    for (size_t i = 0; i < out.size(); ++i) {
      if (Equal(out[i], plain[i])) continue;
      ADD_FAILURE() << cpu->name << ": " << l.lines << " lines of " << l.columns << " columns, "
                    << l.channels << " channels, filter " << l.rows << " x " << l.taps
                    << ", stride " << l.stride << ", before " << l.before << ": value " << i
                    << ": expected " << plain[i] << ", found " << out[i];
      break;
    }
  }
}

void Check(const Line& line) { Check(line, Numbers(line)); }

bool HasLines() {
  for (const char* const name : {"avx2", "neon"}) {
    const CpuKernels* const cpu = FindCpu(name);
    if (cpu != nullptr && cpu->depthwise_f32.lines != nullptr) return true;
  }
  return false;
}

TEST(DepthwiseLines, sums_of_all_widths_strides_and_sides) {
  if (!HasLines()) GTEST_SKIP() << "no table with lines";
  for (const int taps : {3, 5}) {
    for (const int stride : {1, 2}) {
      for (int columns = 1; columns <= 40; ++columns) {
        for (const int before : {0, 1, 2, taps + 1}) {
          const Line line = {1 + columns % 5, columns,   8 * (1 + columns % 10), taps, taps, stride,
                             before,          before / 2};
          if (line.width() <= 0) continue;
          Check(line);
        }
      }
    }
  }
}

EpilogueF32::Activation ActivationOf(int number) {
  using Activation = EpilogueF32::Activation;
  return number % 3 == 0   ? Activation::kNone
         : number % 3 == 1 ? Activation::kPrelu
                           : Activation::kHardSwish;
}

// The output has as many columns as the input: the centre of each window is in the input, and
// blocks include the sides.
TEST(DepthwiseLines, as_many_columns_as_the_input_has) {
  if (!HasLines()) GTEST_SKIP() << "no table with lines";
  for (const int taps : {3, 5}) {
    for (int columns = 1; columns <= 60; ++columns) {
      for (const int channels : {8, 20, 24, 72}) {
        const int side = taps / 2;
        Line line = {1 + columns % 5, columns, channels, taps, taps, 1, side, side};
        Check(line);
        line.adds = columns % 5 != 0;
        line.activation = ActivationOf(columns);
        line.low = 0;
        line.high = 6;
        Check(line);
      }
    }
  }
}

// The output has half as many columns as the input, the padding of stride 2 for an even width.
TEST(DepthwiseLines, half_as_many_columns_as_the_input_has) {
  if (!HasLines()) GTEST_SKIP() << "no table with lines";
  for (const int taps : {3, 5}) {
    for (int columns = 1; columns <= 60; ++columns) {
      for (const int channels : {8, 20, 24, 72}) {
        const int before = (taps - 2) / 2;
        Line line = {1 + columns % 5, columns, channels, taps, taps, 2, before, taps - 2 - before};
        Check(line);
        line.adds = columns % 5 != 0;
        line.activation = ActivationOf(columns);
        line.low = 0;
        line.high = 6;
        Check(line);
      }
    }
  }
}

TEST(DepthwiseLines, rows_of_the_filter_may_be_missing) {
  if (!HasLines()) GTEST_SKIP() << "no table with lines";
  for (int rows = 1; rows < 5; ++rows) Check({2, 17, 8, rows, 5, 1, 2, 2});
}

TEST(DepthwiseLines, channels_that_are_no_multiple_of_a_vector) {
  if (!HasLines()) GTEST_SKIP() << "no table with lines";
  for (const int channels : {1, 4, 7, 9, 12, 23, 28, 68}) {
    Check({3, 15, channels, 3, 3, 2, 1, 1});
    Check({3, 15, channels, 5, 5, 2, 2, 1});
    Check({3, 15, channels, 3, 3, 1, 1, 1});
    Check({3, 33, channels, 5, 5, 1, 2, 2});
  }
  Check({1, 15, 8, 7, 7, 1, 3, 3});
  Check({1, 15, 8, 3, 3, 3, 1, 1});
}

TEST(DepthwiseLines, epilogues_equal_separate_operations) {
  if (!HasLines()) GTEST_SKIP() << "no table with lines";
  using Activation = EpilogueF32::Activation;
  for (const bool adds : {false, true}) {
    for (const Activation activation :
         {Activation::kNone, Activation::kPrelu, Activation::kHardSwish}) {
      Line line = {4, 21, 20, 3, 3, 2, 1, 0};
      line.adds = adds;
      line.activation = activation;
      Check(line);
      line.channels = 72;
      line.stride = 1;
      line.low = 0;
      Check(line);
    }
  }
}

// The outer taps have an infinite and a NaN weight, which must not be multiplied by the padding.
TEST(DepthwiseLines, padding_is_not_multiplied) {
  if (!HasLines()) GTEST_SKIP() << "no table with lines";
  for (const int channels : {8, 20, 24, 32}) {
    for (const int columns : {2, 7, 16, 40}) {
      const Line line = {2, columns, channels, 3, 3, 1, 1, 1};
      for (const int tap : {0, 2}) {
        Numbers numbers(line);
        const auto first = static_cast<size_t>(tap * channels);
        numbers.weights[first + 1] = kInfinity;
        numbers.weights[first + 6] = std::numeric_limits<float>::quiet_NaN();
        Check(line, numbers);
      }
    }
  }
}

TEST(DepthwiseLines, clamps_propagate_nan) {
  if (!HasLines()) GTEST_SKIP() << "no table with lines";
  for (const float low : {-kInfinity, -0.25f, 0.0f}) {
    for (const float high : {0.5f, 6.0f, kInfinity}) {
      Line line = {2, 14, 8, 3, 3, 1, 1, 1};
      line.low = low;
      line.high = high;
      Numbers numbers(line);
      numbers.input[40] = std::numeric_limits<float>::quiet_NaN();
      numbers.input[81] = kInfinity;
      numbers.input[130] = -kInfinity;
      // The bias and values are chosen such that sums are a negative zero.
      numbers.bias[5] = -0.0f;
      for (size_t at = 5; at < numbers.weights.size(); at += 8) numbers.weights[at] = -0.0f;
      for (size_t at = 5; at < numbers.input.size(); at += 8) numbers.input[at] = 1;
      Check(line, numbers);
    }
  }
}

}  // namespace
}  // namespace deputy::depthwise_lines_test
