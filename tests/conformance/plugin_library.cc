// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/plugin_library.h"

namespace deputy::conformance {

DeputyPlugin* PluginLibrary::Load(std::string* out_error) {
  if (plugin_ == nullptr) plugin_.reset(DeputyPluginLoad(path_.c_str()), &DeputyPluginRelease);
  if (plugin_ == nullptr) out_error->append(DeputyLastError());
  return plugin_.get();
}

std::shared_ptr<TfLiteDelegate> PluginLibrary::Create(const PluginOptions& options,
                                                      std::string* out_error) {
  if (Load(out_error) == nullptr) return nullptr;
  std::vector<const char*> keys, values;
  for (const auto& [key, value] : options) {
    keys.push_back(key.c_str());
    values.push_back(value.c_str());
  }
  TfLiteDelegate* const delegate =
      Describe().kind == kDeputyPluginStable
          ? DeputyPluginCreateStableDelegate(plugin_.get(), nullptr)
          : DeputyPluginCreateDelegate(plugin_.get(), keys.data(), values.data(), keys.size());
  if (delegate != nullptr) return {delegate, &DeputyPluginDeleteDelegate};
  out_error->append(DeputyLastError());
  return nullptr;
}

DeputyPluginInfo PluginLibrary::Describe() {
  DeputyPluginInfo info = {};
  info.struct_size = sizeof info;
  std::string ignored;
  if (Load(&ignored) != nullptr) DeputyPluginDescribe(plugin_.get(), &info);
  return info;
}

}  // namespace deputy::conformance
