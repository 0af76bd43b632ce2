// SPDX-License-Identifier: Apache-2.0
//
// Compares the numbering of distinct keys, by both algorithms, with a linear search.
#include "kernels/common/distinct.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace deputy {
namespace distinct_test {
namespace {

using NumberFunction = void (*)(std::span<const int64_t>, int32_t*, std::vector<int32_t>*);

void ByHash(std::span<const int64_t> keys, int32_t* numbers, std::vector<int32_t>* firsts) {
  EXPECT_TRUE(NumberByHash(keys, numbers, firsts));
}

constexpr NumberFunction kNumberFunctions[] = {&ByHash, &NumberBySorting, &NumberDistinct};

TEST(Distinct, keys_are_numbered_by_first_occurrence) {
  std::mt19937_64 random(5);
  for (const size_t count : {0, 1, 2, 100, 3000}) {
    for (const uint64_t different : {uint64_t{1}, uint64_t{7}, uint64_t{900}, ~uint64_t{0}}) {
      std::vector<int64_t> keys(count);
      for (int64_t& key : keys) key = static_cast<int64_t>(random() % different) - 3;
      std::vector<int64_t> seen;
      std::vector<int32_t> expected, expected_firsts;
      for (size_t i = 0; i < count; ++i) {
        const auto found = std::find(seen.begin(), seen.end(), keys[i]);
        expected.push_back(static_cast<int32_t>(found - seen.begin()));
        if (found != seen.end()) continue;
        seen.push_back(keys[i]);
        expected_firsts.push_back(static_cast<int32_t>(i));
      }
      for (const NumberFunction number_keys : kNumberFunctions) {
        std::vector<int32_t> numbers(count), firsts;
        number_keys(keys, numbers.data(), &firsts);
        EXPECT_EQ(numbers, expected);
        EXPECT_EQ(firsts, expected_firsts);
      }
    }
  }
}

// Returns a key that hashes to slot 0 of a table with at most 2^24 slots if `number` is below 2^40,
// because it is multiplied by the inverse of the hash's multiplier. Different numbers have
// different keys.
int64_t CollidingKey(size_t number) {
  constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;
  uint64_t inverse = 1;
  for (int i = 0; i < 6; ++i) inverse *= 2 - kGolden * inverse;
  EXPECT_EQ(inverse * kGolden, 1u);
  return static_cast<int64_t>(inverse * number);
}

TEST(Distinct, colliding_keys_are_sorted_instead) {
  std::vector<int64_t> keys(200'000);
  for (size_t i = 0; i < keys.size(); ++i) keys[i] = CollidingKey(i % 100'000);
  std::vector<int32_t> numbers(keys.size()), firsts;
  EXPECT_FALSE(NumberByHash(keys, numbers.data(), &firsts));
  NumberDistinct(keys, numbers.data(), &firsts);
  ASSERT_EQ(firsts.size(), 100'000u);
  for (size_t i = 0; i < keys.size(); ++i) {
    ASSERT_EQ(numbers[i], static_cast<int32_t>(i % 100'000));
  }
}

// The table is sized for the first keys and does not grow later; if the collisions were not
// detected, they would take 5e8 steps.
TEST(Distinct, colliding_keys_are_detected_in_a_large_table) {
  std::mt19937_64 random(7);
  std::vector<int64_t> keys(65'000);
  for (size_t i = 0; i < keys.size(); ++i) {
    keys[i] = i < 33'000 ? static_cast<int64_t>(random()) : CollidingKey(i);
  }
  std::vector<int32_t> numbers(keys.size()), firsts;
  EXPECT_FALSE(NumberByHash(keys, numbers.data(), &firsts));
}

}  // namespace
}  // namespace distinct_test
}  // namespace deputy
