// SPDX-License-Identifier: Apache-2.0
//
// Compares the loops over elements of every instruction set with their formulas, for counts around
// all vector widths, in place and not, with inputs that are advanced and inputs that are fixed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/kernels/vector/vector_counts.h"

namespace deputy::vector_test {
namespace {

template <typename T>
std::vector<T> Steps(int count, int factor) {
  std::vector<T> values(static_cast<size_t>(count) + 1);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<T>(static_cast<int>(i) * factor % 251 - 125);
  }
  return values;
}

// Compares loop(run) with expected(a, b), for every count, with advanced inputs and with one fixed
// input; `out` is `a` if the loop runs in place.
template <typename T, typename Loop, typename Expected>
void CheckLoop(const char* name, const Loop& loop, const Expected& expected) {
  for (int count : kVectorCounts) {
    for (const auto& [a_moves, b_moves] : {std::pair(true, true), {false, true}, {true, false}}) {
      for (bool in_place : {false, true}) {
        if (in_place && !a_moves) continue;
        std::vector<T> a = Steps<T>(count, 37);
        const std::vector<T> b = Steps<T>(count, 91), before = a;
        std::vector<T> apart(static_cast<size_t>(count) + 1, T{77});
        T* const out = in_place ? a.data() : apart.data();
        const T next_value = out[count];
        loop(BinaryRun<T>{a.data(), b.data(), out, count, a_moves, b_moves});
        for (int i = 0; i < count; ++i) {
          ASSERT_EQ(out[i], expected(before[a_moves ? i : 0], b[b_moves ? i : 0]))
              << name << " element " << i << " of " << count;
        }
        EXPECT_EQ(out[count], next_value) << name;
      }
    }
  }
}

TEST(Vector, float_loops_equal_their_formulas) {
  const FloatBounds bounds = {-100.0f, 150.0f};
  const auto clamp = [&](float value) { return std::fmin(std::fmax(value, -100.0f), 150.0f); };
  for (const CpuKernels* cpu : CpuTables()) {
    const VectorKernels& vector = cpu->vector;
    CheckLoop<float>(
        cpu->name, [&](const auto& run) { vector.plain_sum.of<float>()(run, bounds); },
        [&](float a, float b) { return clamp(a + b); });
    CheckLoop<float>(
        cpu->name, [&](const auto& run) { vector.plain_difference.of<float>()(run, bounds); },
        [&](float a, float b) { return clamp(a - b); });
    CheckLoop<float>(
        cpu->name, [&](const auto& run) { vector.plain_product.of<float>()(run, bounds); },
        [&](float a, float b) { return clamp(a * b); });
  }
}

template <typename T>
void CheckExtremeRuns(const CpuKernels* cpu) {
  CheckLoop<T>(cpu->name, cpu->vector.maximum.of<T>(), [](T a, T b) { return std::max(a, b); });
  CheckLoop<T>(cpu->name, cpu->vector.minimum.of<T>(), [](T a, T b) { return std::min(a, b); });
}

TEST(Vector, quotients_squares_and_extremes_equal_their_formulas) {
  for (const CpuKernels* cpu : CpuTables()) {
    const VectorKernels& v = cpu->vector;
    CheckLoop<float>(
        cpu->name,
        [&](const auto& run) {
          v.plain_quotient.of<float>()(run, {-100.0f, 150.0f});
        },
        [](float a, float b) { return std::fmin(std::fmax(a / b, -100.0f), 150.0f); });
    CheckLoop<float>(cpu->name, v.squared_difference.of<float>(),
                     [](float a, float b) { return (a - b) * (a - b); });
    CheckExtremeRuns<float>(cpu);
    CheckExtremeRuns<int8_t>(cpu);
    CheckExtremeRuns<uint8_t>(cpu);
    CheckExtremeRuns<int16_t>(cpu);
    CheckExtremeRuns<int32_t>(cpu);
    CheckExtremeRuns<int64_t>(cpu);
  }
}

// An independent implementation of requantisation: x times mantissa / 2^31, rounded with ties
// upwards, then shifted with ties away from zero. x is shifted first if the shift is to the left.
int64_t Rescaled(int64_t x, FixedMultiplier by) {
  if (by.shift > 0) x *= int64_t{1} << by.shift;
  const auto high = static_cast<int64_t>(
      std::floor((static_cast<double>(x) * by.mantissa + 1073741824.0) / 2147483648.0));
  return by.shift >= 0 ? high : std::llround(std::ldexp(static_cast<double>(high), by.shift));
}

TEST(Vector, int16_loops_round_as_fixed_point) {
  static constexpr StepBounds kBounds = {-32768, 32700};
  const auto clamp = [](int64_t x) {
    return static_cast<int16_t>(std::clamp<int64_t>(x, kBounds.low, kBounds.high));
  };
  for (const CpuKernels* cpu : CpuTables()) {
    for (const auto& [shift_a, shift_out] : {std::pair(0, -13), {-1, -14}, {-9, -15}, {-31, -31}}) {
      const FixedMultiplier from_a = {1518500250, shift_a}, from_b = {1073741824, 0},
                            to_out = {1342177280, shift_out};
      for (int32_t sign : {1, -1}) {
        const FixedSum sum = {from_a, from_b, to_out, sign, kBounds};
        CheckLoop<int16_t>(
            cpu->name, [&](const auto& run) { cpu->vector.sum_s16(run, sum); },
            [&](int16_t a, int16_t b) {
              return clamp(Rescaled(
                  Rescaled(a * 32768, from_a) + sign * Rescaled(b * 32768, from_b), to_out));
            });
      }
    }
    for (int shift : {3, 0, -1, -7, -31}) {
      const FixedProduct product = {{1518500250, shift}, kBounds};
      CheckLoop<int16_t>(
          cpu->name, [&](const auto& run) { cpu->vector.product_s16(run, product); },
          [&](int16_t a, int16_t b) { return clamp(Rescaled(a * b, product.to_out)); });
    }
  }
}

// Compares loop(in, count, parameter, out) with expected(x), in place and not.
template <typename Expected>
void CheckMap(const char* name, MapF32 loop, float parameter, float bound,
              const Expected& expected) {
  for (int count : kVectorCounts) {
    for (bool in_place : {false, true}) {
      std::vector<float> in = Steps<float>(count, 37);
      for (float& value : in) value *= 0.07f;
      const std::vector<float> before = in;
      std::vector<float> apart(in.size(), 77.0f);
      float* const out = in_place ? in.data() : apart.data();
      const float next_value = out[count];
      loop(in.data(), count, parameter, out);
      for (int i = 0; i < count; ++i) {
        const double exact = expected(static_cast<double>(before[static_cast<size_t>(i)]));
        ASSERT_NEAR(out[i], exact, bound * std::fmax(1.0, std::fabs(exact)))
            << name << " element " << i << " of " << count;
      }
      EXPECT_EQ(out[count], next_value) << name;
    }
  }
}

TEST(Vector, maps_equal_their_functions) {
  constexpr float kExact = 1e-7f, kClose = 1e-6f;
  for (const CpuKernels* cpu : CpuTables()) {
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
    CheckMap(name, v.negative, 0.0f, 0.0f, [](double x) { return -x; });
    CheckMap(name, v.exp, 0.0f, kClose, [](double x) { return std::exp(x); });
    CheckMap(name, v.floor, 0.0f, 0.0f, [](double x) { return std::floor(x); });
    CheckMap(name, v.ceil, 0.0f, 0.0f, [](double x) { return std::ceil(x); });
    CheckMap(name, v.round, 0.0f, 0.0f, [](double x) { return std::nearbyint(x); });
  }
}

// Square roots must be rounded as IEEE 754 requires, and be NaN for negative numbers.
TEST(Vector, roots_are_exact) {
  std::vector<float> in(1003), roots(1003), inverse(1003);
  for (size_t i = 0; i < in.size(); ++i) in[i] = (static_cast<float>(i) - 10.0f) * 0.37f;
  for (const CpuKernels* cpu : CpuTables()) {
    cpu->vector.sqrt(in.data(), 1003, 0.0f, roots.data());
    cpu->vector.inverse_sqrt(in.data(), 1003, 0.0f, inverse.data());
    for (size_t i = 0; i < in.size(); ++i) {
      if (in[i] < 0.0f) {
        ASSERT_TRUE(std::isnan(roots[i]) && std::isnan(inverse[i])) << cpu->name << " " << i;
      } else {
        ASSERT_EQ(roots[i], std::sqrt(in[i])) << cpu->name << " " << i;
        ASSERT_EQ(inverse[i], 1.0f / std::sqrt(in[i])) << cpu->name << " " << i;
      }
    }
  }
}

TEST(Vector, softmax_equals_its_formula_on_all_sets) {
  for (int depth : kVectorCounts) {
    if (depth == 0) continue;
    std::vector<float> row = Steps<float>(depth, 37);
    for (float& value : row) value *= 0.1f;
    std::vector<float> first;
    for (const CpuKernels* cpu : CpuTables()) {
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
      out = row;
      cpu->vector.softmax(out.data(), depth, 0.5f, out.data());
      EXPECT_TRUE(std::equal(out.begin(), out.end() - 1, first.begin())) << cpu->name;
    }
  }
}

// Tests special values at the first, the middle and the last position of a row.
TEST(Vector, softmax_of_special_values) {
  for (const CpuKernels* cpu : CpuTables()) {
    for (int depth : {2, 17, 67, 131}) {
      for (int at : {0, depth / 2, depth - 1}) {
        const auto special = static_cast<size_t>(at);
        std::vector<float> row(static_cast<size_t>(depth), 2.0f), out(row.size());
        row[special] = -INFINITY;
        cpu->vector.softmax(row.data(), depth, 1.0f, out.data());
        for (size_t i = 0; i < out.size(); ++i) {
          EXPECT_NEAR(out[i], i == special ? 0.0 : 1.0 / (depth - 1), 1e-7) << cpu->name;
        }
        EXPECT_EQ(out[special], 0.0f) << cpu->name;
        // In comparison, the exponentials of all other elements are denormal.
        row[special] = 90.0f;
        cpu->vector.softmax(row.data(), depth, 1.0f, out.data());
        for (size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], i == special) << cpu->name;
        cpu->vector.softmax(row.data(), depth, 0.0f, out.data());
        for (float value : out) EXPECT_NEAR(value, 1.0 / depth, 1e-7) << cpu->name;
        row[special] = NAN;
        cpu->vector.softmax(row.data(), depth, 1.0f, out.data());
        for (float value : out) EXPECT_TRUE(std::isnan(value)) << cpu->name;
      }
    }
  }
}

