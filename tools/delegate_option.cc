// SPDX-License-Identifier: Apache-2.0
//
// Loads delegates for --delegate, and creates them with the options of the user.
#include "delegate_option.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <set>
#include <string_view>

#include "providers.h"
#include "text.h"

namespace deputy::tools {
namespace {

bool IsOwn(const std::string& name) {
  const Provider* provider = FindProvider(name);
  return provider != nullptr &&
         (provider->kind == ProviderKind::kOwn || provider->kind == ProviderKind::kBridge);
}

// Returns the path of one of Deputy's own delegates, in the directory of our library or in a
// subdirectory; "" for other names.
std::string OwnDelegate(const std::string& name) {
  if (!IsOwn(name)) return "";
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&DeputyLastError), &info) == 0) return "";
  const auto folder = std::filesystem::path(info.dli_fname).parent_path();
  const bool is_drop_in = name == "litert";
  const std::string file = is_drop_in ? "drop-in/libLiteRt.so" : "libdeputy_" + name + ".so";
  std::error_code error;
  if (std::filesystem::exists(folder / file, error)) return (folder / file).string();
  return (folder / (is_drop_in ? "deputy" : "deputy/plugins") / file).string();
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

// Pairs of a setting's name and another name under which delegates declare the same setting.
constexpr std::pair<std::string_view, std::string_view> kOtherNames[] = {
    {"max_partitions", "max_delegated_partitions"},
    {"max_partitions", "max_number_delegated_partitions"},
    {"min_nodes", "min_nodes_per_partition"},
};

bool IsNameOf(std::string_view setting, std::string_view option) {
  return setting == option || std::find(std::begin(kOtherNames), std::end(kOtherNames),
                                        std::pair(setting, option)) != std::end(kOtherNames);
}

bool IsLimit(std::string_view setting) {
  return std::any_of(std::begin(kOtherNames), std::end(kOtherNames),
                     [&](const auto& names) { return names.first == setting; });
}

// Returns true for a delegate whose options only its own process knows: its library is not loaded,
// because DEPUTY_ISOLATE or the layer `isolate` runs it in a process.
bool IsIsolated(const DeputyPluginInfo& info) {
  return info.option_count == 0 && std::string_view(info.name) == "sandbox";
}

// Returns the names under which delegates declare the setting.
std::vector<std::string> NamesOf(const std::string& setting) {
  std::vector<std::string> names = {setting};
  for (const auto& [name, other] : kOtherNames) {
    if (name == setting) names.emplace_back(other);
  }
  return names;
}

// Inserts the setting under each of its names; the process of the delegate drops those that the
// delegate does not declare.
void AddIfDeclared(const DelegateSettings::value_type& setting, DelegateOption* option) {
  for (const std::string& name : NamesOf(setting.first)) {
    option->options.insert(option->options.begin(), {kIfDeclared + name, setting.second});
  }
}

// Inserts the settings before the user's own options, which override them.
DelegateOption WithSettings(DelegateOption option, const DelegateSettings& settings,
                            const DeputyPluginInfo& info, LoadedDelegate* loaded) {
  for (const auto& setting : settings) {
    const auto* end = info.options + info.option_count;
    const auto* declared = std::find_if(info.options, end, [&](const DeputyPluginOption& each) {
      return IsNameOf(setting.first, each.name);
    });
    if (declared == end && IsIsolated(info)) {
      AddIfDeclared(setting, &option);
      loaded->declared.push_back(setting.first);
      continue;
    }
    if (declared == end) {
      // Only limits are reported: other settings are defaults of the command, not options of the
      // user, and are dropped.
      if (IsLimit(setting.first)) loaded->undeclared.push_back(setting);
      continue;
    }
    loaded->declared.push_back(setting.first);
    option.options.insert(option.options.begin(), {declared->name, setting.second});
  }
  return option;
}

// Returns the name by which --delegate finds a library: "mine" for libmine.so and
// libdeputy_mine.so.
std::string ShortName(const std::filesystem::path& path) {
  std::string name = path.stem().string();
  for (const char* prefix : {"libdeputy_", "lib"}) {
    if (name.starts_with(prefix)) return name.substr(std::strlen(prefix));
  }
  return name;
}

