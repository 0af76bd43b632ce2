// SPDX-License-Identifier: Apache-2.0
//
// Tests the macros of core/macros.h.
#include "tensorflow/lite/core/macros.h"

#include <gtest/gtest.h>

namespace deputy::macros_test {
namespace {

TFLITE_NOINLINE int Twice(int value) { return 2 * value; }

TEST(MacrosTest, hints_keep_the_value_of_their_condition) {
  EXPECT_TRUE(TFLITE_EXPECT_TRUE(Twice(1) == 2));
  EXPECT_FALSE(TFLITE_EXPECT_FALSE(Twice(1) == 3));
  EXPECT_EQ(TFLITE_HAS_ATTRIBUTE_WEAK, 1);
}

}  // namespace
}  // namespace deputy::macros_test
