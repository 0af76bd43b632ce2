// SPDX-License-Identifier: Apache-2.0
//
// The table of libLiteRt.so as an exported variable.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_RUNTIME_API_EXPORT_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_RUNTIME_API_EXPORT_H_

#include "litert/c/internal/litert_runtime_c_api.h"
#include "litert/c/litert_common.h"

#ifdef __cplusplus
extern "C" {
#endif

// Functions of the library.
extern LITERT_CAPI_EXPORT const LiteRtRuntimeCApiStruct kLiteRtRuntimeBuiltin;

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_RUNTIME_API_EXPORT_H_
