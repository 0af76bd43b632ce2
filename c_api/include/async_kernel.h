// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous kernels: the functions that a delegate provides so that applications can run its
// node without blocking (async_signature_runner.h). The delegate creates the kernel, sets its
// functions and returns it from the function that it has set with TfLiteOperatorSetAsyncKernel or
// TfLiteOperatorSetAsyncKernelWithData.
//
// A kernel must not change while a signature runner uses it. All setters accept a NULL kernel,
// which has no effect. A call of a function that was not set fails after a report. An exception
// that a function throws is reported and becomes a failure.
#ifndef DEPUTY_C_API_INCLUDE_ASYNC_KERNEL_H_
#define DEPUTY_C_API_INCLUDE_ASYNC_KERNEL_H_

#include <stdbool.h>
#include <stddef.h>

#include "async_types.h"
#include "c_api_types.h"
#include "common.h"
#include "interop_attribute_map.h"
#include "interop_types.h"

#ifdef __cplusplus
extern "C" {
#endif

// Creates a kernel without functions; the caller owns it. `kernel_data` is borrowed. NULL if out of
// memory.
TFL_CAPI_EXPORT TfLiteAsyncKernel* TfLiteAsyncKernelCreate(void* kernel_data);

// Returns the data that the kernel was created with; NULL for a NULL kernel.
TFL_CAPI_EXPORT void* TfLiteAsyncKernelGetKernelData(const TfLiteAsyncKernel* async_kernel);

// ---- Buffers ------------------------------------------------------------------------------------

// `register_buffer` associates a buffer with `handle`, which the runtime has chosen. `buffer` and
// `attrs` are not NULL, and are valid only during the call. `io_type` is kTfLiteIoTypeOutput for a
// buffer that is written. The kernel checks the attributes, above all the name of the buffer's
// type, and does not own the buffer.
TFL_CAPI_EXPORT void TfLiteAsyncKernelSetRegisterBuffer(
    TfLiteAsyncKernel* async_kernel,
    TfLiteStatus (*register_buffer)(TfLiteAsyncKernel* async_kernel, TfLiteOpaqueContext* context,
                                    TfLiteIoType io_type, const TfLiteBackendBuffer* buffer,
                                    const TfLiteAttributeMap* attrs, TfLiteBufferHandle handle));

// `register_buffer_slice` associates a part of the registered buffer `buffer_pool` with `handle`.
// `attrs` has the part's offset and size, which the kernel checks. The kernel refuses a slice of a
// slice.
TFL_CAPI_EXPORT void TfLiteAsyncKernelSetRegisterBufferSlice(
    TfLiteAsyncKernel* async_kernel,
    TfLiteStatus (*register_buffer_slice)(TfLiteAsyncKernel* async_kernel,
                                          TfLiteOpaqueContext* context,
                                          TfLiteBufferHandle buffer_pool,
                                          const TfLiteAttributeMap* attrs,
                                          TfLiteBufferHandle handle));

// `unregister_buffer` forgets a buffer or a slice. It returns an error for an unknown handle.
TFL_CAPI_EXPORT void TfLiteAsyncKernelSetUnregisterBuffer(
    TfLiteAsyncKernel* async_kernel,
    TfLiteStatus (*unregister_buffer)(TfLiteAsyncKernel* async_kernel, TfLiteOpaqueContext* context,
                                      TfLiteBufferHandle handle));

// ---- Attributes ---------------------------------------------------------------------------------

// The following two functions return the names of the supported types of buffers and of
// synchronisation objects. The strings must live as long as the delegate. The runtime calls them
// when it creates a signature runner.
TFL_CAPI_EXPORT void TfLiteAsyncKernelSetSupportedBufferTypes(
    TfLiteAsyncKernel* async_kernel,
    void (*supported_buffer_types)(const TfLiteAsyncKernel* async_kernel, TfLiteIoType io_type,
                                   const char* const** types, size_t* n_types));
TFL_CAPI_EXPORT void TfLiteAsyncKernelSetSupportedSynchronizations(
    TfLiteAsyncKernel* async_kernel,
    void (*supported_synchronizations)(const TfLiteAsyncKernel* async_kernel, TfLiteIoType io_type,
                                       const char* const** types, size_t* n_types));

// `reconcile_restrictions` writes the attributes of a tensor's buffer or synchronisation object
// that satisfy both sides to `merged`, and those that contradict each other to `conflict`, which
// may be NULL. It returns true if there is no conflict.
TFL_CAPI_EXPORT void TfLiteAsyncKernelSetReconcileRestrictions(
    TfLiteAsyncKernel* async_kernel,
    bool (*reconcile_restrictions)(const TfLiteAsyncKernel* async_kernel,
                                   const TfLiteOpaqueContext* context, const TfLiteOpaqueNode* node,
                                   int tensor_index,
                                   const TfLiteAttributeMap* user_provided_attributes,
                                   TfLiteAttributeMap* merged, TfLiteAttributeMap* conflict));

// `set_attributes` sets the attributes of a tensor's buffer or synchronisation object. It returns
// an error if they do not cover the kernel's requirements.
TFL_CAPI_EXPORT void TfLiteAsyncKernelSetSetAttributes(
    TfLiteAsyncKernel* async_kernel,
    TfLiteStatus (*set_attributes)(TfLiteAsyncKernel* async_kernel, TfLiteOpaqueContext* context,
                                   TfLiteOpaqueNode* node, int tensor_index,
                                   const TfLiteAttributeMap* attrs));

// The following two functions set and get the attributes of a registered buffer. No function of the
// C API calls them.
TFL_CAPI_EXPORT void TfLiteAsyncKernelSetSetBufferAttributes(
    TfLiteAsyncKernel* async_kernel,
    TfLiteStatus (*set_buffer_attributes)(TfLiteAsyncKernel* async_kernel,
                                          const TfLiteBackendBuffer* buffer,
                                          const TfLiteAttributeMap* attrs));
TFL_CAPI_EXPORT void TfLiteAsyncKernelSetGetBufferAttributes(
    TfLiteAsyncKernel* async_kernel,
    TfLiteStatus (*get_buffer_attributes)(TfLiteAsyncKernel* async_kernel,
                                          const TfLiteBackendBuffer* buffer,
                                          TfLiteAttributeMap* attrs));

// `prepare` prepares the kernel for the attributes that were set.
TFL_CAPI_EXPORT void TfLiteAsyncKernelSetPrepare(
    TfLiteAsyncKernel* async_kernel,
    TfLiteStatus (*prepare)(TfLiteAsyncKernel* async_kernel, TfLiteOpaqueContext* context,
                            TfLiteOpaqueNode* node));

// ---- Execution ----------------------------------------------------------------------------------

// `eval` starts an execution with the buffers of `task` and returns without waiting. The task has
// no other execution that has not been waited for.
//
// Inputs: a NULL synchronisation object, or one of the type kTfLiteSyncTypeNoSyncObj, means that
// the data is ready; otherwise the kernel waits for it and closes it. Outputs: if there is an
// object of another type, the kernel stores in it what the application waits for and closes.
TFL_CAPI_EXPORT void TfLiteAsyncKernelSetEval(TfLiteAsyncKernel* async_kernel,
                                              TfLiteStatus (*eval)(TfLiteAsyncKernel* async_kernel,
                                                                   TfLiteOpaqueContext* context,
                                                                   TfLiteOpaqueNode* node,
                                                                   TfLiteExecutionTask* task));

// `wait` blocks until the task's execution has ended and returns its result. Several threads may
// wait for one task; all calls return the same result until the next execution.
TFL_CAPI_EXPORT void TfLiteAsyncKernelSetWait(TfLiteAsyncKernel* async_kernel,
                                              TfLiteStatus (*wait)(TfLiteAsyncKernel* async_kernel,
                                                                   TfLiteOpaqueContext* context,
                                                                   TfLiteExecutionTask* task));

// `finish` releases the kernel's resources for the task, also if it returns an error. It waits for
// an execution that has not ended. Called once per task.
TFL_CAPI_EXPORT void TfLiteAsyncKernelSetFinish(
    TfLiteAsyncKernel* async_kernel,
    TfLiteStatus (*finish)(TfLiteAsyncKernel* async_kernel, TfLiteOpaqueContext* context,
                           TfLiteExecutionTask* task));

// Deletes a kernel, not its data.
TFL_CAPI_EXPORT void TfLiteAsyncKernelDelete(TfLiteAsyncKernel* kernel);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_ASYNC_KERNEL_H_