// Returns the names of Deputy's own delegates that are built, and of the libraries in
// DEPUTY_PLUGIN_PATH. None is loaded.
std::set<std::string> KnownNames() {
  std::set<std::string> names;
  std::error_code error;
  for (const Provider& provider : Providers()) {
    const std::string path = OwnDelegate(provider.key);
    if (!path.empty() && std::filesystem::exists(path, error)) names.insert(provider.key);
  }
  const char* const paths = std::getenv("DEPUTY_PLUGIN_PATH");
  for (const std::string& path : SplitText(paths == nullptr ? "" : paths, ':')) {
    if (!std::filesystem::is_directory(path, error)) {
      names.insert(ShortName(path));
      continue;
    }
    for (std::filesystem::directory_iterator it(path, error), end; !error && it != end;
         it.increment(error)) {
      if (it->path().extension() == ".so") names.insert(ShortName(it->path()));
    }
  }
  return names;
}

// Returns "; delegates with a name: cpu, gpu" for a name without a library; "" for a path.
std::string NamesText(const std::string& library) {
  if (library.find('/') != std::string::npos || library.find(".so") != std::string::npos) return "";
  std::string text;
  for (const std::string& name : KnownNames()) text += (text.empty() ? "" : ", ") + OneLine(name);
  return "; delegates with a name: " + (text.empty() ? "none" : text);
}

}  // namespace

std::string WhyNotBuilt(const std::string& name) {
  const Provider* provider = FindProvider(name);
  if (provider == nullptr) return "";
  if (!IsOwn(name)) return name + ": " + provider->needs;
  const std::string path = OwnDelegate(name);
  std::error_code error;
  if (path.empty() || std::filesystem::exists(path, error)) return "";
  return name + ": there is no " + path + "; " + provider->needs;
}

std::string LibraryPath(const std::string& library) {
  std::string own = OwnDelegate(library);
  if (!own.empty()) return own;
  std::error_code error;
  const bool is_here =
      library.find('/') == std::string::npos && std::filesystem::exists(library, error);
  return is_here ? "./" + library : library;
}

std::string PluginSearchPath() {
  const char* const given = std::getenv("DEPUTY_PLUGIN_PATH");
  std::string paths = given == nullptr ? "" : given;
  const auto add = [&](const std::string& path) {
    std::error_code error;
    if (!path.empty() && std::filesystem::exists(path, error)) paths += ":" + path;
  };
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&DeputyLastError), &info) != 0) {
    add((std::filesystem::path(info.dli_fname).parent_path() / "deputy/plugins").string());
  }
  for (const Provider& provider : Providers()) add(OwnDelegate(provider.key));
  return paths;
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

LoadedDelegate LoadDelegate(const DelegateOption& option, const DelegateSettings& settings) {
  LoadedDelegate loaded = TryLoadDelegate(option, settings);
  if (loaded.handle == nullptr) FailUsage("--delegate: %s", loaded.problem.c_str());
  return loaded;
}

LoadedDelegate TryLoadDelegate(const DelegateOption& option, const DelegateSettings& settings) {
  const QuietReports quiet;
  LoadedDelegate loaded = {DelegateHandle(nullptr, &DeputyPluginDeleteDelegate),
                           option.library,
                           "",
                           "",
                           "",
                           {},
                           {},
                           WhyNotBuilt(option.library)};
  if (!loaded.problem.empty()) return loaded;
  const std::unique_ptr<DeputyPlugin, void (*)(DeputyPlugin*)> plugin(
      DeputyPluginLoad(LibraryPath(option.library).c_str()), &DeputyPluginRelease);
  DeputyPluginInfo info = {};
  info.struct_size = sizeof info;
  if (plugin != nullptr && DeputyPluginDescribe(plugin.get(), &info) == kTfLiteOk) {
    loaded.handle.reset(
        Create(plugin.get(), info.kind, WithSettings(option, settings, info, &loaded)));
  }
  if (loaded.handle == nullptr) {
    loaded.problem = DeputyLastError();
    if (plugin == nullptr) loaded.problem += NamesText(option.library);
    return loaded;
  }
  loaded.name = info.name;
  loaded.version = info.version;
  loaded.vendor = info.vendor;
  return loaded;
}

}  // namespace deputy::tools
