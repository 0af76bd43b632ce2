// SPDX-License-Identifier: Apache-2.0
//
// Compares 3x3 convolutions by Winograd's transforms, on every CPU table, with direct convolution
// in double precision: shapes around all tile edges, epilogues, and values that are not finite.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <random>

#include "c_api/include/deputy.h"
#include "kernels/conv/conv.h"
#include "kernels/conv/winograd.h"
#include "tests/kernels/cpu/cpu_tables.h"
#include "tests/support/interpreter_queries.h"
#include "tests/support/model_builder.h"
#include "tests/support/scoped_cpu.h"
#include "tests/support/test_interpreter.h"

namespace deputy::winograd_test {
namespace {

using Floats = std::vector<float>;

enum class After { kNothing, kRelu6, kSum, kPrelu, kHardSwish, kSumAndHardSwish, kStride };

// A layer with random contents.
struct Layer {
  int batches, height, width, in, out;
  bool same = true;
  After after = After::kNothing;
  // True if the image is padded by a PAD of 1 at each side, in place of SAME.
  bool padded = false;

  int OutHeight() const { return same || padded ? height : height - 2; }
  int OutWidth() const { return same || padded ? width : width - 2; }
};

Floats Random(size_t count, uint32_t seed, float least = -1, float most = 1) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> values(least, most);
  Floats made(count);
  for (float& value : made) value = values(engine);
  return made;
}

size_t Product(const std::vector<int32_t>& dims) {
  size_t count = 1;
  for (int32_t dim : dims) count *= static_cast<size_t>(dim);
  return count;
}

struct Numbers {
  Floats input, addend, weights, bias, slopes;

  explicit Numbers(const Layer& l)
      : input(Random(Product({l.batches, l.height, l.width, l.in}), 1)),
        addend(Random(Product({l.batches, l.OutHeight(), l.OutWidth(), l.out}), 2, -3, 3)),
        weights(Random(Product({l.out, 9, l.in}), 3)),
        bias(Random(static_cast<size_t>(l.out), 4)),
        slopes(Random(static_cast<size_t>(l.out), 5)) {}
};

class ModelOf {
 public:
  ModelOf(const Layer& layer, const Numbers& numbers) : layer_(layer), numbers_(numbers) {}

  std::vector<uint8_t> Write() {
    const Layer& l = layer_;
    int x = m_.AddTensor(kTfLiteFloat32, {l.batches, l.height, l.width, l.in});
    shape_ = {l.batches, l.OutHeight(), l.OutWidth(), l.out};
    const int addend = m_.AddTensor(kTfLiteFloat32, shape_);
    m_.SetInputs({x, addend});
    if (l.padded) {
      const int margins = m_.AddConstant<int32_t>(kTfLiteInt32, {4, 2}, {0, 0, 1, 1, 1, 1, 0, 0});
      const int padded = m_.AddTensor(kTfLiteFloat32, {l.batches, l.height + 2, l.width + 2, l.in});
      m_.AddOp(kTfLiteBuiltinPad, {x, margins}, {padded});
      x = padded;
    }
    const int w = m_.AddConstant<float>(kTfLiteFloat32, {l.out, 3, 3, l.in}, numbers_.weights);
    const int b = m_.AddConstant<float>(kTfLiteFloat32, {l.out}, numbers_.bias);
    value_ = m_.AddTensor(kTfLiteFloat32, shape_);
    const bool clamps = l.after == After::kRelu6;
    m_.AddOp(
        kTfLiteBuiltinConv2d, {x, w, b}, {value_},
        schema::CreateConv2DOptions(
            m_.fbb(), l.same && !l.padded ? schema::Padding::SAME : schema::Padding::VALID, 1, 1,
            clamps ? schema::ActivationFunctionType::RELU6 : schema::ActivationFunctionType::NONE));
    Follow(addend);
    m_.SetOutputs({value_});
    return m_.Finish();
  }

