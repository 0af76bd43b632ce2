// SPDX-License-Identifier: Apache-2.0
#include "core/support/int_math.h"

#include <gtest/gtest.h>

#include <climits>
#include <cstdint>
#include <type_traits>

namespace deputy::int_math_test {
namespace {

// Returns how many multiples are needed to reach `value`, by counting instead of dividing.
int64_t MultiplesUpTo(int64_t value, int64_t multiple) {
  int64_t count = 0;
  while (count * multiple < value) ++count;
  return count;
}

TEST(IntMath, division_rounds_up) {
  for (int a = 0; a <= 70; ++a) {
    for (int b = 1; b <= 20; ++b) {
      EXPECT_EQ(CeilDiv(a, b), MultiplesUpTo(a, b)) << a << " / " << b;
      EXPECT_EQ(RoundUp(a, b), MultiplesUpTo(a, b) * b) << a << " to " << b;
    }
  }
}

TEST(IntMath, narrow_arguments_do_not_overflow) {
  static_assert(std::is_same_v<decltype(CeilDiv(1, 1)), int64_t>);
  static_assert(std::is_same_v<decltype(RoundUp(int8_t{1}, int64_t{1})), int64_t>);
  EXPECT_EQ(CeilDiv(INT_MAX, INT_MAX), 1);
  EXPECT_EQ(CeilDiv(INT_MAX, 2), int64_t{1} << 30);
  EXPECT_EQ(RoundUp(INT_MAX, 1 << 30), int64_t{1} << 31);
  EXPECT_EQ(CeilDiv(int8_t{127}, int8_t{127}), 1);
}

TEST(IntMath, unsigned_arguments_use_the_whole_range) {
  static_assert(std::is_same_v<decltype(CeilDiv(size_t{1}, 1)), uint64_t>);
  EXPECT_EQ(CeilDiv(SIZE_MAX - 1, size_t{2}), SIZE_MAX / 2);
  EXPECT_EQ(RoundUp(SIZE_MAX - 4095, size_t{4096}), SIZE_MAX - 4095);
  EXPECT_EQ(RoundUp(size_t{4097}, 4096), 8192u);
}

}  // namespace
}  // namespace deputy::int_math_test
