// SPDX-License-Identifier: Apache-2.0
//
// The second half of the C API: variables, operator resolvers, delegates on a living interpreter,
// buffer handles and custom allocations.
//
// Upstream calls these experimental, yet programs depend on them, so here they are as stable as the
// rest. Rules on threads, NULL and failure are those of c_api.h.
#ifndef DEPUTY_C_API_INCLUDE_C_API_EXPERIMENTAL_H_
#define DEPUTY_C_API_INCLUDE_C_API_EXPERIMENTAL_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "builtin_ops.h"
#include "c_api.h"
#include "common.h"
#include "operator.h"

#ifdef __cplusplus
extern "C" {
#endif

struct TfLiteTelemetryProfilerStruct;

// ------------------------------------------------------------------------------------------------
// Variables
// ------------------------------------------------------------------------------------------------

// Sets the variables of all subgraphs to zero, int8 ones to their zero point. kTfLiteError if one
// has no memory yet; one with a custom allocation is left alone.
TFL_CAPI_EXPORT TfLiteStatus TfLiteInterpreterResetVariableTensors(TfLiteInterpreter* interpreter);

// Number of variables of the main subgraph; 0 for NULL.
TFL_CAPI_EXPORT int32_t
TfLiteInterpreterGetVariableTensorCount(const TfLiteInterpreter* interpreter);

// The n-th variable, owned by the interpreter. NULL if out of range.
TFL_CAPI_EXPORT TfLiteTensor* TfLiteInterpreterGetVariableTensor(
    const TfLiteInterpreter* interpreter, int32_t variable_index);

// ------------------------------------------------------------------------------------------------
// Operators
// ------------------------------------------------------------------------------------------------

// Adds or replaces a builtin operator for each version from min to max; it wins over the stock one.
// The struct is copied, with code, version and a NULL custom name forced; what it points to must
// outlive the interpreter. A NULL registration is ignored.
TFL_CAPI_EXPORT void TfLiteInterpreterOptionsAddBuiltinOp(TfLiteInterpreterOptions* options,
                                                          TfLiteBuiltinOperator op,
                                                          const TfLiteRegistration* registration,
                                                          int32_t min_version, int32_t max_version);

// Adds or replaces a custom operator for each version from min to max. The struct is copied, with
// name, version and kTfLiteBuiltinCustom forced; `name` is borrowed and must outlive the
// interpreter. A NULL name or registration is ignored.
TFL_CAPI_EXPORT void TfLiteInterpreterOptionsAddCustomOp(TfLiteInterpreterOptions* options,
                                                         const char* name,
                                                         const TfLiteRegistration* registration,
                                                         int32_t min_version, int32_t max_version);

// The six resolver setters. Each replaces whatever a setter before it had set. The callbacks are
// asked while an interpreter is made, on the same thread, instead of the stock operators and those
// added through the options; NULL means "not found". If all callbacks are NULL, the stock operators
// are back. What a found operator points to must outlive the interpreter; `op_resolver_user_data`
// is handed to each callback.

// Callbacks that return operator objects. One without a single function counts as not found.
TFL_CAPI_EXPORT void TfLiteInterpreterOptionsSetOpResolverExternal(
    TfLiteInterpreterOptions* options,
    const TfLiteOperator* (*find_builtin_op)(void* user_data, int op, int version),
    const TfLiteOperator* (*find_custom_op)(void* user_data, const char* custom_op, int version),
    void* op_resolver_user_data);

// The same; where those find nothing, the callbacks that return registrations are asked.
TFL_CAPI_EXPORT void TfLiteInterpreterOptionsSetOpResolverExternalWithFallback(
    TfLiteInterpreterOptions* options,
    const TfLiteOperator* (*find_builtin_op_external)(void* user_data, int op, int version),
    const TfLiteOperator* (*find_custom_op_external)(void* user_data, const char* custom_op,
                                                     int version),
    const TfLiteRegistration* (*find_builtin_op)(void* user_data, TfLiteBuiltinOperator op,
                                                 int version),
    const TfLiteRegistration* (*find_custom_op)(void* user_data, const char* op, int version),
    void* op_resolver_user_data);

// Callbacks that return registrations of today's size, which are copied.
TFL_CAPI_EXPORT void TfLiteInterpreterOptionsSetOpResolver(
    TfLiteInterpreterOptions* options,
    const TfLiteRegistration* (*find_builtin_op)(void* user_data, TfLiteBuiltinOperator op,
                                                 int version),
    const TfLiteRegistration* (*find_custom_op)(void* user_data, const char* op, int version),
    void* op_resolver_user_data);

// Callbacks that return registrations of 80 bytes; their operator object is ignored.
TFL_CAPI_EXPORT void TfLiteInterpreterOptionsSetOpResolverV3(
    TfLiteInterpreterOptions* options,
    const TfLiteRegistration_V3* (*find_builtin_op_v3)(void* user_data, TfLiteBuiltinOperator op,
                                                       int version),
    const TfLiteRegistration_V3* (*find_custom_op_v3)(void* user_data, const char* op, int version),
    void* op_resolver_user_data);

// Callbacks that return registrations of 72 bytes; their operator object is ignored.
TFL_CAPI_EXPORT void TfLiteInterpreterOptionsSetOpResolverV2(
    TfLiteInterpreterOptions* options,
    const TfLiteRegistration_V2* (*find_builtin_op_v2)(void* user_data, TfLiteBuiltinOperator op,
                                                       int version),
    const TfLiteRegistration_V2* (*find_custom_op_v2)(void* user_data, const char* op, int version),
    void* op_resolver_user_data);

// Callbacks that return registrations of 64 bytes.
TFL_CAPI_EXPORT void TfLiteInterpreterOptionsSetOpResolverV1(
    TfLiteInterpreterOptions* options,
    const TfLiteRegistration_V1* (*find_builtin_op_v1)(void* user_data, TfLiteBuiltinOperator op,
                                                       int version),
    const TfLiteRegistration_V1* (*find_custom_op_v1)(void* user_data, const char* op, int version),
    void* op_resolver_user_data);

// As TfLiteInterpreterCreate, but without the stock operators: only those of the options exist.
TFL_CAPI_EXPORT TfLiteInterpreter* TfLiteInterpreterCreateWithSelectedOps(
    const TfLiteModel* model, const TfLiteInterpreterOptions* options);

// ------------------------------------------------------------------------------------------------
// Delegates and the memory of tensors
// ------------------------------------------------------------------------------------------------

// Accepted and ignored: there is no NNAPI here.
TFL_CAPI_EXPORT void TfLiteInterpreterOptionsSetUseNNAPI(TfLiteInterpreterOptions* options,
                                                         bool enable);

// If set, an Invoke that fails with delegates applied removes all of them and runs again on the
// CPU. When that works, the outputs are right and the call returns kTfLiteDelegateError once.
TFL_CAPI_EXPORT void TfLiteInterpreterOptionsSetEnableDelegateFallback(
    TfLiteInterpreterOptions* options, bool enable);

// Applies a delegate to a living interpreter. The delegate is borrowed and must outlive it.
// kTfLiteDelegateError if the delegate is NULL or fails, with the graph put back to what it was
// without delegates; kTfLiteApplicationError if it does not fit this graph.
TFL_CAPI_EXPORT TfLiteStatus TfLiteInterpreterModifyGraphWithDelegate(
    const TfLiteInterpreter* interpreter, TfLiteDelegate* delegate);

// Tensor index of the n-th input; -1 if out of range.
TFL_CAPI_EXPORT int32_t TfLiteInterpreterGetInputTensorIndex(const TfLiteInterpreter* interpreter,
                                                             int32_t input_index);

// Tensor index of the n-th output; -1 if out of range.
TFL_CAPI_EXPORT int32_t TfLiteInterpreterGetOutputTensorIndex(const TfLiteInterpreter* interpreter,
                                                              int32_t output_index);

// Lends memory to a tensor of the main subgraph. The struct is copied, the memory stays the
// client's and must hold until the interpreter is gone or got other memory. It must be aligned to
// 64 bytes, unless `flags` (TfLiteCustomAllocationFlags) says that this is not checked; its size is
// checked by the AllocateTensors that must follow. kTfLiteError for a tensor that is a constant or
// has memory of its own.
TFL_CAPI_EXPORT TfLiteStatus TfLiteInterpreterSetCustomAllocationForTensor(
    TfLiteInterpreter* interpreter, int tensor_index, const TfLiteCustomAllocation* allocation,
    int64_t flags);

// Attaches a delegate's buffer to a tensor of any subgraph, and releases the one it had.
// kTfLiteError, with nothing changed, if the tensor is NULL or none of the interpreter's, belongs
// to another delegate, or its old buffer cannot be released. The stale bit is not touched.
TFL_CAPI_EXPORT TfLiteStatus TfLiteInterpreterSetBufferHandle(TfLiteInterpreter* interpreter,
                                                              TfLiteTensor* tensor,
                                                              TfLiteBufferHandle buffer_handle,
                                                              TfLiteOpaqueDelegate* delegate);

// The buffer of a tensor (-1 if none) and its delegate (NULL if none). kTfLiteError if the index is
// out of range.
TFL_CAPI_EXPORT TfLiteStatus TfLiteInterpreterGetBufferHandle(TfLiteInterpreter* interpreter,
                                                              int tensor_index,
                                                              TfLiteBufferHandle* buffer_handle,
                                                              TfLiteOpaqueDelegate** delegate);

// True: after Invoke, outputs may stay in their delegate's buffers, and the client fetches them
// with EnsureTensorDataIsReadable. False, the default: they are copied to CPU memory. Signature
// runners always copy.
TFL_CAPI_EXPORT void TfLiteSetAllowBufferHandleOutput(const TfLiteInterpreter* interpreter,
                                                      bool allow_buffer_handle_output);

// Makes a running Invoke or AllocateTensors of the signature stop; as TfLiteInterpreterCancel.
TFL_CAPI_EXPORT TfLiteStatus TfLiteSignatureRunnerCancel(TfLiteSignatureRunner* signature_runner);

// Stores a set of telemetry callbacks, which is borrowed and must outlive the interpreter; see
// telemetry_profiler.h. NULL removes it.
TFL_CAPI_EXPORT void TfLiteInterpreterOptionsSetTelemetryProfiler(
    TfLiteInterpreterOptions* options, struct TfLiteTelemetryProfilerStruct* profiler);

// Copies a tensor from its delegate's buffer to CPU memory if that is older. The status of the
// copy; kTfLiteError if the index is out of range.
TFL_CAPI_EXPORT TfLiteStatus
TfLiteInterpreterEnsureTensorDataIsReadable(TfLiteInterpreter* interpreter, int tensor_index);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_C_API_EXPERIMENTAL_H_
