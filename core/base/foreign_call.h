// SPDX-License-Identifier: Apache-2.0
//
// All calls of foreign code go through this interface: a delegate's callbacks, and the functions of
// kernels and plug-ins. Observers are notified of the calls, and exceptions become a status.
#ifndef DEPUTY_CORE_BASE_FOREIGN_CALL_H_
#define DEPUTY_CORE_BASE_FOREIGN_CALL_H_

#include <cstdint>
#include <exception>

#include "c_api/include/common.h"

namespace deputy {

// The function that is called.
enum class Callback {
  // Functions of plug-ins. The first four belong to no subgraph: the call has no context.
  kLoad,      // the initialisers of a library
  kDescribe,  // deputy_plugin
  kCreate,
  kDestroy,
  kSupport,     // get_support
  kNodeEvents,  // node_events
  // Functions of delegates.
  kDelegatePrepare,
  kCopyFrom,
  kCopyTo,
  kFreeHandle,
  // Functions of kernels.
  kInit,
  kPrepare,
  kInvoke,
  kFree,
};

// Subject of a call.
struct ForeignCall {
  Callback callback = Callback::kInvoke;
  TfLiteContext* context = nullptr;    // of the subgraph, if there is one
  int node = -1;                       // kernels only
  TfLiteDelegate* delegate = nullptr;  // null: a kernel on the CPU, or not known yet
  int tensor = -1;                     // buffer handles only
  // State of the observer that measures the call.
  mutable int64_t begin_ns = -1;
  mutable const ForeignCall* outer = nullptr;  // the enclosing call
};

// Result of a call.
struct CallResult {
  TfLiteStatus status = kTfLiteOk;
  void* user_data = nullptr;  // result of init
  // Text "invoke threw an exception: " with the exception's what(); null if none was thrown. Valid
  // until the next exception on this thread.
  const char* exception = nullptr;
};

// Notified of every call, on the calling thread. Calls nest: the innermost ends first. The
// functions must not throw.
class CallObserver {
 public:
  virtual void Begin(const ForeignCall& call) = 0;
  virtual void End(const ForeignCall& call, const CallResult& result) = 0;

 protected:
  ~CallObserver() = default;
};

// Returns "init threw an exception" or the like; followed by `what` unless it is null, in a
// thread-local buffer.
const char* ExceptionText(Callback callback, const char* what);

// Runs `function(CallResult*)`, which makes the call; `observer` may be null. An exception sets the
// status to kTfLiteError.
template <typename Function>
CallResult CallForeign(CallObserver* observer, const ForeignCall& call, Function&& function) {
  if (observer != nullptr) observer->Begin(call);
  CallResult result;
  try {
    function(&result);
  } catch (const std::exception& exception) {
    result.status = kTfLiteError;
    result.exception = ExceptionText(call.callback, exception.what());
  } catch (...) {
    result.status = kTfLiteError;
    result.exception = ExceptionText(call.callback, nullptr);
  }
  if (observer != nullptr) observer->End(call, result);
  return result;
}

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_FOREIGN_CALL_H_
