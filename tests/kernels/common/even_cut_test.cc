// SPDX-License-Identifier: Apache-2.0
//
// Tests that the parts of a range cover every element once, and that the shares of threads differ
// by at most one element.
#include "kernels/common/even_cut.h"

#include <gtest/gtest.h>

namespace deputy::even_cut_test {
namespace {

// Checks that parts are consecutive from 0 to `count`, and that none is empty or larger than the
// maximum.
void ExpectCoversOnce(const EvenCut& cut, int64_t count) {
  int64_t end = 0;
  for (int64_t part = 0; part < cut.parts(); ++part) {
    ASSERT_EQ(cut.Begin(part), end);
    end = cut.End(part);
    ASSERT_LE(end - cut.Begin(part), cut.MaxPart());
    ASSERT_TRUE(end > cut.Begin(part) || count == 0);
  }
  ASSERT_EQ(end, count);
}

TEST(EvenCut, covers_everything_once) {
  for (int64_t count = 0; count < 150; ++count) {
    for (int64_t unit : {1, 4, 6, 12}) {
      for (int64_t shares : {0, 1, 2, 3, 8, 200}) {
        for (int64_t blocks : {0, 1, 2, 5, 200}) {
          SCOPED_TRACE(testing::Message() << count << " by " << unit << ", " << shares
                                          << " shares, " << blocks << " blocks");
          ExpectCoversOnce(EvenCut(count, unit, shares, blocks), count);
        }
      }
    }
  }
}

TEST(EvenCut, covers_everything_once_in_halving_blocks) {
  for (int64_t count = 0; count < 300; ++count) {
    for (int64_t unit : {1, 4, 6}) {
      for (int64_t shares : {0, 1, 2, 3, 8}) {
        for (int64_t least : {0, 1, 7, 50}) {
          SCOPED_TRACE(testing::Message() << count << " by " << unit << ", " << shares
                                          << " shares, " << least << " or more");
          const EvenCut cut = EvenCut::Halving(count, unit, shares, least);
          ExpectCoversOnce(cut, count);
          const int64_t share = count / std::clamp<int64_t>(shares, 1, std::max<int64_t>(count, 1));
          for (int64_t part = 0; part < cut.parts(); ++part) {
            // The last unit of a thread's share may be incomplete.
            ASSERT_GE(cut.End(part) - cut.Begin(part) + unit - 1, std::min(least, share));
          }
        }
      }
    }
  }
}

TEST(EvenCut, blocks_halve_at_the_boundaries_of_threads) {
  const EvenCut cut = EvenCut::Halving(160, 1, 2, 1);
  ASSERT_EQ(cut.parts(), 8);
  const int64_t begins[] = {0, 40, 60, 70, 80, 90, 100, 120, 160};
  for (int64_t part = 0; part <= 8; ++part) EXPECT_EQ(cut.Begin(part), begins[part]) << part;
}

TEST(EvenCut, shares_differ_by_one_at_most) {
  for (int64_t count = 1; count < 150; ++count) {
    for (int64_t blocks : {1, 3}) {
      const EvenCut cut(count, 4, 3, blocks);
      const int64_t each = cut.parts() / 3;
      if (count < 3) continue;
      for (int64_t share = 0; share < 3; ++share) {
        const int64_t size = cut.Begin((share + 1) * each) - cut.Begin(share * each);
        EXPECT_TRUE(size == count / 3 || size == count / 3 + 1) << count;
      }
    }
  }
}

TEST(EvenCut, blocks_inside_a_share_are_whole_units) {
  const EvenCut cut(98, 6, 2, 4);
  ASSERT_EQ(cut.parts(), 8);
  for (int64_t part : {0, 1, 2}) EXPECT_EQ((cut.End(part) - cut.Begin(part)) % 6, 0) << part;
  EXPECT_EQ(cut.End(3), 49);
}

TEST(EvenCut, respects_the_minimum_work_per_thread) {
  EXPECT_EQ(EvenCut::ForThreads(100, 1, 1, 1, 1).parts(), 1);
  EXPECT_EQ(EvenCut::ForThreads(100, 1, 1, 1, 2).parts(), 8);
  EXPECT_EQ(EvenCut::ForThreads(14, 4, 1, 1, 2).parts(), 2);
  EXPECT_EQ(EvenCut::ForThreads(14, 2, 1, 1, 2).parts(), 4);
  EXPECT_EQ(EvenCut::ForThreads(14, 2, 1, 4, 2).parts(), 2);
  EXPECT_EQ(EvenCut::ForThreads(7, 4, 3, 3, 2).parts(), 2);
  EXPECT_EQ(EvenCut::ForThreads(5, 1, 3, 3, 2).parts(), 1);
  EXPECT_EQ(EvenCut::ForThreads(0, 1, 3, 3, 2).parts(), 1);
  EXPECT_EQ(EvenCut::ForThreads(16, 1, 2, 2, 2).parts(), 6);
  EXPECT_EQ(EvenCut::ForThreads(int64_t{1} << 40, 1, int64_t{1} << 38, 1, 16).parts(), 16);
}

}  // namespace
}  // namespace deputy::even_cut_test
