// SPDX-License-Identifier: Apache-2.0
//
// Extensions of Deputy, which LiteRT's own library does not have: compilation of models by compiler
// plug-ins for files, so that programs need the dispatch plug-in only.
//
//     LiteRtModel compiled = NULL;
//     DeputyLiteRtCompileModel(environment, options, model, "SoC", &compiled);
//     LiteRtSerializeModel(compiled, &buffer, &size, &offset, false, serialization_options);
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_DEPUTY_COMPILER_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_DEPUTY_COMPILER_H_

#include "litert/c/litert_common.h"

#ifdef __cplusplus
extern "C" {
#endif

// Compiles a copy of a model with the plug-ins below the folder of the environment's option
// CompilerPluginLibraryDir, whose hardware `options` select. `soc_model` is the device; NULL is the
// plug-in's default. The result contains operators DISPATCH_OP with byte code; the caller destroys
// it with LiteRtDestroyModel. kLiteRtStatusErrorNotFound if the plug-ins select no operator. If
// none has compiled the model and one has failed, its status is returned; the log has the reason.
LITERT_CAPI_EXPORT LiteRtStatus DeputyLiteRtCompileModel(LiteRtEnvironment environment,
                                                         LiteRtOptions options, LiteRtModel model,
                                                         const char* soc_model,
                                                         LiteRtModel* compiled_model);

// Called with the properties of a plug-in, which are valid during the call. `soc_models` are
// separated by commas; `sdk_version` may be "".
typedef void (*DeputyLiteRtPluginCallback)(void* user_data, const char* path,
                                           const char* manufacturer, const char* sdk_version,
                                           const char* soc_models);

// Opens the plug-ins below that folder and calls `callback` for each that fits, in the order in
// which they compile. Others are named in the log.
LITERT_CAPI_EXPORT LiteRtStatus DeputyLiteRtListCompilerPlugins(LiteRtEnvironment environment,
                                                                LiteRtOptions options,
                                                                DeputyLiteRtPluginCallback callback,
                                                                void* user_data);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_DEPUTY_COMPILER_H_
