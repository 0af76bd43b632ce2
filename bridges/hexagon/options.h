// SPDX-License-Identifier: Apache-2.0
//
// Options of the delegate, parsed from strings.
#ifndef DEPUTY_BRIDGES_HEXAGON_OPTIONS_H_
#define DEPUTY_BRIDGES_HEXAGON_OPTIONS_H_

#include <cstddef>
#include <span>
#include <string>

#include "deputy/deputy_plugin.h"

namespace deputy::hexagon {

struct Options {
  // Path of the interface library; "": libhexagon_interface.so, found by the loader.
  std::string interface_library;
  std::string library_folder;  // folder of libhexagon_nn_skel*.so; "": the system's
  int debug_level = 0;
  int powersave_level = 0;
  int max_delegated_partitions = 4;
  int min_nodes_per_partition = 2;
  bool profiling = false;
  bool describe = false;
};

// Parses options; the last of several equal keys wins. Returns "" or an error message; after an
// error `options` is unchanged.
std::string ParseOptions(const char* const* keys, const char* const* values, size_t count,
                         Options* options);

// Returns the options as deputy_plugin describes them. The array is static.
std::span<const DeputyPluginOption> PluginOptions();

}  // namespace deputy::hexagon

#endif  // DEPUTY_BRIDGES_HEXAGON_OPTIONS_H_
