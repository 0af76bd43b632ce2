// SPDX-License-Identifier: Apache-2.0
//
// Whether short inferences are faster with the pool's workers or without. Between processors that
// are far apart, what one of them wrote takes the other as long to read as a small layer takes to
// compute, and a host may move its guests' processors nearer and farther at any time. So both ways
// are tried every now and then, a few inferences each, and the faster one stays. What is measured
// are inferences one behind the other, or such as all come after a pause: a worker that was asleep
// may take milliseconds until it has a processor of its own. Beside busy
// processes there is help as ever, with what back_off.h makes of it. Results do not depend on it.
// Times are injected, nothing here reads a clock.
#ifndef DEPUTY_CORE_BASE_HELP_TRIAL_H_
#define DEPUTY_CORE_BASE_HELP_TRIAL_H_

#include <chrono>

namespace deputy {

class HelpTrial {
 public:
  using Time = std::chrono::nanoseconds;  // since anything, as long as it never goes back

  // The next inference is to run on the caller's thread alone.
  bool alone() const { return alone_; }

  // An inference has ended that took so long.
  void Ended(Time now, Time took);

 private:
  enum class Phase { kRest, kOwn, kOther };
  void Begin(Phase phase);
  void Rest(Time now, Time rest);

  bool alone_ = false;
  Phase phase_ = Phase::kRest;
  int inferences_ = 0;  // of this phase
  Time least_{0};       // that one of them took
  Time own_{0};         // the least before the other way was tried
  Time rest_{0};        // how long the newest rest is; 0: there was none
  Time resume_at_{0};   // when it ends
  Time ended_{0};       // when the newest inference did
  Time settled_at_{0};  // workers that slept are at work from then on
};

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_HELP_TRIAL_H_
