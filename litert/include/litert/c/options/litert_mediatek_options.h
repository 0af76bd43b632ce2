// SPDX-License-Identifier: Apache-2.0
//
// Options of MediaTek's plug-ins. Getters return the default value if an option is not set. Strings
// are copied; strings that are returned belong to the options.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_OPTIONS_LITERT_MEDIATEK_OPTIONS_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_OPTIONS_LITERT_MEDIATEK_OPTIONS_H_

#include <stdbool.h>

#include "litert/c/litert_common.h"

#ifdef __cplusplus
extern "C" {
#endif

// Options object.
typedef struct LrtMediatekOptions LrtMediatekOptions;

// Creates options with default values.
LiteRtStatus LrtCreateMediatekOptions(LrtMediatekOptions** options);

// Creates options from a TOML text, the form of the payload.
LiteRtStatus LrtCreateMediatekOptionsFromToml(const char* toml_payload,
                                              LrtMediatekOptions** options);

// Destroys options; NULL is allowed.
void LrtDestroyMediatekOptions(LrtMediatekOptions* options);

// Returns the arguments of LiteRtCreateOpaqueOptions: the identifier, the options as TOML text,
// which the caller owns, and its deleter.
LiteRtStatus LrtGetOpaqueMediatekOptionsData(const LrtMediatekOptions* options,
                                             const char** identifier, void** payload,
                                             void (**payload_deleter)(void*));

// ---- Compilation --------------------------------------------------------------------------------

// Version of the Neuron SDK.
typedef enum LiteRtMediatekOptionsNeronSDKVersionType {
  kLiteRtMediatekOptionsNeronSDKVersionTypeVersion7 = 0,
  kLiteRtMediatekOptionsNeronSDKVersionTypeVersion8 = 1,
  kLiteRtMediatekOptionsNeronSDKVersionTypeVersion9 = 2,
} LiteRtMediatekOptionsNeronSDKVersion;

LiteRtStatus LrtSetMediatekOptionsNeronSDKVersionType(
    LrtMediatekOptions* options, enum LiteRtMediatekOptionsNeronSDKVersionType sdk_version_type);
LiteRtStatus LrtGetMediatekOptionsNeronSDKVersionType(
    const LrtMediatekOptions* options,
    enum LiteRtMediatekOptionsNeronSDKVersionType* sdk_version_type);

// Optimisations for Gemma models.
LiteRtStatus LrtSetMediatekOptionsGemmaCompilerOptimizations(LrtMediatekOptions* options,
                                                             bool gemma_compiler_optimizations);
LiteRtStatus LrtGetMediatekOptionsGemmaCompilerOptimizations(const LrtMediatekOptions* options,
                                                             bool* gemma_compiler_optimizations);

// Optimisations for the first-level cache.
LiteRtStatus LrtSetMediatekOptionsL1CacheOptimizations(LrtMediatekOptions* options,
                                                       bool l1_cache_optimizations);
LiteRtStatus LrtGetMediatekOptionsL1CacheOptimizations(const LrtMediatekOptions* options,
                                                       bool* l1_cache_optimizations);

// Hints for the optimiser, as bits.
typedef enum LiteRtMediatekNeuronAdapterOptimizationHint {
  kLiteRtMediatekNeuronAdapterOptimizationHintNormal = 0,
  kLiteRtMediatekNeuronAdapterOptimizationHintLowLatency = 1 << 0,
  kLiteRtMediatekNeuronAdapterOptimizationHintDeepFusion = 1 << 1,
  kLiteRtMediatekNeuronAdapterOptimizationHintBatchProcessing = 1 << 2,
} LiteRtMediatekNeuronAdapterOptimizationHint;

LiteRtStatus LrtSetMediatekOptionsOptimizationHint(
    LrtMediatekOptions* options, LiteRtMediatekNeuronAdapterOptimizationHint optimization_hint);
LiteRtStatus LrtGetMediatekOptionsOptimizationHint(
    const LrtMediatekOptions* options,
    LiteRtMediatekNeuronAdapterOptimizationHint* optimization_hint);

// Further options of the offline compiler.
LiteRtStatus LrtSetMediatekOptionsAotCompilationOptions(LrtMediatekOptions* options,
                                                        const char* aot_compilation_options);
LiteRtStatus LrtGetMediatekOptionsAotCompilationOptions(const LrtMediatekOptions* options,
                                                        const char** aot_compilation_options);

// Folder for compiled DLA files.
LiteRtStatus LrtSetMediatekOptionsMediatekDlaDir(LrtMediatekOptions* options,
                                                 const char* mediatek_dla_dir);
LiteRtStatus LrtGetMediatekOptionsMediatekDlaDir(const LrtMediatekOptions* options,
                                                 const char** mediatek_dla_dir);

// Keeps that folder after the compilation.
LiteRtStatus LrtSetMediatekOptionsDisableDlaDirRemoval(LrtMediatekOptions* options,
                                                       bool disable_dla_dir_removal);
LiteRtStatus LrtGetMediatekOptionsDisableDlaDirRemoval(const LrtMediatekOptions* options,
                                                       bool* disable_dla_dir_removal);

// ---- Runs ---------------------------------------------------------------------------------------

// Trade-off between power and speed.
typedef enum LiteRtMediatekNeuronAdapterPerformanceMode {
  kLiteRtMediatekNeuronAdapterPerformanceModeNeuronPreferLowPower = 0,
  kLiteRtMediatekNeuronAdapterPerformanceModeNeuronPreferFastSingleAnswer = 1,
  // The default.
  kLiteRtMediatekNeuronAdapterPerformanceModeNeuronPreferSustainedSpeed = 2,
  kLiteRtMediatekNeuronAdapterPerformanceModeNeuronPreferTurboBoost = 3,
} LiteRtMediatekNeuronAdapterPerformanceMode;

LiteRtStatus LrtSetMediatekOptionsPerformanceMode(
    LrtMediatekOptions* options, LiteRtMediatekNeuronAdapterPerformanceMode performance_mode);
LiteRtStatus LrtGetMediatekOptionsPerformanceMode(
    const LrtMediatekOptions* options,
    LiteRtMediatekNeuronAdapterPerformanceMode* performance_mode);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_OPTIONS_LITERT_MEDIATEK_OPTIONS_H_
