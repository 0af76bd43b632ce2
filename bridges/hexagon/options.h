// SPDX-License-Identifier: Apache-2.0
//
// Options of the delegate, as texts.
#ifndef DEPUTY_BRIDGES_HEXAGON_OPTIONS_H_
#define DEPUTY_BRIDGES_HEXAGON_OPTIONS_H_

#include <cstddef>
#include <span>
#include <string>

#include "deputy/deputy_plugin.h"

namespace deputy::hexagon {

struct Options {
  std::string interface_library;  // "": libhexagon_interface.so as the loader finds it
  std::string library_folder;     // of libhexagon_nn_skel*.so; "": as the system has it
  int debug_level = 0;
  int powersave_level = 0;
  int max_delegated_partitions = 4;
  int min_nodes_per_partition = 2;
  bool profiling = false;
  bool describe = false;
};

// Reads texts into `options`, which is unchanged on failure. Of a key that comes twice the last one
// counts. Returns "" or what is wrong.
std::string ParseOptions(const char* const* keys, const char* const* values, size_t count,
                         Options* options);

// The options as deputy_plugin describes them. The array lives as long as the process.
std::span<const DeputyPluginOption> PluginOptions();

}  // namespace deputy::hexagon

#endif  // DEPUTY_BRIDGES_HEXAGON_OPTIONS_H_
