// SPDX-License-Identifier: Apache-2.0
//
// Decides whether short inferences are faster with the pool's workers or without. Between distant
// processors, a transfer of written data takes as long as a small layer, and a host may move its
// guests' processors at any time. So both variants are measured periodically over a few inferences,
// and the faster one is used. Only comparable inferences are measured: consecutive ones, or those
// that each follow a pause, since a sleeping worker may need milliseconds to get a processor. On a
// busy machine workers stay enabled, under the control of back_off.h. Results do not depend on the
// decision. Times are arguments; no clock is read here.
#ifndef DEPUTY_CORE_BASE_HELP_TRIAL_H_
#define DEPUTY_CORE_BASE_HELP_TRIAL_H_

#include <chrono>

namespace deputy {

class HelpTrial {
 public:
  using Time = std::chrono::nanoseconds;  // time since any fixed origin; must not decrease

  // True if the next inference must run without workers.
  bool alone() const { return alone_; }

  // Records the duration of an inference, after its end.
  void Ended(Time now, Time duration);

 private:
  enum class Phase { kIdle, kCurrent, kAlternative };
  void Begin(Phase phase);
  void StartInterval(Time now, Time interval);

  bool alone_ = false;
  Phase phase_ = Phase::kIdle;
  int inferences_ = 0;  // number of inferences in the current phase
  Time minimum_{0};     // minimum measured duration in the current phase
  Time current_{0};     // minimum duration of the previous phase, which ran the other variant
  Time interval_{0};    // interval until the next trial; 0: none yet
  Time resume_at_{0};   // end of the current interval
  Time ended_{0};       // end of the newest inference
  Time settled_at_{0};  // time from which woken workers are effective
};

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_HELP_TRIAL_H_