// Compares the rows of the loops with their formulas, for 0 to 9 rows. The loops process four rows
// at a time.
template <typename T, typename Sum, typename Fold>
void CheckFold(const char* name, const FoldLoops<T, Sum>& loops, Sum start, const Fold& fold) {
  constexpr int kRows = 9, kGap = 3;
  for (int count : kVectorCounts) {
    const int stride = count + kGap;
    const std::vector<T> in = Steps<T>(kRows * stride, 37);
    std::vector<Sum> expected(kRows, start), sums(kRows, start);
    for (int i = 0; i < kRows * count; ++i) {
      Sum& sum = expected[static_cast<size_t>(i / count)];
      sum = static_cast<Sum>(fold(sum, in[static_cast<size_t>(i)]));
    }
    loops.runs(in.data(), kRows, count, sums.data());
    EXPECT_EQ(sums, expected) << name << " " << count;
    for (int rows = 0; rows <= kRows; ++rows) {
      std::vector<Sum> out(static_cast<size_t>(count) + 1, start);
      loops.rows(in.data(), rows, stride, count, out.data());
      for (int i = 0; i < count; ++i) {
        Sum of_column = start;
        for (int row = 0; row < rows; ++row) {
          of_column = static_cast<Sum>(fold(of_column, in[static_cast<size_t>(row * stride + i)]));
        }
        ASSERT_EQ(out[static_cast<size_t>(i)], of_column) << name << " " << rows << " " << count;
      }
      EXPECT_EQ(out.back(), start) << name;
    }
  }
}

