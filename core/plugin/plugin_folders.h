// SPDX-License-Identifier: Apache-2.0
//
// Where plug-ins are looked for: what the environment variable DEPUTY_PLUGIN_PATH names, and the
// folder in which they are installed beside this library.
#ifndef DEPUTY_CORE_PLUGIN_PLUGIN_FOLDERS_H_
#define DEPUTY_CORE_PLUGIN_PLUGIN_FOLDERS_H_

#include <string>
#include <string_view>
#include <vector>

namespace deputy {

// "libname.so" and "libname.so.1.2".
bool IsLibraryName(const std::string& name);

// Paths separated by colons; empty ones are left out.
std::vector<std::string> SplitPluginPaths(std::string_view text);

// Files and folders, in the order of the search: those of the environment, then `deputy/plugins`
// beside this library, if it is there.
std::vector<std::string> PluginPaths();

// The plug-in that a name without a slash stands for: "gpu" is libgpu.so or libdeputy_gpu.so, and
// "libgpu.so" that file, in PluginPaths(); or libdeputy_gpu.so beside this library, where it is
// built. "" if there is none, and for names with a slash.
std::string FindPlugin(const std::string& name);

}  // namespace deputy

#endif  // DEPUTY_CORE_PLUGIN_PLUGIN_FOLDERS_H_
