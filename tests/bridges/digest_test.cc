// SPDX-License-Identifier: Apache-2.0
//
// Tests the digest by which a delegate and its process compare their constants.
#include "bridges/sandbox/digest.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace deputy::sandbox {
namespace {

uint64_t DigestOf(const std::vector<uint8_t>& bytes) {
  Digest digest;
  digest.AddBytes(bytes.data(), bytes.size());
  return digest.value();
}

TEST(Digest, depends_on_each_bit_and_on_the_size) {
  std::set<uint64_t> found;
  size_t expected = 0;
  for (size_t size = 0; size <= 100; ++size) {
    std::vector<uint8_t> bytes(size);
    found.insert(DigestOf(bytes));
    ++expected;
    for (size_t bit = 0; bit < 8 * size; ++bit) {
      bytes[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
      found.insert(DigestOf(bytes));
      bytes[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
      ++expected;
    }
  }
  EXPECT_EQ(found.size(), expected);
}

TEST(Digest, depends_on_the_order_of_all_bytes) {
  std::vector<uint8_t> bytes(100);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i);
  std::set<uint64_t> found = {DigestOf(bytes)};
  size_t expected = 1;
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      std::swap(bytes[i], bytes[k]);
      found.insert(DigestOf(bytes));
      std::swap(bytes[i], bytes[k]);
      ++expected;
    }
  }
  EXPECT_EQ(found.size(), expected);
}

TEST(Digest, does_not_depend_on_the_alignment) {
  std::vector<uint8_t> bytes(101);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(7 * i);
  const std::vector<uint8_t> moved(bytes.begin() + 1, bytes.end());
  Digest digest;
  digest.AddBytes(bytes.data() + 1, moved.size());
  EXPECT_EQ(digest.value(), DigestOf(moved));
}

}  // namespace
}  // namespace deputy::sandbox