 private:
  void Add(TfLiteBuiltinOperator op, const std::vector<int32_t>& others) {
    std::vector<int32_t> inputs = {value_};
    inputs.insert(inputs.end(), others.begin(), others.end());
    value_ = m_.AddTensor(kTfLiteFloat32, shape_);
    m_.AddOp(op, inputs, {value_});
  }
  void Follow(int addend) {
    const After after = layer_.after;
    const int channels = layer_.out;
    if (after == After::kSum || after == After::kSumAndHardSwish) {
      const int sum = m_.AddTensor(kTfLiteFloat32, shape_);
      m_.AddOp(kTfLiteBuiltinAdd, {value_, addend}, {sum},
               schema::CreateAddOptions(m_.fbb(), schema::ActivationFunctionType::RELU));
      value_ = sum;
    }
    if (after == After::kPrelu) {
      Add(kTfLiteBuiltinPrelu,
          {m_.AddConstant<float>(kTfLiteFloat32, {1, 1, channels}, numbers_.slopes)});
    }
    if (after == After::kHardSwish || after == After::kSumAndHardSwish) {
      Add(kTfLiteBuiltinHardSwish, {});
    }
    if (after == After::kStride) AddStridedLayer();
  }
  // Adds a layer that reads every other pixel.
  void AddStridedLayer() {
    const int channels = layer_.out;
    Floats one(static_cast<size_t>(channels) * static_cast<size_t>(channels));
    for (int c = 0; c < channels; ++c) one[static_cast<size_t>(c * channels + c)] = 1;
    const int w = m_.AddConstant<float>(kTfLiteFloat32, {channels, 1, 1, channels}, one);
    const int b = m_.AddConstant<float>(kTfLiteFloat32, {channels},
                                        Floats(static_cast<size_t>(channels), 0.0f));
    const int out = m_.AddTensor(kTfLiteFloat32,
                                 {shape_[0], (shape_[1] + 1) / 2, (shape_[2] + 1) / 2, channels});
    m_.AddOp(kTfLiteBuiltinConv2d, {value_, w, b}, {out},
             schema::CreateConv2DOptions(m_.fbb(), schema::Padding::VALID, 2, 2));
    value_ = out;
  }

