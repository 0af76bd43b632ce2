// SPDX-License-Identifier: Apache-2.0
//
// Options of Samsung's plug-ins. Getters return the default value if an option is not set.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_OPTIONS_LITERT_SAMSUNG_OPTIONS_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_OPTIONS_LITERT_SAMSUNG_OPTIONS_H_

#include <stdbool.h>

#include "litert/c/litert_common.h"

#ifdef __cplusplus
extern "C" {
#endif

// Options object.
LITERT_DEFINE_HANDLE(LrtSamsungOptions);

// Creates options with default values.
LiteRtStatus LrtCreateSamsungOptions(LrtSamsungOptions* options);

// Creates options from a TOML text, the form of the payload.
LiteRtStatus LrtCreateSamsungOptionsFromToml(const char* toml_payload, LrtSamsungOptions* options);

// Destroys options; NULL is allowed.
void LrtDestroySamsungOptions(LrtSamsungOptions options);

// Returns the arguments of LiteRtCreateOpaqueOptions: the identifier, the options as TOML text,
// which the caller owns, and its deleter.
LiteRtStatus LrtGetOpaqueSamsungOptionsData(LrtSamsungOptions options, const char** identifier,
                                            void** payload, void (**payload_deleter)(void*));

// Returns the identifier, a constant string.
const char* LrtSamsungOptionsGetIdentifier(void);

// Support for large models.
LiteRtStatus LrtSamsungOptionsSetEnableLargeModelSupport(LrtSamsungOptions options,
                                                         bool enable_large_model_support);
LiteRtStatus LrtSamsungOptionsGetEnableLargeModelSupport(LrtSamsungOptions options,
                                                         bool* enable_large_model_support);

// Name of the SoC; "" by default. The string is copied.
LiteRtStatus LrtSamsungOptionsSetSocModel(LrtSamsungOptions options, const char* soc_model);
LiteRtStatus LrtSamsungOptionsGetSocModel(LrtSamsungOptions options, const char** soc_model);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_OPTIONS_LITERT_SAMSUNG_OPTIONS_H_
