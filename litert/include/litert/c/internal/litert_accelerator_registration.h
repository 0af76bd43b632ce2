// SPDX-License-Identifier: Apache-2.0
//
// Registration of accelerators: create an accelerator, set its callbacks, register it. The
// callbacks may be called on any thread that uses the environment.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_ACCELERATOR_REGISTRATION_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_ACCELERATOR_REGISTRATION_H_

#include <stdbool.h>

#include "litert/c/litert_common.h"
#include "litert/c/litert_profiler_types.h"

#ifdef __cplusplus
extern "C" {
#endif

// Functions of the host (litert_runtime_context.h).
typedef struct LiteRtRuntimeContext LiteRtRuntimeContext;

// Creates an accelerator without callbacks.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCreateAccelerator(LiteRtAccelerator* accelerator);

// Destroys an accelerator that has not been registered.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtDestroyAccelerator(LiteRtAccelerator accelerator);

// Registers an accelerator, of which the environment takes ownership together with `data`. It
// releases `data` with `ReleaseData`; both may be NULL. If the call fails, both objects are
// released.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtRegisterAccelerator(LiteRtEnvironment environment,
                                                          LiteRtAccelerator accelerator, void* data,
                                                          void (*ReleaseData)(void*));

// Sets the callback that returns the name. Without it, and without the two callbacks that follow,
// the getters return kLiteRtStatusErrorInvalidArgument.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtSetAcceleratorGetName(
    LiteRtAccelerator accelerator,
    LiteRtStatus (*GetName)(LiteRtAcceleratorConst accelerator, const char** name));

// Sets the callback that returns the version.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtSetAcceleratorGetVersion(
    LiteRtAccelerator accelerator,
    LiteRtStatus (*GetVersion)(LiteRtAcceleratorConst accelerator, LiteRtApiVersion* version));

// Sets the callback that returns the kinds of hardware.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtSetAcceleratorGetHardwareSupport(
    LiteRtAccelerator accelerator,
    LiteRtStatus (*GetHardwareSupport)(LiteRtAcceleratorConst accelerator,
                                       LiteRtHwAcceleratorSet* supported_hardware));

// Sets the callback that creates a delegate for a compiled model, which owns it.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtSetDelegateFunction(
    LiteRtAccelerator accelerator,
    LiteRtStatus (*CreateDelegate)(LiteRtRuntimeContext* runtime_context, LiteRtEnvironment env,
                                   LiteRtAcceleratorConst accelerator, LiteRtOptions options,
                                   LiteRtDelegateWrapper* delegate));

// Sets the callback that returns whether the delegate compiles operators itself; without it: no.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtSetIsAcceleratorDelegateResponsibleForJitCompilation(
    LiteRtAccelerator accelerator,
    LiteRtStatus (*IsTfLiteDelegateResponsibleForJitCompilation)(LiteRtAcceleratorConst accelerator,
                                                                 bool* does_jit_compilation));

// Set the callbacks that start and end the collection of measured values; optional.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtSetAcceleratorStartMetricsCollection(
    LiteRtAccelerator accelerator,
    LiteRtStatus (*StartMetricsCollection)(LiteRtRuntimeContext* runtime_context,
                                           LiteRtDelegateWrapper delegate, int detail_level));
LITERT_CAPI_EXPORT LiteRtStatus LiteRtSetAcceleratorStopMetricsCollection(
    LiteRtAccelerator accelerator,
    LiteRtStatus (*StopMetricsCollection)(LiteRtRuntimeContext* runtime_context,
                                          LiteRtDelegateWrapper delegate, LiteRtMetrics metrics));

// Sets the callback that returns the hook of a vendor's profiler; optional.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtSetAcceleratorGetHooks(
    LiteRtAccelerator accelerator,
    LiteRtStatus (*GetHooks)(LiteRtRuntimeContext* runtime_context, LiteRtDelegateWrapper delegate,
                             LiteRtHook* hook, void** user_data));

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_ACCELERATOR_REGISTRATION_H_
