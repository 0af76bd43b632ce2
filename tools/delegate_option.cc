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

// The library reports to standard error unless told otherwise; the command says it in one line.
class QuietReports {
 public:
  QuietReports() {
    DeputySetDefaultReporter([](void*, const char*, va_list) {}, nullptr);
  }
  ~QuietReports() { DeputySetDefaultReporter(nullptr, nullptr); }
};

// Our own delegates lie where our library is.
std::string OwnDelegate(const std::string& name) {
  if (name != "gpu") return "";
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&DeputyLastError), &info) == 0) return "";
  const auto folder = std::filesystem::path(info.dli_fname).parent_path();
  return (folder / ("libdeputy_" + name + ".so")).string();
}

// A file in this folder is meant before one that the loader would search for.
std::string PathOf(const std::string& library) {
  std::string own = OwnDelegate(library);
  if (!own.empty()) return own;
  std::error_code error;
  const bool is_here =
      library.find('/') == std::string::npos && std::filesystem::exists(library, error);
  return is_here ? "./" + library : library;
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

}  // namespace

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

LoadedDelegate LoadDelegate(const DelegateOption& option) {
  LoadedDelegate loaded = TryLoadDelegate(option);
  if (loaded.handle == nullptr) FailUsage("--delegate: %s", DeputyLastError());
  return loaded;
}

LoadedDelegate TryLoadDelegate(const DelegateOption& option) {
  const QuietReports quiet;
  const std::unique_ptr<DeputyPlugin, void (*)(DeputyPlugin*)> plugin(
      DeputyPluginLoad(PathOf(option.library).c_str()), &DeputyPluginRelease);
  DeputyPluginInfo info = {};
  info.struct_size = sizeof info;
  DelegateHandle handle(nullptr, &DeputyPluginDeleteDelegate);
  if (plugin != nullptr && DeputyPluginDescribe(plugin.get(), &info) == kTfLiteOk) {
    handle.reset(Create(plugin.get(), info.kind, option));
  }
  if (handle == nullptr) return {std::move(handle), option.library, "", "", ""};
  return {std::move(handle), option.library, info.name, info.version, info.vendor};
}

}  // namespace deputy::tools
