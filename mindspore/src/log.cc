// SPDX-License-Identifier: Apache-2.0
#include "mindspore/src/log.h"

#include <array>
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <mutex>

namespace deputy::ms_api {
namespace {

constexpr size_t kTextSize = 1024;

struct Sink {
  std::recursive_mutex mutex;  // held during a call, in which the function may lock it again
  bool is_called = false;
  void (*function)(void* user_data, DeputyMSLogLevel level, const char* text) = nullptr;
  void* user_data = nullptr;
};

Sink sink;
std::atomic<int> lowest_level{kDeputyMSLogWarning};
thread_local std::array<char, kTextSize> last_error = {};

// Marks the sink as called, so that messages from within the call are discarded.
class CallGuard {
 public:
  CallGuard() { sink.is_called = true; }
  ~CallGuard() { sink.is_called = false; }
  CallGuard(const CallGuard&) = delete;
  CallGuard& operator=(const CallGuard&) = delete;
};

void Write(DeputyMSLogLevel level, const char* text) {
  if (level < lowest_level.load(std::memory_order_relaxed)) return;
  const std::scoped_lock lock(sink.mutex);
  if (sink.function == nullptr || sink.is_called) return;
  const CallGuard guard;
  sink.function(sink.user_data, level, text);
}

struct StatusText {
  MSStatus status;
  const char* text;
};

constexpr StatusText kStatusTexts[] = {
    {kMSStatusSuccess, "success"},
    {kMSStatusLiteError, "error"},
    {kMSStatusLiteNullptr, "null pointer"},
    {kMSStatusLiteParamInvalid, "invalid parameter"},
    {kMSStatusLiteNoChange, "no change"},
    {kMSStatusLiteSuccessExit, "success, exit"},
    {kMSStatusLiteMemoryFailed, "out of memory"},
    {kMSStatusLiteNotSupport, "not supported"},
    {kMSStatusLiteThreadPoolError, "thread pool error"},
    {kMSStatusLiteUninitializedObj, "object not initialised"},
    {kMSStatusLiteFileError, "file error"},
    {kMSStatusLiteServiceDeny, "service refused"},
    {kMSStatusLiteModelRebuild, "model is built already"},
    {kMSStatusLiteOutOfTensorRange, "tensor out of range"},
    {kMSStatusLiteInputTensorError, "wrong input tensor"},
    {kMSStatusLiteReentrantError, "executor is running"},
    {kMSStatusLiteGraphFileError, "invalid model file"},
    {kMSStatusLiteNotFindOp, "operator not found"},
    {kMSStatusLiteInvalidOpName, "invalid operator name"},
    {kMSStatusLiteInvalidOpAttr, "invalid operator attribute"},
    {kMSStatusLiteOpExecuteFailure, "operator failed"},
    {kMSStatusLiteFormatError, "invalid layout"},
    {kMSStatusLiteInferError, "shape inference failed"},
    {kMSStatusLiteInferInvalid, "shape not known before run time"},
    {kMSStatusLiteInputParamInvalid, "invalid argument"},
};

}  // namespace

void Log(DeputyMSLogLevel level, const char* format, ...) {
  std::array<char, kTextSize> text;
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text.data(), text.size(), format, arguments);
  va_end(arguments);
  Write(level, text.data());
}

MSStatus Fail(MSStatus code, const char* format, ...) {
  std::array<char, kTextSize> text;  // separate buffer: arguments may point to last_error
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text.data(), text.size(), format, arguments);
  va_end(arguments);
  last_error = text;
  Write(kDeputyMSLogError, text.data());
  return code;
}

}  // namespace deputy::ms_api

using namespace deputy::ms_api;  // NOLINT(google-build-using-namespace)

const char* DeputyMSLastError() { return last_error.data(); }

void DeputyMSSetLogSink(void (*function)(void* user_data, DeputyMSLogLevel level, const char* text),
                        void* user_data) {
  const std::scoped_lock lock(sink.mutex);
  sink.function = function;
  sink.user_data = user_data;
}

void DeputyMSSetLogLevel(DeputyMSLogLevel level) { lowest_level.store(level); }

void DeputyMSLog(DeputyMSLogLevel level, const char* text) {
  if (text != nullptr) Write(level, text);
}

const char* DeputyMSStatusText(MSStatus status) {
  for (const StatusText& row : kStatusTexts) {
    if (row.status == status) return row.text;
  }
  return "unknown status";
}
