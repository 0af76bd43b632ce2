// SPDX-License-Identifier: Apache-2.0
//
// Tests the hash by which the OpenCL delegate distinguishes constants.
#include "gpu_cl/run/fingerprint.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace deputy::gpu_cl::gpu_fingerprint_test {
namespace {

Fingerprint Of(const std::vector<uint8_t>& bytes) {
  Fingerprint fingerprint;
  fingerprint.Add(bytes.data(), bytes.size());
  return fingerprint;
}

TEST(Fingerprint, is_equal_for_equal_contents) {
  EXPECT_EQ(Of({1, 2, 3, 4, 5, 6, 7, 8, 9}), Of({1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(Of({}), Of({}));
}

TEST(Fingerprint, differs_by_each_byte) {
  for (const size_t size : {1u, 7u, 8u, 9u, 24u}) {
    const std::vector<uint8_t> zeros(size);
    for (size_t i = 0; i < size; ++i) {
      std::vector<uint8_t> other = zeros;
      other[i] = 1;
      EXPECT_NE(Of(zeros), Of(other)) << size << " " << i;
    }
  }
}

TEST(Fingerprint, differs_by_the_number_of_zeros) {
  for (size_t a = 0; a < 20; ++a) {
    for (size_t b = 0; b < a; ++b) {
      EXPECT_NE(Of(std::vector<uint8_t>(a)), Of(std::vector<uint8_t>(b))) << a << " " << b;
    }
  }
}

TEST(Fingerprint, depends_on_the_order_of_contents) {
  Fingerprint a, b;
  a.Add(1);
  a.Add(2);
  b.Add(2);
  b.Add(1);
  EXPECT_NE(a, b);
}

}  // namespace
}  // namespace deputy::gpu_cl::gpu_fingerprint_test
