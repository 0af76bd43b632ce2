// SPDX-License-Identifier: Apache-2.0
//
// Active waits of the delegate and of its process for each other. The wake-up of a process on an
// idle processor takes tens of microseconds, longer than many calls.
#ifndef DEPUTY_BRIDGES_SANDBOX_ACTIVE_WAIT_H_
#define DEPUTY_BRIDGES_SANDBOX_ACTIVE_WAIT_H_

#include <sched.h>

#include <chrono>
#include <cstdint>

#include "bridges/sandbox/wire.h"

namespace deputy::sandbox {

// Returns the number of the processor that runs this thread.
inline uint32_t CurrentProcessor() { return static_cast<uint32_t>(sched_getcpu()); }

// Polls for the other process's word before a thread sleeps. It polls only if the last wait was
// shorter than kLimit and the other process ran on another processor: on a common processor it
// would delay the other process.
class ActiveWait {
 public:
  static constexpr std::chrono::microseconds kLimit{300};

  // Begins a wait. Polls until `done()` returns true or kLimit has passed; returns true in the
  // first case. `other_processor` is the processor of the other process; it is untrusted, and only
  // affects the use of time.
  template <typename Done>
  bool Poll(uint32_t other_processor, const Done& done) {
    begin_ = Clock::now();
    if (last_ > kLimit || other_processor == CurrentProcessor()) return false;
    do {
      for (int i = 0; i < kPausesPerClock; ++i) {
        if (done()) return true;
        Pause();
      }
    } while (Clock::now() - begin_ < kLimit);
    return false;
  }

  // Ends the wait.
  void End() { last_ = Clock::now() - begin_; }

 private:
  static constexpr int kPausesPerClock = 16;

  static void Pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
  }

  Clock::time_point begin_;
  Clock::duration last_ = Clock::duration::max();
};

}  // namespace deputy::sandbox

#endif  // DEPUTY_BRIDGES_SANDBOX_ACTIVE_WAIT_H_
