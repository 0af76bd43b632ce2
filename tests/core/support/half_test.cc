// SPDX-License-Identifier: Apache-2.0
//
// Compares the conversions of float16 and bfloat16 with definitions in double: a value is built
// from its fields by ldexp, and narrowing must return the nearest value, of two the even one.
#include "core/support/half.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "core/base/float_mode.h"

namespace deputy::half_test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// A format of 16 bits: a sign, `exponent_bits` and `fraction_bits`.
struct Format {
  int exponent_bits, fraction_bits;
  float (*widen)(uint16_t);
  uint16_t (*narrow)(float);

  int infinity() const { return ((1 << exponent_bits) - 1) << fraction_bits; }
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  // Returns the value of the bits of a magnitude. The bits after those of the largest finite value
  // give the next power of two.
  double ValueOf(int magnitude) const {
    const int exponent = magnitude >> fraction_bits;
    const int fraction = magnitude & ((1 << fraction_bits) - 1);
    const int hidden = exponent == 0 ? 0 : 1 << fraction_bits;
    return std::ldexp(fraction + hidden, std::max(exponent, 1) - bias() - fraction_bits);
  }
};
constexpr Format kHalf = {5, 10, [](uint16_t bits) { return HalfToFloat(bits); },
                          [](float value) { return FloatToHalf(value); }};
constexpr Format kBFloat16 = {8, 7, [](uint16_t bits) { return BFloat16ToFloat(bits); },
                              [](float value) { return FloatToBFloat16(value); }};

class HalfConversions : public testing::TestWithParam<Format> {};

TEST_P(HalfConversions, every_number_is_widened_exactly) {
  const Format& format = GetParam();
  for (int magnitude = 0; magnitude <= format.infinity(); ++magnitude) {
    const double value =
        magnitude == format.infinity() ? double{kInfinity} : format.ValueOf(magnitude);
    ASSERT_EQ(format.widen(static_cast<uint16_t>(magnitude)), value) << magnitude;
    const float negative = format.widen(static_cast<uint16_t>(magnitude | 0x8000));
    ASSERT_EQ(negative, -value) << magnitude;
    ASSERT_TRUE(std::signbit(negative)) << magnitude;
  }
}

TEST_P(HalfConversions, every_nan_keeps_its_payload) {
  const Format& format = GetParam();
  for (int magnitude = format.infinity() + 1; magnitude < 0x8000; ++magnitude) {
    const int payload = magnitude & ((1 << format.fraction_bits) - 1);
    const uint32_t bits = 0x7f800000u | static_cast<uint32_t>(payload)
                                            << (23 - format.fraction_bits);
    ASSERT_EQ(std::bit_cast<uint32_t>(format.widen(static_cast<uint16_t>(magnitude))), bits);
    ASSERT_EQ(std::bit_cast<uint32_t>(format.widen(static_cast<uint16_t>(magnitude | 0x8000))),
              bits | 0x80000000u);
  }
}

TEST_P(HalfConversions, every_number_is_narrowed_to_itself) {
  const Format& format = GetParam();
  for (int bits = 0; bits < 0x10000; ++bits) {
    if ((bits & 0x7fff) > format.infinity()) continue;
    const auto stored = static_cast<uint16_t>(bits);
    ASSERT_EQ(format.narrow(format.widen(stored)), stored);
  }
}

// Converts all ties between adjacent numbers of the format, with both signs, and the floats next to
// positive ties.
TEST_P(HalfConversions, the_nearest_number_is_chosen) {
  const Format& format = GetParam();
  for (int lower = 0; lower < format.infinity(); ++lower) {
    const double exact = (format.ValueOf(lower) + format.ValueOf(lower + 1)) / 2;
    const auto tie = static_cast<float>(exact);
    ASSERT_EQ(double{tie}, exact) << lower;
    ASSERT_EQ(format.narrow(tie), lower + (lower & 1)) << lower;
    ASSERT_EQ(format.narrow(-tie), 0x8000 | (lower + (lower & 1))) << lower;
    ASSERT_EQ(format.narrow(std::nextafter(tie, 0.0f)), lower) << lower;
    ASSERT_EQ(format.narrow(std::nextafter(tie, kInfinity)), lower + 1) << lower;
  }
}

TEST_P(HalfConversions, random_floats_are_narrowed_to_the_nearest_number) {
  const Format& format = GetParam();
  std::mt19937 random(39);
  for (int i = 0; i < 200'000; ++i) {
    const float value = std::bit_cast<float>(static_cast<uint32_t>(random()) & 0x7fffffffu);
    if (!std::isfinite(value)) continue;
    const int found = format.narrow(value);
    ASSERT_LE(found, format.infinity()) << value;
    const double distance = std::abs(format.ValueOf(found) - value);
    if (found == format.infinity()) {
      ASSERT_GE(value, (format.ValueOf(found - 1) + format.ValueOf(found)) / 2) << value;
      continue;
    }
    for (const int other : {found - 1, found + 1}) {
      if (other < 0) continue;
      const double its_distance = std::abs(format.ValueOf(other) - value);
      ASSERT_LE(distance, its_distance) << value;
      if (distance == its_distance) {
        ASSERT_EQ(found % 2, 0) << value;
      }
    }
  }
}

TEST_P(HalfConversions, flushed_denormals_do_not_change_results) {
  const Format& format = GetParam();
  for (int bits = 0; bits < 0x10000; ++bits) {
    const auto stored = static_cast<uint16_t>(bits);
    const float widened = format.widen(stored);
    const uint16_t narrowed = format.narrow(widened);
    const ScopedFlushDenormals flush;
    ASSERT_EQ(std::bit_cast<uint32_t>(format.widen(stored)), std::bit_cast<uint32_t>(widened))
        << bits;
    ASSERT_EQ(format.narrow(widened), narrowed) << bits;
  }
}

INSTANTIATE_TEST_SUITE_P(All, HalfConversions, testing::Values(kHalf, kBFloat16));

TEST(NarrowedNan, is_the_quiet_one) {
  for (const uint32_t bits : {0x7f800001u, 0x7fc00000u, 0x7fffffffu}) {
    EXPECT_EQ(FloatToHalf(std::bit_cast<float>(bits)), 0x7e00);
    EXPECT_EQ(FloatToHalf(std::bit_cast<float>(bits | 0x80000000u)), 0xfe00);
    EXPECT_EQ(FloatToBFloat16(std::bit_cast<float>(bits)), 0x7fc0);
    EXPECT_EQ(FloatToBFloat16(std::bit_cast<float>(bits | 0x80000000u)), 0x7fc0);
  }
}

}  // namespace
}  // namespace deputy::half_test
