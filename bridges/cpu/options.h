// SPDX-License-Identifier: Apache-2.0
//
// Options of the delegate, parsed from strings or from the public struct.
#ifndef DEPUTY_BRIDGES_CPU_OPTIONS_H_
#define DEPUTY_BRIDGES_CPU_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "c_api/include/deputy_cpu.h"
#include "c_api/include/deputy_plugin.h"

namespace deputy::cpu {

struct Options {
  int num_threads = 0;     // 0: the host's recommended number
  bool reference = false;  // use reference arithmetic
};

// Parses options. Options without a key keep their value; the last of several equal keys wins.
// Returns "" or an error message; after an error `options` is unchanged.
std::string ParseOptions(const char* const* keys, const char* const* values, size_t count,
                         Options* options);

// Converts the public struct, which may come from an older caller. Returns "" or an error message;
// after an error `options` is unchanged.
std::string FromPublic(const DeputyCpuOptions& given, Options* options);

DeputyCpuOptions PublicDefaults();

// Returns the options as deputy_plugin describes them. The array is static.
std::span<const DeputyPluginOption> PluginOptions();

}  // namespace deputy::cpu

#endif  // DEPUTY_BRIDGES_CPU_OPTIONS_H_
