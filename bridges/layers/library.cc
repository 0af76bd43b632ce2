// SPDX-License-Identifier: Apache-2.0
#include "bridges/layers/library.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "deputy/stable_delegate.h"

namespace deputy::layers {
namespace {

thread_local std::string* reported = nullptr;

void CollectReport(const char* text) {
  if (reported != nullptr && text != nullptr) *reported = text;
}

// Copies the plug-in's description, unless it has another major version.
void ReadDescription(DeputyPluginFunction describe, DeputyDelegatePlugin* plugin) {
  const DeputyDelegatePlugin* const given = describe == nullptr ? nullptr : describe();
  constexpr size_t kMinSize = offsetof(DeputyDelegatePlugin, destroy) + sizeof plugin->destroy;
  if (given == nullptr || given->struct_size < kMinSize) return;
  if (given->abi_version >> 16 != DEPUTY_PLUGIN_ABI_VERSION >> 16) return;
  std::memcpy(plugin, given, std::min(given->struct_size, sizeof *plugin));
}

std::string UseStable(const std::string& path, const TfLiteStableDelegate& stable,
                      Library* library) {
  const std::string version =
      stable.delegate_abi_version == nullptr ? "" : stable.delegate_abi_version;
  if (!version.starts_with("1.")) {
    return path + ": expected a stable delegate of version 1, found '" + version + "'";
  }
  const TfLiteOpaqueDelegatePlugin* const functions = stable.delegate_plugin;
  if (functions == nullptr || functions->create == nullptr || functions->destroy == nullptr) {
    return path + ": the stable delegate has no functions to create and delete it";
  }
  library->stable = functions;
  library->destroy = functions->destroy;
  return "";
}

}  // namespace

std::string LoadLibrary(const std::string& path, Library* library) {
  void* const handle = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) return dlerror();
  const auto find = [handle](const char* name) { return dlsym(handle, name); };
  ReadDescription(reinterpret_cast<DeputyPluginFunction>(find("deputy_plugin")), &library->plugin);
  library->create =
      reinterpret_cast<decltype(library->create)>(find("tflite_plugin_create_delegate"));
  library->destroy =
      reinterpret_cast<decltype(library->destroy)>(find("tflite_plugin_destroy_delegate"));
  if (library->plugin.create != nullptr && library->plugin.destroy != nullptr) {
    library->create = library->plugin.create;
    library->destroy = library->plugin.destroy;
  }
  if (library->create != nullptr && library->destroy != nullptr) return "";
  const auto* const stable =
      static_cast<const TfLiteStableDelegate*>(find("TFL_TheStableDelegate"));
  if (stable != nullptr) return UseStable(path, *stable, library);
  return path + " exports no tflite_plugin_create_delegate or no tflite_plugin_destroy_delegate";
}

TfLiteDelegate* CreateDelegate(const Library& library, const DelegateOptions& options,
                               std::string* error) {
  if (library.stable != nullptr && !options.empty()) {
    *error = "a stable delegate takes settings instead of options, found the option '" +
             options[0].first + "'";
    return nullptr;
  }
  std::vector<const char*> keys, values;
  for (const auto& [key, value] : options) {
    keys.push_back(key.c_str());
    values.push_back(value.c_str());
  }
  std::string text;
  std::string* const outer = std::exchange(reported, &text);
  TfLiteDelegate* delegate = nullptr;
  try {
    delegate = library.stable != nullptr
                   ? library.stable->create(nullptr)
                   : library.create(keys.data(), values.data(), keys.size(), &CollectReport);
  } catch (...) {
    text = "the plug-in threw an exception";
  }
  reported = outer;
  if (delegate == nullptr) *error = text.empty() ? "the plug-in gave no reason" : text;
  return delegate;
}

}  // namespace deputy::layers
