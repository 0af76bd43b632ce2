// SPDX-License-Identifier: Apache-2.0
//
// The part of upstream's kernels/test_util.h that its util_test.cc and kernel_util_test.cc use.
#ifndef DEPUTY_TESTS_BINDINGS_CPP_OTHERS_DOUBLES_TFLITE_KERNELS_TEST_UTIL_H_
#define DEPUTY_TESTS_BINDINGS_CPP_OTHERS_DOUBLES_TFLITE_KERNELS_TEST_UTIL_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "tensorflow/lite/core/c/common.h"

namespace tflite {

inline const TfLiteIntArray* DimsOf(const TfLiteTensor* tensor) { return tensor->dims; }
inline const TfLiteIntArray* DimsOf(const TfLiteIntArray* dims) { return dims; }

// Matches a tensor with these dimensions, and an array of them.
MATCHER_P(HasDims, expected, "has the given dimensions") {
  const TfLiteIntArray* dims = DimsOf(arg);
  return dims != nullptr && std::vector<int>(dims->data, dims->data + dims->size) == expected;
}

inline auto DimsAre(const std::vector<int>& dims) { return HasDims(dims); }

}  // namespace tflite

#endif  // DEPUTY_TESTS_BINDINGS_CPP_OTHERS_DOUBLES_TFLITE_KERNELS_TEST_UTIL_H_
