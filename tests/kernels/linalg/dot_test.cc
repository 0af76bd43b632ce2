// SPDX-License-Identifier: Apache-2.0
#include "kernels/linalg/dot.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace deputy::dot_test {
namespace {

// Adds up the largest products of int16 and int8, for counts around the length of a block.
TEST(Dot, of_int16_and_int8_is_exact_in_64_bits) {
  constexpr int kZeroPoint = -128;
  for (const int64_t count : {1, 15, 16, 255, 4095, 4096, 4097, 8191, 20000}) {
    for (const int16_t value : {INT16_MIN, INT16_MAX}) {
      const std::vector<int16_t> a(static_cast<size_t>(count), value);
      const std::vector<int8_t> b(static_cast<size_t>(count), INT8_MAX);
      EXPECT_EQ(Dot(a.data(), b.data(), count, 0, kZeroPoint), count * value * 255)
          << count << " products of " << value;
    }
  }
}

}  // namespace
}  // namespace deputy::dot_test
