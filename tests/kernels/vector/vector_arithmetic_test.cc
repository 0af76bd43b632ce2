// SPDX-License-Identifier: Apache-2.0
//
// Compares loops on quantised values, signs, integer division, float16 minima and maxima and rows
// of SOFTMAX with results in 64 bits and in double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "tests/kernels/vector/vector_counts.h"

namespace deputy::vector_arithmetic_test {
namespace {

// Returns all numbers of a type of 8 or 16 bits.
template <typename T>
std::vector<T> Everything() {
  std::vector<T> all;
  for (int x = std::numeric_limits<T>::min(); x <= std::numeric_limits<T>::max(); ++x) {
    all.push_back(static_cast<T>(x));
  }
  return all;
}

// Returns x * by: x times mantissa / 2^31, rounded with ties upwards, then shifted with ties away
// from zero. x is shifted first if the shift is to the left.
int64_t Rescaled(int64_t x, const FixedMultiplier& by) {
  if (by.shift > 0) x *= int64_t{1} << by.shift;
  const int64_t product = x * by.mantissa + (int64_t{1} << 30), unit = int64_t{1} << 31;
  const int64_t high = (product - ((product % unit) + unit) % unit) / unit;
  return by.shift >= 0 ? high : std::llround(std::ldexp(static_cast<double>(high), by.shift));
}

constexpr FixedMultiplier kMultipliers[] = {
    {1518500250, 1}, {1342177280, 0}, {1073741824, -1}, {2147483647, -3}, {1073741825, -13}};

template <typename T>
void CheckFixed(const CpuKernels* cpu) {
  const std::vector<T> in = Everything<T>();
  for (const FixedMultiplier& by : kMultipliers) {
    for (const int32_t zero_point : {0, -7, 100}) {
      std::vector<int32_t> out(in.size());
      cpu->vector.fixed.of<T>()(in.data(), static_cast<int64_t>(in.size()), {zero_point, 8, by},
                                out.data());
      for (size_t i = 0; i < in.size(); ++i) {
        ASSERT_EQ(out[i], Rescaled((in[i] - zero_point) * 256, by)) << cpu->name << " " << i;
      }
    }
  }
}

TEST(VectorArithmetic, quantised_values_become_fixed_point) {
  for (const CpuKernels* cpu : CpuTables()) {
    CheckFixed<int8_t>(cpu);
    CheckFixed<uint8_t>(cpu);
    CheckFixed<int16_t>(cpu);
  }
}

int64_t BentAt(int64_t x, const FixedPiecewise& bend) {
  const int64_t value = x - bend.zero_in;
  const int64_t steps = value >= 0 ? Rescaled(value, bend.above)
                                   : bend.sign_out * Rescaled(bend.sign_in * value, bend.below);
  return std::clamp<int64_t>(steps + bend.zero_out, bend.bounds.low, bend.bounds.high);
}

TEST(VectorArithmetic, int16_piecewise_functions_change_slope_at_the_zero_point) {
  const FixedPiecewise bends[] = {
      {0, 0, kMultipliers[1], kMultipliers[1], 1, 1, {0, 20000}},
      {0, 0, kMultipliers[0], kMultipliers[4], 1, -1, {-32768, 32767}},
      {-300, 25, {1 << 30, 1}, {1 << 30, 1}, -1, 1, {-32768, 32767}},
      {7, -9, kMultipliers[2], kMultipliers[3], -1, -1, {-500, 32767}},
  };
  for (const CpuKernels* cpu : CpuTables()) {
    for (const FixedPiecewise& bend : bends) {
      const std::vector<int16_t> in = Everything<int16_t>();
      std::vector<int16_t> out = in;
      cpu->vector.piecewise_s16(out.data(), static_cast<int64_t>(out.size()), bend, out.data());
      for (size_t i = 0; i < in.size(); ++i) {
        ASSERT_EQ(out[i], BentAt(in[i], bend)) << cpu->name << " of " << in[i];
      }
    }
  }
}

template <typename T, typename Alpha>
void CheckSlope(const CpuKernels* cpu, const FixedSlope& slope) {
  const std::vector<T> x = Everything<T>();
  std::vector<Alpha> alpha(x.size());
  for (size_t i = 0; i < x.size(); ++i) alpha[i] = static_cast<Alpha>(i * 37 + i / 256);
  for (const bool alpha_moves : {false, true}) {
    std::vector<T> out(x.size());
    cpu->vector.prelu.of<FromTo<T, Alpha>>()(
        {x.data(), alpha.data() + 9, out.data(), static_cast<int64_t>(x.size()) - 9, true,
         alpha_moves},
        slope);
    for (size_t i = 0; i < x.size() - 9; ++i) {
      const int64_t value = x[i] - slope.zero_in, by = alpha[(alpha_moves ? i : 0) + 9];
      const int64_t steps = value >= 0 ? Rescaled(value, slope.identity)
                                       : Rescaled(value * (by - slope.zero_alpha), slope.slope);
      ASSERT_EQ(out[i],
                std::clamp<int64_t>(steps + slope.zero_out, slope.bounds.low, slope.bounds.high))
          << cpu->name << " of " << int{x[i]} << " and " << by;
    }
  }
}

TEST(VectorArithmetic, slopes_multiply_values_below_the_zero_point) {
  for (const CpuKernels* cpu : CpuTables()) {
    CheckSlope<int8_t, int8_t>(cpu, {-5, 3, 11, kMultipliers[1], kMultipliers[3], {-128, 127}});
    CheckSlope<uint8_t, uint8_t>(cpu, {128, 100, 90, kMultipliers[0], kMultipliers[3], {0, 255}});
    CheckSlope<int16_t, int8_t>(cpu, {0, 0, 0, kMultipliers[2], kMultipliers[4], {-32768, 32767}});
  }
}

template <typename T>
std::vector<T> ManyIntegers() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values = {Limits::min(), Limits::max(), Limits::min() + 1, 0, 1, -1, 2, -2, 3, -7};
  for (uint64_t i = 1; i < 90; ++i) {
    values.push_back(static_cast<T>((i * 0x9e3779b97f4a7c15u) >> (i % 8 * (sizeof(T) + 1))));
  }
  return values;
}

TEST(VectorArithmetic, int32_quotients_are_truncated) {
  std::vector<int32_t> a, b;
  for (const int32_t x : ManyIntegers<int32_t>()) {
    for (const int32_t y : ManyIntegers<int32_t>()) {
      if (y == 0) continue;
      a.push_back(x);
      b.push_back(y);
    }
  }
  for (const CpuKernels* cpu : CpuTables()) {
    for (const Bounds<int32_t>& bounds : {Bounds<int32_t>{INT32_MIN, INT32_MAX}, {0, 6}}) {
      std::vector<int32_t> out(a.size());
      cpu->vector.plain_quotient.of<int32_t>()(
          {a.data(), b.data(), out.data(), static_cast<int64_t>(a.size()), true, true}, bounds);
      for (size_t i = 0; i < a.size(); ++i) {
        ASSERT_EQ(out[i], std::clamp<int64_t>(int64_t{a[i]} / b[i], bounds.low, bounds.high))
            << cpu->name << ": " << a[i] << " / " << b[i];
      }
    }
  }
}

// Compares for all pairs of ManyIntegers, except those with a divisor of 0.
template <typename T, typename Expected>
void CheckFloor(const CpuKernels* cpu, BinaryLoop<T> loop, const Expected& expected) {
  for (const T divisor : ManyIntegers<T>()) {
    if (divisor == 0) continue;
    const std::vector<T> in = ManyIntegers<T>();
    std::vector<T> out(in.size());
    loop({in.data(), &divisor, out.data(), static_cast<int64_t>(in.size()), true, false});
    for (size_t i = 0; i < in.size(); ++i) {
      ASSERT_EQ(out[i], static_cast<T>(expected(int64_t{in[i]}, int64_t{divisor})))
          << cpu->name << ": " << int64_t{in[i]} << " and " << int64_t{divisor};
    }
  }
}

TEST(VectorArithmetic, quotients_and_remainders_are_rounded_down) {
  const auto quotient = [](int64_t a, int64_t b) {
    return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
  };
  const auto rest = [&](int64_t a, int64_t b) { return a - quotient(a, b) * b; };
  for (const CpuKernels* cpu : CpuTables()) {
    const VectorKernels& v = cpu->vector;
    CheckFloor<int8_t>(cpu, v.floor_quotient.of<int8_t>(), quotient);
    CheckFloor<int16_t>(cpu, v.floor_quotient.of<int16_t>(), quotient);
    CheckFloor<int32_t>(cpu, v.floor_quotient.of<int32_t>(), quotient);
    CheckFloor<int8_t>(cpu, v.floor_modulo.of<int8_t>(), rest);
    CheckFloor<int16_t>(cpu, v.floor_modulo.of<int16_t>(), rest);
    CheckFloor<int32_t>(cpu, v.floor_modulo.of<int32_t>(), rest);
    const float a[] = {7, -7, 7, -7, 0.5f, 1, INFINITY}, b[] = {2, 2, -2, -2, 1, 0.1f, 1};
    // The quotient of 1 and 0.1F is 9, because 0.1F is greater than a tenth.
    const float expected[] = {3, -4, -4, 3, 0, 9, INFINITY};
    float out[7];
    v.floor_quotient.of<float>()({a, b, out, 7, true, true});
    EXPECT_TRUE(std::equal(out, out + 7, expected)) << cpu->name;
  }
}

TEST(VectorArithmetic, squares_of_differences_wrap_or_are_rescaled) {
  const FixedSquare square = {kMultipliers[4], -100};
  for (const CpuKernels* cpu : CpuTables()) {
    for (const int32_t b : {-32640, -7, 0, 1, 30000}) {
      std::vector<int32_t> a, out;
      for (int32_t x = -32640; x <= 32640; x += 255) a.push_back(x / 2 + b / 2);
      out.resize(a.size());
      std::vector<int8_t> steps(a.size());
      const auto count = static_cast<int64_t>(a.size());
      cpu->vector.squared_difference_s8({a.data(), &b, steps.data(), count, true, false}, square);
      for (int32_t& x : a) x *= 5;
      cpu->vector.squared_difference.of<int32_t>()({a.data(), &b, out.data(), count, true, false});
      for (size_t i = 0; i < a.size(); ++i) {
        const int64_t small = a[i] / 5 - b, large = int64_t{a[i]} - b;
        ASSERT_EQ(steps[i],
                  std::clamp<int64_t>(Rescaled(small * small, square.to_out) - 100, -128, 127))
            << cpu->name;
        ASSERT_EQ(out[i], static_cast<int32_t>(large * large)) << cpu->name;
      }
    }
  }
}

// The maximum and minimum have the bits of one of the operands, for any operands.
TEST(VectorArithmetic, extremes_of_float16_keep_their_bits) {
  std::vector<Half> a, out(65536);
  for (const uint16_t bits : Everything<uint16_t>()) a.push_back(std::bit_cast<Half>(bits));
  for (const CpuKernels* cpu : CpuTables()) {
    for (const int other :
         {0, 0x8000, 1, 0x8001, 0x3c00, 0xbc00, 0x7bff, 0x7c00, 0xfc00, 0x7c01, 0x7e00, 0xffff}) {
      const Half b = std::bit_cast<Half>(static_cast<uint16_t>(other));
      for (const bool larger : {false, true}) {
        const auto loop = (larger ? cpu->vector.maximum : cpu->vector.minimum).of<Half>();
        loop({a.data(), &b, out.data(), 65536, true, false});
        for (size_t i = 0; i < a.size(); ++i) {
          const float left = a[i], right = b;
          const bool first = larger ? left > right : left < right;
          ASSERT_EQ(std::bit_cast<uint16_t>(out[i]), first ? static_cast<int>(i) : other)
              << cpu->name << " of " << i << " and " << other;
        }
      }
    }
  }
}

template <typename T, typename Expected>
void CheckSigns(const CpuKernels* cpu, MapLoop<T> loop, const Expected& expected) {
  const std::vector<T> in = ManyIntegers<T>();
  std::vector<T> out = in;
  loop(out.data(), static_cast<int64_t>(out.size()), out.data());
  for (size_t i = 0; i < in.size(); ++i) {
    ASSERT_EQ(out[i], static_cast<T>(expected(in[i]))) << cpu->name << " of " << int64_t{in[i]};
  }
}

TEST(VectorArithmetic, integers_are_negated) {
  const auto opposite = [](int64_t x) { return ~static_cast<uint64_t>(x) + 1; };
  const auto absolute = [&](int64_t x) { return x < 0 ? opposite(x) : static_cast<uint64_t>(x); };
  for (const CpuKernels* cpu : CpuTables()) {
    const VectorKernels& v = cpu->vector;
    CheckSigns<int8_t>(cpu, v.opposite.of<int8_t>(), opposite);
    CheckSigns<int16_t>(cpu, v.opposite.of<int16_t>(), opposite);
    CheckSigns<int32_t>(cpu, v.opposite.of<int32_t>(), opposite);
    CheckSigns<int64_t>(cpu, v.opposite.of<int64_t>(), opposite);
    CheckSigns<int16_t>(cpu, v.absolute.of<int16_t>(), absolute);
    CheckSigns<int32_t>(cpu, v.absolute.of<int32_t>(), absolute);
    CheckSigns<int32_t>(cpu, v.sign.of<int32_t>(), [](int64_t x) { return (x > 0) - (x < 0); });
  }
}

TEST(VectorArithmetic, signs_of_floats_are_returned) {
  const std::vector<float> in = {0, -0.0f, 3, -2, INFINITY, -INFINITY, NAN, 1e-45f, -1e-45f, 1};
  const std::vector<float> expected = {0, 0, 1, -1, 1, -1, NAN, 1, -1, 1};
  for (const CpuKernels* cpu : CpuTables()) {
    std::vector<float> out(in.size());
    cpu->vector.sign.of<float>()(in.data(), static_cast<int64_t>(in.size()), out.data());
    for (size_t i = 0; i < in.size(); ++i) {
      if (std::isnan(expected[i])) {
        EXPECT_TRUE(std::isnan(out[i])) << cpu->name;
      } else {
        EXPECT_EQ(out[i], expected[i]) << cpu->name << " of " << in[i];
      }
    }
  }
}

// Returns exp(beta * (x - largest)) of a row.
std::vector<double> Exponentials(const std::vector<float>& row, double beta) {
  const double largest = *std::max_element(row.begin(), row.end());
  std::vector<double> out;
  for (const float x : row) out.push_back(std::exp(beta * (x - largest)));
  return out;
}

std::vector<float> RowOf(int depth) {
  std::vector<float> row;
  for (int c = 0; c < depth; ++c) row.push_back(static_cast<float>(c * 37 % 101) * 0.0625f - 3.0f);
  return row;
}

TEST(VectorArithmetic, rows_of_float16_add_up_to_one) {
  for (const CpuKernels* cpu : CpuTables()) {
    for (const int depth : {1, 2, 15, 16, 17, 511, 512, 513, 1300}) {
      const std::vector<float> row = RowOf(depth);
      const std::vector<double> exact = Exponentials(row, 0.5);
      const double sum = std::accumulate(exact.begin(), exact.end(), 0.0);
      std::vector<Half> halves;
      for (const float x : row) halves.push_back(Half(x));
      cpu->vector.softmax_f16(halves.data(), depth, 0.5f, halves.data());
      for (size_t c = 0; c < row.size(); ++c) {
        ASSERT_NEAR(static_cast<float>(halves[c]), exact[c] / sum, 1.1e-3 * exact[c] / sum + 6e-8)
            << cpu->name << " element " << c << " of " << depth;
      }
    }
  }
}

TEST(VectorArithmetic, log_softmax_equals_its_formula_on_all_sets) {
  for (const int depth : {1, 2, 15, 16, 17, 511, 512, 513, 1300}) {
    const std::vector<float> row = RowOf(depth);
    const std::vector<double> exact = Exponentials(row, 1.0);
    const double log_sum = std::log(std::accumulate(exact.begin(), exact.end(), 0.0));
    const float largest = *std::max_element(row.begin(), row.end());
    std::vector<float> first;
    for (const CpuKernels* cpu : CpuTables()) {
      std::vector<float> out = row;
      cpu->vector.log_softmax(out.data(), depth, out.data());
      for (size_t c = 0; c < row.size(); ++c) {
        ASSERT_NEAR(out[c], row[c] - largest - log_sum, 4e-6) << cpu->name << " of " << depth;
      }
      if (first.empty()) first = out;
      EXPECT_EQ(out, first) << cpu->name << " of " << depth;
    }
  }
}

}  // namespace
}  // namespace deputy::vector_arithmetic_test
