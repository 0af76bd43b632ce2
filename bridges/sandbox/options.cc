// SPDX-License-Identifier: Apache-2.0
#include "bridges/sandbox/options.h"

#include <charconv>
#include <string_view>
#include <system_error>

#include "core/support/option_list.h"

namespace deputy::sandbox {
namespace {

constexpr DeputyPluginOption kOptions[] = {
    {"library", kDeputyOptionString, 0, "", "Plug-in of the delegate that runs in the process."},
    {"model", kDeputyOptionString, 0, "",
     "File of the model; empty: Deputy passes the model. TensorFlow Lite needs the file."},
    {"options", kDeputyOptionString, 1, "",
     "Options of the delegate, KEY=VALUE;KEY=VALUE; a backslash precedes a literal ; or \\. An "
     "option "
     "?KEY=VALUE is dropped if the delegate does not declare it."},
    {"profile", kDeputyOptionString, 0, "device",
     "Restrictions of the process: none, device or strict; +dynamic sets the option dynamic."},
    {"writable", kDeputyOptionString, 0, "",
     "Folders that the process may write, separated by colons."},
    {"memory_mb", kDeputyOptionInt, 0, "0",
     "Limit of the process's private memory in MiB; 0: no limit."},
    {"dynamic", kDeputyOptionBool, 0, "false",
     "Accept tensors of dynamic size, for a delegate that allows them."},
    {"dynamic_mb", kDeputyOptionInt, 0, "256",
     "Limit of the shared memory for tensors of dynamic size in MiB, from 1."},
    {"prepare_ms", kDeputyOptionInt, 1, "30000",
     "Deadline for the start and the preparation of the delegate in milliseconds; 0: none."},
    {"invoke_ms", kDeputyOptionInt, 1, "10000",
     "Deadline for one call of a partition in milliseconds; 0: none."},
    {"cancel_ms", kDeputyOptionInt, 1, "100",
     "Time in milliseconds in which a call must end after its cancellation; 0: no limit."},
    {"max_deaths", kDeputyOptionInt, 0, "3",
     "Number of failed processes after which no new one is started, from 1."},
    {"program", kDeputyOptionString, 0, "",
     "Path of deputy-delegate-host; empty: the one that is installed with this plug-in."},
};

std::string Invalid(std::string_view key, std::string_view expected, std::string_view found) {
  return "option '" + std::string(key) + "': expected " + std::string(expected) + ", found '" +
         std::string(found) + "'";
}

std::string SetInt(std::string_view key, std::string_view value, int64_t min, int64_t* out) {
  constexpr int64_t kMax = 1'000'000'000;
  int64_t number = 0;
  const char* const end = value.data() + value.size();
  const auto [at, error] = std::from_chars(value.data(), end, number);
  if (error != std::errc() || at != end || number < min || number > kMax) {
    return Invalid(key, "a whole number from " + std::to_string(min) + " to 1000000000", value);
  }
  *out = number;
  return "";
}

std::string SetProfile(std::string_view text, Options* options) {
  constexpr std::string_view kDynamic = "+dynamic";
  const bool is_dynamic = text.ends_with(kDynamic);
  const auto value = is_dynamic ? text.substr(0, text.size() - kDynamic.size()) : text;
  if (value == "none") {
    options->profile = Profile::kNone;
  } else if (value == "device") {
    options->profile = Profile::kDevice;
  } else if (value == "strict") {
    options->profile = Profile::kStrict;
  } else {
    return Invalid("profile", "none, device or strict, perhaps with +dynamic", text);
  }
  if (is_dynamic) options->has_dynamic_sizes = true;
  return "";
}

std::string Set(std::string_view key, std::string_view value, Options* options) {
  if (key == "library") {
    options->library = value;
  } else if (key == "model") {
    options->model = value;
  } else if (key == "program") {
    options->program = value;
  } else if (key == "options") {
    return ParseDelegateOptions(value, &options->delegate_options);
  } else if (key == "profile") {
    return SetProfile(value, options);
  } else if (key == "writable") {
    options->writable = SplitOptions(value, ':');
  } else if (key == "memory_mb") {
    std::string problem = SetInt(key, value, 0, &options->memory_bytes);
    options->memory_bytes <<= 20;
    return problem;
  } else if (key == "dynamic") {
    if (value != "true" && value != "false") return Invalid(key, "true or false", value);
    options->has_dynamic_sizes = value == "true";
  } else if (key == "dynamic_mb") {
    std::string problem = SetInt(key, value, 1, &options->dynamic_bytes);
    options->dynamic_bytes <<= 20;
    return problem;
  } else if (key == "prepare_ms") {
    return SetInt(key, value, 0, &options->prepare_ms);
  } else if (key == "invoke_ms") {
    return SetInt(key, value, 0, &options->invoke_ms);
  } else if (key == "cancel_ms") {
    return SetInt(key, value, 0, &options->cancel_ms);
  } else if (key == "max_deaths") {
    int64_t deaths = 0;
    std::string problem = SetInt(key, value, 1, &deaths);
    if (problem.empty()) options->max_deaths = static_cast<int>(deaths);
    return problem;
  } else {
    return "unknown option '" + std::string(key) + "'";
  }
  return "";
}

}  // namespace

std::string ParseOptions(const char* const* keys, const char* const* values, size_t count,
                         Options* options) {
  for (size_t i = 0; i < count; ++i) {
    if (keys[i] == nullptr || values[i] == nullptr) {
      return "option " + std::to_string(i) + ": expected a key and a value, found NULL";
    }
    std::string problem = Set(keys[i], values[i], options);
    if (!problem.empty()) return problem;
  }
  if (options->library.empty()) return "option 'library': expected the path of a plug-in, found ''";
  return "";
}

std::string ParseDelegateOptions(std::string_view list, DelegateOptions* options) {
  options->clear();
  for (const std::string& piece : SplitOptions(list)) {
    const size_t equals = piece.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Invalid("options", "KEY=VALUE;KEY=VALUE", list);
    }
    options->emplace_back(piece.substr(0, equals), piece.substr(equals + 1));
  }
  return "";
}

std::span<const DeputyPluginOption> PluginOptions() { return kOptions; }

}  // namespace deputy::sandbox
