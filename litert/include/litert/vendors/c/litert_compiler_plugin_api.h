// SPDX-License-Identifier: Apache-2.0
//
// Types, names and a table of the functions that a compiler plug-in exports, for hosts that load
// plug-ins. litert_compiler_plugin.h describes the functions.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_VENDORS_C_LITERT_COMPILER_PLUGIN_API_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_VENDORS_C_LITERT_COMPILER_PLUGIN_API_H_

#include <stddef.h>

#include "litert/c/litert_common.h"
#include "litert/vendors/c/litert_compiler_plugin.h"

#ifdef __cplusplus
#include <string_view>
#endif

#ifdef __cplusplus
extern "C" {
#endif

// Types of the functions.
typedef LiteRtStatus (*LiteRtGetCompilerPluginVersionT)(LiteRtApiVersion*);
typedef const char* (*LiteRtGetCompilerPluginSocManufacturerT)(void);
typedef LiteRtStatus (*LiteRtCreateCompilerPluginT)(const LiteRtCompilerContext*,
                                                    LiteRtCompilerPlugin*, LiteRtEnvironmentOptions,
                                                    LiteRtOptions);
typedef void (*LiteRtDestroyCompilerPluginT)(LiteRtCompilerPlugin);
typedef LiteRtStatus (*LiteRtGetCompilerPluginSupportedHardwareT)(LiteRtCompilerPlugin,
                                                                  LiteRtHwAccelerators*);
typedef LiteRtStatus (*LiteRtGetNumCompilerPluginSupportedSocModelsT)(LiteRtCompilerPlugin,
                                                                      LiteRtParamIndex*);
typedef LiteRtStatus (*LiteRtGetCompilerPluginSupportedSocModelT)(LiteRtCompilerPlugin,
                                                                  LiteRtParamIndex soc_model_idx,
                                                                  const char** soc_moel_idx);
typedef LiteRtStatus (*LiteRtGetCompilerPluginSDKVersionT)(LiteRtCompilerPlugin, const char**);
typedef LiteRtStatus (*LiteRtCompilerPluginPartitionT)(LiteRtCompilerPlugin, const char* soc_model,
                                                       LiteRtSubgraph subgraph,
                                                       LiteRtOpList selected_ops);
typedef LiteRtStatus (*LiteRtCompilerPluginCompileT)(LiteRtCompilerPlugin, const char* soc_model,
                                                     LiteRtModel partitions,
                                                     LiteRtCompiledResult* compiled_result);
typedef void (*LiteRtDestroyCompiledResultT)(LiteRtCompiledResult);
typedef LiteRtStatus (*LiteRtGetCompiledResultByteCodeT)(LiteRtCompiledResult,
                                                         LiteRtParamIndex byte_code_idx,
                                                         const void** byte_code,
                                                         size_t* byte_code_size);
typedef LiteRtStatus (*LiteRtGetCompiledResultHandleT)(LiteRtCompiledResult,
                                                       LiteRtParamIndex call_idx,
                                                       LiteRtJitExecutable* handle);
typedef LiteRtStatus (*LiteRtCompiledResultNumByteCodeModulesT)(LiteRtCompiledResult,
                                                                LiteRtParamIndex* num_byte_code);
typedef LiteRtStatus (*LiteRtGetCompiledResultCallInfoT)(LiteRtCompiledResult,
                                                         LiteRtParamIndex call_idx,
                                                         const void** call_info,
                                                         size_t* call_info_size,
                                                         LiteRtParamIndex* byte_code_idx);
typedef LiteRtStatus (*LiteRtGetNumCompiledResultCallsT)(LiteRtCompiledResult,
                                                         LiteRtParamIndex* num_calls);
typedef LiteRtStatus (*LiteRtCompilerPluginRegisterAllTransformationsT)(
    LiteRtCompilerPlugin compiler_plugin, LiteRtTransformation** transformations,
    LiteRtParamIndex* num_patterns);
typedef LiteRtStatus (*LiteRtCompilerPluginCheckCompilerCompatibilityT)(
    LiteRtApiVersion api_version, LiteRtCompilerPlugin compiler_plugin,
    LiteRtEnvironmentOptions env, LiteRtOptions options, const char* soc_model_name);

// Functions of a loaded plug-in. Only `get_compiled_result_handle` may be NULL.
struct LiteRtCompilerPluginApi {
  LiteRtGetCompilerPluginVersionT get_compiler_plugin_version;
  LiteRtGetCompilerPluginSocManufacturerT get_compiler_plugin_soc_manufacturer;
  LiteRtCreateCompilerPluginT create_compiler_plugin;
  LiteRtDestroyCompilerPluginT destroy_compiler_plugin;
  LiteRtGetCompilerPluginSupportedHardwareT get_compiler_plugin_supported_hardware;
  LiteRtGetNumCompilerPluginSupportedSocModelsT get_num_compiler_plugin_supported_models;
  LiteRtGetCompilerPluginSupportedSocModelT get_compiler_plugin_supported_soc_model;
  LiteRtGetCompilerPluginSDKVersionT get_compiler_plugin_sdk_version;
  LiteRtCompilerPluginPartitionT compiler_plugin_partition;
  LiteRtCompilerPluginCompileT compiler_plugin_compile;
  LiteRtDestroyCompiledResultT destroy_compiled_result;
  LiteRtGetCompiledResultByteCodeT get_compiled_result_byte_code;
  LiteRtGetCompiledResultHandleT get_compiled_result_handle;
  LiteRtCompiledResultNumByteCodeModulesT get_compiled_result_num_byte_code;
  LiteRtGetCompiledResultCallInfoT get_compiled_result_call_info;
  LiteRtGetNumCompiledResultCallsT get_compiled_result_num_calls;
  LiteRtCompilerPluginRegisterAllTransformationsT register_all_transformations;
  LiteRtCompilerPluginCheckCompilerCompatibilityT check_compiler_compatibility;
};

#ifdef __cplusplus
}  // extern "C"
#endif

