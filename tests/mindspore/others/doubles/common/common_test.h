// SPDX-License-Identifier: Apache-2.0
//
// Replaces a header of MindSpore Lite's unit tests: the base class of tests.
#ifndef DEPUTY_TESTS_MINDSPORE_OTHERS_DOUBLES_COMMON_COMMON_TEST_H_
#define DEPUTY_TESTS_MINDSPORE_OTHERS_DOUBLES_COMMON_COMMON_TEST_H_

#include <cmath>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace mindspore {
class CommonTest : public testing::Test {};
}  // namespace mindspore

#endif  // DEPUTY_TESTS_MINDSPORE_OTHERS_DOUBLES_COMMON_COMMON_TEST_H_
