// SPDX-License-Identifier: Apache-2.0
//
// Environments: the libraries, accelerators and settings that models share. An environment must
// outlive all models, buffers and events that were created with it.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_ENVIRONMENT_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_ENVIRONMENT_H_

#include <stdbool.h>

#include "litert/c/litert_common.h"
#include "litert/c/litert_environment_options.h"

#ifdef __cplusplus
extern "C" {
#endif

// Creates an environment. Strings of options are copied; `options` may be NULL if `num_options` is
// 0. May be called concurrently.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCreateEnvironment(int num_options,
                                                        const LiteRtEnvOption* options,
                                                        LiteRtEnvironment* environment);

// Destroys an environment; NULL is allowed.
LITERT_CAPI_EXPORT void LiteRtDestroyEnvironment(LiteRtEnvironment environment);

// Returns the options of an environment, which belong to it.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetEnvironmentOptions(LiteRtEnvironment environment,
                                                            LiteRtEnvironmentOptions* options);

// Adds options. Without `overwrite`, kLiteRtStatusErrorAlreadyExists if one of them is set.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtAddEnvironmentOptions(LiteRtEnvironment environment,
                                                            int num_options,
                                                            const LiteRtEnvOption* options,
                                                            bool overwrite);

// Creates the GPU objects of an environment, which owns them. For accelerators; programs pass
// options to LiteRtCreateEnvironment.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGpuEnvironmentCreate(LiteRtEnvironment environment,
                                                           int num_options,
                                                           const LiteRtEnvOption* options);

// Sets `has_gpu_environment` to whether the environment has GPU objects.
LITERT_CAPI_EXPORT void LiteRtEnvironmentHasGpuEnvironment(LiteRtEnvironment environment,
                                                           bool* has_gpu_environment);

// The following functions return whether the GPU can share memory between two APIs, and whether it
// supports float16.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtEnvironmentSupportsClGlInterop(LiteRtEnvironment environment,
                                                                     bool* is_supported);
LITERT_CAPI_EXPORT LiteRtStatus
LiteRtEnvironmentSupportsAhwbClInterop(LiteRtEnvironment environment, bool* is_supported);
LITERT_CAPI_EXPORT LiteRtStatus
LiteRtEnvironmentSupportsAhwbGlInterop(LiteRtEnvironment environment, bool* is_supported);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtEnvironmentSupportsFP16(LiteRtEnvironment environment,
                                                              bool* is_supported);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_ENVIRONMENT_H_
