// SPDX-License-Identifier: Apache-2.0
//
// Whether a file may be given to dlopen.
#ifndef DEPUTY_CORE_PLUGIN_PLUGIN_FILE_H_
#define DEPUTY_CORE_PLUGIN_PLUGIN_FILE_H_

#include <string>

namespace deputy {

struct PluginFile {
  // "" if the file may be loaded, else what is wrong, as the end of a sentence about the file.
  std::string problem;
  // The library has the object by which stable delegates are known.
  bool is_stable = false;
};

// Reads the library that dlopen would load for `path`. A name without a slash is looked for in
// LD_LIBRARY_PATH; one that is not there has no problem as far as we can see.
PluginFile InspectPluginFile(const std::string& path);

}  // namespace deputy

#endif  // DEPUTY_CORE_PLUGIN_PLUGIN_FILE_H_
