// SPDX-License-Identifier: Apache-2.0
#include "core/base/help_trial.h"

#include <algorithm>

namespace deputy {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// Maximum duration of inferences to which trials apply: longer ones gain by workers, or lose
// little.
constexpr HelpTrial::Time kMaxInference = microseconds(400);
// Duration above which an inference counts as preempted. On busy processors, several threads
// together get more processor time than one, so workers are then enabled.
constexpr HelpTrial::Time kStall = 4 * kMaxInference;
// Number of inferences of a phase that are not measured, because caches are cold and workers are
// waking up, and number of those that are measured after them.
constexpr int kWarmUp = 2, kSamples = 5;
// Bounds of the interval between trials. It grows while trials change nothing: finally, one
// inference in a hundred runs the slower variant if that is the one with workers, else one in 180
// (of 400 microseconds) to 1400 (of 50 microseconds).
constexpr HelpTrial::Time kMinInterval = milliseconds(4), kMaxInterval = milliseconds(500);
// After kPause without work, workers count as asleep. Woken workers need kSettling to be effective
// again.
constexpr HelpTrial::Time kPause = milliseconds(1), kSettling = milliseconds(5);
// The alternative variant must be faster by more than 1/kNoise to be chosen.
constexpr int kNoise = 32;

}  // namespace

void HelpTrial::Begin(Phase phase) {
  phase_ = phase;
  inferences_ = 0;
  minimum_ = Time::max();
}

void HelpTrial::StartInterval(Time now, Time interval) {
  interval_ = std::clamp(interval, kMinInterval, kMaxInterval);
  resume_at_ = now + interval_;
  Begin(Phase::kIdle);
}

void HelpTrial::Ended(Time now, Time duration) {
  const bool after_pause = now - duration - ended_ > kPause;
  ended_ = now;
  if (after_pause) settled_at_ = now + kSettling;
  if (duration > kStall) {
    alone_ = false;
    return StartInterval(now, kMaxInterval);
  }
  if (phase_ == Phase::kIdle) {
    if (interval_ == Time(0)) return StartInterval(now, kMinInterval);
    if (now < resume_at_) return;
    Begin(Phase::kCurrent);
  }
  if (!after_pause && now < settled_at_) return;
  ++inferences_;
  if (inferences_ > kWarmUp) minimum_ = std::min(minimum_, duration);
  if (inferences_ < kWarmUp + kSamples) return;
  if (phase_ == Phase::kCurrent) {
    if (minimum_ > kMaxInference) return StartInterval(now, 2 * interval_);
    current_ = minimum_;
    alone_ = !alone_;
    if (!alone_) settled_at_ = now + kSettling;
    return Begin(Phase::kAlternative);
  }
  if (minimum_ < current_ - current_ / kNoise) return StartInterval(now, kMinInterval);
  alone_ = !alone_;
  StartInterval(now, 2 * interval_);
}

}  // namespace deputy
