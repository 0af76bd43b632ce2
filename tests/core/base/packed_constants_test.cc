// SPDX-License-Identifier: Apache-2.0
//
// Tests packed constants: values and aligned addresses for any sizes, consecutive addresses if
// their total size was passed to Expect, and limits.
#include "core/base/packed_constants.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace deputy::packed_constants_test {
namespace {

PackedKey Key(int index) {
  PackedKey key;
  key.layout[0] = index;
  return key;
}

const char* Make(PackedConstants* constants, int index, size_t bytes,
                 const Limits& limits = Limits(), ThreadPool* pool = nullptr) {
  return constants->FindOrMake(Key(index), bytes, limits, pool,
                               [&](char* data) { memset(data, 'a' + index % 26, bytes); });
}

TEST(PackedConstants, keep_their_values_when_unused_pages_are_released) {
  const std::vector<size_t> sizes = {1,      64,      65,        4096, 100'000, 70'000, 3 << 20,
                                     12'345, 9 << 20, 5'000'000, 100,  1 << 20, 0,      777};
  PackedConstants constants;
  std::vector<const char*> places;
  size_t total = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    places.push_back(Make(&constants, static_cast<int>(i), sizes[i]));
    ASSERT_NE(places.back(), nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(places.back()) % kTensorAlignment, 0U);
    total += sizes[i];
    constants.ReleaseUnused();
  }
  EXPECT_EQ(constants.bytes(), total);
  for (size_t i = 0; i < sizes.size(); ++i) {
    const std::string expected(sizes[i], static_cast<char>('a' + i % 26));
    EXPECT_EQ(memcmp(places[i], expected.data(), sizes[i]), 0) << sizes[i] << " bytes";
    // Existing constants are returned without regard to the requested size.
    EXPECT_EQ(Make(&constants, static_cast<int>(i), 5), places[i]);
  }
}

// Constants that are expected are in one chunk of large pages, which growing chunks would not
// provide.
TEST(PackedConstants, that_are_expected_are_contiguous) {
  constexpr size_t kEach = 100 * kTensorAlignment, kCount = 400;
  PackedConstants constants;
  constants.Expect(kEach * kCount);
  const char* const first = Make(&constants, 0, kEach);
  ASSERT_NE(first, nullptr);
  for (size_t i = 1; i < kCount; ++i) {
    ASSERT_EQ(Make(&constants, static_cast<int>(i), kEach), first + i * kEach);
  }
  // The size passed to Expect is neither a limit nor a requirement.
  constants.Expect(SIZE_MAX);
  EXPECT_NE(Make(&constants, 1000, 20 << 20), nullptr);
  Limits limits;
  limits.max_block_bytes = 5 << 20;
  constants.Expect(40 << 20);
  EXPECT_NE(Make(&constants, 1001, 4 << 20, limits), nullptr);
}

TEST(PackedConstants, respect_the_limits) {
  PackedConstants constants;
  Limits limits;
  limits.max_block_bytes = 1000;
  EXPECT_EQ(Make(&constants, 0, 1001, limits), nullptr);
  EXPECT_EQ(constants.bytes(), 0U);
  // A chunk of the usual size exceeds the limit, so one of the exact size is allocated.
  EXPECT_NE(Make(&constants, 0, 900, limits), nullptr);
  EXPECT_EQ(constants.bytes(), 900U);
}

}  // namespace
}  // namespace deputy::packed_constants_test
