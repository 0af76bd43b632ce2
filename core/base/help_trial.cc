// SPDX-License-Identifier: Apache-2.0
#include "core/base/help_trial.h"

#include <algorithm>

namespace deputy {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// Trials apply to shorter inferences only; longer ones gain by workers, or lose little.
constexpr HelpTrial::Time kLongest = microseconds(400);
// An inference that takes longer than this was preempted. On busy processors, several threads
// together get more processor time than one, so workers are then enabled.
constexpr HelpTrial::Time kStall = 4 * kLongest;
// The first inferences of a phase are not measured: caches are cold and workers are waking up.
constexpr int kFirst = 2, kSample = 5;
// Intervals between trials grow while trials change nothing: finally, one inference in a hundred
// runs the slower variant if that is the one with workers, else one in thousands.
constexpr HelpTrial::Time kFirstRest = milliseconds(4), kLongestRest = milliseconds(500);
// Workers fall asleep after kPause without work, and need kSettling to be effective again.
constexpr HelpTrial::Time kPause = milliseconds(1), kSettling = milliseconds(5);
// A variant must be faster by more than 1/kNoise to be chosen.
constexpr int kNoise = 32;

}  // namespace

void HelpTrial::Begin(Phase phase) {
  phase_ = phase;
  inferences_ = 0;
  least_ = Time::max();
}

void HelpTrial::Rest(Time now, Time rest) {
  rest_ = std::clamp(rest, kFirstRest, kLongestRest);
  resume_at_ = now + rest_;
  Begin(Phase::kRest);
}

void HelpTrial::Ended(Time now, Time took) {
  const bool after_pause = now - took - ended_ > kPause;
  ended_ = now;
  if (after_pause) settled_at_ = now + kSettling;
  if (took > kStall) {
    alone_ = false;
    return Rest(now, kLongestRest);
  }
  if (phase_ == Phase::kRest) {
    if (rest_ == Time(0)) return Rest(now, kFirstRest);
    if (now < resume_at_) return;
    Begin(Phase::kOwn);
  }
  if (!after_pause && now < settled_at_) return;
  ++inferences_;
  if (inferences_ > kFirst) least_ = std::min(least_, took);
  if (inferences_ < kFirst + kSample) return;
  if (phase_ == Phase::kOwn) {
    if (least_ > kLongest) return Rest(now, 2 * rest_);
    own_ = least_;
    alone_ = !alone_;
    if (!alone_) settled_at_ = now + kSettling;
    return Begin(Phase::kOther);
  }
  if (least_ < own_ - own_ / kNoise) return Rest(now, kFirstRest);
  alone_ = !alone_;
  Rest(now, 2 * rest_);
}

}  // namespace deputy
