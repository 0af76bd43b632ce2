// SPDX-License-Identifier: Apache-2.0
#include "litert/src/compiler_plugin.h"

#include <dlfcn.h>

#include <algorithm>
#include <utility>

#include "litert/c/internal/litert_compiler_context.h"
#include "litert/src/plugin_files.h"

namespace deputy::litert {
namespace {

// The plug-in's own symbols precede those of the process. Sanitizers do not support that.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kOwnSymbolsFirst = 0;
#else
constexpr int kOwnSymbolsFirst = RTLD_DEEPBIND;
#endif

constexpr LiteRtParamIndex kMaxSocModels = 4096;

// Stores a function of a library; returns the name if it is missing.
template <typename Function>
std::string Resolve(void* library, std::string_view name, Function* out_function) {
  *out_function = reinterpret_cast<Function>(dlsym(library, name.data()));
  return *out_function == nullptr ? std::string(name) : "";
}

// Stores the functions of a library; returns the name of one that is missing, or "".
std::string ResolveAll(void* library, LiteRtCompilerPluginApi* api) {
  std::string missing;
  const auto resolve = [&](std::string_view name, auto* out_function) {
    const std::string lacks = Resolve(library, name, out_function);
    if (missing.empty()) missing = lacks;
  };
  resolve(kLiteRtGetCompilerPluginVersion, &api->get_compiler_plugin_version);
  resolve(kLiteRtGetCompilerPluginSocManufacturer, &api->get_compiler_plugin_soc_manufacturer);
  resolve(kLiteRtCreateCompilerPlugin, &api->create_compiler_plugin);
  resolve(kLiteRtDestroyCompilerPlugin, &api->destroy_compiler_plugin);
  resolve(kLiteRtGetCompilerPluginSupportedHardware, &api->get_compiler_plugin_supported_hardware);
  resolve(kLiteRtGetNumCompilerPluginSupportedSocModels,
          &api->get_num_compiler_plugin_supported_models);
  resolve(kLiteRtGetCompilerPluginSupportedSocModel, &api->get_compiler_plugin_supported_soc_model);
  resolve(kLiteRtGetCompilerPluginSDKVersion, &api->get_compiler_plugin_sdk_version);
  resolve(kLiteRtCompilerPluginPartition, &api->compiler_plugin_partition);
  resolve(kLiteRtCompilerPluginCompile, &api->compiler_plugin_compile);
  resolve(kLiteRtDestroyCompiledResult, &api->destroy_compiled_result);
  resolve(kLiteRtGetCompiledResultByteCode, &api->get_compiled_result_byte_code);
  resolve(kLiteRtCompiledResultNumByteCodeModules, &api->get_compiled_result_num_byte_code);
  resolve(kLiteRtGetCompiledResultCallInfo, &api->get_compiled_result_call_info);
  resolve(kLiteRtGetNumCompiledResultCalls, &api->get_compiled_result_num_calls);
  resolve(kLiteRtCompilerPluginRegisterAllTransformations, &api->register_all_transformations);
  resolve(kLiteRtCompilerPluginCheckCompilerCompatibility, &api->check_compiler_compatibility);
  (void)Resolve(library, kLiteRtGetCompiledResultHandle, &api->get_compiled_result_handle);
  return missing;
}

std::string FailureOf(const char* function, LiteRtStatus status) {
  return std::string(function) + " failed: " + LiteRtGetStatusString(status);
}

}  // namespace

std::recursive_mutex& CompilerPluginMutex() {
  static auto* const mutex = new std::recursive_mutex();  // plug-ins may be destroyed at exit
  return *mutex;
}

CompilerPlugin::~CompilerPlugin() {
  if (handle_ == nullptr) return;
  const std::scoped_lock lock(CompilerPluginMutex());
  (void)Guard([&] {
    api_.destroy_compiler_plugin(handle_);
    return kLiteRtStatusOk;
  });
}

// Loads the library and checks its functions and version.
std::string CompilerPlugin::Load() {
  void* const library =
      dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE | kOwnSymbolsFirst);
  if (library == nullptr) return dlerror();
  const std::string missing = ResolveAll(library, &api_);
  if (!missing.empty()) return "it has no function " + missing;
  LiteRtApiVersion version = {};
  const LiteRtStatus status = Guard([&] { return api_.get_compiler_plugin_version(&version); });
  if (status != kLiteRtStatusOk) return FailureOf("LiteRtGetCompilerPluginVersion", status);
  if (LiteRtCompareApiVersion(version, kPluginVersion) != 0) {
    return "expected version " + TextOf(kPluginVersion) + " of the interface, found " +
           TextOf(version);
  }
  const char* name = nullptr;
  (void)Guard([&] {
    name = api_.get_compiler_plugin_soc_manufacturer();
    return kLiteRtStatusOk;
  });
  if (name == nullptr) return "LiteRtGetCompilerPluginSocManufacturer returned NULL";
  if (!CopyText(name, &manufacturer_)) {
    return "LiteRtGetCompilerPluginSocManufacturer returned no readable name";
  }
  return "";
}