  const Layer& layer_;
  const Numbers& numbers_;
  ModelBuilder m_;
  std::vector<int32_t> shape_;
  int value_ = 0;
};

// ---- Brute force ------------------------------------------------------------------------------

double SumAt(const Layer& l, const Numbers& numbers, int batch, int y, int x, int channel) {
  const int before = l.same || l.padded ? 1 : 0;
  double sum = static_cast<double>(numbers.bias[static_cast<size_t>(channel)]);
  for (int tap = 0; tap < 9; ++tap) {
    const int iy = y + tap / 3 - before, ix = x + tap % 3 - before;
    if (iy < 0 || iy >= l.height || ix < 0 || ix >= l.width) continue;
    const auto pixel = static_cast<size_t>((batch * l.height + iy) * l.width + ix);
    for (int c = 0; c < l.in; ++c) {
      sum +=
          static_cast<double>(
              numbers.input[pixel * static_cast<size_t>(l.in) + static_cast<size_t>(c)]) *
          static_cast<double>(numbers.weights[static_cast<size_t>((channel * 9 + tap) * l.in + c)]);
    }
  }
  return sum;
}

double HardSwish(double x) { return x * std::min(std::max(x + 3, 0.0), 6.0) / 6; }

double Followed(const Layer& l, const Numbers& numbers, double sum, size_t element) {
  const auto channel = element % static_cast<size_t>(l.out);
  switch (l.after) {
    case After::kRelu6:
      return std::clamp(sum, 0.0, 6.0);
    case After::kSum:
      return std::max(sum + static_cast<double>(numbers.addend[element]), 0.0);
    case After::kSumAndHardSwish:
      return HardSwish(std::max(sum + static_cast<double>(numbers.addend[element]), 0.0));
    case After::kPrelu:
      return sum >= 0 ? sum : sum * static_cast<double>(numbers.slopes[channel]);
    case After::kHardSwish:
      return HardSwish(sum);
    default:
      return sum;
  }
}

// The sums of a layer, which do not depend on the epilogue, and the greatest magnitude of a sum, to
// which rounding errors are proportional.
struct Sums {
  std::vector<double> values;
  double largest = 0;
};

const Sums& SumsOf(const Layer& l, const Numbers& numbers) {
  static std::map<std::array<int, 7>, Sums> known;
  Sums& sums = known[{l.batches, l.height, l.width, l.in, l.out, l.same, l.padded}];
  if (!sums.values.empty()) return sums;
  for (int batch = 0; batch < l.batches; ++batch) {
    for (int y = 0; y < l.OutHeight(); ++y) {
      for (int x = 0; x < l.OutWidth(); ++x) {
        for (int channel = 0; channel < l.out; ++channel) {
          sums.values.push_back(SumAt(l, numbers, batch, y, x, channel));
          sums.largest = std::max(sums.largest, std::abs(sums.values.back()));
        }
      }
    }
  }
  return sums;
}

// Returns the model's expected outputs for `sums`.
std::vector<double> Expected(const Layer& l, const Numbers& numbers, const Sums& sums) {
  std::vector<double> expected;
  for (size_t i = 0; i < sums.values.size(); ++i) {
    const size_t pixel = i / static_cast<size_t>(l.out);
    const size_t x = pixel % static_cast<size_t>(l.OutWidth());
    const size_t y = pixel / static_cast<size_t>(l.OutWidth()) % static_cast<size_t>(l.OutHeight());
    if (l.after == After::kStride && (y % 2 != 0 || x % 2 != 0)) continue;
    expected.push_back(Followed(l, numbers, sums.values[i], i));
  }
  return expected;
}

// ---- Deputy's results -------------------------------------------------------------------------

struct Found {
  Floats output;
  std::string implementation;  // name of the layer's implementation
};

Found Infer(const Layer& layer, const Numbers& numbers, int threads = 1,
            DeputyArithmetic arithmetic = kDeputyArithmeticDefault) {
  TestInterpreter t(ModelOf(layer, numbers).Write(), [&](TfLiteInterpreterOptions* options) {
    TfLiteInterpreterOptionsSetNumThreads(options, threads);
    DeputyInterpreterOptionsSetArithmetic(options, arithmetic);
  });
  Found found;
  if (t.get() == nullptr || t.Allocate() != kTfLiteOk) {
    ADD_FAILURE() << t.log();
    return found;
  }
  t.Set(0, numbers.input);
  t.Set(1, numbers.addend);
  EXPECT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  found.output = t.Get<float>(0);
  const DeputyNodeRun run = NodeRunOf(t.get(), layer.padded ? 1 : 0);
  found.implementation = run.implementation;
  return found;
}

// Returns the greatest error divided by the greatest magnitude of a sum.
double ErrorOf(const Layer& layer, const Numbers& numbers, const Floats& found) {
  const Sums& sums = SumsOf(layer, numbers);
  const std::vector<double> expected = Expected(layer, numbers, sums);
  EXPECT_EQ(found.size(), expected.size());
  double error = 0;
  for (size_t i = 0; i < std::min(found.size(), expected.size()); ++i) {
    const double here = std::abs(static_cast<double>(found[i]) - expected[i]);
    // If `here` is NaN, the comparison is false and the error becomes NaN.
    error = here <= error ? error : here;
  }
  return error / sums.largest;
}

std::string Describe(const CpuKernels& cpu, const Layer& l) {
  return std::string(cpu.name) + ": " + std::to_string(l.batches) + "x" + std::to_string(l.height) +
         "x" + std::to_string(l.width) + "x" + std::to_string(l.in) + " to " +
         std::to_string(l.out) + ", same " + std::to_string(l.same) + ", padded " +
         std::to_string(l.padded) + ", after " + std::to_string(static_cast<int>(l.after));
}

constexpr Layer kShapes[] = {
    {1, 16, 16, 32, 32},  {1, 17, 19, 48, 40},  {2, 15, 13, 33, 35},         {3, 9, 21, 64, 70},
    {1, 30, 31, 64, 64},  {1, 11, 40, 67, 130}, {1, 14, 14, 160, 96, false}, {1, 7, 7, 256, 64},
    {5, 6, 7, 192, 33},   {1, 64, 5, 96, 32},   {2, 3, 50, 100, 48, false},  {1, 29, 28, 31, 32},
    {1, 13, 13, 150, 41}, {1, 70, 66, 32, 16},  {1, 10, 9, 129, 72, false},
};

// Maximum error relative to the greatest magnitude of a sum, a third of the tolerance of the
// agreement rule.
constexpr double kMaxError = 3.3e-6;

// Calls `check` for the tables and layers that may use Winograd's transforms; `check` returns
// whether the layer uses them.
template <typename Check>
void ForEachWinograd(const Check& check) {
  for (const CpuKernels* cpu : CpuTables()) {
    const ScopedCpu on_cpu(cpu);
    int taken = 0;
    for (const Layer& shape : kShapes) taken += check(*cpu, shape) ? 1 : 0;
    EXPECT_GE(taken, 10) << cpu->name;
  }
}

TEST(Winograd, agrees_with_direct_convolution) {
  ForEachWinograd([](const CpuKernels& cpu, Layer layer) {
    bool is_taken = false;
    for (const After after : {After::kNothing, After::kRelu6, After::kSum, After::kPrelu,
                              After::kHardSwish, After::kSumAndHardSwish, After::kStride}) {
      layer.after = after;
      const Numbers numbers(layer);
      const Found found = Infer(layer, numbers);
      is_taken = found.implementation == "winograd";
      EXPECT_LE(ErrorOf(layer, numbers, found.output), kMaxError) << Describe(cpu, layer);
    }
    return is_taken;
  });
}

TEST(Winograd, absorbs_a_preceding_pad) {
  ForEachWinograd([](const CpuKernels& cpu, Layer layer) {
    layer.padded = true;
    layer.after = After::kSum;
    const Numbers numbers(layer);
    const Found found = Infer(layer, numbers);
    EXPECT_LE(ErrorOf(layer, numbers, found.output), kMaxError) << Describe(cpu, layer);
    return found.implementation == "winograd";
  });
}

TEST(Winograd, has_equal_bits_for_any_number_of_threads) {
  ForEachWinograd([](const CpuKernels& cpu, Layer layer) {
    layer.after = After::kSumAndHardSwish;
    const Numbers numbers(layer);
    const Found expected = Infer(layer, numbers);
    for (int threads : {2, 3, 7}) {
      EXPECT_TRUE(Infer(layer, numbers, threads).output == expected.output)
          << Describe(cpu, layer) << ", threads " << threads;
    }
    return expected.implementation == "winograd";
  });
}

// Values that are not finite, or near the largest float32, affect the same outputs as with direct
// convolution; the transforms alone would spread them.
TEST(Winograd, non_finite_values_stay_in_their_windows) {
  constexpr float kSpecial[] = {std::numeric_limits<float>::infinity(),
                                -std::numeric_limits<float>::infinity(),
                                std::numeric_limits<float>::quiet_NaN(), 3e38f};
  ForEachWinograd([&](const CpuKernels& cpu, Layer layer) {
    layer.after = After::kSum;
    Numbers numbers(layer);
    for (size_t i = 0; i < 3; ++i) {
      numbers.input[(i * 7919 + 5) * 31 % numbers.input.size()] = kSpecial[i];
    }
    numbers.input[numbers.input.size() - 2] = kSpecial[3];
    const Found expected = Infer(layer, numbers, 1, kDeputyArithmeticReference);
    const Found found = Infer(layer, numbers);
    EXPECT_NE(expected.implementation, "winograd");
    int special = 0;
    for (size_t i = 0; i < expected.output.size(); ++i) {
      const float wanted = expected.output[i], value = found.output[i];
      if (std::isfinite(wanted) && std::isfinite(value)) continue;
      ++special;
      const bool same = std::isnan(wanted) ? std::isnan(value) : value == wanted;
      EXPECT_TRUE(same) << Describe(cpu, layer) << ", element " << i << ": " << value << ", not "
                        << wanted;
      if (!same) break;
    }
    EXPECT_GT(special, 0);
    EXPECT_LT(special, static_cast<int>(expected.output.size())) << Describe(cpu, layer);
    return found.implementation == "winograd";
  });
}

// The measured errors are listed in docs/design/winograd.md.
TEST(Winograd, is_almost_as_accurate_as_direct_convolution) {
  for (const CpuKernels* cpu : CpuTables()) {
    const ScopedCpu on_cpu(cpu);
    for (const Layer& layer : {Layer{1, 28, 28, 64, 32}, Layer{1, 28, 28, 128, 16},
                               Layer{1, 14, 14, 256, 16}, Layer{1, 7, 7, 512, 48}}) {
      Numbers numbers(layer);
      for (float& value : numbers.input) value = std::max(value, 0.0f);
      const Found found = Infer(layer, numbers);
      const Found direct = Infer(layer, numbers, 1, kDeputyArithmeticReference);
      const double error = ErrorOf(layer, numbers, found.output);
      std::printf("%s, %s: %.2e, sums over windows %.2e\n", Describe(*cpu, layer).c_str(),
                  found.implementation.c_str(), error, ErrorOf(layer, numbers, direct.output));
      EXPECT_LE(error, kMaxError);
    }
  }
}

// Each block transforms its panel of weights, which costs as much as several tiles.
TEST(Winograd, no_block_of_two_threads_is_much_smaller_than_the_others) {
  for (const int extent : {14, 20, 28, 56, 112}) {
    for (const int channels : {64, 128}) {
      ConvShape shape;
      shape.y.output = shape.x.output = extent;
      shape.batches = 1;
      shape.input_channels = shape.output_channels = shape.depth = channels;
      const WinogradPlan plan(shape, 4, 12, 32, 2);
      const int last = (plan.group_tiles - 1) % plan.block_tiles + 1;
      EXPECT_GE(last, plan.block_tiles / 2) << extent << " x " << extent << " x " << channels;
    }
  }
}

TEST(Winograd, out_of_memory_is_reported) {
  const Layer layer = {1, 14, 14, 256, 16};
  const Numbers numbers(layer);
  for (const size_t most : {size_t{480} << 10, size_t{4} << 20}) {
    TestInterpreter t(ModelOf(layer, numbers).Write(), [most](TfLiteInterpreterOptions* options) {
      DeputyLimits limits{};
      limits.struct_size = sizeof limits;
      // The transforms do not fit into the smaller of the two limits.
      limits.max_block_bytes = most;
      DeputyInterpreterOptionsSetLimits(options, &limits);
    });
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    const bool fits = most > size_t{1} << 20;
    EXPECT_EQ(t.Invoke(), fits ? kTfLiteOk : kTfLiteError);
    EXPECT_EQ(t.log().find("out of memory for its planes") == std::string::npos, fits) << t.log();
  }
}

}  // namespace
}  // namespace deputy::winograd_test