template <typename Fold>
void CheckExtremes(const char* name, const ExtremeFolds& folds, int start, const Fold& fold) {
  const auto check = [&](auto first) {
    using T = decltype(first);
    CheckFold<T, T>(name, folds.of<FromTo<T>>(), first, fold);
  };
  check(static_cast<float>(start));
  check(static_cast<int8_t>(start));
  check(static_cast<uint8_t>(start + 128));
  check(static_cast<int16_t>(start));
  check(start);
  check(int64_t{start});
}

template <typename T, typename Sum>
void CheckSum(const CpuKernels* cpu) {
  CheckFold<T, Sum>(cpu->name, cpu->vector.sum.of<FromTo<T, Sum>>(), Sum{5},
                    [](Sum sum, T x) { return sum + static_cast<Sum>(x); });
}

// The values are integers, so that sums are exact in any order.
TEST(Vector, reductions_equal_their_formulas) {
  for (const CpuKernels* cpu : CpuTables()) {
    CheckSum<float, float>(cpu);
    CheckSum<int8_t, int32_t>(cpu);
    CheckSum<uint8_t, int32_t>(cpu);
    CheckSum<int16_t, int32_t>(cpu);
    CheckSum<int32_t, int32_t>(cpu);
    CheckSum<int32_t, int64_t>(cpu);
    CheckSum<int64_t, int64_t>(cpu);
    CheckExtremes(cpu->name, cpu->vector.max, -128, [](auto a, auto b) { return b > a ? b : a; });
    CheckExtremes(cpu->name, cpu->vector.min, 127, [](auto a, auto b) { return b < a ? b : a; });
    CheckFold<uint8_t, uint8_t>(cpu->name, cpu->vector.any.of<FromTo<uint8_t>>(), 0,
                                [](int any, int x) { return any != 0 || x != 0 ? 1 : 0; });
    CheckFold<uint8_t, uint8_t>(cpu->name, cpu->vector.every.of<FromTo<uint8_t>>(), 1,
                                [](int all, int x) { return all != 0 && x != 0 ? 1 : 0; });
  }
}

