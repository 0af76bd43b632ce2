// SPDX-License-Identifier: Apache-2.0
//
// Options of the delegate, parsed from strings.
#ifndef DEPUTY_BRIDGES_SANDBOX_OPTIONS_H_
#define DEPUTY_BRIDGES_SANDBOX_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bridges/sandbox/messages.h"
#include "deputy/deputy_plugin.h"

namespace deputy::sandbox {

struct Options {
  std::string library;               // plug-in of the real delegate
  std::string model;                 // file of the model; "": the host program passes the model
  DelegateOptions delegate_options;  // options of the real delegate
  std::string program;               // path of deputy-delegate-host
  Profile profile = Profile::kDevice;
  std::vector<std::string> writable;
  int64_t memory_bytes = 0;
  bool has_dynamic_sizes = false;
  int64_t dynamic_bytes = int64_t{256} << 20;  // shared memory for tensors of dynamic size
  int64_t prepare_ms = 30000, invoke_ms = 10000, cancel_ms = 100;
  int max_deaths = 3;
};

// Parses options; the last of several equal keys wins. Returns "" or an error message.
std::string ParseOptions(const char* const* keys, const char* const* values, size_t count,
                         Options* options);

// Parses a list KEY=VALUE;KEY=VALUE. Returns "" or an error message.
std::string ParseDelegateOptions(std::string_view list, DelegateOptions* options);

// Returns the options as deputy_plugin describes them. The array is static.
std::span<const DeputyPluginOption> PluginOptions();

}  // namespace deputy::sandbox

#endif  // DEPUTY_BRIDGES_SANDBOX_OPTIONS_H_
