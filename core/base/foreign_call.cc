// SPDX-License-Identifier: Apache-2.0
#include "core/base/foreign_call.h"

#include <cstdio>

namespace deputy {
namespace {

const char* PlainText(Callback callback) {
  switch (callback) {
    case Callback::kLoad:
      return "loading threw an exception";
    case Callback::kDescribe:
      return "deputy_plugin threw an exception";
    case Callback::kCreate:
      return "create threw an exception";
    case Callback::kDestroy:
      return "destroy threw an exception";
    case Callback::kSupport:
      return "get_support threw an exception";
    case Callback::kNodeEvents:
      return "node_events threw an exception";
    case Callback::kSetModel:
      return "set_model threw an exception";
    case Callback::kSetCancellation:
      return "set_cancellation threw an exception";
    case Callback::kSetMemoryProvider:
      return "set_memory_provider threw an exception";
    case Callback::kSetOptions:
      return "set_options threw an exception";
    case Callback::kRunStart:
      return "run_start threw an exception";
    case Callback::kRunEnd:
      return "run_end threw an exception";
    case Callback::kShareBuffer:
      return "it threw an exception";
    case Callback::kDelegatePrepare:
      return "Prepare threw an exception";
    case Callback::kCopyFrom:
      return "CopyFromBufferHandle threw an exception";
    case Callback::kCopyTo:
      return "CopyToBufferHandle threw an exception";
    case Callback::kFreeHandle:
      return "FreeBufferHandle threw an exception";
    case Callback::kInit:
      return "init threw an exception";
    case Callback::kPrepare:
      return "prepare threw an exception";
    case Callback::kInvoke:
      return "invoke threw an exception";
    case Callback::kFree:
      return "free threw an exception";
  }
  return "threw an exception";
}

// Buffer for the text: an array instead of a std::string, because it needs no allocation.
thread_local char text_with_what[256] = "";

}  // namespace

const char* ExceptionText(Callback callback, const char* what) {
  if (what == nullptr || *what == '\0') return PlainText(callback);
  std::snprintf(text_with_what, sizeof text_with_what, "%s: %s", PlainText(callback), what);
  return text_with_what;
}

}  // namespace deputy