// Stores the properties of the created plug-in.
std::string CompilerPlugin::Inspect() {
  LiteRtHwAccelerators hardware = kLiteRtHwAcceleratorNone;
  LiteRtStatus status =
      Guard([&] { return api_.get_compiler_plugin_supported_hardware(handle_, &hardware); });
  if (status != kLiteRtStatusOk) {
    return FailureOf("LiteRtGetCompilerPluginSupportedHardware", status);
  }
  hardware_ = static_cast<LiteRtHwAcceleratorSet>(hardware);
  LiteRtParamIndex models = 0;
  status = Guard([&] { return api_.get_num_compiler_plugin_supported_models(handle_, &models); });
  if (status != kLiteRtStatusOk) {
    return FailureOf("LiteRtGetNumCompilerPluginSupportedSocModels", status);
  }
  if (models > kMaxSocModels) {
    return "expected at most " + std::to_string(kMaxSocModels) + " SoC models, found " +
           std::to_string(models);
  }
  for (LiteRtParamIndex i = 0; i < models; ++i) {
    const char* model = nullptr;
    status =
        Guard([&] { return api_.get_compiler_plugin_supported_soc_model(handle_, i, &model); });
    if (status != kLiteRtStatusOk || model == nullptr) continue;
    if (!CopyText(model, &soc_models_.emplace_back())) {
      return "LiteRtGetCompilerPluginSupportedSocModel returned no readable name";
    }
  }
  // Plug-ins without their SDK have no version of it.
  const char* sdk_version = nullptr;
  status = Guard([&] { return api_.get_compiler_plugin_sdk_version(handle_, &sdk_version); });
  if (status == kLiteRtStatusOk && sdk_version != nullptr &&
      !CopyText(sdk_version, &sdk_version_)) {
    return "LiteRtGetCompilerPluginSDKVersion returned no readable text";
  }
  return "";
}

std::string CompilerPlugin::Open(LiteRtEnvironmentOptions environment, LiteRtOptions options) {
  std::string reason = Load();
  if (!reason.empty()) return reason;
  const LiteRtStatus status = Guard([&] {
    return api_.create_compiler_plugin(LrtGetCompilerContext(), &handle_, environment, options);
  });
  if (status != kLiteRtStatusOk) {
    handle_ = nullptr;
    return FailureOf("LiteRtCreateCompilerPlugin", status);
  }
  if (handle_ == nullptr) return "LiteRtCreateCompilerPlugin returned no plug-in";
  return Inspect();
}

CompilerPlugins OpenCompilerPlugins(const std::string& folder, LiteRtEnvironmentOptions environment,
                                    LiteRtOptions options) {
  CompilerPlugins plugins;
  const std::vector<std::string> paths = FindPlugins(folder, "libLiteRtCompilerPlugin");
  if (paths.empty()) {
    Log(kLiteRtLogSeverityWarning, "compiler plug-ins: %s has no file libLiteRtCompilerPlugin*.so",
        folder.c_str());
  }
  for (const std::string& path : paths) {
    auto plugin = std::make_shared<CompilerPlugin>(path);
    const std::string reason = plugin->Open(environment, options);
    if (reason.empty()) {
      plugins.push_back(std::move(plugin));
    } else {
      Log(kLiteRtLogSeverityWarning, "compiler plug-in %s is left out: %s", path.c_str(),
          reason.c_str());
    }
  }
  const auto rank = [](const std::shared_ptr<CompilerPlugin>& plugin) {
    if ((plugin->hardware() & kLiteRtHwAcceleratorNpu) != 0) return 0;
    return (plugin->hardware() & kLiteRtHwAcceleratorGpu) != 0 ? 1 : 2;
  };
  std::stable_sort(plugins.begin(), plugins.end(),
                   [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  return plugins;
}

}  // namespace deputy::litert
