// SPDX-License-Identifier: Apache-2.0
//
// Headers that upstream's util_test.cc includes through kernels/test_util.h.
#ifndef DEPUTY_TESTS_BINDINGS_CPP_OTHERS_DOUBLES_TFLITE_KERNELS_TEST_UTIL_H_
#define DEPUTY_TESTS_BINDINGS_CPP_OTHERS_DOUBLES_TFLITE_KERNELS_TEST_UTIL_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "tensorflow/lite/core/c/common.h"

#endif  // DEPUTY_TESTS_BINDINGS_CPP_OTHERS_DOUBLES_TFLITE_KERNELS_TEST_UTIL_H_
