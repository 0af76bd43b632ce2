// SPDX-License-Identifier: Apache-2.0
//
// Options of the runtime itself. Getters return kLiteRtStatusErrorNotFound if an option is not set.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_OPTIONS_LITERT_RUNTIME_OPTIONS_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_OPTIONS_LITERT_RUNTIME_OPTIONS_H_

#include <stdbool.h>

#include "litert/c/litert_common.h"

#ifdef __cplusplus
#include <string>
#include <vector>
#endif

#ifdef __cplusplus
extern "C" {
#endif

// Options object.
typedef struct LrtRuntimeOptions LrtRuntimeOptions;

// Creates options with default values.
LiteRtStatus LrtCreateRuntimeOptions(LrtRuntimeOptions** options);

// Destroys options; NULL is allowed.
void LrtDestroyRuntimeOptions(LrtRuntimeOptions* options);

// Returns the arguments of LiteRtCreateOpaqueOptions: the identifier, the options as TOML text,
// which the caller owns, and its deleter.
LiteRtStatus LrtGetOpaqueRuntimeOptionsData(const LrtRuntimeOptions* options,
                                            const char** identifier, void** payload,
                                            void (**payload_deleter)(void*));

// Returns the identifier, a constant string.
const char* LrtGetRuntimeOptionsIdentifier(void);

// Recording of durations, see LiteRtCompiledModelGetProfiler.
LiteRtStatus LrtSetRuntimeOptionsEnableProfiling(LrtRuntimeOptions* options, bool enable_profiling);
LiteRtStatus LrtGetRuntimeOptionsEnableProfiling(const LrtRuntimeOptions* options,
                                                 bool* enable_profiling);

// Destination of error messages.
LiteRtStatus LrtSetRuntimeOptionsErrorReporterMode(LrtRuntimeOptions* options,
                                                   LiteRtErrorReporterMode error_reporter_mode);
LiteRtStatus LrtGetRuntimeOptionsErrorReporterMode(const LrtRuntimeOptions* options,
                                                   LiteRtErrorReporterMode* error_reporter_mode);

// Equal zero points of a tensor with one scale per channel are stored once.
LiteRtStatus LrtSetRuntimeOptionsCompressQuantizationZeroPoints(LrtRuntimeOptions* options,
                                                                bool compress_zero_points);
LiteRtStatus LrtGetRuntimeOptionsCompressQuantizationZeroPoints(const LrtRuntimeOptions* options,
                                                                bool* compress_zero_points);

// Operators of a delegate are not reordered to form larger partitions.
LiteRtStatus LrtSetRuntimeOptionsDisableDelegateClustering(LrtRuntimeOptions* options,
                                                           bool disable_delegate_clustering);
LiteRtStatus LrtGetRuntimeOptionsDisableDelegateClustering(const LrtRuntimeOptions* options,
                                                           bool* disable_delegate_clustering);

#ifdef __cplusplus
// Signatures that the compiled model prepares, by key. kLiteRtStatusErrorInvalidArgument if a key
// is empty or repeated, or none is given.
LiteRtStatus LrtSetRuntimeOptionsSelectedSignatures(LrtRuntimeOptions* options,
                                                    const std::vector<std::string>& keys);
#endif

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_OPTIONS_LITERT_RUNTIME_OPTIONS_H_
