// SPDX-License-Identifier: Apache-2.0
//
// Options of the delegate, parsed from strings.
#ifndef DEPUTY_BRIDGES_ONNXRUNTIME_OPTIONS_H_
#define DEPUTY_BRIDGES_ONNXRUNTIME_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "bridges/onnxruntime/ort_api.h"
#include "deputy/deputy_plugin.h"

namespace deputy::onnxruntime {

struct Options {
  std::string library;  // "": DEPUTY_ONNXRUNTIME_LIBRARY or the default names
  int32_t num_threads = 1;
  int32_t optimization = kOptimizeAll;
  int32_t min_nodes = 1;  // per partition
};

// Parses options. Options without a key keep their value; the last of several equal keys wins.
// Returns "" or an error message; after an error `options` is unchanged.
std::string ParseOptions(const char* const* keys, const char* const* values, size_t count,
                         Options* options);

// Returns the options as deputy_plugin describes them. The array is static.
std::span<const DeputyPluginOption> PluginOptions();

}  // namespace deputy::onnxruntime

#endif  // DEPUTY_BRIDGES_ONNXRUNTIME_OPTIONS_H_
