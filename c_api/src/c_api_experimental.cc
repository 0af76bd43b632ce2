// SPDX-License-Identifier: Apache-2.0
//
// Experimental functions of the C API: variables, operators of clients, buffer handles, custom
// allocations.
#include "c_api/include/c_api_experimental.h"

#include <algorithm>

#include "c_api/src/objects.h"
#include "core/base/delegate_call.h"

using deputy::Fail;
using deputy::Guard;
using deputy::ResolverCallbacks;

// ---- Variables ----------------------------------------------------------------------------------

TfLiteStatus TfLiteInterpreterResetVariableTensors(TfLiteInterpreter* interpreter) {
  if (interpreter == nullptr) return kTfLiteError;
  return Guard(kTfLiteError, [&] { return interpreter->impl->ResetVariableTensors(); });
}

int32_t TfLiteInterpreterGetVariableTensorCount(const TfLiteInterpreter* interpreter) {
  return interpreter == nullptr
             ? 0
             : static_cast<int32_t>(interpreter->impl->primary().graph().variables().size());
}

TfLiteTensor* TfLiteInterpreterGetVariableTensor(const TfLiteInterpreter* interpreter,
                                                 int32_t variable_index) {
  if (variable_index < 0 ||
      variable_index >= TfLiteInterpreterGetVariableTensorCount(interpreter)) {
    return nullptr;
  }
  deputy::Subgraph& primary = interpreter->impl->primary();
  return primary.graph().tensor(primary.graph().variables()[variable_index]);
}

// ---- Operators ----------------------------------------------------------------------------------

void TfLiteInterpreterOptionsAddBuiltinOp(TfLiteInterpreterOptions* options,
                                          TfLiteBuiltinOperator op,
                                          const TfLiteRegistration* registration,
                                          int32_t min_version, int32_t max_version) {
  if (options == nullptr || registration == nullptr) return;
  Guard([&] { options->operators.AddBuiltin(op, *registration, min_version, max_version); });
}

void TfLiteInterpreterOptionsAddCustomOp(TfLiteInterpreterOptions* options, const char* name,
                                         const TfLiteRegistration* registration,
                                         int32_t min_version, int32_t max_version) {
  if (options == nullptr || registration == nullptr || name == nullptr) return;
  Guard([&] { options->operators.AddCustom(name, *registration, min_version, max_version); });
}

// Each of the setters below replaces all callbacks, so it starts with an empty struct.

void TfLiteInterpreterOptionsSetOpResolverExternal(
    TfLiteInterpreterOptions* options,
    const TfLiteOperator* (*find_builtin_op)(void* user_data, int op, int version),
    const TfLiteOperator* (*find_custom_op)(void* user_data, const char* custom_op, int version),
    void* op_resolver_user_data) {
  if (options == nullptr) return;
  ResolverCallbacks callbacks;
  callbacks.user_data = op_resolver_user_data;
  callbacks.find_builtin_external = find_builtin_op;
  callbacks.find_custom_external = find_custom_op;
  options->operators.callbacks = callbacks;
}

void TfLiteInterpreterOptionsSetOpResolverExternalWithFallback(
    TfLiteInterpreterOptions* options,
    const TfLiteOperator* (*find_builtin_op_external)(void* user_data, int op, int version),
    const TfLiteOperator* (*find_custom_op_external)(void* user_data, const char* custom_op,
                                                     int version),
    const TfLiteRegistration* (*find_builtin_op)(void* user_data, TfLiteBuiltinOperator op,
                                                 int version),
    const TfLiteRegistration* (*find_custom_op)(void* user_data, const char* op, int version),
    void* op_resolver_user_data) {
  if (options == nullptr) return;
  ResolverCallbacks callbacks;
  callbacks.user_data = op_resolver_user_data;
  callbacks.find_builtin_external = find_builtin_op_external;
  callbacks.find_custom_external = find_custom_op_external;
  callbacks.find_builtin = find_builtin_op;
  callbacks.find_custom = find_custom_op;
  options->operators.callbacks = callbacks;
}

