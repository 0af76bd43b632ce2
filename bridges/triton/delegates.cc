// SPDX-License-Identifier: Apache-2.0
#include "bridges/triton/delegates.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string_view>

#include "deputy/delegate_isolation.h"

namespace deputy::triton {
namespace {

namespace fs = std::filesystem;
using Options = std::vector<std::pair<std::string, std::string>>;

constexpr std::string_view kThreads = "num_threads";

// Adds the short name of a file libdeputy_NAME.so or libNAME.so.
void AddName(const fs::path& file, std::set<std::string>* names) {
  if (file.extension() != ".so") return;
  std::string name = file.stem().string();
  for (const std::string_view prefix : {"lib", "deputy_"}) {
    if (name.starts_with(prefix)) name.erase(0, prefix.size());
  }
  names->insert(name);
}

// Returns the names of the plug-ins in DEPUTY_PLUGIN_PATH and in the folder of installed ones,
// without loading them.
std::string InstalledNames() {
  const char* const given = std::getenv("DEPUTY_PLUGIN_PATH");
  std::vector<fs::path> paths;
  std::string_view list = given == nullptr ? "" : given;
  while (!list.empty()) {
    const size_t colon = std::min(list.find(':'), list.size());
    paths.emplace_back(list.substr(0, colon));
    list.remove_prefix(std::min(colon + 1, list.size()));
  }
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&DeputyVersion), &info) != 0) {
    paths.push_back(fs::path(info.dli_fname).parent_path() / "deputy/plugins");
  }
  std::set<std::string> names;
  for (const fs::path& path : paths) {
    std::error_code problem;
    if (fs::is_regular_file(path, problem)) AddName(path, &names);
    for (fs::directory_iterator entry(path, problem), end; !problem && entry != end;
         entry.increment(problem)) {
      AddName(entry->path(), &names);
    }
  }
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

bool Has(const Options& options, std::string_view key) {
  return std::any_of(options.begin(), options.end(),
                     [&](const auto& option) { return option.first == key; });
}

struct Arrays {
  explicit Arrays(const Options& options) {
    for (const auto& [key, value] : options) {
      keys.push_back(key.c_str());
      values.push_back(value.c_str());
    }
  }
  std::vector<const char*> keys, values;
};

Error Refuse(const DelegateChoice& choice) {
  std::string text = "parameter 'delegate': '" + choice.library + "': " + DeputyLastError();
  const bool is_name = choice.library.find('/') == std::string::npos;
  if (is_name) text += "; installed delegates: " + InstalledNames();
  return Invalid(text);
}

TfLiteDelegate* CreateIsolated(const DelegateChoice& choice, const Settings& settings) {
  DeputyDelegateIsolation isolation = {};
  isolation.struct_size = sizeof isolation;
  isolation.profile = settings.isolate.c_str();
  Options options = choice.options;
  // '?': the option is dropped if the delegate does not declare it.
  if (!Has(options, kThreads)) {
    options.emplace_back("?" + std::string(kThreads), std::to_string(settings.threads));
  }
  const Arrays arrays(options);
  return DeputyIsolatedDelegateCreate(choice.library.c_str(), arrays.keys.data(),
                                      arrays.values.data(), options.size(), &isolation);
}

TfLiteDelegate* CreateHere(const DelegateChoice& choice, const Settings& settings) {
  const std::unique_ptr<DeputyPlugin, void (*)(DeputyPlugin*)> plugin(
      DeputyPluginLoad(choice.library.c_str()), &DeputyPluginRelease);
  DeputyPluginInfo info = {};
  info.struct_size = sizeof info;
  if (plugin == nullptr || DeputyPluginDescribe(plugin.get(), &info) != kTfLiteOk) return nullptr;
  if (info.kind == kDeputyPluginStable && choice.options.empty()) {
    return DeputyPluginCreateStableDelegate(plugin.get(), nullptr);
  }
  Options options = choice.options;
  const bool declares_threads =
      std::any_of(info.options, info.options + info.option_count,
                  [](const DeputyPluginOption& option) { return option.name == kThreads; });
  if (declares_threads && !Has(options, kThreads)) {
    options.emplace_back(kThreads, std::to_string(settings.threads));
  }
  const Arrays arrays(options);
  return DeputyPluginCreateDelegate(plugin.get(), arrays.keys.data(), arrays.values.data(),
                                    options.size());
}

}  // namespace

Error CreateDelegates(const Settings& settings, std::vector<Delegate>* delegates) {
  for (const DelegateChoice& choice : settings.delegates) {
    delegates->emplace_back(settings.isolate.empty() ? CreateHere(choice, settings)
                                                     : CreateIsolated(choice, settings));
    if (delegates->back() == nullptr) return Refuse(choice);
  }
  return nullptr;
}

}  // namespace deputy::triton
