// SPDX-License-Identifier: Apache-2.0
//
// Runs a signature asynchronously. This needs a delegate that has claimed the whole subgraph as one
// node and has an asynchronous kernel (async_kernel.h).
//
// Typical use: get the runner; register buffers; reconcile and set attributes; prepare; then for
// each execution create a task (async_task.h), set its buffers, and call InvokeAsync, Wait and
// Finish. The delegate reads and writes the registered buffers; tensors have only types and shapes.
//
// All functions accept NULL. InvokeAsync and Wait may be called by several threads for different
// tasks, and Wait for the same task. All other functions, and those that change the interpreter,
// must be called by one thread at a time.
#ifndef DEPUTY_C_API_INCLUDE_ASYNC_SIGNATURE_RUNNER_H_
#define DEPUTY_C_API_INCLUDE_ASYNC_SIGNATURE_RUNNER_H_

#include <stdbool.h>
#include <stdint.h>

#include "async_types.h"
#include "c_api.h"
#include "c_api_types.h"
#include "common.h"
#include "interop_attribute_map.h"
#include "interop_types.h"

#ifdef __cplusplus
extern "C" {
#endif

// Returns a runner of the signature; delete it before the interpreter. NULL for an unknown key, and
// if out of memory. A NULL key selects the signature of the first subgraph; if the model has no
// signatures, the first subgraph with the names of its tensors.
//
// If the subgraph is not one delegate's node, or the delegate has no asynchronous kernel, this is
// reported and the runner is returned; its functions then fail. Runners of one signature share
// buffers, attributes and tasks. If delegates are applied or removed later, the functions fail
// until this function is called again; it uses the new kernel, to which no buffer is registered.
TFL_CAPI_EXPORT TfLiteAsyncSignatureRunner* TfLiteInterpreterGetAsyncSignatureRunner(
    const TfLiteInterpreter* interpreter, const char* signature_key);

// ---- Buffers ------------------------------------------------------------------------------------

// Registers a buffer with the delegate and stores its new handle in `*handle`. kTfLiteError if an
// argument is NULL; the delegate's status if it refuses the buffer.
TFL_CAPI_EXPORT TfLiteStatus TfLiteAsyncSignatureRunnerRegisterBuffer(
    TfLiteAsyncSignatureRunner* async_signature_runner, TfLiteIoType io_type,
    const TfLiteBackendBuffer* buffer, const TfLiteAttributeMap* attrs, TfLiteBufferHandle* handle);

// Registers the part of the registered buffer `buffer_pool` that `attrs` describes, and stores its
// new handle in `*handle`.
TFL_CAPI_EXPORT TfLiteStatus TfLiteAsyncSignatureRunnerRegisterBufferSlice(
    TfLiteAsyncSignatureRunner* async_signature_runner, TfLiteBufferHandle buffer_pool,
    const TfLiteAttributeMap* attrs, TfLiteBufferHandle* handle);

// Unregisters a buffer or a slice; slices come before their buffer. The delegate returns an error
// for an unknown handle.
TFL_CAPI_EXPORT TfLiteStatus TfLiteAsyncSignatureRunnerUnregisterBuffer(
    TfLiteAsyncSignatureRunner* async_signature_runner, TfLiteBufferHandle handle);

// ---- Attributes ---------------------------------------------------------------------------------

// The following two functions return the names of the types of buffers and of synchronisation
// objects that the delegate supports. The array lives as long as the interpreter. kTfLiteError for
// an `io_type` that is neither input nor output.
TFL_CAPI_EXPORT TfLiteStatus TfLiteAsyncSignatureRunnerGetSupportedBufferTypes(
    const TfLiteAsyncSignatureRunner* async_signature_runner, TfLiteIoType io_type,
    const char* const** types, size_t* num_types);
TFL_CAPI_EXPORT TfLiteStatus TfLiteAsyncSignatureRunnerGetSupportedSynchronizationTypes(
    const TfLiteAsyncSignatureRunner* async_signature_runner, TfLiteIoType io_type,
    const char* const** types, size_t* num_types);

// Queries the delegate for the attributes of the tensor's buffer or synchronisation object that
// satisfy both sides. They are written to `merged`, contradictions to `conflict`, which may be
// NULL. Returns true if there is no contradiction.
TFL_CAPI_EXPORT bool TfLiteAsyncSignatureRunnerReconcileRestrictions(
    const TfLiteAsyncSignatureRunner* async_signature_runner, TfLiteIoType io_type,
    const char* name, const TfLiteAttributeMap* user_provided_attributes,
    TfLiteAttributeMap* merged, TfLiteAttributeMap* conflict);
TFL_CAPI_EXPORT bool TfLiteAsyncSignatureRunnerReconcileRestrictionsByIndex(
    const TfLiteAsyncSignatureRunner* async_signature_runner, int tensor_index,
    const TfLiteAttributeMap* user_provided_attributes, TfLiteAttributeMap* merged,
    TfLiteAttributeMap* conflict);

// Sets the attributes of the tensor's buffer or synchronisation object. Prepare must follow.
TFL_CAPI_EXPORT TfLiteStatus TfLiteAsyncSignatureRunnerSetAttributes(
    TfLiteAsyncSignatureRunner* async_signature_runner, TfLiteIoType io_type, const char* name,
    const TfLiteAttributeMap* attrs);
TFL_CAPI_EXPORT TfLiteStatus
TfLiteAsyncSignatureRunnerSetAttributesByIndex(TfLiteAsyncSignatureRunner* async_signature_runner,
                                               int tensor_index, const TfLiteAttributeMap* attrs);

// Prepares the delegate for the attributes that were set.
TFL_CAPI_EXPORT TfLiteStatus
TfLiteAsyncSignatureRunnerPrepareBackends(TfLiteAsyncSignatureRunner* async_signature_runner);

// ---- Execution ----------------------------------------------------------------------------------

// Creates a task, which Finish deletes. It must not be used after the interpreter was deleted. NULL
// if out of memory.
TFL_CAPI_EXPORT TfLiteExecutionTask* TfLiteAsyncSignatureRunnerCreateTask(
    TfLiteAsyncSignatureRunner* async_signature_runner);

// Starts an execution. kTfLiteError after a report if the task was started and not waited for, also
// if starting it failed.
TFL_CAPI_EXPORT TfLiteStatus TfLiteAsyncSignatureRunnerInvokeAsync(
    TfLiteAsyncSignatureRunner* async_signature_runner, TfLiteExecutionTask* task);

// Waits for the task's execution and returns its result. Returns the task's latest status at once
// if the task was not started.
TFL_CAPI_EXPORT TfLiteStatus TfLiteAsyncSignatureRunnerWait(
    TfLiteAsyncSignatureRunner* async_signature_runner, TfLiteExecutionTask* task);

// Waits for the task's execution, releases the delegate's resources for it and deletes the task,
// also if an error is returned. No other call may use the task at the same time. A task of another
// signature or interpreter is refused and not deleted.
TFL_CAPI_EXPORT TfLiteStatus TfLiteAsyncSignatureRunnerFinish(
    TfLiteAsyncSignatureRunner* async_signature_runner, TfLiteExecutionTask* task);

// ---- Tensors ------------------------------------------------------------------------------------

// Returns the number of inputs of the signature's subgraph.
TFL_CAPI_EXPORT size_t
TfLiteAsyncSignatureRunnerGetInputCount(const TfLiteAsyncSignatureRunner* async_signature_runner);

// Returns the name of an input, in bytewise order; NULL if the index is out of range. Valid as long
// as the interpreter.
TFL_CAPI_EXPORT const char* TfLiteAsyncSignatureRunnerGetInputName(
    const TfLiteAsyncSignatureRunner* async_signature_runner, int32_t input_index);

// Returns the number of outputs of the signature's subgraph.
TFL_CAPI_EXPORT size_t
TfLiteAsyncSignatureRunnerGetOutputCount(const TfLiteAsyncSignatureRunner* async_signature_runner);

// Returns the name of an output, in bytewise order; NULL if the index is out of range. Valid as
// long as the interpreter.
TFL_CAPI_EXPORT const char* TfLiteAsyncSignatureRunnerGetOutputName(
    const TfLiteAsyncSignatureRunner* async_signature_runner, int32_t output_index);

// Returns an input by its name, for its type and shape; NULL after a report if there is none.
TFL_CAPI_EXPORT const TfLiteOpaqueTensor* TfLiteAsyncSignatureRunnerGetInputTensor(
    TfLiteAsyncSignatureRunner* async_signature_runner, const char* input_name);

// Returns an output by its name, for its type and shape; NULL after a report if there is none.
TFL_CAPI_EXPORT const TfLiteOpaqueTensor* TfLiteAsyncSignatureRunnerGetOutputTensor(
    const TfLiteAsyncSignatureRunner* async_signature_runner, const char* output_name);

// Deletes the runner. Tasks and buffers stay: a new runner of the signature has them, too.
TFL_CAPI_EXPORT void TfLiteAsyncSignatureRunnerDelete(TfLiteAsyncSignatureRunner* signature_runner);

// The following two functions return the indices of the subgraph's inputs and outputs; the counts
// are those of GetInputCount and GetOutputCount.
TFL_CAPI_EXPORT const int* TfLiteAsyncSignatureRunnerInputTensorIndices(
    const TfLiteAsyncSignatureRunner* async_signature_runner);
TFL_CAPI_EXPORT const int* TfLiteAsyncSignatureRunnerOutputTensorIndices(
    const TfLiteAsyncSignatureRunner* async_signature_runner);

// Returns a tensor of the subgraph, for its type and shape; NULL if the index is out of range.
TFL_CAPI_EXPORT const TfLiteOpaqueTensor* TfLiteAsyncSignatureRunnerGetTensor(
    const TfLiteAsyncSignatureRunner* async_signature_runner, int index);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_ASYNC_SIGNATURE_RUNNER_H_
