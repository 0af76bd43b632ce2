// SPDX-License-Identifier: Apache-2.0
#include "bridges/cpu/options.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>
#include <system_error>

namespace deputy::cpu {
namespace {

constexpr int kMaxThreads = 1024;

constexpr DeputyPluginOption kOptions[] = {
    {"num_threads", kDeputyOptionInt, 0, "0",
     "Number of threads per partition, 1 to 1024; 0: the host's number of threads."},
    {"reference", kDeputyOptionBool, 0, "false",
     "Round quantised results like TensorFlow Lite's reference kernels."},
};

std::string Invalid(std::string_view key, std::string_view expected, std::string_view found) {
  return "option '" + std::string(key) + "': expected " + std::string(expected) + ", found '" +
         std::string(found) + "'";
}

std::string SetThreads(std::string_view value, Options* options) {
  int threads = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), threads);
  if (error != std::errc() || end != value.data() + value.size() || threads < 0 ||
      threads > kMaxThreads) {
    return Invalid("num_threads", "a whole number from 0 to 1024", value);
  }
  options->num_threads = threads;
  return "";
}

std::string SetReference(std::string_view value, Options* options) {
  const bool on = value == "true" || value == "1";
  if (!on && value != "false" && value != "0") return Invalid("reference", "true or false", value);
  options->reference = on;
  return "";
}

}  // namespace

std::string ParseOptions(const char* const* keys, const char* const* values, size_t count,
                         Options* options) {
  Options parsed = *options;
  for (size_t i = 0; i < count; ++i) {
    const std::string_view key = keys[i] == nullptr ? "" : keys[i];
    const std::string_view value = values[i] == nullptr ? "" : values[i];
    std::string problem;
    if (key == kOptions[0].name) {
      problem = SetThreads(value, &parsed);
    } else if (key == kOptions[1].name) {
      problem = SetReference(value, &parsed);
    } else {
      problem = "option '" + std::string(key) + "': expected num_threads or reference";
    }
    if (!problem.empty()) return problem;
  }
  *options = parsed;
  return "";
}

std::string FromPublic(const DeputyCpuOptions& given, Options* options) {
  // Size of the struct's first version.
  constexpr size_t kMinSize = offsetof(DeputyCpuOptions, reference) + sizeof(int32_t);
  if (given.struct_size < kMinSize) {
    return "DeputyCpuOptions: expected a struct_size of at least " + std::to_string(kMinSize) +
           ", found " + std::to_string(given.struct_size);
  }
  DeputyCpuOptions known = PublicDefaults();
  memcpy(&known, &given, std::min(given.struct_size, sizeof known));
  Options read;
  std::string problem = SetThreads(std::to_string(known.num_threads), &read);
  if (!problem.empty()) return problem;
  read.reference = known.reference != 0;
  *options = read;
  return "";
}

DeputyCpuOptions PublicDefaults() {
  DeputyCpuOptions options{};
  options.struct_size = sizeof options;
  return options;
}

std::span<const DeputyPluginOption> PluginOptions() { return kOptions; }

}  // namespace deputy::cpu