void TfLiteInterpreterOptionsSetOpResolver(
    TfLiteInterpreterOptions* options,
    const TfLiteRegistration* (*find_builtin_op)(void* user_data, TfLiteBuiltinOperator op,
                                                 int version),
    const TfLiteRegistration* (*find_custom_op)(void* user_data, const char* op, int version),
    void* op_resolver_user_data) {
  if (options == nullptr) return;
  ResolverCallbacks callbacks;
  callbacks.user_data = op_resolver_user_data;
  callbacks.find_builtin = find_builtin_op;
  callbacks.find_custom = find_custom_op;
  options->operators.callbacks = callbacks;
}

void TfLiteInterpreterOptionsSetOpResolverV3(
    TfLiteInterpreterOptions* options,
    const TfLiteRegistration_V3* (*find_builtin_op_v3)(void* user_data, TfLiteBuiltinOperator op,
                                                       int version),
    const TfLiteRegistration_V3* (*find_custom_op_v3)(void* user_data, const char* op, int version),
    void* op_resolver_user_data) {
  if (options == nullptr) return;
  ResolverCallbacks callbacks;
  callbacks.user_data = op_resolver_user_data;
  callbacks.find_builtin_v3 = find_builtin_op_v3;
  callbacks.find_custom_v3 = find_custom_op_v3;
  options->operators.callbacks = callbacks;
}

void TfLiteInterpreterOptionsSetOpResolverV2(
    TfLiteInterpreterOptions* options,
    const TfLiteRegistration_V2* (*find_builtin_op_v2)(void* user_data, TfLiteBuiltinOperator op,
                                                       int version),
    const TfLiteRegistration_V2* (*find_custom_op_v2)(void* user_data, const char* op, int version),
    void* op_resolver_user_data) {
  if (options == nullptr) return;
  ResolverCallbacks callbacks;
  callbacks.user_data = op_resolver_user_data;
  callbacks.find_builtin_v2 = find_builtin_op_v2;
  callbacks.find_custom_v2 = find_custom_op_v2;
  options->operators.callbacks = callbacks;
}

void TfLiteInterpreterOptionsSetOpResolverV1(
    TfLiteInterpreterOptions* options,
    const TfLiteRegistration_V1* (*find_builtin_op_v1)(void* user_data, TfLiteBuiltinOperator op,
                                                       int version),
    const TfLiteRegistration_V1* (*find_custom_op_v1)(void* user_data, const char* op, int version),
    void* op_resolver_user_data) {
  if (options == nullptr) return;
  ResolverCallbacks callbacks;
  callbacks.user_data = op_resolver_user_data;
  callbacks.find_builtin_v1 = find_builtin_op_v1;
  callbacks.find_custom_v1 = find_custom_op_v1;
  options->operators.callbacks = callbacks;
}

// ---- Delegates and their memory -----------------------------------------------------------------

// NNAPI is available only as a delegate (nnapi.cc), so the option has no effect.
void TfLiteInterpreterOptionsSetUseNNAPI(TfLiteInterpreterOptions*, bool) {}

void TfLiteInterpreterOptionsSetEnableDelegateFallback(TfLiteInterpreterOptions* options,
                                                       bool enable) {
  if (options != nullptr) options->delegate_fallback = enable;
}

void TfLiteInterpreterOptionsSetTelemetryProfiler(TfLiteInterpreterOptions* options,
                                                  struct TfLiteTelemetryProfilerStruct* profiler) {
  if (options != nullptr) options->telemetry = profiler;
}

TfLiteStatus TfLiteInterpreterModifyGraphWithDelegate(const TfLiteInterpreter* interpreter,
                                                      TfLiteDelegate* delegate) {
  if (interpreter == nullptr) return kTfLiteError;
  return Guard(kTfLiteError, [&] {
    const TfLiteStatus status = interpreter->impl->ModifyGraphWithDelegate(delegate);
    interpreter->telemetry.ReportEvent("ModifyGraphWithDelegate", status);
    return status;
  });
}

