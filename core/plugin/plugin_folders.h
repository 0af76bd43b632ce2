// SPDX-License-Identifier: Apache-2.0
//
// Search path of plug-ins: the entries of the environment variable DEPUTY_PLUGIN_PATH, and the
// directory into which they are installed: `deputy/plugins` next to libdeputy, and `../plugins` of
// the drop-in library.
#ifndef DEPUTY_CORE_PLUGIN_PLUGIN_FOLDERS_H_
#define DEPUTY_CORE_PLUGIN_PLUGIN_FOLDERS_H_

#include <string>
#include <string_view>
#include <vector>

namespace deputy {

// Returns true for names like "libname.so" and "libname.so.1.2".
bool IsLibraryName(const std::string& name);

// Splits a text at colons into paths; empty paths are dropped.
std::vector<std::string> SplitPluginPaths(std::string_view text);

// Returns files and directories in search order: those of the environment, then the directory of
// installed plug-ins, if it exists.
std::vector<std::string> PluginPaths();

// Returns the plug-in for a name without a slash: "gpu" is libgpu.so or libdeputy_gpu.so, and
// "libgpu.so" that file, in PluginPaths(); or libdeputy_gpu.so next to this library, as in a build
// directory. "" if there is none, and for names with a slash.
std::string FindPlugin(const std::string& name);

}  // namespace deputy

#endif  // DEPUTY_CORE_PLUGIN_PLUGIN_FOLDERS_H_
