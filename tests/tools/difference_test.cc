// SPDX-License-Identifier: Apache-2.0
//
// Tests the differences that `deputy compare` and `deputy rank` report.
#include "tools/difference.h"

#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <vector>

namespace deputy::tools {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(DifferenceTest, returns_the_largest_and_its_position) {
  const std::optional<Difference> difference =
      Compare(std::vector<double>{1, 2.5, -8}, std::vector<double>{1, 2, -8.25});
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->largest, 0.5);
  EXPECT_EQ(difference->at, 1u);
  EXPECT_EQ(difference->scale, 8.25);
  EXPECT_FALSE(difference->Exceeds(0.1));
  EXPECT_TRUE(difference->Exceeds(0.05));
}

TEST(DifferenceTest, nan_on_one_side_only_exceeds_any_tolerance) {
  const std::vector<double> with = {1, kNan}, without = {1, 0};
  const auto both = Compare(with, with);
  EXPECT_EQ(both->nans, 1u);
  EXPECT_EQ(both->their_nans, 1u);
  EXPECT_FALSE(both->Exceeds(0));
  const auto found = Compare(with, without);
  EXPECT_EQ(found->nans, 1u);
  EXPECT_EQ(found->their_nans, 0u);
  EXPECT_TRUE(found->Exceeds(1e9));
  const auto expected = Compare(without, with);
  EXPECT_EQ(expected->nans, 0u);
  EXPECT_EQ(expected->their_nans, 1u);
  EXPECT_TRUE(expected->Exceeds(1e9));
}

TEST(DifferenceTest, infinite_numbers_are_compared) {
  const std::vector<double> infinite = {1, kInfinity}, finite = {1, 5};
  EXPECT_FALSE(Compare(infinite, infinite)->Exceeds(0));
  EXPECT_TRUE(Compare(infinite, finite)->Exceeds(1e9));
  EXPECT_TRUE(Compare(finite, infinite)->Exceeds(1e9));
  EXPECT_FALSE(Compare(infinite, std::vector<double>{1}));
}

}  // namespace
}  // namespace deputy::tools
