// SPDX-License-Identifier: Apache-2.0
//
// Table of the options: description for deputy_plugin and parser of each option.
#include "bridges/nnapi/options.h"

#include <charconv>
#include <string_view>
#include <system_error>
#include <utility>

#include "bridges/nnapi/nnapi.h"
#include "core/support/option_table.h"

namespace deputy::nnapi {
namespace {

struct Choice {
  std::string_view text;
  int32_t value;
};

constexpr Choice kPreferences[] = {{"undefined", -1},
                                   {"low_power", kPreferLowPower},
                                   {"fast_single_answer", kPreferFastSingleAnswer},
                                   {"sustained_speed", kPreferSustainedSpeed}};
constexpr Choice kPriorities[] = {
    {"default", 0}, {"low", kPriorityLow}, {"medium", kPriorityMedium}, {"high", kPriorityHigh}};

// Stores an option's text in a member. All parsers return "" on success, otherwise a description of
// the expected text.
template <std::string Options::*member>
std::string ReadText(std::string_view text, Options* options) {
  options->*member = text;
  return "";
}

template <bool Options::*member>
std::string ReadBool(std::string_view text, Options* options) {
  options->*member = text == "true" || text == "1";
  return options->*member || text == "false" || text == "0" ? "" : "true or false";
}

template <int64_t Options::*member>
std::string ReadCount(std::string_view text, Options* options) {
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), options->*member);
  const bool is_whole = error == std::errc() && end == text.data() + text.size();
  constexpr int64_t kMost = INT64_C(1) << 40;
  return is_whole && options->*member >= 0 && options->*member <= kMost
             ? ""
             : "a whole number from 0 to 2^40";
}

template <int32_t Options::*member, const auto& choices>
std::string ReadChoice(std::string_view text, Options* options) {
  std::string expected;
  for (const Choice& choice : choices) {
    if (choice.text == text) {
      options->*member = choice.value;
      return "";
    }
    expected.append(expected.empty() ? "" : ", ").append(choice.text);
  }
  return expected;
}

std::string ReadFalse(std::string_view text, Options*) {
  return text == "false" || text == "0"
             ? ""
             : "false, because models are always compiled for each shape";
}

std::string ReadEmpty(std::string_view text, Options*) {
  return text.empty() ? ""
                      : "an empty text, because drivers in separate libraries are not supported";
}

constexpr DeputyPluginOption kOptions[] = {
    {"library", kDeputyOptionString, 0, "",
     "NNAPI library; empty: DEPUTY_NNAPI_LIBRARY, or libneuralnetworks.so."},
    {"execution_preference", kDeputyOptionString, 0, "undefined",
     "undefined, low_power, fast_single_answer or sustained_speed."},
    {"execution_priority", kDeputyOptionString, 0, "default",
     "default, low, medium or high, from feature level 30."},
    {"accelerator_name", kDeputyOptionString, 0, "",
     "Name of the device, from feature level 29; empty: NNAPI chooses."},
    {"disable_cpu", kDeputyOptionBool, 0, "false",
     "Use only devices that are not CPUs, from feature level 29."},
    {"allow_fp16", kDeputyOptionBool, 0, "false", "Permit half precision, from feature level 28."},
    {"allow_dynamic_dimensions", kDeputyOptionBool, 0, "false",
     "Only false: models are always compiled for each shape."},
    {"use_burst_mode", kDeputyOptionBool, 0, "false",
     "Optimise for inferences in quick succession, from feature level 29."},
    {"support_library_path", kDeputyOptionString, 0, "",
     "Only empty: drivers in separate libraries are not supported."},
    {"shared_memory", kDeputyOptionBool, 0, "false",
     "Pass constants, inputs and outputs in shared memory instead of by pointer."},
    {"cache_dir", kDeputyOptionString, 0, "",
     "Folder for NNAPI's compiled models, from feature level 29; requires model_token."},
    {"model_token", kDeputyOptionString, 0, "", "Key of the model in the folder cache_dir."},
    {"max_number_delegated_partitions", kDeputyOptionInt, 0, "0",
     "Maximum number of partitions, largest first; 0: no limit."},
    {"compilation_timeout_us", kDeputyOptionInt, 0, "0",
     "Time limit of a compilation in microseconds, with a single device, from feature level 30; 0: "
     "none."},
    {"execution_timeout_us", kDeputyOptionInt, 0, "0",
     "Time limit of an inference in microseconds, with a single device, from feature level 30; 0: "
     "none."},
};

constexpr OptionParser<Options> kParsers[] = {
    ReadText<&Options::library>,
    ReadChoice<&Options::preference, kPreferences>,
    ReadChoice<&Options::priority, kPriorities>,
    ReadText<&Options::accelerator_name>,
    ReadBool<&Options::disable_cpu>,
    ReadBool<&Options::allow_fp16>,
    ReadFalse,
    ReadBool<&Options::use_burst_mode>,
    ReadEmpty,
    ReadBool<&Options::shared_memory>,
    ReadText<&Options::cache_dir>,
    ReadText<&Options::model_token>,
    ReadCount<&Options::max_partitions>,
    ReadCount<&Options::compile_timeout_us>,
    ReadCount<&Options::execution_timeout_us>,
};
}  // namespace

std::string ParseOptions(const char* const* keys, const char* const* values, size_t count,
                         Options* options) {
  Options parsed = *options;
  std::string problem = ParseOptionTable(kOptions, kParsers, keys, values, count, &parsed);
  if (!problem.empty()) return problem;
  if (!parsed.cache_dir.empty() && parsed.model_token.empty()) {
    return "option 'cache_dir': expected a 'model_token' with it";
  }
  *options = std::move(parsed);
  return "";
}

std::span<const DeputyPluginOption> PluginOptions() { return kOptions; }

}  // namespace deputy::nnapi
