// SPDX-License-Identifier: Apache-2.0
#include "bridges/hexagon/options.h"

#include <charconv>
#include <string_view>
#include <system_error>

namespace deputy::hexagon {
namespace {

constexpr DeputyPluginOption kOptions[] = {
    {"interface_library", kDeputyOptionString, 0, "",
     "Path of libhexagon_interface.so; empty: as the loader finds it."},
    {"library_folder", kDeputyOptionString, 0, "",
     "Folder of libhexagon_nn_skel*.so; empty: where the system has them."},
    {"debug_level", kDeputyOptionInt, 0, "0", "How much the DSP's library logs, 0 to 100."},
    {"powersave_level", kDeputyOptionInt, 0, "0",
     "How much power the DSP saves, 0 to 255; 0 is the fastest."},
    {"max_delegated_partitions", kDeputyOptionInt, 0, "4",
     "The most partitions, largest first, 1 to 16."},
    {"min_nodes_per_partition", kDeputyOptionInt, 0, "2",
     "The fewest nodes of a partition, from 1."},
    {"profiling", kDeputyOptionBool, 0, "false",
     "Whether the cycles of each operation are written to standard error."},
    {"describe", kDeputyOptionBool, 0, "false",
     "Whether the DSP's text of each graph is kept for reports."},
};

std::string Wrong(std::string_view key, std::string_view expected, std::string_view found) {
  return "option '" + std::string(key) + "': expected " + std::string(expected) + ", found '" +
         std::string(found) + "'";
}

std::string SetInt(std::string_view key, std::string_view value, int least, int most, int* out) {
  int number = 0;
  const char* const end = value.data() + value.size();
  const auto [at, error] = std::from_chars(value.data(), end, number);
  if (error != std::errc() || at != end || number < least || number > most) {
    return Wrong(
        key, "a whole number from " + std::to_string(least) + " to " + std::to_string(most), value);
  }
  *out = number;
  return "";
}

std::string SetBool(std::string_view key, std::string_view value, bool* out) {
  const bool on = value == "true" || value == "1";
  if (!on && value != "false" && value != "0") return Wrong(key, "true or false", value);
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
