// SPDX-License-Identifier: Apache-2.0
//
// Inferences of a whole model that run while the program goes on: DeputyInterpreterRunAsync, and
// events to learn of their end. The functions are exported by libdeputy.so.1; the rules of deputy.h
// on structs, NULL and failures apply. docs/async.md describes them.
//
//     DeputyRunRequest request = {sizeof request};
//     const DeputyRunInput input = {pixels, pixels_size};
//     const DeputyRunOutput output = {scores, scores_size};
//     request.inputs = &input, request.input_count = 1;
//     request.outputs = &output, request.output_count = 1;
//     DeputyRun* run = NULL;
//     if (DeputyInterpreterRunAsync(interpreter, &request, &run) != kTfLiteOk) ...
//     TfLiteStatus status;
//     DeputyRunWait(run, -1, &status);
//     DeputyRunDelete(run);
//
// Runs of one interpreter pass through three stages, each with a thread of its own: inputs are
// copied to a slot, the slot is computed, outputs are copied out of the slot. The stages of
// consecutive runs overlap; within a stage, runs follow each other in the order of their
// submission, so that variables have the same values as after as many calls of
// TfLiteInterpreterInvoke. An interpreter has three slots and at most kDeputyMaxRuns runs in
// flight, that is, started and not ended.
#ifndef DEPUTY_C_API_INCLUDE_DEPUTY_ASYNC_H_
#define DEPUTY_C_API_INCLUDE_DEPUTY_ASYNC_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum DeputyRunLimit {
  // Maximum number of runs in flight per interpreter.
  kDeputyMaxRuns = 256,
} DeputyRunLimit;

// One inference that was started, owned by the caller.
typedef struct DeputyRun DeputyRun;

// Contents of one input; `size` must be the tensor's size in bytes (0 for an absent input), except
// for tensors whose size is not fixed, such as strings.
typedef struct DeputyRunInput {
  const void* data;
  size_t size;
} DeputyRunInput;

// Memory for the contents of one output; `size` must be the tensor's size in bytes. The size of an
// output that is known only after the inference is compared then. NULL `data`: the output is not
// copied.
typedef struct DeputyRunOutput {
  void* data;
  size_t size;
} DeputyRunOutput;

// Writes an input of a run to `data`, which has `size` bytes and is aligned to 64. A status other
// than kTfLiteOk becomes the status of the run.
typedef TfLiteStatus (*DeputyRunCopyIn)(void* user_data, int32_t input_index, void* data,
                                        size_t size);

// Reads an output of a run from `data`, which is valid during the call. A status other than
// kTfLiteOk becomes the status of the run.
typedef TfLiteStatus (*DeputyRunCopyOut)(void* user_data, int32_t output_index, const void* data,
                                         size_t size);

// Called once when a run has ended, before DeputyRunWait returns for it. The arrays and memory of
// the request are no longer used.
typedef void (*DeputyRunDone)(void* user_data, TfLiteStatus status);

// A run to start. Inputs come either from `inputs` or from `copy_in`; outputs go either to
// `outputs` or to `copy_out`. The callbacks are called on a thread of the interpreter, and may be
// called for different runs at the same time. They may call the functions of this header, but no
// other function on the interpreter. An exception of a callback fails the run.
typedef struct DeputyRunRequest {
  size_t struct_size;
  void* user_data;               // passed to the callbacks; NULL allowed
  const DeputyRunInput* inputs;  // in the order of TfLiteInterpreterGetInputTensor; NULL: copy_in
  const DeputyRunOutput*
      outputs;                // in the order of TfLiteInterpreterGetOutputTensor; NULL: copy_out
  int32_t input_count;        // number of `inputs`: the interpreter's
  int32_t output_count;       // number of `outputs`: the interpreter's
  DeputyRunCopyIn copy_in;    // not called for absent inputs; NULL: inputs
  DeputyRunCopyOut copy_out;  // not called for absent outputs; NULL: outputs
  DeputyRunDone done;         // NULL: none
} DeputyRunRequest;

