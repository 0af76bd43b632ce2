// SPDX-License-Identifier: Apache-2.0
//
// Requests to cancel calls of an interpreter, and the client's function that is polled during
// Invoke. Only Request and Enable may be called by other threads.
#ifndef DEPUTY_CORE_EXEC_CANCELLATION_H_
#define DEPUTY_CORE_EXEC_CANCELLATION_H_

#include <atomic>

#include "c_api/include/c_api_types.h"
#include "core/base/guard.h"

namespace deputy {

// Name of the call during which the client's function is polled, as upstream does.
inline constexpr char kInvokeCall[] = "Invoke";

class Cancellation {
 public:
  using Function = bool (*)(void* data);

  // Creates an object that accepts requests only if `enabled`.
  explicit Cancellation(bool enabled) : polls_(enabled), accepts_(enabled) {}

  // Requests that the current call ends. Returns false if cancellation was not enabled.
  bool Request() {
    const bool accepts = accepts_.load(std::memory_order_relaxed);
    if (accepts) requested_.store(true, std::memory_order_release);
    return accepts;
  }
  // Accepts requests from now on.
  void Enable() {
    accepts_.store(true, std::memory_order_relaxed);
    polls_.store(true, std::memory_order_relaxed);
  }
  // Sets the client's function, null to remove it.
  void SetFunction(void* data, Function function) {
    data_ = data;
    function_ = function;
    if (function != nullptr) polls_.store(true, std::memory_order_relaxed);
  }

  // Discards a request made before a call.
  void Arm() {
    requested_.store(false, std::memory_order_relaxed);
    by_function_ = false;
  }
  // Returns true once per request during a call that can be cancelled, and during Invoke whenever
  // the client's function does.
  bool Take() { return polls_.load(std::memory_order_relaxed) && call_ != nullptr && Poll(); }

  // Returns true under the conditions of Take, but keeps the request: a delegate that queries it
  // may complete its work nevertheless.
  bool IsRequested() {
    return polls_.load(std::memory_order_relaxed) && call_ != nullptr &&
           (requested_.load(std::memory_order_acquire) || CallFunction());
  }

  // Returns the client's status of a call that ended with `status`: upstream's is kTfLiteError if
  // the client's function has cancelled the call.
  TfLiteStatus ClientStatus(TfLiteStatus status) const {
    return status == kTfLiteCancelled && by_function_ ? kTfLiteError : status;
  }

  // Name of the call in progress; null: no call can be cancelled now, and requests are deferred.
  const char* call() const { return call_; }
  void set_call(const char* call) { call_ = call; }

 private:
  bool Poll() {
    if (requested_.exchange(false, std::memory_order_acq_rel)) return true;
    return CallFunction();
  }
  bool CallFunction() {
    if (function_ == nullptr || call_ != kInvokeCall) return false;
    by_function_ = Guard([] { return false; }, [this] { return function_(data_); });
    return by_function_;
  }

  std::atomic<bool> polls_;  // false: Take has nothing to check
  std::atomic<bool> accepts_;
  std::atomic<bool> requested_{false};
  Function function_ = nullptr;
  void* data_ = nullptr;
  bool by_function_ = false;  // the newest call was cancelled by the function
  const char* call_ = nullptr;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_CANCELLATION_H_
