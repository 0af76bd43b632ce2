// SPDX-License-Identifier: Apache-2.0
//
// Tests the medians of calls of a delegate's process.
#include "bridges/sandbox/call_times.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace deputy::sandbox {
namespace {

TEST(CallTimes, without_a_call_there_is_no_text) { EXPECT_EQ(CallTimes().Text(), ""); }

TEST(CallTimes, each_median_is_of_its_own_values) {
  CallTimes times;
  times.Add(10'000, 9'000);
  times.Add(30'000, 29'500);
  times.Add(20'000, 12'000);
  EXPECT_EQ(times.Text(), "; medians of 3 calls: 20.0 us, delegate 12.0 us, process 1.0 us");
}

TEST(CallTimes, calls_before_the_newest_64_do_not_count) {
  CallTimes times;
  for (int i = 0; i < 1000; ++i) times.Add(9'000'000, 1'000'000);
  for (int i = 0; i < 33; ++i) times.Add(5'000, 2'000);
  EXPECT_EQ(times.Text(), "; medians of 64 calls: 5.0 us, delegate 2.0 us, process 3.0 us");
  for (int i = 0; i < 31; ++i) times.Add(7'000, 3'000);
  EXPECT_EQ(times.Text(), "; medians of 64 calls: 5.0 us, delegate 2.0 us, process 3.0 us");
  times.Add(7'000, 3'000);
  times.Add(7'000, 3'000);
  EXPECT_EQ(times.Text(), "; medians of 64 calls: 7.0 us, delegate 3.0 us, process 4.0 us");
}

TEST(CallTimes, times_of_a_lying_process_are_bounded_by_the_call) {
  for (const int64_t reported : {int64_t{-1}, std::numeric_limits<int64_t>::min()}) {
    CallTimes times;
    times.Add(4'000, reported);
    EXPECT_EQ(times.Text(), "; medians of 1 calls: 4.0 us, delegate 0.0 us, process 4.0 us");
  }
  CallTimes times;
  times.Add(4'000, std::numeric_limits<int64_t>::max());
  EXPECT_EQ(times.Text(), "; medians of 1 calls: 4.0 us, delegate 4.0 us, process 0.0 us");
}

}  // namespace
}  // namespace deputy::sandbox
