// SPDX-License-Identifier: Apache-2.0
//
// Further functions of the C API: variables, operator resolvers, delegates on an existing
// interpreter, buffer handles and custom allocations.
//
// Upstream calls them experimental, but programs depend on them; here they are as stable as the
// functions of c_api.h. The rules of c_api.h on threads, NULL and failures apply.
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

// Sets the variables of all subgraphs to zero, int8 ones to their zero point. kTfLiteError if a
// variable has no memory yet; variables with a custom allocation are unchanged.
TFL_CAPI_EXPORT TfLiteStatus TfLiteInterpreterResetVariableTensors(TfLiteInterpreter* interpreter);

// Number of variables of the main subgraph; 0 for NULL.
TFL_CAPI_EXPORT int32_t
TfLiteInterpreterGetVariableTensorCount(const TfLiteInterpreter* interpreter);

// Returns a variable, owned by the interpreter. NULL if the index is out of range.
TFL_CAPI_EXPORT TfLiteTensor* TfLiteInterpreterGetVariableTensor(
    const TfLiteInterpreter* interpreter, int32_t variable_index);

// ------------------------------------------------------------------------------------------------
// Operators
// ------------------------------------------------------------------------------------------------

// Adds a builtin operator for the versions from min to max. It takes precedence over Deputy's
// operator and over one that was added earlier. The struct is copied, with `op`, the version and a
// NULL custom name set; objects that it points to must outlive the interpreter. A NULL registration
// is ignored.
TFL_CAPI_EXPORT void TfLiteInterpreterOptionsAddBuiltinOp(TfLiteInterpreterOptions* options,
                                                          TfLiteBuiltinOperator op,
                                                          const TfLiteRegistration* registration,
                                                          int32_t min_version, int32_t max_version);

// Adds a custom operator for the versions from min to max. It takes precedence over one that was
// added earlier. The struct is copied, with the name, the version and kTfLiteBuiltinCustom set;
// `name` is borrowed and must outlive the interpreter. A NULL name or registration is ignored.
TFL_CAPI_EXPORT void TfLiteInterpreterOptionsAddCustomOp(TfLiteInterpreterOptions* options,
                                                         const char* name,
                                                         const TfLiteRegistration* registration,
                                                         int32_t min_version, int32_t max_version);

// Each of the six setters of resolver callbacks below replaces the callbacks that an earlier call
// of any of them has set. The callbacks are called while an interpreter is created, on the same
// thread, instead of a search among Deputy's operators and those added to the options; they return
// NULL for "not found". If all callbacks are NULL, the search is restored. Objects that a returned
// operator points to must outlive the interpreter; `op_resolver_user_data` is the first argument of
// each callback.

// Sets callbacks that return operator objects. An object without any function counts as not found.
TFL_CAPI_EXPORT void TfLiteInterpreterOptionsSetOpResolverExternal(
    TfLiteInterpreterOptions* options,
    const TfLiteOperator* (*find_builtin_op)(void* user_data, int op, int version),
    const TfLiteOperator* (*find_custom_op)(void* user_data, const char* custom_op, int version),
    void* op_resolver_user_data);

// Sets callbacks that return operator objects, and further callbacks that return registrations and
// are called for operators that the first ones do not find.
TFL_CAPI_EXPORT void TfLiteInterpreterOptionsSetOpResolverExternalWithFallback(
    TfLiteInterpreterOptions* options,
    const TfLiteOperator* (*find_builtin_op_external)(void* user_data, int op, int version),
    const TfLiteOperator* (*find_custom_op_external)(void* user_data, const char* custom_op,
                                                     int version),
    const TfLiteRegistration* (*find_builtin_op)(void* user_data, TfLiteBuiltinOperator op,
                                                 int version),
    const TfLiteRegistration* (*find_custom_op)(void* user_data, const char* op, int version),
    void* op_resolver_user_data);

// Sets callbacks that return registrations of the current size; the interpreter copies each of
// them.
TFL_CAPI_EXPORT void TfLiteInterpreterOptionsSetOpResolver(
    TfLiteInterpreterOptions* options,
    const TfLiteRegistration* (*find_builtin_op)(void* user_data, TfLiteBuiltinOperator op,
                                                 int version),
    const TfLiteRegistration* (*find_custom_op)(void* user_data, const char* op, int version),
    void* op_resolver_user_data);

// Sets callbacks that return registrations of 80 bytes; their operator object is ignored.
TFL_CAPI_EXPORT void TfLiteInterpreterOptionsSetOpResolverV3(
    TfLiteInterpreterOptions* options,
    const TfLiteRegistration_V3* (*find_builtin_op_v3)(void* user_data, TfLiteBuiltinOperator op,
                                                       int version),
    const TfLiteRegistration_V3* (*find_custom_op_v3)(void* user_data, const char* op, int version),
    void* op_resolver_user_data);

// Sets callbacks that return registrations of 72 bytes; their operator object is ignored.
TFL_CAPI_EXPORT void TfLiteInterpreterOptionsSetOpResolverV2(
    TfLiteInterpreterOptions* options,
    const TfLiteRegistration_V2* (*find_builtin_op_v2)(void* user_data, TfLiteBuiltinOperator op,
                                                       int version),
    const TfLiteRegistration_V2* (*find_custom_op_v2)(void* user_data, const char* op, int version),
    void* op_resolver_user_data);

