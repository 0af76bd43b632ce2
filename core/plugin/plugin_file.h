// SPDX-License-Identifier: Apache-2.0
//
// Checks that a file may be passed to dlopen.
#ifndef DEPUTY_CORE_PLUGIN_PLUGIN_FILE_H_
#define DEPUTY_CORE_PLUGIN_PLUGIN_FILE_H_

#include <string>

namespace deputy {

struct PluginFile {
  // Problem with the file, as the end of a sentence about it; "" if the file may be loaded.
  std::string problem;
  // True if the library defines TFL_TheStableDelegate, which marks stable delegates.
  bool is_stable = false;
};

// Inspects the library that dlopen would load for `path`. A name without a slash is searched in
// LD_LIBRARY_PATH; if it is not there, no problem is reported.
PluginFile InspectPluginFile(const std::string& path);

}  // namespace deputy

#endif  // DEPUTY_CORE_PLUGIN_PLUGIN_FILE_H_
