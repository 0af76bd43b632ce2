// SPDX-License-Identifier: Apache-2.0
//
// Tasks: one asynchronous execution of a signature, with the buffers and synchronisation objects of
// its tensors. TfLiteAsyncSignatureRunnerCreateTask creates a task, and
// TfLiteAsyncSignatureRunnerFinish deletes it.
//
// A task must be used by one thread at a time, except for its status. All functions accept NULL.
#ifndef DEPUTY_C_API_INCLUDE_ASYNC_TASK_H_
#define DEPUTY_C_API_INCLUDE_ASYNC_TASK_H_

#include <stdint.h>

#include "async_types.h"
#include "c_api_types.h"
#include "common.h"
#include "interop_types.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Buffers ------------------------------------------------------------------------------------

// Sets the buffer of the input or output with this name. An `io_type` other than
// kTfLiteIoTypeInput means an output. kTfLiteError for an unknown or NULL name.
TFL_CAPI_EXPORT TfLiteStatus TfLiteExecutionTaskSetBuffer(TfLiteExecutionTask* task,
                                                          TfLiteIoType io_type,
                                                          const char* tensor_signature_name,
                                                          TfLiteBufferHandle handle);

// Sets the buffer of a tensor by its index, which is not checked.
TFL_CAPI_EXPORT TfLiteStatus TfLiteExecutionTaskSetBufferByIndex(TfLiteExecutionTask* task,
                                                                 int tensor_index,
                                                                 TfLiteBufferHandle handle);

// Returns the buffer of the input or output with this name; kTfLiteNullBufferHandle if there is
// none.
TFL_CAPI_EXPORT TfLiteBufferHandle TfLiteExecutionTaskGetBufferByName(
    const TfLiteExecutionTask* task, TfLiteIoType io_type, const char* tensor_signature_name);

// Returns the buffer of a tensor by its index; kTfLiteNullBufferHandle if there is none.
TFL_CAPI_EXPORT TfLiteBufferHandle
TfLiteExecutionTaskGetBufferByIndex(const TfLiteExecutionTask* task, int tensor_index);

// ---- Synchronisation objects --------------------------------------------------------------------

// Sets the synchronisation object of the input or output with this name; NULL: none. The object is
// borrowed: it must be valid until the task's execution has ended. kTfLiteError for an unknown or
// NULL name.
TFL_CAPI_EXPORT TfLiteStatus TfLiteExecutionTaskSetSync(TfLiteExecutionTask* task,
                                                        TfLiteIoType io_type,
                                                        const char* tensor_signature_name,
                                                        TfLiteSynchronization* sync);

// Sets the synchronisation object of a tensor by its index, which is not checked.
TFL_CAPI_EXPORT TfLiteStatus TfLiteExecutionTaskSetSyncByIndex(TfLiteExecutionTask* task,
                                                               int tensor_index,
                                                               TfLiteSynchronization* sync);

// Returns the synchronisation object of the input or output with this name; NULL if there is none.
TFL_CAPI_EXPORT TfLiteSynchronization* TfLiteExecutionTaskGetSyncByName(
    const TfLiteExecutionTask* task, TfLiteIoType io_type, const char* tensor_signature_name);

// Returns the synchronisation object of a tensor by its index; NULL if there is none.
TFL_CAPI_EXPORT TfLiteSynchronization* TfLiteExecutionTaskGetSyncByIndex(
    const TfLiteExecutionTask* task, int tensor_index);

// ---- Data and status ----------------------------------------------------------------------------

// The following two functions get and set a pointer of the delegate. A task has one pointer,
// whatever `kernel` is.
TFL_CAPI_EXPORT void* TfLiteExecutionTaskGetDelegateExecutionData(const TfLiteExecutionTask* task,
                                                                  TfLiteAsyncKernel* kernel);
TFL_CAPI_EXPORT void TfLiteExecutionTaskSetDelegateExecutionData(TfLiteExecutionTask* task,
                                                                 TfLiteAsyncKernel* kernel,
                                                                 void* data);

// Returns the task's latest status, kTfLiteOk at first; kTfLiteError for NULL. Thread-safe.
TFL_CAPI_EXPORT TfLiteStatus TfLiteExecutionTaskGetStatus(const TfLiteExecutionTask* task);

// Sets the task's status. Thread-safe.
TFL_CAPI_EXPORT void TfLiteExecutionTaskSetStatus(TfLiteExecutionTask* task, TfLiteStatus status);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_ASYNC_TASK_H_
