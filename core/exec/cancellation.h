// SPDX-License-Identifier: Apache-2.0
//
// Requests to cancel calls of an interpreter. Only Request may be called by other threads.
#ifndef DEPUTY_CORE_EXEC_CANCELLATION_H_
#define DEPUTY_CORE_EXEC_CANCELLATION_H_

#include <atomic>

namespace deputy {

class Cancellation {
 public:
  // Creates an object that accepts requests only if `enabled`.
  explicit Cancellation(bool enabled) : enabled_(enabled) {}

  // Requests that the current call ends. Returns false if cancellation was not enabled.
  bool Request() {
    if (enabled_) requested_.store(true, std::memory_order_release);
    return enabled_;
  }
  // Discards a request made before a call.
  void Arm() { requested_.store(false, std::memory_order_relaxed); }
  // Returns true once per request, during a call that can be cancelled.
  bool Take() {
    return enabled_ && call_ != nullptr && requested_.exchange(false, std::memory_order_acq_rel);
  }

  // Name of the call in progress; null: no call can be cancelled now, and requests are deferred.
  const char* call() const { return call_; }
  void set_call(const char* call) { call_ = call; }

 private:
  const bool enabled_;
  std::atomic<bool> requested_{false};
  const char* call_ = nullptr;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_CANCELLATION_H_
