// SPDX-License-Identifier: Apache-2.0
//
// How many workers may help with a job, judged by what their help saved the caller. A worker that
// another process has pushed off its processor holds on to its tile for a whole time slice; a
// running tile cannot be stolen, so the way out is not to give such workers any. When help has cost
// more than it saved, half of the workers rest, for longer each time until there is no more of it.
// Times are injected, nothing here reads a clock.
#ifndef DEPUTY_CORE_BASE_BACK_OFF_H_
#define DEPUTY_CORE_BASE_BACK_OFF_H_

#include <chrono>

namespace deputy {

class BackOff {
 public:
  using Time = std::chrono::nanoseconds;  // since anything, as long as it never goes back

  explicit BackOff(int workers) : workers_(workers), allowed_(workers) {}

  // Some workers rest: call Resume before a job.
  bool resting() const { return allowed_ < workers_; }
  int allowed() const { return allowed_; }
  // Help has cost something that it has not saved since: call JobEnded for each job until it has.
  // Without it, a job that saved something changes nothing.
  bool lost() const { return lost_ > Time(0); }
  // As if no job had been run yet.
  void Forget();
  // Lets all help again when their rest is over.
  void Resume(Time now);

  // A job has ended. `saved` is what the caller would have needed for the workers' tiles, less what
  // it waited for the last of them.
  void JobEnded(Time now, Time saved);

 private:
  const int workers_;
  int allowed_;
  Time lost_{0};       // what help has cost and not saved since
  Time rest_{0};       // how long the newest rest is, or was; 0: there was none
  Time resume_at_{0};  // when it ends
};

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_BACK_OFF_H_
