// SPDX-License-Identifier: Apache-2.0
//
// Options of Google Tensor's plug-ins. Getters return the default value if an option is not set.
// Strings are copied; strings that are returned belong to the options.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_OPTIONS_LITERT_GOOGLE_TENSOR_OPTIONS_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_OPTIONS_LITERT_GOOGLE_TENSOR_OPTIONS_H_

#include <stdbool.h>

#include "litert/c/litert_common.h"
#include "litert/c/options/litert_google_tensor_options_type.h"

#ifdef __cplusplus
extern "C" {
#endif

// Options object.
LITERT_DEFINE_HANDLE(LrtGoogleTensorOptions);

// Creates options with default values.
LiteRtStatus LrtCreateGoogleTensorOptions(LrtGoogleTensorOptions* options);

// Creates options from a TOML text, the form of the payload.
LiteRtStatus LrtCreateGoogleTensorOptionsFromToml(const char* toml_payload,
                                                  LrtGoogleTensorOptions* options);

// Destroys options; NULL is allowed.
void LrtDestroyGoogleTensorOptions(LrtGoogleTensorOptions options);

// Returns the arguments of LiteRtCreateOpaqueOptions: the identifier, the options as TOML text,
// which the caller owns, and its deleter.
LiteRtStatus LrtGetOpaqueGoogleTensorOptionsData(LrtGoogleTensorOptions options,
                                                 const char** identifier, void** payload,
                                                 void (**payload_deleter)(void*));

// Returns the identifier, a constant string.
const char* LrtGoogleTensorOptionsGetIdentifier(void);

// ---- Compilation --------------------------------------------------------------------------------

// Type to which float32 values are truncated.
LiteRtStatus LrtGoogleTensorOptionsSetFloatTruncationType(
    LrtGoogleTensorOptions options, LrtGoogleTensorOptionsTruncationType truncation_type);
LiteRtStatus LrtGoogleTensorOptionsGetFloatTruncationType(
    LrtGoogleTensorOptions options, LrtGoogleTensorOptionsTruncationType* truncation_type);

// Truncation of int64 to int32.
LiteRtStatus LrtGoogleTensorOptionsSetInt64ToInt32Truncation(LrtGoogleTensorOptions options,
                                                             bool int64_to_int32_truncation);
LiteRtStatus LrtGoogleTensorOptionsGetInt64ToInt32Truncation(LrtGoogleTensorOptions options,
                                                             bool* int64_to_int32_truncation);

// Quantisation of activations at run time for quantised weights.
LiteRtStatus LrtGoogleTensorOptionsSetEnableDynamicRangeQuantization(
    LrtGoogleTensorOptions options, bool enable_dynamic_range_quantization);
LiteRtStatus LrtGoogleTensorOptionsGetEnableDynamicRangeQuantization(
    LrtGoogleTensorOptions options, bool* enable_dynamic_range_quantization);

// Weights of 4 bits.
LiteRtStatus LrtGoogleTensorOptionsSetEnable4BitCompilation(LrtGoogleTensorOptions options,
                                                            bool enable_4bit_compilation);
LiteRtStatus LrtGoogleTensorOptionsGetEnable4BitCompilation(LrtGoogleTensorOptions options,
                                                            bool* enable_4bit_compilation);

// Support for large models.
LiteRtStatus LrtGoogleTensorOptionsSetEnableLargeModelSupport(LrtGoogleTensorOptions options,
                                                              bool enable_large_model_support);
LiteRtStatus LrtGoogleTensorOptionsGetEnableLargeModelSupport(LrtGoogleTensorOptions options,
                                                              bool* enable_large_model_support);

// Extent to which a model is divided among cores.
LiteRtStatus LrtGoogleTensorOptionsSetShardingIntensity(
    LrtGoogleTensorOptions options, LrtGoogleTensorOptionsShardingIntensity sharding_intensity);
LiteRtStatus LrtGoogleTensorOptionsGetShardingIntensity(
    LrtGoogleTensorOptions options, LrtGoogleTensorOptionsShardingIntensity* sharding_intensity);

// Filter of operators, a text proto.
LiteRtStatus LrtGoogleTensorOptionsSetOpFiltersProto(LrtGoogleTensorOptions options,
                                                     const char* op_filters_proto);
LiteRtStatus LrtGoogleTensorOptionsGetOpFiltersProto(LrtGoogleTensorOptions options,
                                                     const char** op_filters_proto);

// Further options of the compiler, as a text or as the path of a file.
LiteRtStatus LrtGoogleTensorOptionsSetExtraOptions(LrtGoogleTensorOptions options,
                                                   const char* extra_options);
LiteRtStatus LrtGoogleTensorOptionsGetExtraOptions(LrtGoogleTensorOptions options,
                                                   const char** extra_options);
LiteRtStatus LrtGoogleTensorOptionsSetExtraOptionsPath(LrtGoogleTensorOptions options,
                                                       const char* extra_options_path);
LiteRtStatus LrtGoogleTensorOptionsGetExtraOptionsPath(LrtGoogleTensorOptions options,
                                                       const char** extra_options_path);

// Folder for files that the compiler writes.
LiteRtStatus LrtGoogleTensorOptionsSetOutputDir(LrtGoogleTensorOptions options,
                                                const char* output_dir);
LiteRtStatus LrtGoogleTensorOptionsGetOutputDir(LrtGoogleTensorOptions options,
                                                const char** output_dir);

// Report of the duration of each operator.
LiteRtStatus LrtGoogleTensorOptionsSetDumpOpTimings(LrtGoogleTensorOptions options,
                                                    bool dump_op_timings);
LiteRtStatus LrtGoogleTensorOptionsGetDumpOpTimings(LrtGoogleTensorOptions options,
                                                    bool* dump_op_timings);

// ---- Runs ---------------------------------------------------------------------------------------

// Trade-off between power and speed. The getter returns kLiteRtStatusErrorNotFound if the option is
// not set.
LiteRtStatus LrtGoogleTensorOptionsSetPerformanceMode(
    LrtGoogleTensorOptions options, LiteRtGoogleTensorOptionsPerformanceMode mode);
LiteRtStatus LrtGoogleTensorOptionsGetPerformanceMode(
    LrtGoogleTensorOptions options, LiteRtGoogleTensorOptionsPerformanceMode* mode);

// Memory of an input of a signature: coherent with the caches of the CPU or not.
LiteRtStatus LrtGoogleTensorOptionsSetInputCoherency(LrtGoogleTensorOptions options,
                                                     const char* signature_name,
                                                     const char* tensor_name, bool prefer_coherent);
LiteRtStatus LrtGoogleTensorOptionsGetInputCoherency(LrtGoogleTensorOptions options,
                                                     const char* signature_name,
                                                     const char* tensor_name,
                                                     bool* prefer_coherent);

// The following functions enumerate the inputs for which the option is set.
LiteRtStatus LrtGoogleTensorOptionsGetNumInputCoherencyEntries(LrtGoogleTensorOptions options,
                                                               int* num_entries);
LiteRtStatus LrtGoogleTensorOptionsGetInputCoherencyEntry(LrtGoogleTensorOptions options,
                                                          int entry_idx,
                                                          const char** signature_name,
                                                          const char** tensor_name,
                                                          bool* prefer_coherent);

// Memory of an output of a signature, in the same way.
LiteRtStatus LrtGoogleTensorOptionsSetOutputCoherency(LrtGoogleTensorOptions options,
                                                      const char* signature_name,
                                                      const char* tensor_name,
                                                      bool prefer_coherent);
LiteRtStatus LrtGoogleTensorOptionsGetOutputCoherency(LrtGoogleTensorOptions options,
                                                      const char* signature_name,
                                                      const char* tensor_name,
                                                      bool* prefer_coherent);
LiteRtStatus LrtGoogleTensorOptionsGetNumOutputCoherencyEntries(LrtGoogleTensorOptions options,
                                                                int* num_entries);
LiteRtStatus LrtGoogleTensorOptionsGetOutputCoherencyEntry(LrtGoogleTensorOptions options,
                                                           int entry_idx,
                                                           const char** signature_name,
                                                           const char** tensor_name,
                                                           bool* prefer_coherent);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_OPTIONS_LITERT_GOOGLE_TENSOR_OPTIONS_H_
