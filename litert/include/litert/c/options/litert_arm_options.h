// SPDX-License-Identifier: Apache-2.0
//
// Options of Arm's plug-ins. The functions of this folder are linked statically into programs and
// plug-ins.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_OPTIONS_LITERT_ARM_OPTIONS_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_OPTIONS_LITERT_ARM_OPTIONS_H_

#include <stdbool.h>

#include "litert/c/litert_common.h"

#ifdef __cplusplus
extern "C" {
#endif

// Options object.
LITERT_DEFINE_HANDLE(LrtArmOptions);

// Creates options with default values.
LiteRtStatus LrtCreateArmOptions(LrtArmOptions* options);

// Creates options from a TOML text, the form of the payload.
LiteRtStatus LrtCreateArmOptionsFromToml(const char* toml_payload, LrtArmOptions* options);

// Destroys options; NULL is allowed.
void LrtDestroyArmOptions(LrtArmOptions options);

// Returns the arguments of LiteRtCreateOpaqueOptions: the identifier, the options as TOML text,
// which the caller owns, and its deleter.
LiteRtStatus LrtGetOpaqueArmOptionsData(LrtArmOptions options, const char** identifier,
                                        void** payload, void (**payload_deleter)(void*));

// Returns the identifier, a constant string.
const char* LrtArmOptionsGetIdentifier(void);

// Compilation in the process that runs the model. False by default.
LiteRtStatus LrtArmOptionsSetEnableJustInTime(LrtArmOptions options, bool enable_just_in_time);
LiteRtStatus LrtArmOptionsGetEnableJustInTime(LrtArmOptions options, bool* enable_just_in_time);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_OPTIONS_LITERT_ARM_OPTIONS_H_