void TfLiteSetAllowBufferHandleOutput(const TfLiteInterpreter* interpreter,
                                      bool allow_buffer_handle_output) {
  // The ABI declares the interpreter const, but the flag belongs to it.
  if (interpreter != nullptr) {
    const_cast<TfLiteInterpreter*>(interpreter)->allow_buffer_handle_output =
        allow_buffer_handle_output;
  }
}

TfLiteStatus TfLiteInterpreterSetCustomAllocationForTensor(TfLiteInterpreter* interpreter,
                                                           int tensor_index,
                                                           const TfLiteCustomAllocation* allocation,
                                                           int64_t flags) {
  if (interpreter == nullptr || allocation == nullptr) return kTfLiteError;
  return Guard(kTfLiteError, [&] {
    deputy::Subgraph& primary = interpreter->impl->primary();
    TF_LITE_ENSURE_STATUS(primary.CheckNotRunning("SetCustomAllocationForTensor"));
    if (interpreter->impl->shared_states().Has(&primary, tensor_index)) {
      return Fail(interpreter->impl->reporter(), kTfLiteError,
                  "SetCustomAllocationForTensor: tensor %d: expected no shared state",
                  tensor_index);
    }
    return primary.SetCustomAllocation(tensor_index, *allocation, flags);
  });
}

TfLiteStatus TfLiteInterpreterSetBufferHandle(TfLiteInterpreter* interpreter, TfLiteTensor* tensor,
                                              TfLiteBufferHandle buffer_handle,
                                              TfLiteOpaqueDelegate* delegate) {
  if (interpreter == nullptr || tensor == nullptr) return kTfLiteError;
  auto* owner = reinterpret_cast<TfLiteDelegate*>(delegate);
  deputy::ErrorReporter* reporter = interpreter->impl->reporter();
  deputy::Subgraph* graph = interpreter->impl->FindOwner(tensor);
  if (graph == nullptr) {
    return Fail(reporter, kTfLiteError,
                "Cannot set a buffer handle: expected a tensor of this interpreter, found another; "
                "pointers to tensors become invalid when tensors are added");
  }
  const char* name = tensor->name == nullptr ? "" : tensor->name;
  if (tensor->delegate != nullptr && tensor->delegate != owner) {
    return Fail(reporter, kTfLiteError,
                "Cannot set a buffer handle: tensor '%s' belongs to another delegate", name);
  }
  TfLiteDelegate* const previous = tensor->delegate;
  tensor->delegate = owner;
  if (tensor->buffer_handle != kTfLiteNullBufferHandle) {
    if (owner == nullptr || !graph->FreeBufferHandle(graph->graph().IndexOf(tensor))) {
      tensor->delegate = previous;
      return Fail(reporter, kTfLiteError,
                  "Cannot replace buffer handle %d of tensor '%s': expected a delegate with "
                  "FreeBufferHandle",
                  tensor->buffer_handle, name);
    }
  }
  tensor->buffer_handle = buffer_handle;
  if (deputy::Observer* observer = interpreter->impl->observer()) {
    observer->HandleSet(owner, buffer_handle);
  }
  return kTfLiteOk;
}

TfLiteStatus TfLiteInterpreterGetBufferHandle(TfLiteInterpreter* interpreter, int tensor_index,
                                              TfLiteBufferHandle* buffer_handle,
                                              TfLiteOpaqueDelegate** delegate) {
  const TfLiteTensor* tensor = TfLiteInterpreterGetTensor(interpreter, tensor_index);
  if (tensor == nullptr || buffer_handle == nullptr || delegate == nullptr) return kTfLiteError;
  *buffer_handle = tensor->buffer_handle;
  *delegate = reinterpret_cast<TfLiteOpaqueDelegate*>(tensor->delegate);
  return kTfLiteOk;
}

TfLiteStatus TfLiteInterpreterEnsureTensorDataIsReadable(TfLiteInterpreter* interpreter,
                                                         int tensor_index) {
  if (interpreter == nullptr) return kTfLiteError;
  return Guard(kTfLiteError,
               [&] { return interpreter->impl->primary().EnsureReadable(tensor_index); });
}
