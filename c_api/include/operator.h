// SPDX-License-Identifier: Apache-2.0
//
// Operator objects: the way to hand callbacks to the runtime without depending on the layout of
// TfLiteRegistration.
//
// An operator is set up by one thread and then only read; the runtime never changes one that the
// client made, except that it becomes the runtime's own when an opaque delegate passes it to
// TfLiteOpaqueContextReplaceNodeSubsetsWithDelegateKernels. None of the setters can fail; those
// that return a status return kTfLiteOk. A callback "with data" gets the operator's user data first
// and wins over the plain one.
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

// Makes an operator without callbacks. `custom_name` is borrowed and must outlive it; it is
// required for kTfLiteBuiltinCustom and for a delegate's kernel (kTfLiteBuiltinDelegate), and NULL
// for builtin operators. `user_data` is stored and handed to the callbacks with data. The caller
// owns the result; it must live until every interpreter that knows it is gone. NULL if memory is
// short.
TFL_CAPI_EXPORT TfLiteOperator* TfLiteOperatorCreate(TfLiteBuiltinOperator builtin_code,
                                                     const char* custom_name, int version,
                                                     void* user_data);

// Frees an operator. NULL is fine. Not for operators that were given to an opaque delegate's
// replacement: those belong to the runtime.
TFL_CAPI_EXPORT void TfLiteOperatorDelete(TfLiteOperator* registration);

// The builtin code it was made with; kTfLiteBuiltinCustom for NULL.
TFL_CAPI_EXPORT TfLiteBuiltinOperator
TfLiteOperatorGetBuiltInCode(const TfLiteOperator* registration);

// The name it was made with, borrowed; NULL for builtin operators and for NULL.
TFL_CAPI_EXPORT const char* TfLiteOperatorGetCustomName(const TfLiteOperator* registration);

// The version it was made with; -1 for NULL.
TFL_CAPI_EXPORT int TfLiteOperatorGetVersion(const TfLiteOperator* registration);

// The user data it was made with; NULL for NULL.
TFL_CAPI_EXPORT void* TfLiteOperatorGetUserData(const TfLiteOperator* registration);

// Sets the function that is called once per node when a model is loaded. It gets the custom options
// (or the parameter struct, with length 0, for builtin operators); what it returns becomes the
// node's user data. TfLiteKernelInitFailed() reports failure.
TFL_CAPI_EXPORT void TfLiteOperatorSetInit(TfLiteOperator* registration,
                                           void* (*init)(TfLiteOpaqueContext* context,
                                                         const char* buffer, size_t length));

// The same with the operator's user data first.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOperatorSetInitWithData(
    TfLiteOperator* registration, void* (*init)(void* user_data, TfLiteOpaqueContext* context,
                                                const char* buffer, size_t length));

// Sets the function that frees what init returned; it is called only if that was not NULL.
TFL_CAPI_EXPORT void TfLiteOperatorSetFree(TfLiteOperator* registration,
                                           void (*free)(TfLiteOpaqueContext* context, void* data));

// The same with the operator's user data first.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOperatorSetFreeWithData(
    TfLiteOperator* registration,
    void (*free)(void* user_data, TfLiteOpaqueContext* context, void* data));

// Sets the function that checks a node and sets its output shapes after each change of input
// shapes. Without one there is nothing to prepare.
TFL_CAPI_EXPORT void TfLiteOperatorSetPrepare(TfLiteOperator* registration,
                                              TfLiteStatus (*prepare)(TfLiteOpaqueContext* context,
                                                                      TfLiteOpaqueNode* node));

// The same with the operator's user data first.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOperatorSetPrepareWithData(
    TfLiteOperator* registration,
    TfLiteStatus (*prepare)(void* user_data, TfLiteOpaqueContext* context, TfLiteOpaqueNode* node));

// Sets the function that computes the outputs. Without one, Invoke fails.
TFL_CAPI_EXPORT void TfLiteOperatorSetInvoke(TfLiteOperator* registration,
                                             TfLiteStatus (*invoke)(TfLiteOpaqueContext* context,
                                                                    TfLiteOpaqueNode* node));

// The same with the operator's user data first.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOperatorSetInvokeWithData(
    TfLiteOperator* registration,
    TfLiteStatus (*invoke)(void* user_data, TfLiteOpaqueContext* context, TfLiteOpaqueNode* node));

// Sets the function that returns the asynchronous kernel of a node. Only the asynchronous API asks.
TFL_CAPI_EXPORT void TfLiteOperatorSetAsyncKernel(
    TfLiteOperator* registration,
    struct TfLiteAsyncKernel* (*async_kernel)(TfLiteOpaqueContext* context,
                                              TfLiteOpaqueNode* node));

// The same with the operator's user data first.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOperatorSetAsyncKernelWithData(
    TfLiteOperator* registration,
    struct TfLiteAsyncKernel* (*async_kernel)(void* user_data, TfLiteOpaqueContext* context,
                                              TfLiteOpaqueNode* node));

// Stores TfLiteInPlaceOp bits.
TFL_CAPI_EXPORT void TfLiteOperatorSetInplaceOperator(TfLiteOperator* registration,
                                                      uint64_t inplace_operator);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_OPERATOR_H_
