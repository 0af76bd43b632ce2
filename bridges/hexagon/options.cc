// SPDX-License-Identifier: Apache-2.0
#include "bridges/hexagon/options.h"

#include <charconv>
#include <string_view>
#include <system_error>

namespace deputy::hexagon {
namespace {

constexpr DeputyPluginOption kOptions[] = {
    {"interface_library", kDeputyOptionString, 0, "",
     "Path of libhexagon_interface.so; empty: search with the loader."},
    {"library_folder", kDeputyOptionString, 0, "",
     "Folder of libhexagon_nn_skel*.so; empty: the system's folder."},
    {"debug_level", kDeputyOptionInt, 0, "0", "Log level of the DSP's library, 0 to 100."},
    {"powersave_level", kDeputyOptionInt, 0, "0",
     "Power saving level of the DSP, 0 to 255; 0 is the fastest."},
    {"max_delegated_partitions", kDeputyOptionInt, 0, "4",
     "Maximum number of partitions, largest first, 1 to 16."},
    {"min_nodes_per_partition", kDeputyOptionInt, 0, "2",
     "Minimum number of nodes per partition, from 1."},
    {"profiling", kDeputyOptionBool, 0, "false",
     "Write the cycle count of each operation to standard error."},
    {"describe", kDeputyOptionBool, 0, "false",
     "Keep the DSP library's description of each graph for reports."},
};

std::string Invalid(std::string_view key, std::string_view expected, std::string_view found) {
  return "option '" + std::string(key) + "': expected " + std::string(expected) + ", found '" +
         std::string(found) + "'";
}

std::string SetInt(std::string_view key, std::string_view value, int min, int max, int* out) {
  int number = 0;
  const char* const end = value.data() + value.size();
  const auto [at, error] = std::from_chars(value.data(), end, number);
  if (error != std::errc() || at != end || number < min || number > max) {
    return Invalid(key, "a whole number from " + std::to_string(min) + " to " + std::to_string(max),
                   value);
  }
  *out = number;
  return "";
}

std::string SetBool(std::string_view key, std::string_view value, bool* out) {
  const bool on = value == "true" || value == "1";
  if (!on && value != "false" && value != "0") return Invalid(key, "true or false", value);
  *out = on;
  return "";
}

std::string SetOption(std::string_view key, std::string_view value, Options* options) {
  if (key == "interface_library") return options->interface_library = value, "";
  if (key == "library_folder") return options->library_folder = value, "";
  if (key == "debug_level") return SetInt(key, value, 0, 100, &options->debug_level);
  if (key == "powersave_level") return SetInt(key, value, 0, 255, &options->powersave_level);
  if (key == "max_delegated_partitions") {
    return SetInt(key, value, 1, 16, &options->max_delegated_partitions);
  }
  if (key == "min_nodes_per_partition") {
    return SetInt(key, value, 1, 1000000, &options->min_nodes_per_partition);
  }
  if (key == "profiling") return SetBool(key, value, &options->profiling);
  if (key == "describe") return SetBool(key, value, &options->describe);
  return "option '" + std::string(key) + "' is not known";
}

}  // namespace

std::string ParseOptions(const char* const* keys, const char* const* values, size_t count,
                         Options* options) {
  Options parsed = *options;
  for (size_t i = 0; i < count; ++i) {
    std::string problem = SetOption(keys[i] == nullptr ? "" : keys[i],
                                    values[i] == nullptr ? "" : values[i], &parsed);
    if (!problem.empty()) return problem;
  }
  *options = parsed;
  return "";
}

std::span<const DeputyPluginOption> PluginOptions() { return kOptions; }

}  // namespace deputy::hexagon
