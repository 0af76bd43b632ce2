// SPDX-License-Identifier: Apache-2.0
//
// Functions that a compiler plug-in exports, the library libLiteRtCompilerPlugin_<name>.so. The
// host loads the library, selects a plug-in whose SoC model it needs, calls
// LiteRtCompilerPluginPartition for each subgraph and LiteRtCompilerPluginCompile for the selected
// operators, and puts the bytecode into the model, where the dispatch plug-in of the same vendor
// finds it. All functions but LiteRtGetCompiledResultHandle are required.
//
// The plug-in uses no functions of the host by name; it receives them in the LiteRtCompilerContext.
// Strings that it returns belong to it. The functions are called by one thread at a time.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_VENDORS_C_LITERT_COMPILER_PLUGIN_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_VENDORS_C_LITERT_COMPILER_PLUGIN_H_

#include <stddef.h>

#include "litert/c/litert_builder.h"
#include "litert/c/litert_common.h"

#ifdef __cplusplus
extern "C" {
#endif

// A plug-in after LiteRtCreateCompilerPlugin.
LITERT_DEFINE_HANDLE(LiteRtCompilerPlugin);

// Result of LiteRtCompilerPluginCompile: modules of bytecode, and one call per partition.
LITERT_DEFINE_HANDLE(LiteRtCompiledResult);

// Functions of the host (c/internal/litert_compiler_context.h).
typedef struct LiteRtCompilerContext LiteRtCompilerContext;

// A transformation that the host applies before it partitions a graph.
typedef struct {
  LiteRtPatternFn pattern;
  // Name for logs.
  const char* name;
  // Transformations with larger values are applied earlier.
  size_t benefit;
} LiteRtTransformation;

// ---- The plug-in --------------------------------------------------------------------------------

// Returns the version of this API that the plug-in was compiled with.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetCompilerPluginVersion(LiteRtApiVersion* api_version);

// Returns the name of the manufacturer, such as "Qualcomm". A constant string.
LITERT_CAPI_EXPORT const char* LiteRtGetCompilerPluginSocManufacturer(void);

// Creates the plug-in. The context, `env` and `options` outlive it and must not be changed; `env`
// and `options` may be NULL.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCreateCompilerPlugin(
    const LiteRtCompilerContext* compiler_context, LiteRtCompilerPlugin* compiler_plugin,
    LiteRtEnvironmentOptions env, LiteRtOptions options);

// Destroys the plug-in; its results have been destroyed before.
LITERT_CAPI_EXPORT void LiteRtDestroyCompilerPlugin(LiteRtCompilerPlugin compiler_plugin);

// Returns the kinds of hardware for which the plug-in compiles, bits of LiteRtHwAccelerators.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetCompilerPluginSupportedHardware(
    LiteRtCompilerPlugin compiler_plugin, LiteRtHwAccelerators* supported_hardware);

// The following functions enumerate the SoC models for which the plug-in compiles.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetNumCompilerPluginSupportedSocModels(
    LiteRtCompilerPlugin compiler_plugin, LiteRtParamIndex* num_supported_soc_models);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetCompilerPluginSupportedSocModel(
    LiteRtCompilerPlugin compiler_plugin, LiteRtParamIndex soc_model_idx,
    const char** soc_model_name);

// Returns the version of the vendor's SDK as text.
LITERT_CAPI_EXPORT LiteRtStatus
LiteRtGetCompilerPluginSDKVersion(LiteRtCompilerPlugin compiler_plugin, const char** sdk_version);

// Experimental. Returns kLiteRtStatusOk if the plug-in can compile for the SoC model and this
// version of the API, kLiteRtStatusErrorUnsupportedCompilerVersion or another error otherwise.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCompilerPluginCheckCompilerCompatibility(
    LiteRtApiVersion api_version, LiteRtCompilerPlugin compiler_plugin,
    LiteRtEnvironmentOptions env, LiteRtOptions options, const char* soc_model_name);

// Experimental. Returns an array of `num_patterns` transformations, which belongs to the plug-in.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCompilerPluginRegisterAllTransformations(
    LiteRtCompilerPlugin compiler_plugin, LiteRtTransformation** transformations,
    LiteRtParamIndex* num_patterns);

// ---- Compilation --------------------------------------------------------------------------------

// Appends the operators that the plug-in can compile to `selected_ops` with LiteRtPushOp.
// `soc_model` may be NULL: the default model. Called once per subgraph.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCompilerPluginPartition(LiteRtCompilerPlugin compiler_plugin,
                                                              const char* soc_model,
                                                              LiteRtSubgraph subgraph,
                                                              LiteRtOpList selected_ops);

// Compiles `partitions`, a model with one subgraph per partition. The caller owns the result.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCompilerPluginCompile(LiteRtCompilerPlugin compiler_plugin,
                                                            const char* soc_model,
                                                            LiteRtModel partitions,
                                                            LiteRtCompiledResult* compiled_result);

// ---- Results ------------------------------------------------------------------------------------

// Destroys a result.
LITERT_CAPI_EXPORT void LiteRtDestroyCompiledResult(LiteRtCompiledResult result);

// The following functions enumerate the modules of bytecode, which belong to the result. Several
// calls may use one module.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCompiledResultNumByteCodeModules(
    LiteRtCompiledResult compiled_result, LiteRtParamIndex* num_byte_code);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetCompiledResultByteCode(
    LiteRtCompiledResult compiled_result, LiteRtParamIndex byte_code_idx, const void** byte_code,
    size_t* byte_code_size);

// Returns the number of calls, which equals the number of partitions.
LITERT_CAPI_EXPORT LiteRtStatus
LiteRtGetNumCompiledResultCalls(LiteRtCompiledResult compiled_result, LiteRtParamIndex* num_calls);

// Returns what the dispatch plug-in needs to run a call: `call_info` bytes, usually the name of a
// function, and the index of the module.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetCompiledResultCallInfo(
    LiteRtCompiledResult compiled_result, LiteRtParamIndex call_idx, const void** call_info,
    size_t* call_info_size, LiteRtParamIndex* byte_code_idx);

// Optional. Returns a handle with which the dispatch plug-in can run a call in this process without
// bytecode. It is valid as long as the result.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetCompiledResultHandle(LiteRtCompiledResult compiled_result,
                                                              LiteRtParamIndex call_idx,
                                                              LiteRtJitExecutable* handle);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_VENDORS_C_LITERT_COMPILER_PLUGIN_H_
