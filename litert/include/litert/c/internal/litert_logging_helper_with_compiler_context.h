// SPDX-License-Identifier: Apache-2.0
//
// Severity of a compiler plug-in's default logger from the options of an environment.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_LOGGING_HELPER_WITH_COMPILER_CONTEXT_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_LOGGING_HELPER_WITH_COMPILER_CONTEXT_H_

#include "litert/c/litert_common.h"
#include "litert/c/litert_environment_options.h"

#ifdef __cplusplus
extern "C" {
#endif

// Functions of the host (litert_compiler_context.h).
typedef struct LiteRtCompilerContext LiteRtCompilerContext;

// Sets the smallest severity of the plug-in's default logger to the value of
// kLiteRtEnvOptionTagMinLoggerSeverity. kLiteRtStatusErrorNotFound if the option is not set.
LiteRtStatus LiteRtPropagateMinLoggerSeverityWithCompilerContext(
    const LiteRtCompilerContext* compiler_context, LiteRtEnvironmentOptions options);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_LOGGING_HELPER_WITH_COMPILER_CONTEXT_H_
