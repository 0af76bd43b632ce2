// SPDX-License-Identifier: Apache-2.0
//
// Interface for calls of foreign code: a delegate's callbacks, and the functions of kernels and
// plug-ins. The observer, if there is one, is notified of the call, and exceptions become a status.
#ifndef DEPUTY_CORE_BASE_FOREIGN_CALL_H_
#define DEPUTY_CORE_BASE_FOREIGN_CALL_H_

#include <cstdint>
#include <exception>

#include "c_api/include/common.h"

namespace deputy {

// The function that is called.
enum class Callback {
  // Functions of plug-ins. Except for kSupport they belong to no subgraph: the call has no context.
  kLoad,      // the initialisers of a plug-in's library
  kDescribe,  // deputy_plugin of a library, and functions that list or report something
  kCreate,
  kDestroy,
  kSupport,            // the plug-in's get_support
  kNodeEvents,         // the plug-in's node_events
  kSetModel,           // the plug-in's set_model
  kSetCancellation,    // the plug-in's set_cancellation
  kSetMemoryProvider,  // the plug-in's set_memory_provider
  kSetOptions,         // the plug-in's set_options
  kRunStart,           // the plug-in's run_start
  kRunEnd,             // the plug-in's run_end
  kShareBuffer,        // the plug-in's memory_types, share_output, export_buffer or import_buffer
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

// Describes a call: which function of which node, delegate or tensor.
struct ForeignCall {
  Callback callback = Callback::kInvoke;
  TfLiteContext* context = nullptr;  // context of the subgraph; null: the call has none
  int node = -1;                     // node index; set for functions of kernels only
  // The called delegate; null: a kernel on the CPU, or the delegate is not known.
  TfLiteDelegate* delegate = nullptr;
  int tensor = -1;  // tensor index; set for functions of buffer handles only
  // Begin of the call, set by the observer that measures it; -1: the call is not measured.
  mutable int64_t begin_ns = -1;
  mutable const ForeignCall* outer = nullptr;  // the call in which this one was made
};

// Result of a call.
struct CallResult {
  TfLiteStatus status = kTfLiteOk;
  void* user_data = nullptr;  // value that the kernel's init returned
  // Text of ExceptionText; null if no exception was thrown. Valid until the next exception on this
  // thread.
  const char* exception = nullptr;
};

// Notified of calls, on the calling thread. Calls nest: the innermost ends first. The functions
// must not throw.
class CallObserver {
 public:
  virtual void Begin(const ForeignCall& call) = 0;
  virtual void End(const ForeignCall& call, const CallResult& result) = 0;

 protected:
  ~CallObserver() = default;
};

// Returns "init threw an exception" or the like; followed by `what` unless it is null or empty, in
// a thread-local buffer.
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
