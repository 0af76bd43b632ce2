// SPDX-License-Identifier: Apache-2.0
//
// Compares the search for a gap with a search over all positions, and with literal cases. The tests
// of the planners test LivenessLowerBound.
#include "core/support/best_fit.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>

namespace deputy::best_fit_test {
namespace {

constexpr size_t kEnd = 64;

struct Gap {
  size_t begin = 0, bytes = 0;
};

// Returns the best gap of a byte map: the smallest one of at least `wanted` bytes, the first of
// equal ones; an empty gap if there is none.
Gap FindInMap(const std::array<bool, kEnd>& busy, size_t wanted) {
  Gap best;
  for (size_t begin = 0, end; begin < kEnd; begin = end + 1) {
    for (end = begin; end < kEnd && !busy[end];) ++end;
    const size_t bytes = end - begin;
    if (bytes >= wanted && (best.bytes == 0 || bytes < best.bytes)) best = {begin, bytes};
  }
  return best;
}

TEST(BestFit, random_extents_have_the_gap_of_a_byte_map) {
  std::mt19937 random(11);
  for (int round = 0; round < 20'000; ++round) {
    std::array<bool, kEnd> busy = {};
    std::vector<Extent> extents(random() % 12);
    size_t last = 0;
    for (Extent& extent : extents) {
      extent.begin = random() % kEnd;
      extent.end = std::min<size_t>(kEnd, extent.begin + 1 + random() % 8);
      last = std::max(last, extent.end);
      std::fill(busy.begin() + extent.begin, busy.begin() + extent.end, true);
    }
    std::sort(extents.begin(), extents.end(),
              [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
    const size_t wanted = 1 + random() % 20;
    GapSearch search(wanted);
    for (const Extent& extent : extents) search.Pass(extent);
    search.EndAt(kEnd);
    const Gap expected = FindInMap(busy, wanted);
    ASSERT_EQ(search.gap(), expected.bytes) << round;
    ASSERT_EQ(search.offset(), expected.bytes == 0 ? last : expected.begin) << round;
  }
}

TEST(BestFit, skipped_bytes_are_not_a_gap) {
  GapSearch search(10);
  search.SkipTo(100);
  search.Pass({115, 120});
  EXPECT_EQ(search.offset(), 100u);
  EXPECT_EQ(search.gap(), 15u);
  search.Offer({40, 52});
  EXPECT_EQ(search.offset(), 40u);
  EXPECT_EQ(search.gap(), 12u);
  search.Offer({20, 32});
  search.Offer({60, 72});
  search.Offer({0, 9});
  EXPECT_EQ(search.offset(), 20u);
}

TEST(BestFit, sizes_are_rounded_up_unless_they_overflow) {
  EXPECT_EQ(CheckedRoundUp(0, 64), 0u);
  EXPECT_EQ(CheckedRoundUp(1, 64), 64u);
  EXPECT_EQ(CheckedRoundUp(64, 64), 64u);
  EXPECT_EQ(CheckedRoundUp(SIZE_MAX - 63, 64), SIZE_MAX - 63);
  EXPECT_EQ(CheckedRoundUp(SIZE_MAX - 62, 64), std::nullopt);
  EXPECT_EQ(CheckedRoundUp(SIZE_MAX, 1), SIZE_MAX);
}

}  // namespace
}  // namespace deputy::best_fit_test