// Sets callbacks that return registrations of 64 bytes.
TFL_CAPI_EXPORT void TfLiteInterpreterOptionsSetOpResolverV1(
    TfLiteInterpreterOptions* options,
    const TfLiteRegistration_V1* (*find_builtin_op_v1)(void* user_data, TfLiteBuiltinOperator op,
                                                       int version),
    const TfLiteRegistration_V1* (*find_custom_op_v1)(void* user_data, const char* op, int version),
    void* op_resolver_user_data);

// Creates an interpreter like TfLiteInterpreterCreate, but only with the operators in the options.
TFL_CAPI_EXPORT TfLiteInterpreter* TfLiteInterpreterCreateWithSelectedOps(
    const TfLiteModel* model, const TfLiteInterpreterOptions* options);

// ------------------------------------------------------------------------------------------------
// Delegates and the memory of tensors
// ------------------------------------------------------------------------------------------------

// Has no effect. NNAPI is available only as a delegate, see nnapi_delegate_c_api.h.
TFL_CAPI_EXPORT void TfLiteInterpreterOptionsSetUseNNAPI(TfLiteInterpreterOptions* options,
                                                         bool enable);

// Enables the fallback of TfLiteInterpreterInvoke: if Invoke fails with delegates applied, all of
// them are removed and Invoke runs again on the CPU. If that succeeds, the outputs are valid and
// Invoke returns kTfLiteDelegateError once.
TFL_CAPI_EXPORT void TfLiteInterpreterOptionsSetEnableDelegateFallback(
    TfLiteInterpreterOptions* options, bool enable);

// Applies a delegate to an interpreter. The delegate is borrowed and must outlive the interpreter.
// kTfLiteDelegateError if the delegate is NULL or fails; all delegates are then removed from the
// graph, except under kDeputyPolicyHot of deputy.h, where the graph is unchanged.
// kTfLiteApplicationError if the delegate cannot be applied to this graph.
TFL_CAPI_EXPORT TfLiteStatus TfLiteInterpreterModifyGraphWithDelegate(
    const TfLiteInterpreter* interpreter, TfLiteDelegate* delegate);

// Returns the tensor index of an input; -1 if the index is out of range.
TFL_CAPI_EXPORT int32_t TfLiteInterpreterGetInputTensorIndex(const TfLiteInterpreter* interpreter,
                                                             int32_t input_index);

// Returns the tensor index of an output; -1 if the index is out of range.
TFL_CAPI_EXPORT int32_t TfLiteInterpreterGetOutputTensorIndex(const TfLiteInterpreter* interpreter,
                                                              int32_t output_index);

// Sets the memory of a tensor of the main subgraph. The struct is copied; the client owns the
// memory and keeps it until the interpreter is deleted or the tensor has other memory. The memory
// must be aligned to 64 bytes, unless `flags` contains kTfLiteCustomAllocationFlagsSkipAlignCheck.
// It is used at once; its size is checked by the next AllocateTensors, which must follow.
// kTfLiteError for constants and for tensors that own their memory.
TFL_CAPI_EXPORT TfLiteStatus TfLiteInterpreterSetCustomAllocationForTensor(
    TfLiteInterpreter* interpreter, int tensor_index, const TfLiteCustomAllocation* allocation,
    int64_t flags);

// Attaches a delegate's buffer to a tensor of any subgraph, and releases its previous buffer.
// kTfLiteError, with nothing changed, if the tensor is NULL or not the interpreter's, belongs to
// another delegate, or if its previous buffer cannot be released. Does not change data_is_stale.
TFL_CAPI_EXPORT TfLiteStatus TfLiteInterpreterSetBufferHandle(TfLiteInterpreter* interpreter,
                                                              TfLiteTensor* tensor,
                                                              TfLiteBufferHandle buffer_handle,
                                                              TfLiteOpaqueDelegate* delegate);

// Stores the buffer of a tensor (-1 if none) and its delegate (NULL if none). kTfLiteError if the
// index is out of range.
TFL_CAPI_EXPORT TfLiteStatus TfLiteInterpreterGetBufferHandle(TfLiteInterpreter* interpreter,
                                                              int tensor_index,
                                                              TfLiteBufferHandle* buffer_handle,
                                                              TfLiteOpaqueDelegate** delegate);

// Permits or forbids that outputs stay in their delegate's buffers after Invoke. If permitted, the
// client copies them to host memory with TfLiteInterpreterEnsureTensorDataIsReadable. If not, the
// default, Invoke copies them. Signature runners always copy them.
TFL_CAPI_EXPORT void TfLiteSetAllowBufferHandleOutput(const TfLiteInterpreter* interpreter,
                                                      bool allow_buffer_handle_output);

// Stops a running Invoke or AllocateTensors of the signature, like TfLiteInterpreterCancel.
TFL_CAPI_EXPORT TfLiteStatus TfLiteSignatureRunnerCancel(TfLiteSignatureRunner* signature_runner);

// Sets telemetry callbacks; the struct is borrowed and must outlive the interpreter, see
// telemetry_profiler.h. NULL removes the callbacks.
TFL_CAPI_EXPORT void TfLiteInterpreterOptionsSetTelemetryProfiler(
    TfLiteInterpreterOptions* options, struct TfLiteTelemetryProfilerStruct* profiler);

// Copies a tensor from its delegate's buffer to host memory if data_is_stale is set. Returns the
// status of the copy; kTfLiteError if the index is out of range.
TFL_CAPI_EXPORT TfLiteStatus
TfLiteInterpreterEnsureTensorDataIsReadable(TfLiteInterpreter* interpreter, int tensor_index);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_C_API_EXPERIMENTAL_H_
