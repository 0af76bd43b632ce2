// SPDX-License-Identifier: Apache-2.0
//
// See delegate_option.h.
#include "delegate_option.h"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>

#include "text.h"

namespace deputy::tools {
namespace {

// Our own delegates lie where our library is.
std::string OwnDelegate(const std::string& name) {
  if (name != "gpu" && name != "npu_stub") return "";
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&DeputyLastError), &info) == 0) return "";
  const auto folder = std::filesystem::path(info.dli_fname).parent_path();
  return (folder / ("libdeputy_" + name + ".so")).string();
}

TfLiteDelegate* Create(DeputyPlugin* plugin, int kind, const DelegateOption& option) {
  if (kind == kDeputyPluginStable) {
    if (!option.options.empty()) {
      FailUsage("--delegate %s: a stable delegate takes no options", option.library.c_str());
    }
    return DeputyPluginCreateStableDelegate(plugin, nullptr);
  }
  std::vector<const char*> keys, values;
  for (const auto& [key, value] : option.options) {
    keys.push_back(key.c_str());
    values.push_back(value.c_str());
  }
  return DeputyPluginCreateDelegate(plugin, keys.data(), values.data(), keys.size());
}

// What the user says of an option counts more.
DelegateOption WithFlags(DelegateOption option, const std::vector<std::string>& flags,
                         const DeputyPluginInfo& info) {
  for (const std::string& flag : flags) {
    for (size_t i = 0; i < info.option_count; ++i) {
      if (flag != info.options[i].name) continue;
      option.options.insert(option.options.begin(), {flag, "true"});
    }
  }
  return option;
}

}  // namespace

std::string LibraryPath(const std::string& library) {
  std::string own = OwnDelegate(library);
  if (!own.empty()) return own;
  std::error_code error;
  const bool is_here =
      library.find('/') == std::string::npos && std::filesystem::exists(library, error);
  return is_here ? "./" + library : library;
}

DelegateOption ParseDelegateOption(const std::string& text) {
  DelegateOption option;
  size_t at = std::min(text.find(','), text.size());
  option.library = text.substr(0, at);
  while (at < text.size()) {
    const size_t end = std::min(text.find(',', at + 1), text.size());
    const std::string piece = text.substr(at + 1, end - at - 1);
    const size_t equals = piece.find('=');
    if (equals != std::string::npos && equals > 0) {
      option.options.emplace_back(piece.substr(0, equals), piece.substr(equals + 1));
    } else if (!option.options.empty()) {
      option.options.back().second += "," + piece;
    } else {
      FailUsage("--delegate %s: expected KEY=VALUE after the library, found '%s'", text.c_str(),
                piece.c_str());
    }
    at = end;
  }
  return option;
}

QuietReports::QuietReports() {
  DeputySetDefaultReporter([](void*, const char*, va_list) {}, nullptr);
}

QuietReports::~QuietReports() { DeputySetDefaultReporter(nullptr, nullptr); }

LoadedDelegate LoadDelegate(const DelegateOption& option, const std::vector<std::string>& flags) {
  LoadedDelegate loaded = TryLoadDelegate(option, flags);
  if (loaded.handle == nullptr) FailUsage("--delegate: %s", DeputyLastError());
  return loaded;
}

LoadedDelegate TryLoadDelegate(const DelegateOption& option,
                               const std::vector<std::string>& flags) {
  const QuietReports quiet;
  const std::unique_ptr<DeputyPlugin, void (*)(DeputyPlugin*)> plugin(
      DeputyPluginLoad(LibraryPath(option.library).c_str()), &DeputyPluginRelease);
  DeputyPluginInfo info = {};
  info.struct_size = sizeof info;
  DelegateHandle handle(nullptr, &DeputyPluginDeleteDelegate);
  if (plugin != nullptr && DeputyPluginDescribe(plugin.get(), &info) == kTfLiteOk) {
    handle.reset(Create(plugin.get(), info.kind, WithFlags(option, flags, info)));
  }
  if (handle == nullptr) return {std::move(handle), option.library, "", "", ""};
  return {std::move(handle), option.library, info.name, info.version, info.vendor};
}

}  // namespace deputy::tools
