// SPDX-License-Identifier: Apache-2.0
//
// One asynchronous inference of a whole model: the client's request, the stage it has reached, and
// its result.
#ifndef DEPUTY_CORE_ASYNC_ASYNC_RUN_H_
#define DEPUTY_CORE_ASYNC_ASYNC_RUN_H_

#include <condition_variable>
#include <cstdarg>
#include <vector>

#include "c_api/include/deputy_async.h"
#include "core/async/run_events.h"

namespace deputy {

enum class RunStage {
  kWaiting,    // for a slot
  kCopyingIn,  // inputs are being copied to the slot
  kReady,      // waits for the computation
  kComputing,
  kCopyingOut,  // computed
  kEnding,      // the callback `done` is being called
  kEnded
};

// The queue's mutex protects the members below `stage`. One stage at a time uses the others.
struct AsyncRun {
  // Copies the arrays of the request. Throws bad_alloc.
  explicit AsyncRun(const DeputyRunRequest& request);
  AsyncRun(const AsyncRun&) = delete;
  AsyncRun& operator=(const AsyncRun&) = delete;

  // Stores the reason of a failure and returns `status`.
  TfLiteStatus Fail(TfLiteStatus status, const char* format, ...)
      __attribute__((format(printf, 3, 4)));

  // Copy one input or output. `data` is the slot's memory.
  TfLiteStatus CopyIn(int index, void* data, size_t size);
  TfLiteStatus CopyOut(int index, const void* data, size_t size);

  const DeputyRunRequest request;  // with null arrays
  const std::vector<DeputyRunInput> inputs;
  const std::vector<DeputyRunOutput> outputs;
  char error[256] = "";  // written before the run ends

  RunStage stage = RunStage::kWaiting;
  bool cancelled = false;  // cancellation was requested
  TfLiteStatus status = kTfLiteOk;
  RunEvents events;
  std::condition_variable ended;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_ASYNC_ASYNC_RUN_H_
