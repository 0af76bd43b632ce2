// SPDX-License-Identifier: Apache-2.0
//
// Opens libraries that contain delegates, as upstream does: external delegates with lazy binding,
// so that unused functions may be undefined; stable ones with immediate binding, after an
// environment variable was set to their directory.
#include "core/plugin/plugin.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "core/base/foreign_call.h"
#include "core/base/log.h"
#include "core/plugin/isolation.h"
#include "core/plugin/layers.h"
#include "core/plugin/plugin_file.h"
#include "core/plugin/plugin_folders.h"
#include "core/plugin/plugin_probe.h"

namespace deputy {
namespace {

constexpr const char* kCreate = "tflite_plugin_create_delegate";
constexpr const char* kDestroy = "tflite_plugin_destroy_delegate";
constexpr const char* kPlugin = "deputy_plugin";
constexpr const char* kStable = "TFL_TheStableDelegate";

// Size of a plug-in's description up to `abi_version`. The struct of an older plug-in may end after
// `destroy`, but not before.
constexpr size_t kVersionedSize = offsetof(DeputyDelegatePlugin, abi_version) + sizeof(uint32_t);
constexpr size_t kMinSize =
    offsetof(DeputyDelegatePlugin, destroy) + sizeof(DeputyDelegatePlugin::destroy);

// Time limit for loading a library in a child process: drivers may take seconds to start.
constexpr int kProbeTimeoutMs = 10000;

constexpr unsigned kMajor = DEPUTY_PLUGIN_ABI_VERSION >> 16;

std::string Quoted(const char* text) { return std::string("'") + text + "'"; }

// Loads a library. Its initialisers are foreign code and may throw. No observer exists before the
// interpreter.
void* OpenLibrary(const std::string& path, int flags, std::string* out_problem) {
  void* handle = nullptr;
  const CallResult result = CallForeign(nullptr, {.callback = Callback::kLoad}, [&](CallResult*) {
    dlerror();
    handle = dlopen(path.c_str(), flags);
  });
  if (handle != nullptr) return handle;
  if (result.exception != nullptr) {
    *out_problem = "threw an exception while it was loaded";
  } else {
    const char* text = dlerror();
    *out_problem = text == nullptr ? "dlopen gave no reason" : text;
  }
  return nullptr;
}

// Returns true if loading the library would not run its code again.
bool IsInProcess(const std::string& path) {
  void* handle = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (handle != nullptr) dlclose(handle);
  return handle != nullptr;
}

// Sets the environment variable that stable delegates read to find their own files.
void NameStableFolder(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  setenv("TFLITE_STABLE_DELEGATE_LIBRARY_PATH", folder.c_str(), 1);
}

std::string CheckOptions(const DeputyDelegatePlugin& plugin) {
  if (plugin.option_count > 0 && plugin.options == nullptr) {
    return Quoted(kPlugin) + " declares " + std::to_string(plugin.option_count) +
           " options, expected a table of them, found NULL";
  }
  for (size_t i = 0; i < plugin.option_count; ++i) {
    if (plugin.options[i].name == nullptr) {
      return Quoted(kPlugin) + " option " + std::to_string(i) + ": expected a name, found NULL";
    }
  }
  return "";
}

}  // namespace

std::shared_ptr<const PluginLibrary> PluginLibrary::Load(const char* path, bool allow_stable,
                                                         ErrorReporter* reporter) {
  const std::string name = path == nullptr ? "" : path;
  const std::string found = FindPlugin(name);
  const std::shared_ptr<PluginLibrary> library(new PluginLibrary(found.empty() ? name : found));
  const std::string problem = library->Open(allow_stable);
  if (problem.empty()) {
    Log(kDeputyLogInfo, "delegate library '%s': %s", library->name().c_str(),
        library->path_.c_str());
    return library;
  }
  reporter->Report("Unable to load external delegate from : %s (%s)", library->path_.c_str(),
                   problem.c_str());
  return nullptr;
}

std::string PluginLibrary::name() const {
  const char* own = nullptr;
  if (kind_ == PluginKind::kDeputy) own = plugin_.name;
  if (kind_ == PluginKind::kStable) own = stable_->delegate_name;
  if (own != nullptr && own[0] != '\0') return own;
  return path_.substr(path_.rfind('/') + 1);
}

std::string PluginLibrary::Open(bool allow_stable) {
  if (path_.empty()) return "no path given, expected the path of a shared object";
  const PluginFile file = InspectPluginFile(path_);
  if (!file.problem.empty()) return file.problem;
  const bool is_wrapper = path_.ends_with(kSandboxFile) || path_.ends_with(kLayersFile);
  layers_ = is_wrapper ? "" : LayersFromEnvironment();
  if (!layers_.empty()) return OpenLayers();
  isolation_ = is_wrapper ? "" : IsolationProfile();
  if (!isolation_.empty()) return OpenSandbox();
  const bool as_stable = file.is_stable && allow_stable;
  if (as_stable) NameStableFolder(path_);
  return OpenProbed((as_stable ? RTLD_NOW : RTLD_LAZY) | RTLD_LOCAL, allow_stable);
}

std::string PluginLibrary::OpenProbed(int flags, bool allow_stable) {
  if (IsPluginProbeEnabled() && !IsInProcess(path_)) {
    std::string problem =
        ProbeInChild([&] { (void)OpenInProcess(path_, flags, allow_stable); }, kProbeTimeoutMs);
    if (!problem.empty()) return problem;
  }
  return OpenInProcess(path_, flags, allow_stable);
}

std::string PluginLibrary::OpenInProcess(const std::string& path, int flags, bool allow_stable) {
  std::string problem;
  handle_ = OpenLibrary(path, flags, &problem);
  if (handle_ == nullptr) {
    const bool is_here = path.find('/') == std::string::npos && access(path.c_str(), F_OK) == 0;
    return is_here ? problem + "; to load the file in this directory, use ./" + path : problem;
  }
  return FindFunctions(allow_stable);
}

std::string PluginLibrary::OpenSandbox() {
  if (!IsIsolationProfile(isolation_)) {
    return "DEPUTY_ISOLATE: expected 0, 1, none, device or strict, found '" + isolation_ + "'";
  }
  const std::string sandbox = FindPlugin(kSandbox);
  if (sandbox.empty()) return "DEPUTY_ISOLATE: there is no " + std::string(kSandboxFile);
  std::string problem = OpenInProcess(sandbox, RTLD_LAZY | RTLD_LOCAL, false);
  // Clients pass options of the isolated delegate, which are not known here.
  plugin_.options = nullptr;
  plugin_.option_count = 0;
  return problem;
}

std::string PluginLibrary::OpenLayers() {
  const std::string path = FindPlugin(kLayers);
  if (path.empty()) return "DEPUTY_LAYERS: there is no " + std::string(kLayersFile);
  PluginLibrary layers(path);
  std::string problem = layers.OpenInProcess(path, RTLD_LAZY | RTLD_LOCAL, false);
  // A library whose delegates run in another process is not loaded.
  if (problem.empty() && !HasIsolation(layers_)) {
    problem = OpenProbed(RTLD_LAZY | RTLD_LOCAL, false);
  }
  if (problem.empty()) AdoptLayers(layers);
  return problem;
}

// Replaces the functions of the library's delegates by those of the plug-in `layers`. Optional
// functions that the library lacks stay null, except for set_model, set_cancellation and
// set_memory_provider, which layers may need, and async_kernel, which reports layers that do not
// support it. A library that is not loaded gets the functions that the plug-in `sandbox` has.
void PluginLibrary::AdoptLayers(const PluginLibrary& layers) {
  const auto replace = [](auto* own, auto function) {
    if (*own != nullptr) *own = function;
  };
  replace(&plugin_.get_support, layers.plugin_.get_support);
  replace(&plugin_.device_bytes, layers.plugin_.device_bytes);
  replace(&plugin_.describe_partitions, layers.plugin_.describe_partitions);
  replace(&plugin_.take_events, layers.plugin_.take_events);
  replace(&plugin_.report, layers.plugin_.report);
  replace(&plugin_.node_events, layers.plugin_.node_events);
  replace(&plugin_.set_options, layers.plugin_.set_options);
  replace(&plugin_.run_start, layers.plugin_.run_start);
  replace(&plugin_.run_end, layers.plugin_.run_end);
  plugin_.async_kernel = layers.plugin_.async_kernel;
  plugin_.flags = 0;               // layers may read constants
  plugin_.memory_types = nullptr;  // layers access tensors in host memory
  if (handle_ == nullptr) {
    plugin_.name = kSandbox;
    plugin_.list_devices = layers.plugin_.list_devices;
    plugin_.get_support = layers.plugin_.get_support;
    plugin_.describe_partitions = layers.plugin_.describe_partitions;
    plugin_.take_events = layers.plugin_.take_events;
    plugin_.node_events = layers.plugin_.node_events;
    plugin_.report = layers.plugin_.report;
    plugin_.set_options = layers.plugin_.set_options;
  }
  kind_ = PluginKind::kDeputy;
  plugin_.struct_size = sizeof plugin_;
  plugin_.set_model = layers.plugin_.set_model;
  plugin_.set_cancellation = layers.plugin_.set_cancellation;
  plugin_.set_memory_provider = layers.plugin_.set_memory_provider;
  create_ = layers.create_;
  destroy_ = layers.destroy_;
}

GivenOptions PluginLibrary::WrapperOptions(const PluginOptions& options) const {
  return layers_.empty() ? SandboxOptions(path_, isolation_, options)
                         : LayersOptions(path_, layers_, options);
}

// Reads the plug-in's own description first, because its functions take precedence over the
// exported ones.
std::string PluginLibrary::FindFunctions(bool allow_stable) {
  create_ = reinterpret_cast<CreateFunction>(dlsym(handle_, kCreate));
  destroy_ = reinterpret_cast<DestroyFunction>(dlsym(handle_, kDestroy));
  if (const auto function = reinterpret_cast<DeputyPluginFunction>(dlsym(handle_, kPlugin))) {
    std::string problem = AdoptPlugin(function);
    if (!problem.empty()) return problem;
  }
  if (create_ != nullptr && destroy_ != nullptr) return "";
  const auto* stable = static_cast<const TfLiteStableDelegate*>(dlsym(handle_, kStable));
  if (create_ == nullptr && destroy_ == nullptr && stable != nullptr && allow_stable) {
    return AdoptStable(stable);
  }
  std::string problem = "does not export " + Quoted(create_ == nullptr ? kCreate : kDestroy);
  if (stable != nullptr) return problem + ", but " + Quoted(kStable) + ": a stable delegate";
  return allow_stable ? problem + " nor " + Quoted(kStable) : problem;
}

std::string PluginLibrary::AdoptPlugin(DeputyPluginFunction function) {
  const DeputyDelegatePlugin* exported = nullptr;
  const CallResult result = CallForeign(nullptr, {.callback = Callback::kDescribe},
                                        [&](CallResult*) { exported = function(); });
  if (result.exception != nullptr) return Quoted(kPlugin) + " threw an exception";
  if (exported == nullptr) return "";
  const size_t size = exported->struct_size;
  if (size >= kVersionedSize && exported->abi_version >> 16 != kMajor) {
    return Quoted(kPlugin) + ": expected major ABI version " + std::to_string(kMajor) + ", found " +
           std::to_string(exported->abi_version >> 16);
  }
  if (size < kMinSize) {
    return Quoted(kPlugin) + ": expected a struct of at least " + std::to_string(kMinSize) +
           " bytes, found " + std::to_string(size);
  }
  std::memcpy(&plugin_, exported, std::min(size, sizeof(plugin_)));
  plugin_.struct_size = std::min(size, sizeof(plugin_));
  if ((plugin_.create == nullptr) != (plugin_.destroy == nullptr)) {
    return Quoted(kPlugin) + ": expected create and destroy, found only one of them";
  }
  kind_ = PluginKind::kDeputy;
  if (plugin_.create != nullptr) {
    create_ = plugin_.create;
    destroy_ = plugin_.destroy;
  }
  return CheckOptions(plugin_);
}

std::string PluginLibrary::AdoptStable(const TfLiteStableDelegate* stable) {
  const char* version = stable->delegate_abi_version;
  const size_t major = std::strcspn(TFL_STABLE_DELEGATE_ABI_VERSION, ".") + 1;
  if (version == nullptr || std::strncmp(version, TFL_STABLE_DELEGATE_ABI_VERSION, major) != 0) {
    return Quoted(kStable) + ": expected ABI version " + TFL_STABLE_DELEGATE_ABI_VERSION +
           " or later of the same major number, found " + (version == nullptr ? "NULL" : version);
  }
  const TfLiteOpaqueDelegatePlugin* table = stable->delegate_plugin;
  if (table == nullptr || table->create == nullptr || table->destroy == nullptr) {
    return Quoted(kStable) + ": expected create and destroy functions, found NULL";
  }
  kind_ = PluginKind::kStable;
  stable_ = stable;
  return "";
}

}  // namespace deputy