#ifdef __cplusplus

// Names of the functions, for dlsym.
static constexpr std::string_view kLiteRtGetCompilerPluginVersion =
    "LiteRtGetCompilerPluginVersion";
static constexpr std::string_view kLiteRtGetCompilerPluginSupportedHardware =
    "LiteRtGetCompilerPluginSupportedHardware";
static constexpr std::string_view kLiteRtGetCompilerPluginSocManufacturer =
    "LiteRtGetCompilerPluginSocManufacturer";
static constexpr std::string_view kLiteRtGetNumCompilerPluginSupportedSocModels =
    "LiteRtGetNumCompilerPluginSupportedSocModels";
static constexpr std::string_view kLiteRtGetCompilerPluginSupportedSocModel =
    "LiteRtGetCompilerPluginSupportedSocModel";
static constexpr std::string_view kLiteRtGetCompilerPluginSDKVersion =
    "LiteRtGetCompilerPluginSDKVersion";
static constexpr std::string_view kLiteRtCreateCompilerPlugin = "LiteRtCreateCompilerPlugin";
static constexpr std::string_view kLiteRtDestroyCompilerPlugin = "LiteRtDestroyCompilerPlugin";
static constexpr std::string_view kLiteRtCompilerPluginPartition = "LiteRtCompilerPluginPartition";
static constexpr std::string_view kLiteRtCompilerPluginCompile = "LiteRtCompilerPluginCompile";
static constexpr std::string_view kLiteRtDestroyCompiledResult = "LiteRtDestroyCompiledResult";
static constexpr std::string_view kLiteRtGetCompiledResultByteCode =
    "LiteRtGetCompiledResultByteCode";
static constexpr std::string_view kLiteRtGetCompiledResultHandle = "LiteRtGetCompiledResultHandle";
static constexpr std::string_view kLiteRtCompiledResultNumByteCodeModules =
    "LiteRtCompiledResultNumByteCodeModules";
static constexpr std::string_view kLiteRtGetCompiledResultCallInfo =
    "LiteRtGetCompiledResultCallInfo";
static constexpr std::string_view kLiteRtGetNumCompiledResultCalls =
    "LiteRtGetNumCompiledResultCalls";
static constexpr std::string_view kLiteRtCompilerPluginRegisterAllTransformations =
    "LiteRtCompilerPluginRegisterAllTransformations";
static constexpr std::string_view kLiteRtCompilerPluginCheckCompilerCompatibility =
    "LiteRtCompilerPluginCheckCompilerCompatibility";

#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_VENDORS_C_LITERT_COMPILER_PLUGIN_API_H_
