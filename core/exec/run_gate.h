// SPDX-License-Identifier: Apache-2.0
//
// Counts the asynchronous runs of an interpreter that are in flight. Meanwhile only the thread that
// computes them may run or change the interpreter. Thread-safe.
#ifndef DEPUTY_CORE_EXEC_RUN_GATE_H_
#define DEPUTY_CORE_EXEC_RUN_GATE_H_

#include <mutex>
#include <thread>

#include "core/base/error.h"

namespace deputy {

class RunGate {
 public:
  // Number of runs in flight.
  int runs() const {
    const std::lock_guard lock(mutex_);
    return runs_;
  }
  void Begin() {
    const std::lock_guard lock(mutex_);
    ++runs_;
  }
  void End() {
    const std::lock_guard lock(mutex_);
    --runs_;
  }
  // Makes the calling thread the one that computes the runs.
  void Own() {
    const std::lock_guard lock(mutex_);
    owner_ = std::this_thread::get_id();
  }

  // Fails if runs are in flight and another thread computes them. The report does not use the
  // interpreter's reporter, which that thread uses.
  TfLiteStatus Check(const char* call) const {
    const std::lock_guard lock(mutex_);
    if (runs_ == 0 || owner_ == std::this_thread::get_id()) return kTfLiteOk;
    ErrorReporter reporter;
    return Fail(&reporter, kTfLiteError, "%s: expected no asynchronous run in flight, found %d",
                call, runs_);
  }

 private:
  mutable std::mutex mutex_;
  int runs_ = 0;
  std::thread::id owner_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_RUN_GATE_H_
