// SPDX-License-Identifier: Apache-2.0
//
// Compares loops that search, normalise and interpolate rows with plain code.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "tests/kernels/vector/vector_counts.h"

namespace deputy::vector_rows_test {
namespace {

// Returns pseudo-random numbers, some of them equal.
template <typename T>
std::vector<T> Mixed(int count) {
  std::vector<T> values;
  for (int i = 0; i < count; ++i) values.push_back(static_cast<T>((i * 7919 + 31) % 101 - 20));
  return values;
}

template <typename T>
void CheckFind(const CpuKernels* cpu, int count) {
  const std::vector<T> in = Mixed<T>(count);
  for (const int bound : {-30, 5, 70, 79, 80, 100}) {
    const auto limit = static_cast<T>(bound);
    const auto above = std::find_if(in.begin(), in.end(), [=](T x) { return x > limit; });
    EXPECT_EQ(cpu->vector.find_above.of<T>()(in.data(), count, limit), above - in.begin())
        << cpu->name << " of " << count << " above " << bound;
  }
}

TEST(VectorRows, the_first_element_above_a_bound_is_found) {
  for (const CpuKernels* cpu : CpuTables()) {
    for (const int count : kVectorCounts) {
      CheckFind<float>(cpu, count);
      CheckFind<int8_t>(cpu, count);
      CheckFind<uint8_t>(cpu, count);
      CheckFind<int16_t>(cpu, count);
      CheckFind<int32_t>(cpu, count);
      CheckFind<int64_t>(cpu, count);
    }
  }
}

template <typename T>
int64_t IndexIn(BestLoop<T> loop, const std::vector<T>& row, int64_t count) {
  int32_t position = -1;
  loop(row.data(), 1, count, &position);
  return position;
}

// Compares the maximum or minimum at each position, and the first one of several, with plain code.
template <typename T>
void CheckPositions(const CpuKernels* cpu, int count) {
  using Limits = std::numeric_limits<T>;
  const auto largest = cpu->vector.index_of_max.of<T>();
  const auto smallest = cpu->vector.index_of_min.of<T>();
  std::vector<T> rows;
  for (int position = 0; position < count; ++position) {
    for (const T best : {Limits::max(), Limits::lowest()}) {
      std::vector<T> in = Mixed<T>(count);
      in[static_cast<size_t>(position)] = in.back() = best;
      ASSERT_EQ(IndexIn(largest, in, count), std::max_element(in.begin(), in.end()) - in.begin())
          << cpu->name << " " << count;
      ASSERT_EQ(IndexIn(smallest, in, count), std::min_element(in.begin(), in.end()) - in.begin())
          << cpu->name << " " << count;
      rows.insert(rows.end(), in.begin(), in.begin() + count);
    }
  }
  std::vector<int32_t> positions(static_cast<size_t>(2 * count) + 1, -7);
  largest(rows.data(), 2 * count, count, positions.data());
  for (int row = 0; row < 2 * count; ++row) {
    const auto first = rows.begin() + row * count;
    ASSERT_EQ(positions[static_cast<size_t>(row)], std::max_element(first, first + count) - first);
  }
  EXPECT_EQ(positions.back(), -7);
}

TEST(VectorRows, the_index_of_the_extreme_is_found) {
  for (const CpuKernels* cpu : CpuTables()) {
    for (const int count :
         {1, 2, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 64, 100, 127, 128, 129, 300}) {
      CheckPositions<float>(cpu, count);
      CheckPositions<int8_t>(cpu, count);
      CheckPositions<uint8_t>(cpu, count);
      CheckPositions<int32_t>(cpu, count);
    }
  }
}

TEST(VectorRows, nan_is_neither_found_nor_replaced) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const CpuKernels* cpu : CpuTables()) {
    std::vector<float> in(200, nan);
    EXPECT_EQ(cpu->vector.find_above.of<float>()(in.data(), 200, 1.0f), 200) << cpu->name;
    EXPECT_EQ(IndexIn(cpu->vector.index_of_max.of<float>(), in, 200), 0) << cpu->name;
    in.assign(200, 1.0f);
    in[0] = nan;
    EXPECT_EQ(IndexIn(cpu->vector.index_of_min.of<float>(), in, 200), 0) << cpu->name;
    in.assign(200, nan);
    in[0] = 1.0f;
    in[130] = in[150] = -2.0f;
    EXPECT_EQ(IndexIn(cpu->vector.index_of_max.of<float>(), in, 200), 0) << cpu->name;
    EXPECT_EQ(IndexIn(cpu->vector.index_of_min.of<float>(), in, 200), 130) << cpu->name;
  }
}

template <typename T>
void CheckKeep(const CpuKernels* cpu, int count) {
  const std::vector<T> in = Mixed<T>(count);
  for (const bool largest : {true, false}) {
    std::vector<T> best(in.size(), T{9});
    std::vector<int32_t> at(in.size(), 3);
    const auto loop = (largest ? cpu->vector.keep_max : cpu->vector.keep_min).of<T>();
    loop(in.data(), count, 5, best.data(), at.data());
    for (size_t i = 0; i < in.size(); ++i) {
      const bool better = largest ? in[i] > 9 : in[i] < 9;
      ASSERT_EQ(best[i], better ? in[i] : T{9}) << cpu->name << " " << i;
      ASSERT_EQ(at[i], better ? 5 : 3) << cpu->name << " " << i;
    }
  }
}

