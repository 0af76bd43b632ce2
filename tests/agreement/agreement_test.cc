// SPDX-License-Identifier: Apache-2.0
//
// Tests the comparison of results (tests/conformance/agreement.h): types and messages. golden_test
// tests its tolerances.
#include "tests/conformance/agreement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace deputy::conformance::agreement_test {
namespace {

template <typename T>
TensorValue ValueOf(TfLiteType type, const std::vector<T>& values, int parts = 1) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
  return {
      type, {static_cast<int>(values.size()) / parts}, {bytes, bytes + values.size() * sizeof(T)}};
}

// Returns "" if they agree, otherwise the difference.
std::string Text(const std::vector<TensorValue>& expected, const TensorValue& found,
                 const Agreement& agreement) {
  const auto difference = Compare(expected, found, agreement);
  return difference ? difference->text : "";
}

TEST(Agreement, reports_the_first_difference_its_values_and_the_bound) {
  const auto expected = ValueOf<int8_t>(kTfLiteInt8, {1, 2, 3});
  const auto found = ValueOf<int8_t>(kTfLiteInt8, {2, 5, 9});
  const auto difference = Compare(std::vector<TensorValue>{expected}, found, {Rule::kSteps, 1, 1});
  ASSERT_TRUE(difference.has_value());
  EXPECT_EQ(difference->index, 1u);
  EXPECT_EQ(difference->expected, 2);
  EXPECT_EQ(difference->found, 5);
  EXPECT_EQ(difference->tolerance, 1);
  EXPECT_EQ(difference->text, "element 1 is 5, expected 2 (within 1); 2 of 3 differ");
}

TEST(Agreement, accepts_either_expected_value_per_element) {
  const std::vector<TensorValue> expected = {ValueOf<int32_t>(kTfLiteInt32, {1, 2}),
                                             ValueOf<int32_t>(kTfLiteInt32, {3, 4})};
  EXPECT_EQ(Text(expected, ValueOf<int32_t>(kTfLiteInt32, {1, 4}), {}), "");
  EXPECT_EQ(Text(expected, ValueOf<int32_t>(kTfLiteInt32, {2, 4}), {}),
            "element 0 is 2, expected 1 or 3 (within 0); 1 of 2 differ");
}

TEST(Agreement, requires_equal_type_shape_and_size) {
  const auto expected = ValueOf<int32_t>(kTfLiteInt32, {1, 2});
  EXPECT_EQ(Text({expected}, ValueOf<int32_t>(kTfLiteUInt32, {1, 2}), {}),
            "is UINT32[2], expected INT32[2]");
  TensorValue shorter = expected;
  shorter.data.resize(4);
  EXPECT_EQ(Text({expected}, shorter, {}), "has another number of bytes");
  EXPECT_EQ(Text({}, expected, {}), "has nothing to be compared with");
}

// Converted to double, the two integers of this test are equal.
TEST(Agreement, compares_64_bit_integers_exactly) {
  const int64_t big = int64_t{1} << 60;
  const std::vector<TensorValue> expected = {ValueOf<int64_t>(kTfLiteInt64, {big})};
  for (const Rule rule : {Rule::kEqual, Rule::kElement, Rule::kSum}) {
    EXPECT_EQ(Text(expected, ValueOf<int64_t>(kTfLiteInt64, {big}), {rule}), "");
    EXPECT_NE(Text(expected, ValueOf<int64_t>(kTfLiteInt64, {big + 1}), {rule}), "");
  }
}

TEST(Agreement, checks_both_parts_of_complex_numbers) {
  const auto complex = [](float real, float imaginary) {
    return ValueOf<float>(kTfLiteComplex64, {real, imaginary}, 2);
  };
  EXPECT_EQ(Text({complex(1, 2)}, complex(1.000001f, 2.000001f), {Rule::kElement}), "");
  EXPECT_NE(Text({complex(1, 2)}, complex(1, 2.1f), {Rule::kElement}), "");
  EXPECT_NE(Text({complex(1, 2)}, complex(1.1f, 2), {Rule::kElement}), "");
}

TEST(Agreement, compares_strings_and_packed_types_as_a_whole) {
  const TensorValue text = {kTfLiteString, {1}, {1, 2, 3}}, other = {kTfLiteString, {1}, {1, 2}};
  EXPECT_EQ(Text({text, other}, other, {}), "");
  EXPECT_EQ(Text({text}, other, {}), "holds other contents");
  const TensorValue packed = {kTfLiteInt4, {3}, {0x21, 3}};
  EXPECT_EQ(Text({packed}, packed, {}), "");
  EXPECT_EQ(Text({packed}, {kTfLiteInt4, {3}, {0x21, 4}}, {Rule::kSteps, 1, 1}),
            "holds other contents");
}

TEST(Agreement, float16_tolerance_is_a_thousandth) {
  const std::vector<TensorValue> one = {ValueOf<uint16_t>(kTfLiteFloat16, {0x3c00})};
  EXPECT_EQ(Text(one, ValueOf<uint16_t>(kTfLiteFloat16, {0x3c02}), {Rule::kHalf}), "");
  EXPECT_NE(Text(one, ValueOf<uint16_t>(kTfLiteFloat16, {0x3c03}), {Rule::kHalf}), "");
  EXPECT_NE(Text(one, ValueOf<uint16_t>(kTfLiteFloat16, {0x3c02}), {Rule::kEqual}), "");
}

}  // namespace
}  // namespace deputy::conformance::agreement_test
