// SPDX-License-Identifier: Apache-2.0
//
// The delegate of TensorFlow Lite that runs bytecode with a dispatch plug-in.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_DISPATCH_DELEGATE_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_DISPATCH_DELEGATE_H_

#include <stddef.h>

#include "litert/c/internal/deputy_tflite_types.h"
#include "litert/c/litert_common.h"
#include "litert/c/litert_profiler_types.h"

// Private type.
typedef struct LiteRtDispatchDelegateOptions LiteRtDispatchDelegateOptions;

// The following two functions have C++ linkage in C++ programs and are not exported by
// libLiteRt.so. The environment and the options must outlive the delegate.
TfLiteOpaqueDelegate* LiteRtCreateDispatchDelegate(LiteRtEnvironment env, LiteRtOptions options);
void LiteRtDestroyDispatchDelegate(TfLiteOpaqueDelegate* delegate);

#ifdef __cplusplus
extern "C" {
#endif

// Start and end the collection of measured values by the plug-in (litert_dispatch.h).
LITERT_CAPI_EXPORT LiteRtStatus
LiteRtDispatchDelegateStartMetricsCollection(TfLiteOpaqueDelegate* delegate, int detail_level);
LITERT_CAPI_EXPORT LiteRtStatus
LiteRtDispatchDelegateStopMetricsCollection(TfLiteOpaqueDelegate* delegate, LiteRtMetrics metrics);

// Returns the hook of the vendor's profiler and the argument with which it is called.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtDispatchDelegateGetHooks(TfLiteOpaqueDelegate* delegate,
                                                               LiteRtHook* hook, void** user_data);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_DISPATCH_DELEGATE_H_
