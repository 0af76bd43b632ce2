// SPDX-License-Identifier: Apache-2.0
//
// Tests conversions of real numbers to the integers of kernels, and fixed-point arithmetic.
#include "tensorflow/lite/kernels/internal/quantization_util.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "tensorflow/lite/kernels/internal/common.h"

namespace deputy::quantization_util_test {
namespace {

constexpr int32_t kMax = std::numeric_limits<int32_t>::max();

TEST(QuantizationUtilTest, multipliers_have_31_bits) {
  int32_t multiplier = 0;
  int shift = 0;
  tflite::QuantizeMultiplier(0.75, &multiplier, &shift);
  EXPECT_EQ(multiplier, 3 << 29);
  EXPECT_EQ(shift, 0);
  tflite::QuantizeMultiplier(1.0 - 1e-12, &multiplier, &shift);
  EXPECT_EQ(multiplier, 1 << 30);
  EXPECT_EQ(shift, 1);
  tflite::QuantizeMultiplier(1e-12, &multiplier, &shift);
  EXPECT_EQ(multiplier, 0);
  EXPECT_EQ(shift, 0);
}

// The product rounds ties upwards, the shift away from zero: half of 5 becomes 3 and its half 2,
// half of -5 becomes -2 and its half -1.
TEST(QuantizationUtilTest, products_are_rounded_twice) {
  EXPECT_EQ(tflite::MultiplyByQuantizedMultiplier(int32_t{5}, 1 << 30, -1), 2);
  EXPECT_EQ(tflite::MultiplyByQuantizedMultiplier(int32_t{-5}, 1 << 30, -1), -1);
  EXPECT_EQ(tflite::MultiplyByQuantizedMultiplier(int32_t{-3}, 1 << 30, 0), -1);
  EXPECT_EQ(tflite::MultiplyByQuantizedMultiplier(int32_t{-3}, 1 << 30, -1), -1);
  EXPECT_EQ(tflite::MultiplyByQuantizedMultiplier(int32_t{100}, 3 << 29, 3), 600);
  EXPECT_EQ(tflite::MultiplyByQuantizedMultiplier(kMax, kMax, 0), kMax - 1);
}

TEST(QuantizationUtilTest, products_of_64_bit_sums_are_rounded_once) {
  EXPECT_EQ(tflite::MultiplyByQuantizedMultiplier(int64_t{5}, 1 << 30, -1), 1);
  EXPECT_EQ(tflite::MultiplyByQuantizedMultiplier(int64_t{6}, 1 << 30, -1), 2);
  EXPECT_EQ(tflite::MultiplyByQuantizedMultiplier(int64_t{1} << 40, 1 << 30, -20), 1 << 19);
}

TEST(QuantizationUtilTest, zero_is_exact_in_chosen_parameters) {
  const auto params = tflite::ChooseQuantizationParams<int8_t>(-1.0, 3.0);
  EXPECT_DOUBLE_EQ(params.scale, 4.0 / 255);
  EXPECT_EQ(params.zero_point, -64);
  const auto narrow = tflite::ChooseQuantizationParams<int8_t>(-1.0, 1.0, true);
  EXPECT_DOUBLE_EQ(narrow.scale, 2.0 / 254);
  EXPECT_EQ(narrow.zero_point, 0);
  EXPECT_DEATH(tflite::ChooseQuantizationParams<int8_t>(1.0, 2.0), "");
}

TEST(QuantizationUtilTest, safe_cast_saturates) {
  EXPECT_EQ(tflite::SafeCast<int8_t>(-3.9f), -3);
  EXPECT_EQ(tflite::SafeCast<int8_t>(200.0f), 127);
  EXPECT_EQ(tflite::SafeCast<int64_t>(-1e30), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(tflite::SafeCast<int32_t>(std::nan(""), 5), 5);
}

TEST(QuantizationUtilTest, fixed_point_functions_are_near_the_real_ones) {
  for (double x = -15.9; x < 0; x += 0.37) {
    const auto raw = static_cast<int32_t>(x * (1 << 26));
    EXPECT_NEAR(tflite::fixed_point::ExpOfNegative<5>(raw) / 2147483648.0, std::exp(x), 2e-7) << x;
  }
  for (double x = -7.9; x < 8; x += 0.37) {
    const auto raw = static_cast<int32_t>(x * (1 << 27));
    EXPECT_NEAR(tflite::fixed_point::Logistic<4>(raw) / 2147483648.0, 1 / (1 + std::exp(-x)), 1e-6);
    EXPECT_NEAR(tflite::fixed_point::Tanh<4>(raw) / 2147483648.0, std::tanh(x), 1e-6);
  }
  EXPECT_NEAR(tflite::fixed_point::LogOfQ12InQ5(100 << 19) / double{1 << 26}, std::log(100.0),
              1e-6);
}

TEST(QuantizationUtilTest, reciprocals) {
  int excess = 0;
  const int32_t reciprocal = tflite::GetReciprocal(10, 31, &excess);
  EXPECT_NEAR(std::ldexp(reciprocal / 2147483648.0, -excess), 0.1, 1e-8);
  int32_t root = 0;
  int shift = 0;
  tflite::GetInvSqrtQuantizedMultiplierExp(1000, tflite::kReverseShift, &root, &shift);
  EXPECT_NEAR(std::ldexp(root / 2147483648.0, shift), 1 / std::sqrt(1000.0), 1e-7);
  tflite::GetInvSqrtQuantizedMultiplierExp(0, tflite::kReverseShift, &root, &shift);
  EXPECT_EQ(root, kMax);
}

TEST(QuantizationUtilTest, saturating_arithmetic) {
  EXPECT_EQ(tflite::SaturatingAddNonGemmlowp(kMax, 1), kMax);
  EXPECT_EQ(tflite::SaturatingSub(int16_t{-30000}, int16_t{30000}), -32768);
  EXPECT_EQ(tflite::SaturatingRoundingMultiplyByPOTParam(1 << 20, 15), kMax);
  EXPECT_EQ(tflite::WrappingAdd(kMax, 1), std::numeric_limits<int32_t>::min());
  int16_t multiplier = 0;
  tflite::DownScaleInt32ToInt16Multiplier(kMax, &multiplier);
  EXPECT_EQ(multiplier, 32767);
}

}  // namespace
}  // namespace deputy::quantization_util_test
