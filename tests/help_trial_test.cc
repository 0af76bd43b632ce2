// SPDX-License-Identifier: Apache-2.0
//
// When inferences run without workers. All times are the test's own.
#include "core/base/help_trial.h"

#include <gtest/gtest.h>

namespace deputy::help_trial_test {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using Time = HelpTrial::Time;

// A machine on which inferences take so long with help and without.
struct Machine {
  Time helped, alone;
  HelpTrial trial = {};
  Time now{0};
  int runs = 0, runs_alone = 0;

  void RunFor(Time duration) {
    runs = runs_alone = 0;
    for (const Time end = now + duration; now < end; ++runs) {
      const bool is_alone = trial.alone();
      runs_alone += is_alone ? 1 : 0;
      const Time took = is_alone ? alone : helped;
      now += took;
      trial.Ended(now, took);
    }
  }
};

TEST(HelpTrial, keeps_help_that_saves_time) {
  Machine machine = {microseconds(100), microseconds(160)};
  EXPECT_FALSE(machine.trial.alone());
  machine.RunFor(milliseconds(1000));
  machine.RunFor(milliseconds(4000));
  EXPECT_FALSE(machine.trial.alone());
  EXPECT_GT(machine.runs_alone, 0);
  EXPECT_LT(machine.runs_alone, machine.runs / 200);
}

TEST(HelpTrial, leaves_help_that_costs_time) {
  Machine machine = {microseconds(120), microseconds(95)};
  machine.RunFor(milliseconds(10));
  EXPECT_TRUE(machine.trial.alone());
  machine.RunFor(milliseconds(1000));
  machine.RunFor(milliseconds(4000));
  EXPECT_TRUE(machine.trial.alone());
  EXPECT_GT(machine.runs_alone, machine.runs - machine.runs / 50);
}

TEST(HelpTrial, follows_a_machine_that_changes) {
  Machine machine = {microseconds(120), microseconds(95)};
  for (int i = 0; i < 3; ++i) {
    machine.helped = microseconds(120);
    machine.RunFor(milliseconds(3000));
    machine.RunFor(milliseconds(10));
    EXPECT_EQ(machine.runs_alone, machine.runs) << i;
    machine.helped = microseconds(60);
    machine.RunFor(milliseconds(600));
    machine.RunFor(milliseconds(2));
    EXPECT_EQ(machine.runs_alone, 0) << i;
  }
}

TEST(HelpTrial, does_not_change_for_little) {
  Machine machine = {microseconds(100), microseconds(98)};
  for (int i = 0; i < 20; ++i) {
    machine.RunFor(milliseconds(100));
    EXPECT_LT(machine.runs_alone, machine.runs / 4) << i;
  }
}

TEST(HelpTrial, does_not_try_with_long_inferences) {
  Machine machine = {microseconds(2000), microseconds(1000)};
  machine.RunFor(milliseconds(5000));
  EXPECT_EQ(machine.runs_alone, 0);
}

TEST(HelpTrial, has_help_beside_busy_processes) {
  Machine machine = {microseconds(120), microseconds(95)};
  machine.RunFor(milliseconds(1000));
  ASSERT_TRUE(machine.trial.alone());
  int stalls = 0, alone = 0;
  for (int i = 0; i < 500; ++i) {
    machine.RunFor(milliseconds(3));
    alone += machine.trial.alone() ? 1 : 0;
    machine.now += milliseconds(4);
    machine.trial.Ended(machine.now, milliseconds(4));
    EXPECT_FALSE(machine.trial.alone()) << ++stalls;
  }
  EXPECT_LT(alone, 25);
}

// The first inferences of a trial find workers asleep and caches cold.
TEST(HelpTrial, does_not_count_first_inferences) {
  HelpTrial trial;
  Time now{0};
  int since_change = 0;
  bool was_alone = false;
  for (int run = 0; run < 50000; ++run) {
    since_change = trial.alone() == was_alone ? since_change + 1 : 0;
    was_alone = trial.alone();
    const Time took = was_alone ? microseconds(150) : microseconds(since_change < 2 ? 400 : 90);
    now += took;
    trial.Ended(now, took);
  }
  EXPECT_FALSE(trial.alone());
}

// A worker that was asleep is of no help for four milliseconds, of which nobody hears.
TEST(HelpTrial, waits_for_workers_that_wake_up) {
  HelpTrial trial;
  Time now{0}, at_work{0};
  int runs = 0, runs_alone = 0;
  for (int burst = 0; burst < 100; ++burst) {
    now += milliseconds(300);
    Time last_help = now - milliseconds(300);
    for (const Time end = now + milliseconds(30); now < end; ++runs) {
      const bool alone = trial.alone();
      if (!alone && now - last_help > microseconds(200)) at_work = now + milliseconds(4);
      const Time took = microseconds(!alone && now >= at_work ? 70 : 120);
      now += took;
      if (!alone) last_help = now;
      runs_alone += alone ? 1 : 0;
      trial.Ended(now, took);
    }
  }
  EXPECT_LT(runs_alone, runs / 20);
}

// With pauses between all of them workers sleep each time, and waking them may cost too much.
TEST(HelpTrial, counts_inferences_that_all_come_after_a_pause) {
  for (const bool helps : {true, false}) {
    HelpTrial trial;
    Time now{0};
    int runs_alone = 0;
    for (int run = 0; run < 1000; ++run) {
      runs_alone += trial.alone() ? 1 : 0;
      const Time took = microseconds(trial.alone() ? 150 : helps ? 110 : 200);
      now += milliseconds(20) + took;
      trial.Ended(now, took);
    }
    EXPECT_EQ(trial.alone(), !helps);
    EXPECT_LT(helps ? runs_alone : 1000 - runs_alone, 300);
  }
}

}  // namespace
}  // namespace deputy::help_trial_test