// Starts an inference of the first subgraph and returns before it has ended. The interpreter must
// be ready for TfLiteInterpreterInvoke. Its graph may have any mixture of CPU and delegate nodes.
//
// Ownership: `request` and its arrays are copied; the memory that they point to is borrowed until
// the run has ended. `run` receives an object for DeputyRunDelete; NULL: none is created. On
// failure `run` is set to NULL and `done` is not called.
//
// Threads: any thread may call this function while a run is in flight. Otherwise the call counts as
// a call on the interpreter, but several threads may make the first call. While a run is in
// flight, functions that would run or change the interpreter or its graph fail with kTfLiteError
// (AllocateTensors, Invoke, resizes, custom allocations, delegates, number of threads and so on);
// functions that return contents or addresses of tensors must not be called.
// TfLiteInterpreterDelete cancels the runs in flight and waits until they have ended; in a callback
// of a run it reports an error and has no effect. A process that forks cannot use the interpreter's
// runs in the child.
//
// Errors: kTfLiteError for NULL arguments, an invalid request, an interpreter that is not ready or
// runs on this thread, kDeputyMaxRuns runs in flight, and without memory or threads.
// DeputyLastError has the reason. The tensors of the interpreter keep no results of the run;
// contents of inputs are undefined afterwards, as after Invoke.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterRunAsync(TfLiteInterpreter* interpreter,
                                                       const DeputyRunRequest* request,
                                                       DeputyRun** run);

// Waits until the run has ended, at most `timeout_us` microseconds; 0 does not wait, a negative
// value has no limit. Returns true and sets `status`, unless it is NULL, if the run has ended:
// kTfLiteOk, kTfLiteCancelled, the status of TfLiteInterpreterInvoke or that of a callback. Returns
// false for NULL. Any thread, also several at once, also after TfLiteInterpreterDelete; must not be
// called with a limit other than 0 in a callback of the interpreter's runs, which it would block.
TFL_CAPI_EXPORT bool DeputyRunWait(DeputyRun* run, int64_t timeout_us, TfLiteStatus* status);

// Requests that the run ends with kTfLiteCancelled. A run that is not being copied or computed ends
// before the function returns; its callback `done` is called on this thread. A run whose inputs are
// being copied ends after that. A run that is being computed ends as by TfLiteInterpreterCancel,
// before the next node or where a node polls, or completes. kTfLiteError for NULL and for a run
// that was computed or has ended, on which the call has no effect. Any thread. The interpreter
// accepts TfLiteInterpreterCancel, too, from its first run on.
TFL_CAPI_EXPORT TfLiteStatus DeputyRunCancel(DeputyRun* run);

// Returns an eventfd that becomes readable when the run has ended, for poll and epoll. It belongs
// to the run and is closed by DeputyRunDelete, or at the end of the run if that is later. Returns a
// negative errno code if there is none (-EINVAL for NULL). Any thread.
TFL_CAPI_EXPORT int DeputyRunGetEventFd(DeputyRun* run);

// Returns a new descriptor of a sync file that is signalled when the run has ended; the caller must
// close it. Returns a negative errno code if there is none: -ENOTSUP if the kernel does not provide
// sync files to this process (they need its software timeline, sw_sync), -EINVAL for NULL. Any
// thread.
TFL_CAPI_EXPORT int DeputyRunGetSyncFile(DeputyRun* run);

// Returns the reason why the run has failed, "" if it has not ended or not failed. Valid until
// DeputyRunDelete. NULL for NULL. Any thread.
TFL_CAPI_EXPORT const char* DeputyRunGetError(const DeputyRun* run);

// Deletes the object. A run in flight goes on. No other thread may use the object. NULL is allowed.
TFL_CAPI_EXPORT void DeputyRunDelete(DeputyRun* run);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_DEPUTY_ASYNC_H_
