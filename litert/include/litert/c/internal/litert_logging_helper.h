// SPDX-License-Identifier: Apache-2.0
//
// Severity of the default logger from the options of an environment.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_LOGGING_HELPER_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_LOGGING_HELPER_H_

#include "litert/c/litert_common.h"

#ifdef __cplusplus
extern "C" {
#endif

// Sets the smallest severity of this library's default logger to the value of
// kLiteRtEnvOptionTagMinLoggerSeverity.
LiteRtStatus LiteRtPropagateMinLoggerSeverity(LiteRtEnvironmentOptions options);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_LOGGING_HELPER_H_
