// SPDX-License-Identifier: Apache-2.0
//
// Limits the number of workers that help with a job, by the time that they saved the caller. A
// worker that was preempted by another process keeps its tile for a whole time slice. A running
// tile cannot be stolen, so the remedy is to give such workers no tiles. When helping has cost 300
// microseconds more than it saved, half of the enabled workers (rounded up) are disabled: first for
// 10 ms, for twice the time after each repetition, for at most 1 s. Times are arguments; no clock
// is read here.
#ifndef DEPUTY_CORE_BASE_BACK_OFF_H_
#define DEPUTY_CORE_BASE_BACK_OFF_H_

#include <chrono>

namespace deputy {

class BackOff {
 public:
  using Time = std::chrono::nanoseconds;  // time since any fixed origin; must not decrease

  explicit BackOff(int workers) : workers_(workers), allowed_(workers) {}

  // True if some workers are disabled: call Resume before a job.
  bool backing_off() const { return allowed_ < workers_; }
  int allowed() const { return allowed_; }
  // True if helping has caused a loss that is not yet compensated: JobEnded must then be called for
  // each job. Otherwise calls for jobs without a loss may be skipped.
  bool lost() const { return lost_ > Time(0); }
  // Resets the state to that before the first job.
  void Reset();
  // Enables all workers if the back-off has ended.
  void Resume(Time now);

  // Records the result of a job. `saved` is the time that the caller would have needed for the
  // workers' tiles, minus its wait for the last of them.
  void JobEnded(Time now, Time saved);

 private:
  const int workers_;
  int allowed_;
  Time lost_{0};       // time that workers have cost, minus the time that they have saved since
  Time duration_{0};   // duration of the newest back-off; 0: none yet
  Time resume_at_{0};  // end of the newest back-off
};

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_BACK_OFF_H_
