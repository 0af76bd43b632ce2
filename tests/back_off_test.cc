// SPDX-License-Identifier: Apache-2.0
//
// Who may help after a stall, and for how long nobody may. All times are the test's own.
#include "core/base/back_off.h"

#include <gtest/gtest.h>

namespace deputy::back_off_test {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using Time = BackOff::Time;

constexpr Time kStall = -milliseconds(3);

TEST(BackOff, lets_all_help_as_long_as_it_saves_time) {
  BackOff back_off(3);
  for (int job = 0; job < 1000; ++job) {
    // A wait that was too long every now and then.
    back_off.JobEnded(milliseconds(job), microseconds(job % 3 == 0 ? -250 : 130));
    ASSERT_EQ(back_off.allowed(), 3);
    ASSERT_FALSE(back_off.resting());
  }
}

TEST(BackOff, says_what_is_lost_until_it_has_been_saved) {
  BackOff back_off(1);
  EXPECT_FALSE(back_off.lost());
  back_off.JobEnded(milliseconds(1), -microseconds(50));
  EXPECT_TRUE(back_off.lost());
  back_off.JobEnded(milliseconds(2), microseconds(30));
  EXPECT_TRUE(back_off.lost());
  back_off.JobEnded(milliseconds(3), microseconds(30));
  EXPECT_FALSE(back_off.lost());
}

TEST(BackOff, adds_up_small_losses) {
  BackOff back_off(1);
  for (int job = 0; job < 5; ++job) {
    back_off.JobEnded(milliseconds(job), -microseconds(50));
    ASSERT_FALSE(back_off.resting());
  }
  back_off.JobEnded(milliseconds(5), -microseconds(50));
  EXPECT_TRUE(back_off.resting());
}

TEST(BackOff, sends_half_of_them_to_rest_after_a_stall) {
  BackOff back_off(3);
  back_off.JobEnded(milliseconds(5), kStall);
  EXPECT_TRUE(back_off.resting());
  EXPECT_EQ(back_off.allowed(), 1);
  back_off.JobEnded(milliseconds(9), kStall);
  EXPECT_EQ(back_off.allowed(), 0);
  back_off.Resume(milliseconds(10));
  EXPECT_EQ(back_off.allowed(), 0);
}

TEST(BackOff, rests_ten_milliseconds_after_a_single_stall) {
  BackOff back_off(1);
  back_off.JobEnded(milliseconds(100), kStall);
  EXPECT_EQ(back_off.allowed(), 0);
  back_off.Resume(milliseconds(110) - Time(1));
  EXPECT_EQ(back_off.allowed(), 0);
  back_off.Resume(milliseconds(110));
  EXPECT_EQ(back_off.allowed(), 1);
  EXPECT_FALSE(back_off.resting());
}

// How long the rest is that begins at `now`; the workers are back at its end.
Time RestOf(BackOff* back_off, Time now) {
  Time rest(0);
  while (back_off->resting()) {
    rest += microseconds(500);
    back_off->Resume(now + rest);
  }
  return rest;
}

TEST(BackOff, rests_twice_as_long_each_time_up_to_a_second_while_stalls_go_on) {
  BackOff back_off(1);
  Time now = milliseconds(1);
  for (const int expected : {10, 20, 40, 80, 160, 320, 640, 1000, 1000, 1000}) {
    now += milliseconds(4);  // help for a moment, then the next stall
    back_off.JobEnded(now, kStall);
    const Time rest = RestOf(&back_off, now);
    EXPECT_EQ(rest, Time(milliseconds(expected)));
    now += rest;
  }
  // A second without a stall: the next one is a new matter.
  now += milliseconds(1000) - kStall;
  back_off.JobEnded(now, kStall);
  EXPECT_EQ(RestOf(&back_off, now), Time(milliseconds(10)));
}

TEST(BackOff, takes_stalls_ten_rests_apart_for_single_ones) {
  BackOff back_off(1);
  Time now = milliseconds(1);
  for (int stall = 0; stall < 10; ++stall) {
    back_off.JobEnded(now, kStall);
    ASSERT_EQ(RestOf(&back_off, now), Time(milliseconds(10)));
    now += milliseconds(10 + 100) - kStall;
  }
  now -= milliseconds(1);
  back_off.JobEnded(now, kStall);
  EXPECT_EQ(RestOf(&back_off, now), Time(milliseconds(20)));
}

TEST(BackOff, forgets_everything_when_told_to) {
  BackOff back_off(1);
  back_off.JobEnded(milliseconds(4), kStall);
  back_off.Forget();
  EXPECT_FALSE(back_off.resting());
  back_off.JobEnded(milliseconds(5), kStall);
  EXPECT_EQ(RestOf(&back_off, milliseconds(5)), Time(milliseconds(10)));
}

}  // namespace
}  // namespace deputy::back_off_test
