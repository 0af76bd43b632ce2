// SPDX-License-Identifier: Apache-2.0
//
// Compares DepthwiseF32Kernels::columns of every CPU table with plain loops: filters of one to six
// taps, strides, dilations, and channels and columns around every tile's edges. Numbers are
// integers, so that results are exact.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/kernels/cpu/cpu_tables.h"

namespace deputy::depthwise_columns_test {
namespace {

using Floats = std::vector<float>;
using Activation = EpilogueF32::Activation;

constexpr float kUntouched = 12345.5f, kLow = -900.0f, kHigh = 700.0f;
constexpr float kLowOfSum = -600.0f, kHighOfSum = 500.0f;  // bounds after the addend
constexpr int kMaxColumns = 9, kMaxTaps = 6, kMaxStride = 3, kMaxDilation = 2, kMaxRows = 3;

struct Layer {
  int columns, channels, rows, taps, stride, dilation;
  bool has_epilogue;
  bool adds = false;
  Activation activation = Activation::kNone;

  size_t step() const { return static_cast<size_t>(channels); }
  int width() const { return (columns - 1) * stride + (taps - 1) * dilation + 1; }
};

Floats Whole(size_t count, size_t factor) {
  Floats made(count);
  for (size_t i = 0; i < count; ++i) made[i] = static_cast<float>(i * factor % 31) - 15.0f;
  return made;
}

struct Numbers {
  Floats input, weights, bias, slopes, addend;

  explicit Numbers(const Layer& l)
      : input(Whole(static_cast<size_t>(l.rows * l.width()) * l.step(), 7)),
        weights(Whole(static_cast<size_t>(l.rows * l.taps) * l.step(), 11)),
        bias(Whole(l.step(), 5)),
        slopes(Whole(l.step(), 3)),
        addend(Whole(static_cast<size_t>(l.columns) * l.step(), 13)) {}
};

Floats ByTable(const CpuKernels& cpu, const Layer& l, const Numbers& n) {
  std::vector<const float*> inputs, weights;
  for (int row = 0; row < l.rows; ++row) {
    inputs.push_back(n.input.data() + static_cast<size_t>(row * l.width()) * l.step());
    weights.push_back(n.weights.data() + static_cast<size_t>(row * l.taps) * l.step());
  }
  Floats out(static_cast<size_t>(l.columns) * l.step() + 1, kUntouched);
  const EpilogueF32 epilogue = {.addend = l.adds ? n.addend.data() : nullptr,
                                .addend_stride = l.step(),
                                .addend_columns = l.channels,
                                .low = kLowOfSum,
                                .high = kHighOfSum,
                                .activation = l.activation,
                                .slopes = n.slopes.data()};
  cpu.depthwise_f32.columns({.columns = l.columns,
                             .channels = l.channels,
                             .rows = l.rows,
                             .taps = l.taps,
                             .inputs = inputs.data(),
                             .weights = weights.data(),
                             .column_step = static_cast<size_t>(l.stride) * l.step(),
                             .tap_step = static_cast<size_t>(l.dilation) * l.step(),
                             .weight_step = l.step(),
                             .bias = n.bias.data(),
                             .low = kLow,
                             .high = kHigh,
                             .out = out.data(),
                             .epilogue = l.has_epilogue ? &epilogue : nullptr});
  return out;
}

float Expected(const Layer& l, const Numbers& n, int column, int channel) {
  const auto c = static_cast<size_t>(channel);
  float sum = n.bias[c];
  for (int row = 0; row < l.rows; ++row) {
    for (int tap = 0; tap < l.taps; ++tap) {
      const int pixel = row * l.width() + column * l.stride + tap * l.dilation;
      sum += n.input[static_cast<size_t>(pixel) * l.step() + c] *
             n.weights[static_cast<size_t>(row * l.taps + tap) * l.step() + c];
    }
  }
  sum = std::clamp(sum, kLow, kHigh);
  if (l.adds) {
    const size_t position = static_cast<size_t>(column) * l.step() + c;
    sum = std::clamp(sum + n.addend[position], kLowOfSum, kHighOfSum);
  }
  if (l.activation == Activation::kHardSwish) return sum * std::clamp(sum + 3, 0.0f, 6.0f) / 6;
  return l.activation == Activation::kPrelu && sum < 0.0f ? sum * n.slopes[c] : sum;
}

void Check(const Layer& l) {
  const Numbers numbers(l);
  for (const CpuKernels* cpu : CpuTables()) {
    const Floats out = ByTable(*cpu, l, numbers);
    EXPECT_EQ(out.back(), kUntouched) << cpu->name;
    for (int column = 0; column < l.columns; ++column) {
      for (int channel = 0; channel < l.channels; ++channel) {
        ASSERT_EQ(out[static_cast<size_t>(column * l.channels + channel)],
                  Expected(l, numbers, column, channel))
            << cpu->name << ": " << l.rows << "x" << l.taps << ", stride " << l.stride
            << ", dilation " << l.dilation << ", column " << column << " of " << l.columns
            << ", channel " << channel << " of " << l.channels;
      }
    }
  }
}

TEST(DepthwiseColumns, equal_plain_loops) {
  for (int columns = 1; columns <= kMaxColumns; ++columns) {
    for (const int channels : {1, 3, 4, 7, 8, 12, 16, 19, 33}) {
      for (int taps = 1; taps <= kMaxTaps; ++taps) {
        for (int stride = 1; stride <= kMaxStride; ++stride) {
          const int dilation = 1 + (columns + taps) % kMaxDilation;
          Check({columns, channels, 1 + (channels + taps) % kMaxRows, taps, stride, 1, false});
          constexpr Activation kActivations[] = {Activation::kPrelu, Activation::kNone,
                                                 Activation::kHardSwish};
          const int kind = columns + channels + taps;
          Check({columns, channels, 2, taps, stride, dilation, true, kind % 2 == 0,
                 kActivations[kind % 3]});
        }
      }
    }
  }
}

}  // namespace
}  // namespace deputy::depthwise_columns_test
