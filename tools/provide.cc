// SPDX-License-Identifier: Apache-2.0
#include "provide.h"

#include <dlfcn.h>

#include <cstdio>
#include <filesystem>

#include "deputy/c_api.h"
#include "deputy/external_delegate.h"
#include "providers.h"
#include "stable_settings.h"
#include "text.h"

namespace deputy::tools {
namespace {

LoadedDelegate Absent(const DelegateRequest& request, const std::string& problem) {
  return {DelegateHandle(nullptr, &DeputyPluginDeleteDelegate),
          NameOf(request),
          "",
          "",
          "",
          {},
          {},
          problem};
}

LoadedDelegate CreateExternal(const DelegateRequest& request) {
  const QuietReports quiet;
  TfLiteExternalDelegateOptions options =
      TfLiteExternalDelegateOptionsDefault(request.path.c_str());
  for (const auto& [key, value] : request.options) {
    if (TfLiteExternalDelegateOptionsInsert(&options, key.c_str(), value.c_str()) != kTfLiteOk) {
      FailUsage("--external_delegate_options: expected at most %d pairs, found %zu",
                kExternalDelegateMaxOptions, request.options.size());
    }
  }
  LoadedDelegate loaded = Absent(request, "");
  loaded.library = request.path;
  loaded.handle = {TfLiteExternalDelegateCreate(&options), &TfLiteExternalDelegateDelete};
  if (loaded.handle == nullptr) loaded.problem = DeputyLastError();
  return loaded;
}

// Describes the system library that a bridge would open, unless the bridge's own `problem` names
// it.
std::string SystemText(const Provider& provider, const std::string& problem) {
  std::string text;
  for (const char* name : provider.system_libraries) {
    if (problem.find(name) != std::string::npos) continue;
    void* const library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    if (library == nullptr) {
      const char* const why = dlerror();
      text += Format("; %s was not found: %s", name, why == nullptr ? "" : why);
    } else if (dlsym(library, provider.system_function) == nullptr) {
      text += Format("; %s was found, but has no function %s", name, provider.system_function);
    } else {
      text += Format("; %s was found", name);
    }
    // The library is not closed, because threads of a driver may run its code.
  }
  return text;
}

LoadedDelegate CreateStable(const DelegateRequest& request) {
  const QuietReports quiet;
  LoadedDelegate loaded = Absent(request, "");
  loaded.handle.reset(MakeStableDelegate(request.path, &loaded.problem));
  return loaded;
}

LoadedDelegate CreateOwn(const Provider& provider, const DelegateRequest& request) {
  LoadedDelegate loaded = TryLoadDelegate({provider.key, request.options}, request.settings);
  if (loaded.handle == nullptr && provider.kind == ProviderKind::kBridge) {
    loaded.problem += SystemText(provider, loaded.problem);
  }
  return loaded;
}

}  // namespace

DelegateSettings SettingsOf(const PartitionLimits& limits) {
  DelegateSettings settings;
  if (limits.max_partitions != 0) {
    settings.emplace_back("max_partitions", std::to_string(limits.max_partitions));
  }
  if (limits.min_nodes > 0) settings.emplace_back("min_nodes", std::to_string(limits.min_nodes));
  return settings;
}

void WarnOfIgnoredLimits(const PartitionLimits& limits, const std::set<std::string>& declared) {
  for (const auto& [key, value] : SettingsOf(limits)) {
    if (declared.contains(key)) continue;
    std::fprintf(stderr, "deputy: warning: %s is ignored: no delegate has the option %s\n",
                 key == "min_nodes" ? "--min_nodes_per_partition" : "--max_delegated_partitions",
                 key.c_str());
  }
}

DelegateRequest RequestOf(const std::string& delegate) {
  const DelegateOption option = ParseDelegateOption(delegate);
  return {kGivenLibrary, option.library, option.options};
}

std::string NameOf(const DelegateRequest& request) {
  if (!request.path.empty()) return std::filesystem::path(request.path).filename().string();
  const Provider* provider = FindProvider(request.provider);
  return provider == nullptr ? request.provider : provider->name;
}

std::string FlagOf(const DelegateRequest& request) {
  const Provider* provider = FindProvider(request.provider);
  if (request.provider == kChosenDevice) return "--device-policy: " + request.path;
  if (provider == nullptr) return "--delegate " + request.path;
  return FlagOf(*provider) + (provider->path_flag == nullptr ? "" : "=" + request.path);
}

LoadedDelegate Provide(const DelegateRequest& request) {
  if (request.provider == kChosenDevice) {
    return TryLoadDelegate({request.path, request.options}, request.settings);
  }
  const Provider* provider = FindProvider(request.provider);
  if (provider == nullptr) return LoadDelegate({request.path, request.options}, request.settings);
  switch (provider->kind) {
    case ProviderKind::kOwn:
    case ProviderKind::kBridge:
      return CreateOwn(*provider, request);
    case ProviderKind::kExternal:
      return CreateExternal(request);
    case ProviderKind::kLibrary:
      return TryLoadDelegate({request.path, request.options}, request.settings);
    case ProviderKind::kStable:
      return CreateStable(request);
    case ProviderKind::kForeign:
    case ProviderKind::kNone:
      break;
  }
  return Absent(request, provider->needs);
}

void WarnOfAbsence(const std::string& flag, const std::string& problem) {
  const std::string text = flag + " is not available: " + problem;
  std::fprintf(stderr, "deputy: warning: %s\n", OneLine(text).c_str());
}

}  // namespace deputy::tools
