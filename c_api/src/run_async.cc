// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <memory>

#include "c_api/include/deputy_async.h"
#include "c_api/src/objects.h"
#include "c_api/src/struct_io.h"
#include "core/async/run_queue.h"

struct DeputyRun {
  std::shared_ptr<deputy::RunQueue> queue;
  std::shared_ptr<deputy::AsyncRun> run;
};

namespace {

using deputy::AsyncRun;
using deputy::ErrorReporter;
using deputy::Fail;
using deputy::Guard;
using deputy::RunQueue;

// Reports to the process-wide default, since other threads may use the interpreter's reporter.
TfLiteStatus Refuse(const char* reason) {
  ErrorReporter reporter;
  return Fail(&reporter, kTfLiteError, "DeputyInterpreterRunAsync: %s", reason);
}

// Exceptions of this library are bad_alloc and the system_error of a thread that cannot start.
TfLiteStatus RefuseWithoutResources() { return Refuse("out of memory or of threads"); }

// Returns the reason why the request is invalid for any interpreter; null: it is not.
const char* FindProblem(const DeputyRunRequest& request) {
  if (request.input_count < 0 || request.output_count < 0) return "expected counts of at least 0";
  if (request.copy_in != nullptr ? request.inputs != nullptr || request.input_count != 0
                                 : request.inputs == nullptr && request.input_count != 0) {
    return "expected either inputs or copy_in";
  }
  if (request.copy_out != nullptr ? request.outputs != nullptr || request.output_count != 0
                                  : request.outputs == nullptr && request.output_count != 0) {
    return "expected either outputs or copy_out";
  }
  return nullptr;
}

// Returns the interpreter's queue; creates it for the first run.
std::shared_ptr<RunQueue> QueueOf(TfLiteInterpreter* interpreter) {
  const std::lock_guard lock(interpreter->runs_mutex);
  if (interpreter->runs == nullptr) {
    auto queue = std::make_shared<RunQueue>(interpreter->impl.get(), [interpreter] {
      return Guard(kTfLiteError, [&] {
        deputy::Interpreter& impl = *interpreter->impl;
        const TfLiteStatus status = impl.InvokeArmed(&impl.primary(), false);
        if (status != kTfLiteCancelled) return deputy::AfterInvoke(interpreter, status);
        // Unlike a blocking call, a cancelled run is not repeated on the CPU.
        interpreter->telemetry.ReportEvent("Invoke", status);
        return status;
      });
    });
    queue->Start();
    interpreter->runs = std::move(queue);
  }
  return interpreter->runs;
}

}  // namespace

TfLiteStatus DeputyInterpreterRunAsync(TfLiteInterpreter* interpreter,
                                       const DeputyRunRequest* request, DeputyRun** run) {
  if (run != nullptr) *run = nullptr;
  DeputyRunRequest checked;
  if (interpreter == nullptr || !deputy::ReadStruct(request, &checked)) {
    return Refuse("expected an interpreter and a request with its struct_size");
  }
  if (const char* problem = FindProblem(checked)) return Refuse(problem);
  if (!interpreter->impl->shared_states().empty()) {
    return Refuse("expected an interpreter without shared states");
  }
  const TfLiteStatus started = Guard(&RefuseWithoutResources, [&] {
    auto handle = std::make_unique<DeputyRun>();
    handle->run = std::make_shared<AsyncRun>(checked);
    handle->queue = QueueOf(interpreter);
    AsyncRun& added = *handle->run;
    // The callbacks may use the client's pointer before Submit returns.
    if (run != nullptr) *run = handle.get();
    if (handle->queue->Submit(handle->run) != kTfLiteOk) return Refuse(added.error);
    // If the client has a pointer, it owns the object, and a callback may have deleted it.
    if (run != nullptr) (void)handle.release();
    return kTfLiteOk;
  });
  if (started != kTfLiteOk && run != nullptr) *run = nullptr;
  return started;
}

bool DeputyRunWait(DeputyRun* run, int64_t timeout_us, TfLiteStatus* status) {
  return run != nullptr && run->queue->Wait(run->run.get(), timeout_us, status);
}

TfLiteStatus DeputyRunCancel(DeputyRun* run) {
  return run != nullptr && run->queue->Cancel(run->run.get()) ? kTfLiteOk : kTfLiteError;
}

int DeputyRunGetEventFd(DeputyRun* run) {
  if (run == nullptr) return -EINVAL;
  return run->queue->WithEvents(run->run.get(), [](auto* events) { return events->EventFd(); });
}

int DeputyRunGetSyncFile(DeputyRun* run) {
  if (run == nullptr) return -EINVAL;
  return run->queue->WithEvents(run->run.get(), [](auto* events) { return events->NewSyncFile(); });
}

const char* DeputyRunGetError(const DeputyRun* run) {
  if (run == nullptr) return nullptr;
  return run->queue->HasEnded(*run->run) ? run->run->error : "";
}

void DeputyRunDelete(DeputyRun* run) { delete run; }
