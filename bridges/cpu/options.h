// SPDX-License-Identifier: Apache-2.0
//
// Options of the delegate, as texts and as the public struct has them.
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
  int num_threads = 0;     // 0: as many as the host recommends
  bool reference = false;  // reference arithmetic
};

// Reads texts into `options`, which keeps what no key names and is unchanged on failure. Of a key
// that comes twice the last one counts. Returns "" or what is wrong.
std::string ParseOptions(const char* const* keys, const char* const* values, size_t count,
                         Options* options);

// The same from the public struct, which may be that of an older caller.
std::string FromPublic(const DeputyCpuOptions& given, Options* options);

DeputyCpuOptions PublicDefaults();

// The options as deputy_plugin describes them. The array lives as long as the process.
std::span<const DeputyPluginOption> PluginOptions();

}  // namespace deputy::cpu

#endif  // DEPUTY_BRIDGES_CPU_OPTIONS_H_
