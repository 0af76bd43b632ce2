// SPDX-License-Identifier: Apache-2.0
//
// Compares the arithmetic of the int8 operators with wide integers and real numbers: requantisation
// in all rounding modes, the functions of SOFTMAX, window positions and half precision. Vector
// results of a table are compared lane by lane with scalar ones.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "kernels/common/fixed_point.h"
#include "kernels/common/padding.h"
#include "kernels/common/requantize.h"
#include "kernels/cpu/cpu.h"

#include "tests/kernels/cpu/cpu_tables.h"

namespace deputy::kernels_arithmetic_test {
namespace {

__extension__ typedef __int128 Wide;

// Returns value / 2^shift rounded to nearest, ties away from zero.
Wide NearestAway(Wide value, int shift) {
  const Wide half = shift == 0 ? 0 : Wide{1} << (shift - 1);
  return value >= 0 ? (value + half) >> shift : -((-value + half) >> shift);
}

// Reproduces gemmlowp's two roundings; the first one rounds to nearest, ties upwards, for both
// signs.
int32_t TwoRoundings(int32_t sum, FixedMultiplier by) {
  const int left = std::max(by.shift, 0), right = std::max(-by.shift, 0);
  const auto shifted = static_cast<int32_t>(static_cast<uint32_t>(sum) << left);
  const Wide product = Wide{shifted} * by.mantissa;
  // Floor division of product + 2^30 by 2^31.
  const Wide high = (product + (Wide{1} << 30)) >> 31;
  return static_cast<int32_t>(NearestAway(high, right));
}

// Returns sums near ties for the multiplier, near the limits, and random ones.
std::vector<int32_t> InterestingSums(std::mt19937* engine, double factor, size_t count) {
  std::vector<int32_t> sums = {0, 1, -1, INT32_MAX, INT32_MIN, INT32_MAX - 1, INT32_MIN + 1};
  while (sums.size() < count) {
    const int step = static_cast<int>((*engine)() % 400) - 200;
    const double tie = (step + 0.5) / factor;
    if (std::fabs(tie) < 2e9) sums.push_back(static_cast<int32_t>(std::llround(tie)));
    sums.push_back(static_cast<int32_t>((*engine)()));
    sums.push_back(static_cast<int32_t>((*engine)()) >> 12);
  }
  return sums;
}

TEST(FixedMultiplier, is_closest_to_the_real_number) {
  std::mt19937 engine(1);
  for (int i = 0; i < 100000; ++i) {
    const double value = std::ldexp(1.0 + engine() * 0x1p-32, static_cast<int>(engine() % 58) - 30);
    const FixedMultiplier fixed = ToFixedMultiplier(value);
    ASSERT_GE(fixed.mantissa, 1 << 30);
    ASSERT_NEAR(std::ldexp(fixed.mantissa, fixed.shift - 31), value, value * 0x1p-31) << value;
  }
  EXPECT_EQ(ToFixedMultiplier(0.0).mantissa, 0);
  EXPECT_EQ(ToFixedMultiplier(1e-30).mantissa, 0);
  EXPECT_EQ(ToFixedMultiplier(0.5).mantissa, 1 << 30);
  EXPECT_EQ(ToFixedMultiplier(0.5).shift, 0);
  // The mantissa is rounded up to the next power of two, which increases the exponent.
  EXPECT_EQ(ToFixedMultiplier(1.0 - 0x1p-40).mantissa, 1 << 30);
  EXPECT_EQ(ToFixedMultiplier(1.0 - 0x1p-40).shift, 1);
  EXPECT_EQ(ToFixedMultiplier(1e30).shift, 30);
}

TEST(FixedMultiplier, is_that_of_frexp_and_round) {
  std::mt19937_64 engine(3);
  for (int i = 0; i < 200000; ++i) {
    // Random bits with exponents around the limits, and every 20th of any exponent.
    uint64_t bits = engine() & 0x800fffffffffffff;
    bits |= (i % 20 == 0 ? engine() % 2047 : 985 + engine() % 76) << 52;
    if (i % 7 == 0) bits |= 0x000fffffffe00000;  // ties, and values that round up to a power of two
    const double value = std::bit_cast<double>(bits);
    int shift = 0;
    const double fraction = std::frexp(value, &shift);
    double mantissa = std::round(std::ldexp(fraction, 31));
    if (mantissa == 0x1p31) {
      mantissa /= 2;
      ++shift;
    }
    const FixedMultiplier fixed = ToFixedMultiplier(value);
    if (shift < -31) mantissa = shift = 0;
    if (shift > 30) mantissa = INT32_MAX, shift = 30;
    ASSERT_EQ(fixed.mantissa, mantissa) << value;
    ASSERT_EQ(fixed.shift, shift) << value;
  }
}

TEST(Requantize, exact_mode_rounds_twice_as_wide_integers_do) {
  std::mt19937 engine(2);
  for (int round = 0; round < 300; ++round) {
    const double factor =
        std::ldexp(1.0 + engine() * 0x1p-32, -static_cast<int>(engine() % 34) + 4);
    const FixedMultiplier fixed = ToFixedMultiplier(factor);
    const int32_t zero_point = static_cast<int32_t>(engine() % 256) - 128;
    const IntRange range = {-128 + static_cast<int32_t>(engine() % 100), 127};
    const ExactRequantizer requantize(factor, zero_point, range);
    for (int32_t sum : InterestingSums(&engine, factor, 600)) {
      const int64_t steps = int64_t{TwoRoundings(sum, fixed)} + zero_point;
      ASSERT_EQ(requantize(sum), std::min<int64_t>(std::max<int64_t>(steps, range.low), range.high))
          << sum << " * " << factor;
    }
  }
}

TEST(Requantize, rounding_once_is_to_nearest_with_ties_away_from_zero) {
  std::mt19937 engine(3);
  for (int i = 0; i < 100000; ++i) {
    const FixedMultiplier fixed = {static_cast<int32_t>((engine() >> 2) | (1u << 30)),
                                   static_cast<int>(engine() % 62) - 31};
    const auto sum = static_cast<int32_t>(engine());
    ASSERT_EQ(MultiplyRoundingOnce(sum, fixed),
              static_cast<int64_t>(NearestAway(Wide{sum} * fixed.mantissa, 31 - fixed.shift)));
  }
}

TEST(Requantize, rounding_once_accepts_sums_of_64_bits) {
  std::mt19937_64 engine(5);
  for (int i = 0; i < 100000; ++i) {
    const FixedMultiplier fixed = {static_cast<int32_t>((engine() >> 34) | (1u << 30)),
                                   -static_cast<int>(engine() % 32)};
    const int64_t sum = static_cast<int64_t>(engine()) >> (1 + engine() % 33);
    ASSERT_EQ(MultiplyRoundingOnce(sum, fixed),
              static_cast<int64_t>(NearestAway(Wide{sum} * fixed.mantissa, 31 - fixed.shift)))
        << sum << " * " << fixed.mantissa << " * 2^" << fixed.shift - 31;
  }
  // Products so large that adding the rounding term would overflow.
  for (const int64_t sum : {int64_t{1} << 32, (int64_t{1} << 32) - 1, -(int64_t{1} << 32)}) {
    for (int shift = -31; shift <= 0; ++shift) {
      const FixedMultiplier fixed = {INT32_MAX, shift};
      EXPECT_EQ(MultiplyRoundingOnce(sum, fixed),
                static_cast<int64_t>(NearestAway(Wide{sum} * INT32_MAX, 31 - shift)))
          << sum << ", " << shift;
    }
  }
}

TEST(Requantize, rounding_once_rounds_exact_ties_away_from_zero) {
  for (int32_t sum : {1, 3, 5, 101}) {
    EXPECT_EQ(MultiplyRoundingOnce(sum, ToFixedMultiplier(0.5)), (sum + 1) / 2);
    EXPECT_EQ(MultiplyRoundingOnce(-sum, ToFixedMultiplier(0.5)), -(sum + 1) / 2);
  }
}

TEST(Requantize, float_mode_rounds_to_nearest_even_and_never_leaves_the_range) {
  const FloatRequantizer half(0.5, 3, {-128, 127});
  EXPECT_EQ(half(1), 3);
  EXPECT_EQ(half(3), 5);
  EXPECT_EQ(half(-1), 3);
  EXPECT_EQ(half(-3), 1);
  EXPECT_EQ(half(INT32_MAX), 127);
  EXPECT_EQ(half(INT32_MIN), -128);
  std::mt19937 engine(4);
  for (int i = 0; i < 100000; ++i) {
    const float factor = std::ldexp(1.0f + engine() * 0x1p-33f, -static_cast<int>(engine() % 20));
    const auto sum = static_cast<int32_t>(engine()) >> (engine() % 24);
    const double steps = std::nearbyint(static_cast<float>(sum) * factor) - 7.0;
    ASSERT_EQ(FloatRequantizer(factor, -7, {-128, 127})(sum),
              static_cast<int>(std::min(std::max(steps, -128.0), 127.0)));
  }
}

TEST(Requantize, every_table_equals_the_scalar_code_in_every_lane) {
  std::mt19937 engine(5);
  for (const CpuKernels* table : CpuTables()) {
    for (int round = 0; round < 400; ++round) {
      const int count = 1 + static_cast<int>(engine() % 77);
      std::vector<int32_t> sums, mantissas, shifts;
      std::vector<float> factors;
      for (int c = 0; c < count; ++c) {
        const double factor =
            std::ldexp(1.0 + engine() * 0x1p-32, -static_cast<int>(engine() % 34) + 3);
        const FixedMultiplier fixed = ToFixedMultiplier(factor);
        factors.push_back(static_cast<float>(factor));
        mantissas.push_back(fixed.mantissa);
        shifts.push_back(fixed.shift);
        const std::vector<int32_t> choice = InterestingSums(&engine, factor, 20);
        sums.push_back(choice[engine() % choice.size()]);
      }
      const IntRange range = {-128 + static_cast<int32_t>(engine() % 3) * 60, 127};
      std::vector<int8_t> out(static_cast<size_t>(count) + 1, 99);
      // The sums are passed as one row, or as two of half the length.
      const int rows = count % 2 == 0 && round % 2 == 0 ? 2 : 1, columns = count / rows;
      for (int c = columns; c < count; ++c) {
        factors[c] = factors[c - columns];
        mantissas[c] = mantissas[c - columns];
        shifts[c] = shifts[c - columns];
      }
      const auto stride = static_cast<size_t>(columns);
      const RequantizeTile tile = {rows,           columns,
                                   sums.data(),    stride,
                                   factors.data(), mantissas.data(),
                                   shifts.data(),  static_cast<int32_t>(engine() % 256) - 128,
                                   range.low,      range.high,
                                   out.data(),     stride};
      table->requantize.exact(tile);
      for (int c = 0; c < count; ++c) {
        const int64_t steps =
            int64_t{TwoRoundings(sums[c], {mantissas[c], shifts[c]})} + tile.zero_point;
        ASSERT_EQ(out[c], std::min<int64_t>(std::max<int64_t>(steps, range.low), range.high))
            << table->name << " " << sums[c] << " " << mantissas[c] << " " << shifts[c];
      }
      table->requantize.in_float(tile);
      for (int c = 0; c < count; ++c) {
        ASSERT_EQ(out[c], FloatRequantizer(factors[c], tile.zero_point, range)(sums[c]))
            << table->name << " " << sums[c] << " " << factors[c];
      }
      ASSERT_EQ(out.back(), 99) << table->name << " wrote beyond the tile";
    }
  }
}

TEST(FixedPoint, exponential_of_negative_numbers_is_close_to_the_real_one) {
  EXPECT_EQ(ExpOfNegativeQ5(0), INT32_MAX);
  std::mt19937 engine(6);
  for (int i = 0; i < 100000; ++i) {
    const int32_t x = -static_cast<int32_t>(engine() >> (1 + engine() % 20));
    ASSERT_NEAR(ExpOfNegativeQ5(x) * 0x1p-31, std::exp(x * 0x1p-26), 1e-6) << x;
  }
}

TEST(FixedPoint, reciprocal_is_close_to_the_real_one) {
  std::mt19937 engine(7);
  for (int i = 0; i < 100000; ++i) {
    const auto x = static_cast<int32_t>(engine() >> (1 + engine() % 12)) | 1;
    int excess = 0;
    const double mantissa = Reciprocal(x, 12, &excess) * 0x1p-31;
    const double expected = 1.0 / (x * 0x1p-19);
    ASSERT_NEAR(std::ldexp(mantissa, -excess), expected, expected * 1e-6) << x;
  }
}

// The expected value counts the taps inside the input one by one.
TEST(Windows, first_and_last_tap_bound_those_inside_the_input) {
  for (int input = 1; input <= 9; ++input) {
    for (int filter = 1; filter <= 5; ++filter) {
      for (int stride = 1; stride <= 3; ++stride) {
        for (int dilation = 1; dilation <= 3; ++dilation) {
          for (TfLitePadding padding : {kTfLitePaddingSame, kTfLitePaddingValid}) {
            WindowAxis axis = {input, filter, stride, dilation};
            TfLiteContext context = {};
            ASSERT_EQ(ComputeWindows(&context, padding, "axis", TooSmall::kEmpty, &axis),
                      kTfLiteOk);
            if (padding == kTfLitePaddingSame) {
              ASSERT_EQ(axis.output, (input + stride - 1) / stride);
            }
            for (int i = 0; i < axis.output; ++i) {
              for (int k = 0; k < filter; ++k) {
                const int64_t position = axis.Start(i) + k * dilation;
                const bool inside = position >= 0 && position < input;
                ASSERT_EQ(inside, k >= axis.FirstTap(i) && k < axis.LastTap(i));
              }
            }
          }
        }
      }
    }
  }
}

TEST(HalfPrecision, every_table_converts_all_numbers_alike) {
  std::vector<uint16_t> halves(65536);
  for (size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<uint16_t>(i);
  for (const CpuKernels* table : CpuTables()) {
    std::vector<float> floats(halves.size());
    // The count is odd, so that the remainder loop is used as well.
    table->half.to_float(halves.data(), halves.size() - 3, floats.data());
    for (size_t i = 0; i < halves.size() - 3; ++i) {
      const int exponent = static_cast<int>(i >> 10 & 31);
      const double mantissa = static_cast<double>(i & 1023);
      const double sign = (i & 0x8000) != 0 ? -1.0 : 1.0;
      if (exponent == 31 && mantissa != 0) {
        ASSERT_TRUE(std::isnan(floats[i])) << table->name << " " << i;
      } else if (exponent == 31) {
        ASSERT_EQ(floats[i], sign * INFINITY) << table->name << " " << i;
      } else {
        const double value =
            exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
        ASSERT_EQ(floats[i], sign * value) << table->name << " " << i;
        ASSERT_EQ(std::signbit(floats[i]), sign < 0) << table->name << " " << i;
      }
    }
  }
}

}  // namespace
}  // namespace deputy::kernels_arithmetic_test
