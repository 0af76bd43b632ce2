// SPDX-License-Identifier: Apache-2.0
//
// Compares the vector loops of activations and of int16 tables with double precision or independent
// formulas.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/common/elementwise.h"
#include "tests/kernels/vector/vector_counts.h"

namespace deputy::vector_activations_test {
namespace {

// Returns arguments from -104 to 104, dense around 0, and special values.
std::vector<float> Arguments() {
  std::vector<float> values = {0.0f, -0.0f, 1e-40f, -1e-40f, 1e-8f, -1e-8f, INFINITY, -1e30f};
  for (int i = -5000; i <= 5000; ++i) {
    const auto x = static_cast<float>(i);
    values.push_back(x * x * x * 8.32e-10f);
  }
  return values;
}

struct Closeness {
  double relative, absolute = 2e-38;  // tolerances; denormals may be flushed to 0
};

// Compares a loop with the exact function. NaN must be preserved, and results must not depend on
// the lane of a vector.
template <typename Exact>
void CheckActivation(const char* name, MapF32 loop, float parameter, const Closeness& close,
                     const Exact& exact) {
  std::vector<float> in = Arguments(), out(in.size());
  loop(in.data(), static_cast<int64_t>(in.size()), parameter, out.data());
  for (size_t i = 0; i < in.size(); ++i) {
    const double expected = exact(in[i]);
    if (expected == static_cast<double>(out[i])) continue;
    ASSERT_NEAR(out[i], expected, close.relative * std::fabs(expected) + close.absolute)
        << name << " of " << in[i];
  }
  for (int count : kVectorCounts) {
    std::vector<float> same(in.begin(), in.begin() + count + 1), original = same;
    loop(same.data(), count, parameter, same.data());
    EXPECT_TRUE(std::equal(same.begin(), same.end() - 1, out.begin())) << name << " " << count;
    EXPECT_EQ(same.back(), original.back()) << name << " " << count;
  }
  std::vector<float> nan(17, NAN);
  loop(nan.data(), 17, parameter, nan.data());
  for (float value : nan) EXPECT_TRUE(std::isnan(value)) << name;
}

TEST(VectorActivations, activations_equal_their_functions) {
  for (const CpuKernels* cpu : CpuTables()) {
    const VectorKernels& v = cpu->vector;
    CheckActivation(cpu->name, v.relu_up_to, 6.0f, {0},
                    [](double x) { return std::clamp(x, 0.0, 6.0); });
    CheckActivation(cpu->name, v.clamp, 1.0f, {0},
                    [](double x) { return std::clamp(x, -1.0, 1.0); });
    // Results below e^-87 may be flushed to 0.
    CheckActivation(cpu->name, v.logistic, 0.0f, {4e-7},
                    [](double x) { return 1 / (1 + std::exp(-x)); });
    CheckActivation(cpu->name, v.tanh, 0.0f, {1e-6, 1e-7}, [](double x) { return std::tanh(x); });
    CheckActivation(cpu->name, v.elu, 0.0f, {4e-7},
                    [](double x) { return x < 0 ? std::expm1(x) : x; });
    // The argument of erfc is rounded to float, because erfc magnifies an error in its last bit.
    CheckActivation(cpu->name, v.gelu, 0.0f, {1e-6}, [](float x) {
      return 0.5 * static_cast<double>(x) * std::erfc(static_cast<double>(x * -0.707106781f));
    });
    // 1 + tanh loses digits by cancellation for negative arguments, so an absolute tolerance is
    // allowed.
    CheckActivation(cpu->name, v.gelu_by_tanh, 0.0f, {1e-6, 1e-6}, [](double x) {
      return 0.5 * x * (1 + std::tanh(0.797884561 * (x + 0.044715 * x * x * x)));
    });
  }
}

TEST(VectorActivations, results_stay_within_their_limits) {
  std::vector<float> ends = {INFINITY, -INFINITY, 8.7f, -8.7f, 1e30f, -1e30f, 8.55f, -8.55f};
  for (const CpuKernels* cpu : CpuTables()) {
    std::vector<float> out(ends.size());
    cpu->vector.logistic(ends.data(), 2, 0.0f, out.data());
    EXPECT_EQ(out[0], 1.0f);
    EXPECT_EQ(out[1], 0.0f);
    cpu->vector.tanh(ends.data(), static_cast<int64_t>(ends.size()), 0.0f, out.data());
    EXPECT_EQ(out[0], 1.0f);
    EXPECT_EQ(out[1], -1.0f);
    for (float value : out) EXPECT_LE(std::fabs(value), 1.0f) << cpu->name;
  }
}

TEST(VectorActivations, results_are_the_same_bits_on_all_instruction_sets) {
  const std::vector<float> in = Arguments();
  for (const MapF32 VectorKernels::*loop :
       {&VectorKernels::logistic, &VectorKernels::tanh, &VectorKernels::gelu_by_tanh}) {
    std::vector<float> first;
    for (const CpuKernels* cpu : CpuTables()) {
      std::vector<float> out(in.size());
      (cpu->vector.*loop)(in.data(), static_cast<int64_t>(in.size()), 0.0f, out.data());
      if (first.empty()) first = out;
      EXPECT_EQ(out, first) << cpu->name;
    }
  }
}

TEST(VectorActivations, prelu_multiplies_non_positive_values) {
  const std::vector<float> x = {-2, -0.5f, 0, 3, NAN, -1, 7, -INFINITY, 1};
  const std::vector<float> slopes = {3, 2, 5, 5, 5, 0, -1, 2, NAN};
  const std::vector<float> expected = {-6, -1, 0, 3, NAN, -0.0f, 7, -INFINITY, 1};
  for (const CpuKernels* cpu : CpuTables()) {
    for (int64_t count = 0; count <= 9; ++count) {
      std::vector<float> out(10, 77);
      cpu->vector.prelu_f32({x.data(), slopes.data(), out.data(), count, true, true});
      for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
        const bool is_nan = std::isnan(expected[i]);
        ASSERT_TRUE(is_nan ? std::isnan(out[i]) : out[i] == expected[i]) << cpu->name << " " << i;
      }
      EXPECT_EQ(out[static_cast<size_t>(count)], 77);
    }
  }
}

// ---- int16 ------------------------------------------------------------------------------------

std::vector<int16_t> AllShorts() {
  std::vector<int16_t> all;
  for (int x = -32768; x <= 32767; ++x) all.push_back(static_cast<int16_t>(x));
  return all;
}

// Returns samples with differences that wrap around in int16.
std::vector<int16_t> Samples() {
  std::vector<int16_t> samples;
  for (int i = 0; i <= 512; ++i) samples.push_back(static_cast<int16_t>(i * i * 977));
  return samples;
}
// Returns the table entries for the samples.
std::vector<int32_t> Entries() {
  const std::vector<int16_t> samples = Samples();
  std::vector<int32_t> entries;
  for (size_t i = 0; i < 512; ++i) entries.push_back(ShortEntry(samples[i], samples[i + 1]));
  return entries;
}

// Returns the rounded linear interpolation between two samples.
int16_t Interpolated(int x) {
  static const std::vector<int16_t> samples = Samples();
  const auto index = static_cast<size_t>((x + 32768) / 128);
  const auto slope = static_cast<int16_t>(samples[index + 1] - samples[index]);
  const double rise = std::floor((slope * ((x + 32768) % 128) + 64) / 128.0);
  return static_cast<int16_t>(samples[index] + static_cast<int>(rise));
}

TEST(VectorActivations, int16_tables_interpolate) {
  const std::vector<int32_t> entries = Entries();
  const std::vector<int16_t> in = AllShorts();
  for (const CpuKernels* cpu : CpuTables()) {
    std::vector<int16_t> out(in.size(), 0);
    cpu->vector.look_up_s16(in.data(), 65536, entries.data(), out.data());
    for (size_t i = 0; i < in.size(); ++i) {
      ASSERT_EQ(out[i], Interpolated(in[i])) << cpu->name << " of " << in[i];
    }
    for (int count : kVectorCounts) {
      std::vector<int16_t> part(static_cast<size_t>(count) + 1, 77);
      cpu->vector.look_up_s16(in.data(), count, entries.data(), part.data());
      EXPECT_TRUE(std::equal(part.begin(), part.end() - 1, out.begin())) << cpu->name << count;
      EXPECT_EQ(part.back(), 77) << cpu->name << count;
    }
  }
}

TEST(VectorActivations, exponentials_look_up_rescaled_distances) {
  const std::vector<int32_t> entries = Entries();
  const std::vector<int16_t> all = AllShorts();
  for (const CpuKernels* cpu : CpuTables()) {
    for (const FixedMultiplier& by : {FixedMultiplier{1518500250, 0},
                                      {1342177280, -3},
                                      {0, 0},
                                      {1518500250, 17},
                                      {2147483647, 30}}) {
      for (int count : {1, 17, 4096, 4113, 65536}) {
        std::vector<int16_t> out(static_cast<size_t>(count));
        const int64_t sum =
            cpu->vector.exponentials_s16(all.data(), count, 32767, by, entries.data(), out.data());
        int64_t expected_sum = 0;
        for (size_t i = 0; i < out.size(); ++i) {
          const int64_t step = int64_t{Multiply(all[i] - 32767, by)} + 32767;
          const int16_t expected =
              Interpolated(static_cast<int>(std::clamp<int64_t>(step, -32768, 32767)));
          ASSERT_EQ(out[i], expected) << cpu->name << " " << i;
          expected_sum += expected;
        }
        EXPECT_EQ(sum, expected_sum) << cpu->name;
      }
    }
  }
}

// Compares with linear interpolation between the values of a square root, in 64 bits.
TEST(VectorActivations, int16_activations_interpolate_between_points) {
  int64_t points[256];
  for (int i = 0; i < 256; ++i) points[i] = std::llround(32768 + 2047 * std::sqrt(i));
  int32_t entries[255];
  for (int i = 0; i < 255; ++i) {
    entries[i] = static_cast<int32_t>(points[i] + (points[i + 1] - points[i]) * 65536);
  }
  const std::vector<int16_t> in = AllShorts();
  for (const CpuKernels* cpu : CpuTables()) {
    for (const auto& [factor, shift] : {std::pair(3, 0),
                                        {3 << 12, 0},
                                        {32767, 1},
                                        {20000, 31},
                                        {32767, 31},
                                        {0, 31},
                                        {65537, 0},
                                        {1000000, 0},
                                        {2147483647, 0},
                                        {1073741825, 0}}) {
      for (int bits : {8, 9}) {
        const ShortCurve curve = {entries,       factor,     shift,         bits,
                                  65000 << bits, 77 << bits, 65500 << bits, bits + 1};
        std::vector<int16_t> out(in.size());
        cpu->vector.curve_s16(in.data(), 65536, curve, out.data());
        for (size_t i = 0; i < in.size(); ++i) {
          const double exact = std::floor(std::ldexp(static_cast<double>(in[i]) * factor, -shift) +
                                          (shift > 0 ? 0.5 : 0));
          const auto size = static_cast<int64_t>(std::fabs(exact));
          const int64_t index = size / (1 << bits), part = size % (1 << bits);
          const int64_t value = index >= 255 ? int64_t{65000} << bits
                                             : points[index] * (1 << bits) +
                                                   (points[index + 1] - points[index]) * part;
          const int64_t sum = exact < 0 ? curve.below - value : value + curve.above;
          ASSERT_EQ(out[i], static_cast<int16_t>(sum >> (bits + 1)))
              << cpu->name << " of " << in[i] << " times " << factor << " / 2^" << shift;
        }
      }
    }
  }
}

TEST(VectorActivations, int16_values_are_scaled_and_clamped) {
  for (const CpuKernels* cpu : CpuTables()) {
    for (int factor : {32767, 16384, 1, -5}) {
      for (int shift : {1, 14, 15, 31}) {
        std::vector<int16_t> values = AllShorts();
        cpu->vector.scale_s16(65536, factor, shift, values.data());
        for (int i = 0; i < 65536; ++i) {
          const double exact = std::floor(std::ldexp((i - 32768.0) * factor, -shift) + 0.5);
          ASSERT_EQ(values[static_cast<size_t>(i)], std::clamp(exact, 0.0, 32767.0))
              << cpu->name << " " << i - 32768 << " " << factor << " " << shift;
        }
      }
    }
  }
}

}  // namespace
}  // namespace deputy::vector_activations_test
