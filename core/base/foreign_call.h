// SPDX-License-Identifier: Apache-2.0
//
// The one way into code that is not ours: a delegate's callbacks, the functions of a kernel, a
// plug-in's. Whoever wants to know about such calls is an observer; nothing that the code throws
// passes.
#ifndef DEPUTY_CORE_BASE_FOREIGN_CALL_H_
#define DEPUTY_CORE_BASE_FOREIGN_CALL_H_

#include <cstdint>
#include <exception>

#include "c_api/include/common.h"

namespace deputy {

// What foreign code is called for.
enum class Callback {
  // Of plug-ins. The first four belong to no subgraph: the call has no context.
  kLoad,      // the initialisers of a library
  kDescribe,  // deputy_plugin
  kCreate,
  kDestroy,
  kSupport,     // get_support
  kNodeEvents,  // node_events
  // Of delegates.
  kDelegatePrepare,
  kCopyFrom,
  kCopyTo,
  kFreeHandle,
  // Of kernels.
  kInit,
  kPrepare,
  kInvoke,
  kFree,
};

// Who is called for what.
struct ForeignCall {
  Callback callback = Callback::kInvoke;
  TfLiteContext* context = nullptr;    // that of the subgraph, if there is one
  int node = -1;                       // of kernels
  TfLiteDelegate* delegate = nullptr;  // null: a kernel on the CPU, or not known yet
  int tensor = -1;                     // of buffer handles
  // For an observer that times it.
  mutable int64_t begin_ns = -1;
  mutable const ForeignCall* outer = nullptr;  // the one that it is nested in
};

// How it ended.
struct CallResult {
  TfLiteStatus status = kTfLiteOk;
  void* user_data = nullptr;  // what init returned
  // "invoke threw an exception: what() of it"; null if it threw none. Holds until the next
  // exception on this thread.
  const char* exception = nullptr;
};

// Told of every call, on the thread that makes it. Calls nest: each Begin has its End, the
// innermost first. Neither function throws.
class CallObserver {
 public:
  virtual void Begin(const ForeignCall& call) = 0;
  virtual void End(const ForeignCall& call, const CallResult& result) = 0;

 protected:
  ~CallObserver() = default;
};

// "init threw an exception" and its like; with `what` behind it, which may be null, in a buffer of
// the thread's.
const char* ExceptionText(Callback callback, const char* what);

// Runs `function(CallResult*)`, which makes the call; `observer` may be null. An exception is the
// status Error.
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
