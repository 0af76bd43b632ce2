// SPDX-License-Identifier: Apache-2.0
#include "litert/src/payload.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "litert/c/options/litert_compiler_options.h"
#include "litert/src/log.h"

namespace deputy::litert {
namespace {

using std::string_view;

// LiteRT's headers and its runtime name different identifiers for the CPU; both are read.
constexpr string_view kCpuIdentifier = "xnnpack", kOldCpuIdentifier = "cpu_delegate";
constexpr string_view kRuntimeIdentifier = "runtime_options_string";
constexpr string_view kCompilerIdentifier = "compiler_options_string";

bool IsCpuIdentifier(string_view identifier) {
  return identifier == kCpuIdentifier || identifier == kOldCpuIdentifier;
}

string_view Trim(string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::optional<int64_t> ReadInteger(string_view text) {
  int64_t value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<bool> ReadBool(string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return std::nullopt;
}

std::optional<std::string> ReadText(string_view text) {
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return std::nullopt;
  return std::string(text.substr(1, text.size() - 2));
}

// Reads a list of texts in brackets.
std::optional<std::vector<std::string>> ReadTexts(string_view text) {
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return std::nullopt;
  text = Trim(text.substr(1, text.size() - 2));
  std::vector<std::string> texts;
  while (!text.empty()) {
    const size_t end = text.front() == '"' ? text.find('"', 1) : string_view::npos;
    if (end == string_view::npos) return std::nullopt;
    texts.emplace_back(text.substr(1, end - 1));
    text = Trim(text.substr(end + 1));
    if (text.empty()) break;
    if (text.front() != ',') return std::nullopt;
    text = Trim(text.substr(1));
  }
  return texts;
}

// Stores a value that was read; returns false if there is none.
template <typename Value, typename To>
bool Assign(const std::optional<Value>& value, To* to) {
  if (value) *to = static_cast<To>(*value);
  return value.has_value();
}

enum class Outcome { kRead, kUnknownKey, kWrongValue };

Outcome ReadOf(bool is_read) { return is_read ? Outcome::kRead : Outcome::kWrongValue; }

// Calls `read(key, value)` for each line of the options with one of the identifiers. Returns false
// if a value is wrong.
template <typename IsWanted, typename Read>
bool ReadLines(const LiteRtOptionsT& options, const IsWanted& is_wanted, const Read& read) {
  bool is_valid = true;
  for (const LiteRtOpaqueOptionsT* each = options.opaque; each != nullptr; each = each->next) {
    if (!is_wanted(string_view(each->identifier))) continue;
    string_view text = static_cast<const char*>(each->data);
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      const string_view line = Trim(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
      if (line.empty() || line.front() == '#') continue;
      const size_t equals = line.find('=');
      const string_view key = Trim(line.substr(0, equals));
      const string_view value =
          equals == string_view::npos ? string_view() : Trim(line.substr(equals + 1));
      const Outcome outcome = read(key, value);
      if (outcome == Outcome::kRead) continue;
      is_valid = is_valid && outcome != Outcome::kWrongValue;
      Log(kLiteRtLogSeverityWarning, "options '%s': %s in the line '%.*s', which has no effect",
          each->identifier.c_str(), outcome == Outcome::kUnknownKey ? "unknown key" : "wrong value",
          static_cast<int>(line.size()), line.data());
    }
  }
  return is_valid;
}

bool IsOneOf(std::optional<int64_t> number, std::initializer_list<int64_t> numbers) {
  return number && std::ranges::find(numbers, *number) != numbers.end();
}

std::optional<int64_t> ReadKernelMode(string_view value) {
  const std::string text = ReadText(value).value_or(std::string(value));
  if (text == "delegate" || text == "xnnpack") return kLiteRtCpuKernelModeDelegate;
  if (text == "builtin") return kLiteRtCpuKernelModeBuiltin;
  if (text == "reference") return kLiteRtCpuKernelModeReference;
  const std::optional<int64_t> mode = ReadInteger(value);
  return IsOneOf(mode, {kLiteRtCpuKernelModeDelegate, kLiteRtCpuKernelModeBuiltin,
                        kLiteRtCpuKernelModeReference})
             ? mode
             : std::nullopt;
}

// Keys that select properties of XNNPACK and YNNPACK, which have no meaning here.
bool IsIgnoredCpuKey(string_view key) {
  constexpr string_view kKeys[] = {"enable_ynnpack",
                                   "flags",
                                   "weight_cache_file_descriptor",
                                   "hint_fully_delegated_to_single_delegate",
                                   "ynnpack_static_shape",
                                   "ynnpack_fast_math",
                                   "ynnpack_consistent_arithmetic",
                                   "ynnpack_no_excess_precision"};
  return std::count(std::begin(kKeys), std::end(kKeys), key) > 0;
}

}  // namespace

LiteRtStatus ReadCpuSettings(const LiteRtOptionsT& options, CpuSettings* out_settings) {
  const auto read = [&](string_view key, string_view value) {
    if (key == "num_threads") return ReadOf(Assign(ReadInteger(value), &out_settings->threads));
    if (key == "kernel_mode") return ReadOf(Assign(ReadKernelMode(value), &out_settings->kernels));
    if (key == "weight_cache_file_path") {
      return ReadOf(Assign(ReadText(value), &out_settings->weight_cache));
    }
    return IsIgnoredCpuKey(key) ? Outcome::kRead : Outcome::kUnknownKey;
  };
  const auto is_old = [](string_view identifier) { return identifier == kOldCpuIdentifier; };
  const auto is_new = [](string_view identifier) { return identifier == kCpuIdentifier; };
  (void)ReadLines(options, is_old, read);
  return ReadLines(options, is_new, read) ? kLiteRtStatusOk : kLiteRtStatusErrorInvalidArgument;
}

RuntimeSettings ReadRuntimeSettings(const LiteRtOptionsT& options) {
  RuntimeSettings settings;
  const auto is_wanted = [](string_view identifier) { return identifier == kRuntimeIdentifier; };
  ReadLines(options, is_wanted, [&](string_view key, string_view value) {
    if (key == "enable_profiling") return ReadOf(Assign(ReadBool(value), &settings.profiles));
    if (key == "error_reporter_mode") {
      const std::optional<int64_t> mode = ReadInteger(value);
      const bool is_mode =
          mode && *mode >= kLiteRtErrorReporterModeNone && *mode <= kLiteRtErrorReporterModeBuffer;
      return ReadOf(is_mode && Assign(mode, &settings.reporter));
    }
    if (key == "selected_signature_keys") {
      return ReadOf(Assign(ReadTexts(value), &settings.signatures));
    }
    const bool is_ignored =
        key == "compress_quantization_zero_points" || key == "disable_delegate_clustering";
    return is_ignored ? Outcome::kRead : Outcome::kUnknownKey;
  });
  return settings;
}

CompilerSettings ReadCompilerSettings(const LiteRtOptionsT& options) {
  CompilerSettings settings;
  const auto is_wanted = [](string_view identifier) { return identifier == kCompilerIdentifier; };
  ReadLines(options, is_wanted, [&](string_view key, string_view value) {
    const std::optional<int64_t> number = ReadInteger(value);
    if (key == "partition_strategy") {
      const bool is_known =
          IsOneOf(number, {kLiteRtCompilerOptionsPartitionStrategyDefault,
                           kLiteRtCompilerOptionsPartitionStrategyWeaklyConnected});
      return ReadOf(is_known && Assign(number, &settings.connects));
    }
    if (key == "max_partitions") {
      return ReadOf(number >= 0 && Assign(number, &settings.max_partitions));
    }
    return key == "dummy_option" ? Outcome::kRead : Outcome::kUnknownKey;
  });
  return settings;
}

void ReportUnknownOptions(const LiteRtOptionsT& options) {
  for (const LiteRtOpaqueOptionsT* each = options.opaque; each != nullptr; each = each->next) {
    if (IsCpuIdentifier(each->identifier) || each->identifier == kRuntimeIdentifier ||
        each->identifier == kCompilerIdentifier) {
      continue;
    }
    Log(kLiteRtLogSeverityInfo, "options '%s' are read by accelerators and plug-ins only",
        each->identifier.c_str());
  }
}

}  // namespace deputy::litert