TEST(Vector, bytes_are_looked_up) {
  uint8_t table[256];
  for (int i = 0; i < 256; ++i) table[i] = static_cast<uint8_t>(i * 37 + i / 16);
  for (const CpuKernels* cpu : CpuTables()) {
    if (cpu->vector.look_up_bytes == nullptr) continue;
    for (int count : kVectorCounts) {
      const std::vector<uint8_t> in = Steps<uint8_t>(count, 37);
      std::vector<uint8_t> out(in.size(), 1);
      cpu->vector.look_up_bytes(in.data(), count, table, out.data());
      for (size_t i = 0; i + 1 < in.size(); ++i) ASSERT_EQ(out[i], table[in[i]]) << cpu->name;
      EXPECT_EQ(out.back(), 1) << cpu->name;
    }
  }
}

// Integer products wrap around; floats are powers of two, so that products are exact in any order.
TEST(Vector, products_equal_their_formulas) {
  const auto times = [](auto product, auto x) {
    return static_cast<decltype(product)>(static_cast<uint64_t>(product) *
                                          static_cast<uint64_t>(x));
  };
  for (const CpuKernels* cpu : CpuTables()) {
    const ProductFolds& product = cpu->vector.product;
    CheckFold<int32_t, int32_t>(cpu->name, product.of<FromTo<int32_t>>(), 3, times);
    CheckFold<int64_t, int64_t>(cpu->name, product.of<FromTo<int64_t>>(), 3, times);
    for (int count : kVectorCounts) {
      std::vector<float> in(static_cast<size_t>(count));
      for (size_t i = 0; i < in.size(); ++i) in[i] = i % 3 == 0 ? -2.0f : i % 3 == 1 ? 0.5f : 1.0f;
      float expected = 3.0f;
      for (float x : in) expected *= x;
      float result = 3.0f;
      product.of<FromTo<float>>().runs(in.data(), 1, count, &result);
      EXPECT_EQ(result, expected) << cpu->name;
    }
  }
}

