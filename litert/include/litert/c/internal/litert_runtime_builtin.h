// SPDX-License-Identifier: Apache-2.0
//
// The table of a runtime that is linked into the program.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_RUNTIME_BUILTIN_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_RUNTIME_BUILTIN_H_

#include "litert/c/internal/litert_runtime_c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

// Returns the table of the linked runtime.
const LiteRtRuntimeCApiStruct* GetLiteRtRuntimeBuiltin(void);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_RUNTIME_BUILTIN_H_
