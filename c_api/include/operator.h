// SPDX-License-Identifier: Apache-2.0
//
// Operator objects: callbacks of an operator, for code that must not depend on the layout of
// TfLiteRegistration.
//
// One thread sets up an operator; afterwards it is only read. The runtime does not change a
// client's operator, but becomes the owner of one that an opaque delegate passes to
// TfLiteOpaqueContextReplaceNodeSubsetsWithDelegateKernels. The setters cannot fail for an
// operator, so those that return a status return kTfLiteOk; for NULL they have no effect and return
// kTfLiteError. A callback "with data" receives the operator's user data as its first argument and
// takes precedence over the one without.
#ifndef DEPUTY_C_API_INCLUDE_OPERATOR_H_
#define DEPUTY_C_API_INCLUDE_OPERATOR_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "builtin_ops.h"
#include "c_api_types.h"

#ifdef __cplusplus
extern "C" {
#endif

struct TfLiteAsyncKernel;

// Creates an operator without callbacks. `custom_name` is borrowed and must outlive it; it is
// required for kTfLiteBuiltinCustom and for a delegate's kernel (kTfLiteBuiltinDelegate), and NULL
// for builtin operators. `user_data` is an argument of the callbacks with data. The caller owns the
// operator and deletes it after every interpreter that uses it. NULL if out of memory.
TFL_CAPI_EXPORT TfLiteOperator* TfLiteOperatorCreate(TfLiteBuiltinOperator builtin_code,
                                                     const char* custom_name, int version,
                                                     void* user_data);

// Deletes an operator. NULL is ignored. Must not be called for an operator that an opaque delegate
// has passed to the runtime, which then owns it.
TFL_CAPI_EXPORT void TfLiteOperatorDelete(TfLiteOperator* registration);

// Builtin code of the operator; kTfLiteBuiltinCustom for NULL.
TFL_CAPI_EXPORT TfLiteBuiltinOperator
TfLiteOperatorGetBuiltInCode(const TfLiteOperator* registration);

// Custom name of the operator, borrowed; NULL for builtin operators and for NULL.
TFL_CAPI_EXPORT const char* TfLiteOperatorGetCustomName(const TfLiteOperator* registration);

// Version of the operator; -1 for NULL.
TFL_CAPI_EXPORT int TfLiteOperatorGetVersion(const TfLiteOperator* registration);

// User data of the operator; NULL for NULL.
TFL_CAPI_EXPORT void* TfLiteOperatorGetUserData(const TfLiteOperator* registration);

// Sets the function that is called once per node when the node is created. It receives the custom
// options (or the parameter struct, with length 0, for builtin operators); its result becomes the
// node's user data, and the value of TfLiteKernelInitFailed() reports a failure.
TFL_CAPI_EXPORT void TfLiteOperatorSetInit(TfLiteOperator* registration,
                                           void* (*init)(TfLiteOpaqueContext* context,
                                                         const char* buffer, size_t length));

// Sets `init` with the operator's user data as its first argument.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOperatorSetInitWithData(
    TfLiteOperator* registration, void* (*init)(void* user_data, TfLiteOpaqueContext* context,
                                                const char* buffer, size_t length));

// Sets the function that frees the result of init; it is called only if that result is not NULL.
TFL_CAPI_EXPORT void TfLiteOperatorSetFree(TfLiteOperator* registration,
                                           void (*free)(TfLiteOpaqueContext* context, void* data));

// Sets `free` with the operator's user data as its first argument.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOperatorSetFreeWithData(
    TfLiteOperator* registration,
    void (*free)(void* user_data, TfLiteOpaqueContext* context, void* data));

// Sets the function that checks a node and sets its output shapes after each change of input
// shapes. Optional.
TFL_CAPI_EXPORT void TfLiteOperatorSetPrepare(TfLiteOperator* registration,
                                              TfLiteStatus (*prepare)(TfLiteOpaqueContext* context,
                                                                      TfLiteOpaqueNode* node));

// Sets `prepare` with the operator's user data as its first argument.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOperatorSetPrepareWithData(
    TfLiteOperator* registration,
    TfLiteStatus (*prepare)(void* user_data, TfLiteOpaqueContext* context, TfLiteOpaqueNode* node));

// Sets the function that computes the outputs. Required: Invoke fails without it.
TFL_CAPI_EXPORT void TfLiteOperatorSetInvoke(TfLiteOperator* registration,
                                             TfLiteStatus (*invoke)(TfLiteOpaqueContext* context,
                                                                    TfLiteOpaqueNode* node));

// Sets `invoke` with the operator's user data as its first argument.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOperatorSetInvokeWithData(
    TfLiteOperator* registration,
    TfLiteStatus (*invoke)(void* user_data, TfLiteOpaqueContext* context, TfLiteOpaqueNode* node));

// Sets the function that returns the asynchronous kernel of a node. Used by the asynchronous API
// only.
TFL_CAPI_EXPORT void TfLiteOperatorSetAsyncKernel(
    TfLiteOperator* registration,
    struct TfLiteAsyncKernel* (*async_kernel)(TfLiteOpaqueContext* context,
                                              TfLiteOpaqueNode* node));

// Sets `async_kernel` with the operator's user data as its first argument.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOperatorSetAsyncKernelWithData(
    TfLiteOperator* registration,
    struct TfLiteAsyncKernel* (*async_kernel)(void* user_data, TfLiteOpaqueContext* context,
                                              TfLiteOpaqueNode* node));

// Sets flags of TfLiteInPlaceOp.
TFL_CAPI_EXPORT void TfLiteOperatorSetInplaceOperator(TfLiteOperator* registration,
                                                      uint64_t inplace_operator);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_OPERATOR_H_