TEST(VectorRows, the_extreme_of_two_rows_is_kept_with_its_index) {
  for (const CpuKernels* cpu : CpuTables()) {
    for (const int count : kVectorCounts) {
      CheckKeep<float>(cpu, count);
      CheckKeep<int8_t>(cpu, count);
      CheckKeep<uint8_t>(cpu, count);
      CheckKeep<int32_t>(cpu, count);
    }
  }
}

TEST(VectorRows, rows_are_normalized_equally_on_all_sets) {
  for (const int count : {1, 15, 16, 17, 300}) {
    const std::vector<float> in = Mixed<float>(count);
    double squares = 0;
    for (const float x : in) squares += static_cast<double>(x) * static_cast<double>(x);
    std::vector<float> first;
    for (const CpuKernels* cpu : CpuTables()) {
      std::vector<float> out(in.size());
      cpu->vector.l2_normalize(in.data(), count, out.data());
      for (size_t i = 0; i < in.size(); ++i) {
        ASSERT_NEAR(out[i], static_cast<double>(in[i]) / std::sqrt(squares), 1e-6) << cpu->name;
      }
      if (first.empty()) first = out;
      EXPECT_EQ(out, first) << cpu->name;
    }
  }
}

template <typename T>
void CheckSteps(const CpuKernels* cpu, int count) {
  constexpr int32_t kZeroIn = 11, kZeroOut = std::is_signed_v<T> ? 0 : 128;
  const std::vector<T> in = Mixed<T>(count);
  int64_t squares = 0;
  for (const T x : in) squares += int64_t{x - kZeroIn} * (x - kZeroIn);
  EXPECT_EQ(cpu->vector.sum_of_squares.of<T>()(in.data(), count, kZeroIn), squares) << cpu->name;
  // The multiplier 4 * 3 / 4 is exact, and results are out of range at both ends.
  std::vector<T> out(in.size());
  cpu->vector.scale_row.of<T>()(in.data(), count, {kZeroIn, 2, {3 << 29, 0}}, kZeroOut, out.data());
  for (size_t i = 0; i < in.size(); ++i) {
    ASSERT_EQ(out[i], std::clamp<int>((in[i] - kZeroIn) * 3 + kZeroOut,
                                      std::numeric_limits<T>::min(), std::numeric_limits<T>::max()))
        << cpu->name << " of " << int{in[i]};
  }
}

TEST(VectorRows, quantised_rows_are_summed_and_scaled) {
  for (const CpuKernels* cpu : CpuTables()) {
    for (const int count : kVectorCounts) {
      CheckSteps<int8_t>(cpu, count);
      CheckSteps<uint8_t>(cpu, count);
    }
  }
}

// Interpolates three pixels between two rows of two; weights are quarters, which all types
// represent exactly.
template <typename T>
void CheckBlend(const CpuKernels* cpu, int depth) {
  const std::vector<T> in = Mixed<T>(4 * depth);
  const Interpolation<float> x[] = {
      {0, depth, 1.0f, 0.0f}, {0, depth, 0.25f, 0.75f}, {depth, depth, 0.5f, 0.5f}};
  const Interpolation<float> y = {0, 2 * depth, 0.75f, 0.25f};
  std::vector<T> out(static_cast<size_t>(3 * depth));
  cpu->vector.blend.of<FromTo<T, float>>()({in.data(), y, x, 3, depth, out.data()});
  for (int i = 0; i < 3 * depth; ++i) {
    const Interpolation<float>& at = x[i / depth];
    const auto value = [&](int64_t row, int64_t column) {
      return static_cast<double>(in[static_cast<size_t>(row + column + i % depth)]);
    };
    const auto between = [&](int64_t row) {
      return value(row, at.low) * static_cast<double>(at.low_weight) +
             value(row, at.high) * static_cast<double>(at.high_weight);
    };
    const double exact = between(y.low) * static_cast<double>(y.low_weight) +
                         between(y.high) * static_cast<double>(y.high_weight);
    const double rounded = std::is_same_v<T, float> ? exact : std::round(exact);
    ASSERT_EQ(static_cast<double>(out[static_cast<size_t>(i)]), rounded) << cpu->name << " " << i;
  }
}

TEST(VectorRows, pixels_are_blended) {
  for (const CpuKernels* cpu : CpuTables()) {
    for (const int depth : {1, 3, 16, 17, 40}) {
      CheckBlend<float>(cpu, depth);
      CheckBlend<uint8_t>(cpu, depth);
      CheckBlend<int8_t>(cpu, depth);
      CheckBlend<int16_t>(cpu, depth);
    }
  }
}

}  // namespace
}  // namespace deputy::vector_rows_test