template <typename T>
void CheckLookUps(const char* name, const LookUpLoops<T>& loops) {
  std::vector<int32_t> table(256);
  for (size_t i = 0; i < table.size(); ++i) {
    table[i] = static_cast<int32_t>(2147483647.0 * std::exp(-0.05 * static_cast<double>(i)));
  }
  const FixedMultiplier by = {1518500250, -22};
  for (int count : kVectorCounts) {
    std::vector<T> values = Steps<T>(count, 37);
    const int largest = *std::max_element(values.begin(), values.end());
    uint32_t sum = 0;
    for (int i = 0; i < count; ++i) {
      sum += static_cast<uint32_t>(
          table[static_cast<size_t>(largest - values[static_cast<size_t>(i)])]);
    }
    EXPECT_EQ(static_cast<uint32_t>(loops.sum(values.data(), count, largest, table.data())), sum);
    std::vector<T> out(values.size(), T{77});
    loops.scale(values.data(), count, largest, table.data(), by, out.data());
    for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
      const int64_t steps = Rescaled(table[static_cast<size_t>(largest - values[i])], by);
      ASSERT_EQ(out[i], std::min<int64_t>(steps, 255) + std::numeric_limits<T>::min())
          << name << " " << i << " of " << count;
    }
    EXPECT_EQ(out.back(), T{77}) << name;
  }
}

TEST(Vector, rows_of_bytes_look_up_their_distances) {
  for (const CpuKernels* cpu : CpuTables()) {
    CheckLookUps<int8_t>(cpu->name, cpu->vector.look_up_s8);
    CheckLookUps<uint8_t>(cpu->name, cpu->vector.look_up_u8);
  }
}

TEST(Vector, entries_become_bytes) {
  for (const CpuKernels* cpu : CpuTables()) {
    for (const int32_t subtrahend : {-1000, 0, 1 << 27, 2147483647}) {
      const EntryShift shift = {subtrahend, 23, 250};
      int32_t entries[256] = {};
      for (int i = 0; i < 250; ++i) {
        const int64_t lowest = std::numeric_limits<int32_t>::min() + int64_t{subtrahend};
        entries[i] = static_cast<int32_t>(std::max(int64_t{-8500001} * i, lowest));
      }
      uint8_t out[257] = {};
      out[256] = 77;
      cpu->vector.shift_entries(entries, shift, out);
      for (int i = 0; i < 256; ++i) {
        const int32_t steps = i < 250 ? RoundingShiftRight(entries[i] - subtrahend, 23) : -255;
        ASSERT_EQ(out[255 - i], std::clamp(steps, -255, 0) + 255) << cpu->name << " " << i;
      }
      EXPECT_EQ(out[256], 77) << cpu->name;
    }
  }
}

// Compares adjacent windows in the middle of an image with brute force.
template <typename T, typename BoundsT, typename Fold, typename Finish>
void CheckPool(const char* name, void (*loop)(const PoolWindow<T>&, const BoundsT&),
               const BoundsT& bounds, int rows, double start, const Fold& fold,
               const Finish& finish) {
  constexpr int kWidth = 7, kColumns = 2, kWindows = 3;
  for (int channels : kVectorCounts) {
    const std::vector<T> image = Steps<T>(kWidth * rows * std::max(channels, 1), 37);
    std::vector<T> out(static_cast<size_t>(kWindows * channels) + 1, T{77});
    loop({.first = image.data() + channels,
          .rows = rows,
          .columns = kColumns,
          .channels = channels,
          .row_stride = int64_t{kWidth} * channels,
          .column_stride = channels,
          .out = out.data(),
          .windows = kWindows,
          .window_stride = int64_t{2} * channels},
         bounds);
    for (int i = 0; i < kWindows * channels; ++i) {
      const int first = 1 + i / channels * 2, c = i % channels;
      double value = start;
      for (int y = 0; y < rows; ++y) {
        for (int x = first; x < first + kColumns; ++x) {
          value = fold(value, static_cast<double>(
                                  image[static_cast<size_t>((y * kWidth + x) * channels + c)]));
        }
      }
      ASSERT_EQ(out[static_cast<size_t>(i)], static_cast<T>(finish(value)))
          << name << " value " << i << " of " << channels << " channels";
    }
    EXPECT_EQ(out.back(), T{77}) << name;
  }
}

