// SPDX-License-Identifier: Apache-2.0
//
// The loops over elements of every instruction set against their formulas, for counts around all
// vector widths, in place and not, with inputs that move and inputs that stay.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "kernels/cpu/cpu.h"

namespace deputy {
namespace {

std::vector<const CpuKernels*> Tables() {
  std::vector<const CpuKernels*> tables;
  for (const char* name : {"generic", "avx2", "avx512"}) {
    if (const CpuKernels* table = FindCpu(name)) tables.push_back(table);
  }
  return tables;
}

constexpr int kCounts[] = {0, 1, 2, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 130, 1000};

template <typename T>
std::vector<T> Steps(int count, int factor) {
  std::vector<T> values(static_cast<size_t>(count) + 1);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<T>(static_cast<int>(i) * factor % 251 - 125);
  }
  return values;
}

// loop(run) against expected(a, b), for every count and every way inputs move; `out` is `a` where
// it moves in place.
template <typename T, typename Loop, typename Expected>
void CheckLoop(const char* name, const Loop& loop, const Expected& expected) {
  for (int count : kCounts) {
    for (const auto& [a_moves, b_moves] : {std::pair(true, true), {false, true}, {true, false}}) {
      for (bool in_place : {false, true}) {
        if (in_place && !a_moves) continue;
        std::vector<T> a = Steps<T>(count, 37);
        const std::vector<T> b = Steps<T>(count, 91), before = a;
        std::vector<T> apart(static_cast<size_t>(count) + 1, T{77});
        T* const out = in_place ? a.data() : apart.data();
        const T behind = out[count];
        loop(BinaryRun<T>{a.data(), b.data(), out, count, a_moves, b_moves});
        for (int i = 0; i < count; ++i) {
          ASSERT_EQ(out[i], expected(before[a_moves ? i : 0], b[b_moves ? i : 0]))
              << name << " element " << i << " of " << count;
        }
        EXPECT_EQ(out[count], behind) << name;
      }
    }
  }
}

TEST(Vector, float_loops_are_their_formulas) {
  const FloatBounds bounds = {-100.0f, 150.0f};
  const auto clamp = [&](float value) { return std::fmin(std::fmax(value, -100.0f), 150.0f); };
  for (const CpuKernels* cpu : Tables()) {
    const VectorKernels& vector = cpu->vector;
    CheckLoop<float>(
        cpu->name, [&](const auto& run) { vector.sum_f32(run, bounds); },
        [&](float a, float b) { return clamp(a + b); });
    CheckLoop<float>(
        cpu->name, [&](const auto& run) { vector.difference_f32(run, bounds); },
        [&](float a, float b) { return clamp(a - b); });
    CheckLoop<float>(
        cpu->name, [&](const auto& run) { vector.product_f32(run, bounds); },
        [&](float a, float b) { return clamp(a * b); });
  }
}

// loop(in, count, parameter, out) against expected(x), in place and not.
template <typename Expected>
void CheckMap(const char* name, MapF32 loop, float parameter, float bound,
              const Expected& expected) {
  for (int count : kCounts) {
    for (bool in_place : {false, true}) {
      std::vector<float> in = Steps<float>(count, 37);
      for (float& value : in) value *= 0.07f;
      const std::vector<float> before = in;
      std::vector<float> apart(in.size(), 77.0f);
      float* const out = in_place ? in.data() : apart.data();
      const float behind = out[count];
      loop(in.data(), count, parameter, out);
      for (int i = 0; i < count; ++i) {
        const double exact = expected(static_cast<double>(before[static_cast<size_t>(i)]));
        ASSERT_NEAR(out[i], exact, bound * std::fmax(1.0, std::fabs(exact)))
            << name << " element " << i << " of " << count;
      }
      EXPECT_EQ(out[count], behind) << name;
    }
  }
}

TEST(Vector, maps_are_their_functions) {
  constexpr float kExact = 1e-7f, kClose = 1e-6f;
  for (const CpuKernels* cpu : Tables()) {
    const VectorKernels& v = cpu->vector;
    const char* name = cpu->name;
    CheckMap(name, v.relu, 0.0f, 0.0f, [](double x) { return x < 0 ? 0 : x; });
    CheckMap(name, v.leaky_relu, 0.25f, kExact, [](double x) { return x > 0 ? x : x * 0.25; });
    CheckMap(name, v.logistic, 0.0f, kClose, [](double x) { return 1 / (1 + std::exp(-x)); });
    CheckMap(name, v.tanh, 0.0f, kClose, [](double x) { return std::tanh(x); });
    CheckMap(name, v.hard_swish, 0.0f, kClose,
             [](double x) { return x * std::fmin(6, std::fmax(0, x + 3)) / 6; });
    CheckMap(name, v.abs, 0.0f, 0.0f, [](double x) { return std::fabs(x); });
    CheckMap(name, v.square, 0.0f, kExact, [](double x) { return x * x; });
  }
}

TEST(Vector, softmax_is_its_formula_and_the_same_on_all_sets) {
  for (int depth : kCounts) {
    if (depth == 0) continue;
    std::vector<float> row = Steps<float>(depth, 37);
    for (float& value : row) value *= 0.1f;
    std::vector<float> first;
    for (const CpuKernels* cpu : Tables()) {
      std::vector<float> out(row.size(), -1.0f);
      cpu->vector.softmax(row.data(), depth, 0.5f, out.data());
      double sum = 0;
      for (int i = 0; i < depth; ++i) sum += std::exp(0.5 * row[static_cast<size_t>(i)]);
      for (int i = 0; i < depth; ++i) {
        const double exact = std::exp(0.5 * row[static_cast<size_t>(i)]) / sum;
        ASSERT_NEAR(out[static_cast<size_t>(i)], exact, 1e-6 * exact + 1e-9) << cpu->name;
      }
      EXPECT_EQ(out.back(), -1.0f);
      if (first.empty()) first = out;
      EXPECT_EQ(out, first) << cpu->name;
    }
  }
}

// Of whole numbers, so that no order of a sum rounds.
TEST(Vector, folds_are_their_formulas) {
  for (const CpuKernels* cpu : Tables()) {
    for (int count : kCounts) {
      const std::vector<float> in = Steps<float>(count, 37);
      const std::span<const float> values(in.data(), static_cast<size_t>(count));
      const float sum = std::accumulate(values.begin(), values.end(), 5.0f);
      EXPECT_EQ(cpu->vector.sum.run(in.data(), count, 5.0f), sum) << cpu->name << " " << count;
      float largest = -1e9f, smallest = 1e9f;
      for (float value : values) largest = std::fmax(largest, value);
      for (float value : values) smallest = std::fmin(smallest, value);
      EXPECT_EQ(cpu->vector.max.run(in.data(), count, -1e9f), largest) << cpu->name;
      EXPECT_EQ(cpu->vector.min.run(in.data(), count, 1e9f), smallest) << cpu->name;
      std::vector<float> rows = Steps<float>(count, 91);
      const std::vector<float> before = rows;
      cpu->vector.sum.rows(in.data(), count, rows.data());
      for (size_t i = 0; i < values.size(); ++i) ASSERT_EQ(rows[i], before[i] + in[i]);
      cpu->vector.max.rows(before.data(), count, rows.data());
      for (size_t i = 0; i < values.size(); ++i) {
        ASSERT_EQ(rows[i], std::fmax(before[i] + in[i], before[i]));
      }
    }
  }
}

// One window in the middle of an image, against brute force.
template <typename T, typename BoundsT, typename Fold, typename Finish>
void CheckPool(const char* name, void (*loop)(const PoolWindow<T>&, const BoundsT&),
               const BoundsT& bounds, double start, const Fold& fold, const Finish& finish) {
  constexpr int kWidth = 5, kRows = 3, kColumns = 2;
  for (int channels : kCounts) {
    const std::vector<T> image = Steps<T>(kWidth * kRows * std::max(channels, 1), 37);
    std::vector<T> out(static_cast<size_t>(channels) + 1, T{77});
    loop({.first = image.data() + channels,
          .rows = kRows,
          .columns = kColumns,
          .channels = channels,
          .row_stride = int64_t{kWidth} * channels,
          .column_stride = channels,
          .out = out.data()},
         bounds);
    for (int c = 0; c < channels; ++c) {
      double value = start;
      for (int y = 0; y < kRows; ++y) {
        for (int x = 1; x <= kColumns; ++x) {
          value = fold(value, static_cast<double>(
                                  image[static_cast<size_t>((y * kWidth + x) * channels + c)]));
        }
      }
      ASSERT_EQ(out[static_cast<size_t>(c)], static_cast<T>(finish(value)))
          << name << " channel " << c << " of " << channels;
    }
    EXPECT_EQ(out.back(), T{77}) << name;
  }
}

TEST(Vector, windows_are_their_formulas) {
  const auto add = [](double sum, double x) { return sum + x; };
  const auto larger = [](double largest, double x) { return std::fmax(largest, x); };
  const auto clamp = [](double value) { return std::fmin(std::fmax(value, -50), 60); };
  const auto mean = [&](double sum) { return clamp(std::round(sum / 6)); };
  for (const CpuKernels* cpu : Tables()) {
    const VectorKernels& v = cpu->vector;
    CheckPool(cpu->name, v.max_pool_f32, FloatBounds{-50, 60}, -1e9, larger, clamp);
    CheckPool(cpu->name, v.average_pool_f32, FloatBounds{-50, 60}, 0, add,
              [&](double sum) { return clamp(static_cast<float>(sum) / 6.0f); });
    CheckPool(cpu->name, v.max_pool_s8, StepBounds{-50, 60}, -1e9, larger, clamp);
    CheckPool(cpu->name, v.max_pool_u8, StepBounds{0, 60}, 0, larger, clamp);
    CheckPool(cpu->name, v.average_pool_s8, StepBounds{-50, 60}, 0, add, mean);
    CheckPool(cpu->name, v.average_pool_u8, StepBounds{0, 60}, 0, add, mean);
  }
}

// As far as the bounds go, NaN passes, as it does in the reference.
TEST(Vector, nan_passes_the_bounds) {
  const std::vector<float> a(20, NAN), b(20, 1.0f);
  for (const CpuKernels* cpu : Tables()) {
    std::vector<float> out(20, 0.0f);
    cpu->vector.sum_f32({a.data(), b.data(), out.data(), 20, true, true}, {0.0f, 6.0f});
    for (float value : out) EXPECT_TRUE(std::isnan(value)) << cpu->name;
  }
}

template <typename T>
void CheckQuantized(const CpuKernels* cpu,
                    void (*sum_loop)(const BinaryRun<T>&, const QuantizedSum&),
                    void (*product_loop)(const BinaryRun<T>&, const QuantizedProduct&)) {
  constexpr float kLow = std::numeric_limits<T>::min(), kHigh = std::numeric_limits<T>::max();
  const auto to_step = [](double value, int zero_point) {
    return static_cast<T>(std::fmin(std::fmax(std::nearbyint(value) + zero_point, kLow), kHigh));
  };
  // Numbers of few bits: the float loops are exact on them.
  const QuantizedSum sum = {0.5f, -0.25f, 3.25f, {kLow - 5, kHigh - 5}, 5};
  CheckLoop<T>(
      cpu->name, [&](const auto& run) { sum_loop(run, sum); },
      [&](T a, T b) { return to_step(a * 0.5 - b * 0.25 + 3.25, 5); });
  const QuantizedProduct product = {4, -7, 0.015625f, {kLow - 3, kHigh - 3}, 3};
  CheckLoop<T>(
      cpu->name, [&](const auto& run) { product_loop(run, product); },
      [&](T a, T b) { return to_step((a - 4) * (b + 7) * 0.015625, 3); });
}

TEST(Vector, quantised_loops_are_their_formulas) {
  for (const CpuKernels* cpu : Tables()) {
    CheckQuantized<int8_t>(cpu, cpu->vector.sum_s8, cpu->vector.product_s8);
    CheckQuantized<uint8_t>(cpu, cpu->vector.sum_u8, cpu->vector.product_u8);
  }
}

}  // namespace
}  // namespace deputy
