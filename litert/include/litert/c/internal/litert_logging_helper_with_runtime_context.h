// SPDX-License-Identifier: Apache-2.0
//
// Severity of a dispatch plug-in's default logger from the options of an environment.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_LOGGING_HELPER_WITH_RUNTIME_CONTEXT_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_LOGGING_HELPER_WITH_RUNTIME_CONTEXT_H_

#include "litert/c/litert_common.h"

#ifdef __cplusplus
extern "C" {
#endif

// Functions of the host (litert_runtime_context.h).
typedef struct LiteRtRuntimeContext LiteRtRuntimeContext;

// Sets the smallest severity of the plug-in's default logger to the value of
// kLiteRtEnvOptionTagMinLoggerSeverity. An error if the option is not set.
LiteRtStatus LiteRtPropagateMinLoggerSeverityWithRuntimeContext(
    const LiteRtRuntimeContext* runtime_context, LiteRtEnvironmentOptions options);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_LOGGING_HELPER_WITH_RUNTIME_CONTEXT_H_
