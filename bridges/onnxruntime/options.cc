// SPDX-License-Identifier: Apache-2.0
//
// Table of the options: description for deputy_plugin and parser of each option.
#include "bridges/onnxruntime/options.h"

#include <charconv>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/support/option_table.h"

namespace deputy::onnxruntime {
namespace {

// Each parser converts an option's text and stores it in a member. It returns "" on success,
// otherwise a description of the expected text.
std::string ReadLibrary(std::string_view text, Options* options) {
  options->library = text;
  return "";
}

template <int32_t Options::*member, int32_t max>
std::string ReadCount(std::string_view text, Options* options) {
  int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > max) {
    return "a whole number from 1 to " + std::to_string(max);
  }
  options->*member = value;
  return "";
}

std::string ReadOptimization(std::string_view text, Options* options) {
  constexpr std::pair<std::string_view, int32_t> kLevels[] = {{"none", kOptimizeNothing},
                                                              {"basic", kOptimizeBasic},
                                                              {"extended", kOptimizeExtended},
                                                              {"all", kOptimizeAll}};
  for (const auto& [name, level] : kLevels) {
    if (text != name) continue;
    options->optimization = level;
    return "";
  }
  return "none, basic, extended or all";
}

constexpr DeputyPluginOption kOptions[] = {
    {"library", kDeputyOptionString, 0, "",
     "ONNX Runtime's library; empty: DEPUTY_ONNXRUNTIME_LIBRARY, or libonnxruntime.so.1."},
    {"num_threads", kDeputyOptionInt, 0, "1", "Number of threads that a session uses."},
    {"optimization", kDeputyOptionString, 0, "all",
     "Graph optimisation in ONNX Runtime: none, basic, extended or all."},
    {"min_nodes", kDeputyOptionInt, 0, "1", "Minimum number of nodes per partition."},
};

constexpr OptionParser<Options> kParsers[] = {
    ReadLibrary,
    ReadCount<&Options::num_threads, 1024>,
    ReadOptimization,
    ReadCount<&Options::min_nodes, 1 << 30>,
};
}  // namespace

std::string ParseOptions(const char* const* keys, const char* const* values, size_t count,
                         Options* options) {
  return ParseOptionTable(kOptions, kParsers, keys, values, count, options);
}

std::span<const DeputyPluginOption> PluginOptions() { return kOptions; }

}  // namespace deputy::onnxruntime
