// SPDX-License-Identifier: Apache-2.0
//
// Compilation of models by compiler plug-ins for files.
#include <mutex>
#include <string>

#include "litert/c/deputy_compiler.h"
#include "litert/src/environment.h"
#include "litert/src/plugin_compilation.h"

using deputy::litert::Fail;
using deputy::litert::Guard;

namespace {

// Stores the folder with compiler plug-ins.
LiteRtStatus FindFolder(LiteRtEnvironment environment, const char** out_folder) {
  *out_folder = environment->TextOption(kLiteRtEnvOptionTagCompilerPluginLibraryDir);
  if (*out_folder != nullptr) return kLiteRtStatusOk;
  return Fail(kLiteRtStatusErrorInvalidArgument,
              "compiler plug-ins: the environment has no option CompilerPluginLibraryDir");
}

}  // namespace

LiteRtStatus DeputyLiteRtCompileModel(LiteRtEnvironment environment, LiteRtOptions options,
                                      LiteRtModel model, const char* soc_model,
                                      LiteRtModel* compiled_model) {
  if (environment == nullptr || options == nullptr || model == nullptr ||
      compiled_model == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  return Guard([&] {
    const char* folder = nullptr;
    LITERT_TRY(FindFolder(environment, &folder));
    deputy::litert::PluginCompilation compilation;
    LITERT_TRY(deputy::litert::CompileWithPlugins(environment, options, *model, soc_model, true,
                                                  &compilation));
    if (compilation.model != nullptr) {
      *compiled_model = compilation.model.release();
      return kLiteRtStatusOk;
    }
    if (compilation.failure != kLiteRtStatusOk) return compilation.failure;
    return Fail(kLiteRtStatusErrorNotFound,
                "compiler plug-ins: none below %s has compiled an operator", folder);
  });
}

LiteRtStatus DeputyLiteRtListCompilerPlugins(LiteRtEnvironment environment, LiteRtOptions options,
                                             DeputyLiteRtPluginCallback callback, void* user_data) {
  if (environment == nullptr || options == nullptr || callback == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  return Guard([&] {
    const char* folder = nullptr;
    LITERT_TRY(FindFolder(environment, &folder));
    const std::scoped_lock lock(deputy::litert::CompilerPluginMutex());
    for (const auto& plugin :
         deputy::litert::OpenCompilerPlugins(folder, &environment->options(), options)) {
      std::string models;
      for (const std::string& each : plugin->soc_models()) {
        models += (models.empty() ? "" : ",") + each;
      }
      callback(user_data, plugin->path().c_str(), plugin->manufacturer().c_str(),
               plugin->sdk_version().c_str(), models.c_str());
    }
    return kLiteRtStatusOk;
  });
}
