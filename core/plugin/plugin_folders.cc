// SPDX-License-Identifier: Apache-2.0
#include "core/plugin/plugin_folders.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace deputy {
namespace {

using std::filesystem::path;

// Returns the directory of the library or program that contains this code, with links resolved; ""
// if unknown.
path OwnFolder() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&FindPlugin), &info) == 0) return {};
  std::error_code error;
  const path own = std::filesystem::canonical(info.dli_fname, error);
  return error ? path() : own.parent_path();
}

// Returns the directory of installed plug-ins; "" if it does not exist. The drop-in library is in a
// directory next to it.
path InstalledFolder() {
  const path own = OwnFolder();
  if (own.empty()) return path();
  const path folder =
      own.filename() == "drop-in" ? own.parent_path() / "plugins" : own / "deputy/plugins";
  std::error_code error;
  return std::filesystem::is_directory(folder, error) ? folder : path();
}

// Returns the file names that a plug-in of this name may have.
std::vector<std::string> FileNames(const std::string& name) {
  if (IsLibraryName(name)) return {name};
  return {"lib" + name + ".so", "libdeputy_" + name + ".so"};
}

}  // namespace

bool IsLibraryName(const std::string& name) {
  const size_t at = name.find(".so");
  return at != std::string::npos && at > 0 && name[0] != '.' &&
         (at + 3 == name.size() || name[at + 3] == '.');
}

std::vector<std::string> SplitPluginPaths(std::string_view text) {
  std::vector<std::string> paths;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(':', at), text.size());
    if (end > at) paths.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return paths;
}

std::vector<std::string> PluginPaths() {
  const char* text = getenv("DEPUTY_PLUGIN_PATH");
  std::vector<std::string> paths = SplitPluginPaths(text == nullptr ? "" : text);
  const path installed = InstalledFolder();
  if (!installed.empty()) paths.push_back(installed.string());
  return paths;
}

std::string FindPlugin(const std::string& name) {
  if (name.empty() || name.find('/') != std::string::npos) return "";
  std::vector<std::string> paths = PluginPaths();
  const path own = OwnFolder();
  const std::string built = "libdeputy_" + name + ".so";
  std::error_code error;
  for (const std::string& file : FileNames(name)) {
    for (const path at : paths) {
      if (std::filesystem::is_regular_file(at / file, error)) return (at / file).string();
      const bool is_file = std::filesystem::is_regular_file(at, error);
      if (is_file && at.filename() == file) return at.string();
    }
  }
  const bool is_built = !own.empty() && std::filesystem::is_regular_file(own / built, error);
  return is_built ? (own / built).string() : "";
}

}  // namespace deputy