TEST(Vector, windows_equal_their_formulas) {
  const auto add = [](double sum, double x) { return sum + x; };
  const auto larger = [](double largest, double x) { return std::fmax(largest, x); };
  const auto clamp = [](double value) { return std::fmin(std::fmax(value, -50), 60); };
  for (const CpuKernels* cpu : CpuTables()) {
    const VectorKernels& v = cpu->vector;
    const char* const name = cpu->name;
    for (const int rows : {2, 3, 7}) {
      const int pixels = rows * 2;
      const auto mean = [&](double sum) { return clamp(std::round(sum / pixels)); };
      const auto mean_f32 = [&](double sum) {
        return clamp(static_cast<float>(sum) / static_cast<float>(pixels));
      };
      CheckPool(name, v.max_pool_f32, FloatBounds{-50, 60}, rows, -1e9, larger, clamp);
      CheckPool(name, v.average_pool_f32, FloatBounds{-50, 60}, rows, 0, add, mean_f32);
      CheckPool(name, v.max_pool_s8, StepBounds{-50, 60}, rows, -1e9, larger, clamp);
      CheckPool(name, v.max_pool_u8, StepBounds{0, 60}, rows, 0, larger, clamp);
      CheckPool(name, v.average_pool_s8, StepBounds{-50, 60}, rows, 0, add, mean);
      CheckPool(name, v.average_pool_u8, StepBounds{0, 60}, rows, 0, add, mean);
    }
  }
}

// Large windows are summed row by row, for any number of channels.
TEST(Vector, large_windows_are_averaged_in_order) {
  constexpr int kRows = 5, kColumns = 9;
  for (const CpuKernels* cpu : CpuTables()) {
    for (const int channels : {1, 8, 15, 16, 17, 40, 64, 65, 80, 150}) {
      const auto count = static_cast<size_t>(channels);
      std::vector<float> image(kRows * kColumns * count), out(count + 1, 77.0f);
      for (size_t i = 0; i < image.size(); ++i) {
        image[i] = std::sin(static_cast<float>(i)) * static_cast<float>(i % 11 == 0 ? 1e7 : 1);
      }
      cpu->vector.average_pool_f32({.first = image.data(),
                                    .rows = kRows,
                                    .columns = kColumns,
                                    .channels = channels,
                                    .row_stride = int64_t{kColumns} * channels,
                                    .column_stride = channels,
                                    .out = out.data(),
                                    .windows = 1,
                                    .window_stride = 0},
                                   {-1e30f, 1e30f});
      for (size_t c = 0; c < count; ++c) {
        float sum = 0.0f;
        for (size_t i = c; i < image.size(); i += count) sum += image[i];
        ASSERT_EQ(out[c], sum / (kRows * kColumns)) << cpu->name << " channel " << c;
      }
      EXPECT_EQ(out.back(), 77.0f) << cpu->name;
    }
  }
}

// A NaN passes through the bounds, as in the reference code.
TEST(Vector, clamps_propagate_nan) {
  const std::vector<float> a(20, NAN), b(20, 1.0f);
  for (const CpuKernels* cpu : CpuTables()) {
    std::vector<float> out(20, 0.0f);
    cpu->vector.plain_sum.of<float>()({a.data(), b.data(), out.data(), 20, true, true},
                                      {0.0f, 6.0f});
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
  // The numbers have few bits, so that the float loops are exact.
  const QuantizedSum sum = {0.5f, -0.25f, 3.25f, {kLow - 5, kHigh - 5}, 5};
  CheckLoop<T>(
      cpu->name, [&](const auto& run) { sum_loop(run, sum); },
      [&](T a, T b) { return to_step(a * 0.5 - b * 0.25 + 3.25, 5); });
  const QuantizedProduct product = {4, -7, 0.015625f, {kLow - 3, kHigh - 3}, 3};
  CheckLoop<T>(
      cpu->name, [&](const auto& run) { product_loop(run, product); },
      [&](T a, T b) { return to_step((a - 4) * (b + 7) * 0.015625, 3); });
}

TEST(Vector, quantised_loops_equal_their_formulas) {
  for (const CpuKernels* cpu : CpuTables()) {
    CheckQuantized<int8_t>(cpu, cpu->vector.sum_s8, cpu->vector.product_s8);
    CheckQuantized<uint8_t>(cpu, cpu->vector.sum_u8, cpu->vector.product_u8);
  }
}

}  // namespace
}  // namespace deputy::vector_test
