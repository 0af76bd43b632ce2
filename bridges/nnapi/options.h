// SPDX-License-Identifier: Apache-2.0
//
// Options of the delegate, parsed from strings.
#ifndef DEPUTY_BRIDGES_NNAPI_OPTIONS_H_
#define DEPUTY_BRIDGES_NNAPI_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "deputy/deputy_plugin.h"

namespace deputy::nnapi {

struct Options {
  std::string library;           // "": DEPUTY_NNAPI_LIBRARY or the default name
  std::string accelerator_name;  // "": NNAPI or disable_cpu chooses
  std::string cache_dir, model_token;
  int32_t preference = -1;  // a PreferenceCode, -1: none
  int32_t priority = 0;     // a PriorityCode, 0: none
  bool disable_cpu = false;
  bool allow_fp16 = false;
  bool use_burst_mode = false;
  bool shared_memory = false;
  int64_t max_partitions = 0;      // 0: unlimited
  int64_t compile_timeout_us = 0;  // 0: no timeout
  int64_t execution_timeout_us = 0;
};

// Parses options. Options without a key keep their value; the last of several equal keys wins.
// Returns "" or an error message; after an error `options` is unchanged.
std::string ParseOptions(const char* const* keys, const char* const* values, size_t count,
                         Options* options);

// Returns the options as deputy_plugin describes them. The array is static.
std::span<const DeputyPluginOption> PluginOptions();

}  // namespace deputy::nnapi

#endif  // DEPUTY_BRIDGES_NNAPI_OPTIONS_H_
