// SPDX-License-Identifier: Apache-2.0
#include "gpu_cl/options.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <variant>

namespace deputy::gpu_cl {
namespace {

// Member of Options that a row describes. An enumeration is represented by one of the row's
// choices.
using Member =
    std::variant<std::string Options::*, bool Options::*, int64_t Options::*, double Options::*,
                 Precision Options::*, StorageChoice Options::*, ClassChoice Options::*,
                 Preference Options::*, Tuning Options::*, QuantizedArithmetic Options::*>;

// Field of the public struct, where flags and enumerations are int32_t.
using Field = std::variant<const char * DeputyGpuOptions::*, int32_t DeputyGpuOptions::*,
                           int64_t DeputyGpuOptions::*, double DeputyGpuOptions::*>;

struct Row {
  const char* key;
  Member member;
  Field field;
  // Range of a number, both bounds inclusive.
  double min;
  double max;
  // Names of an enumeration's values in their order, separated by '|'.
  const char* choices;
  const char* default_value;
  const char* help;
};

// Default upper bound of numbers. Bounds are double, which represents integers exactly up to 2^53.
constexpr double kMaxNumber = 1e9;

constexpr Row kRows[] = {
    {"device", &Options::device, &DeputyGpuOptions::device, 0, 0, "", "",
     "The device: an index, gpu, accelerator, cpu, or a part of its name; empty: the best, or what "
     "DEPUTY_OPENCL_DEVICE names."},
    {"device_class", &Options::device_class, &DeputyGpuOptions::device_class, 0, 0,
     "auto|cpu|desktop|mobile", "auto",
     "Device class that kernels are generated for: auto, cpu, desktop or mobile."},
    {"precision", &Options::precision, &DeputyGpuOptions::precision, 0, 0, "fp32|fp16|auto", "fp32",
     "Storage type of filters and of results within a partition: fp32, fp16 (half the memory, "
     "three decimal digits, at most 65504) or auto (fp16 on GPUs). Arithmetic is always in fp32."},
    {"storage", &Options::storage, &DeputyGpuOptions::storage, 0, 0,
     "auto|buffer|image_buffer|image_2d|image_2d_array|image_3d", "auto",
     "Storage of filters on GPUs: buffer, or image_buffer, image_2d, image_2d_array or image_3d if "
     "the device's images are large enough; inputs of products are then read through images, too. "
     "auto: image_2d on Adreno, else buffer."},
    {"quantized", &Options::quantized, &DeputyGpuOptions::quantized, 0, 0, "", "true",
     "Accept quantised operators."},
    {"quantized_arithmetic", &Options::quantized_arithmetic,
     &DeputyGpuOptions::quantized_arithmetic, 0, 0, "auto|float|int8", "auto",
     "Arithmetic of quantised convolutions and matrix products: float (the numbers that integers "
     "represent), int8 (products of integers, sums of 32 bits) or auto."},
    {"max_partitions", &Options::max_partitions, &DeputyGpuOptions::max_partitions, 0, kMaxNumber,
     "", "0", "Maximum number of partitions; those with the largest gain are kept. 0: unlimited."},
    {"min_gain_us", &Options::min_gain_us, &DeputyGpuOptions::min_gain_us, kNoMinGain, kMaxNumber,
     "", "-1e9",
     "Minimum estimated gain of a partition in microseconds; others stay on the CPU. 0: only "
     "partitions that are estimated to be faster than on the CPU. Default: no minimum."},
    {"force", &Options::force, &DeputyGpuOptions::force, 0, 0, "", "false", "Ignore min_gain_us."},
    {"preference", &Options::preference, &DeputyGpuOptions::preference, 0, 0,
     "single_answer|sustained_speed|balanced", "single_answer",
     "Usage: single_answer, balanced (tuning at least fast) or sustained_speed (tuning full)."},
    {"tuning", &Options::tuning, &DeputyGpuOptions::tuning, 0, 0, "none|fast|full", "none",
     "Auto-tuning of kernel variants for the most expensive operations: none, fast (200 ms) or "
     "full (up to a minute). Results are stored in cache_dir."},
    {"cache_dir", &Options::cache_dir, &DeputyGpuOptions::cache_dir, 0, 0, "", "",
     "Directory of the cache of compiled programs, accessible to the user only; empty: no cache."},
    {"cache_token", &Options::cache_token, &DeputyGpuOptions::cache_token, 0, 0, "", "",
     "Name that separates the cache entries of one model from those of others."},
    {"cache_max_mb", &Options::cache_max_mb, &DeputyGpuOptions::cache_max_mb, 1, 1e6, "", "256",
     "Maximum size of the cache in megabytes; the least recently used entries are deleted."},
    {"profiling", &Options::profiling, &DeputyGpuOptions::profiling, 0, 0, "", "false",
     "Measure the time of every kernel and report it for its node, for deputy bench and --trace."},
    {"describe", &Options::describe, &DeputyGpuOptions::describe, 0, 0, "", "false",
     "Keep each partition's graph as text, as imported and as optimised, for deputy explain --ir."},
    {"keep_outputs", &Options::keep_outputs, &DeputyGpuOptions::keep_outputs, 0, 0, "", "false",
     "Keep the model's outputs on the device until they are read, for clients that call "
     "TfLiteSetAllowBufferHandleOutput."},
    {"kept_plans", &Options::kept_plans, &DeputyGpuOptions::kept_plans, 0, 1000, "", "4",
     "Number of input shapes for which a partition's plan keeps its buffers and kernels (and "
     "memory), so that a resize to one of them is fast; 0: every resize binds a new plan."},
    {"optimize", &Options::optimize, &DeputyGpuOptions::optimize, 0, 0, "", "true",
     "Let the driver optimise kernels; without it a model starts several times faster, and runs "
     "slower."},
    {"source_dir", &Options::source_dir, &DeputyGpuOptions::source_dir, 0, 0, "", "",
     "Directory to which the OpenCL C source of each program is written, named by the "
     "first 16 digits of its SHA-256; empty: none."},
    {"overlapped_tasks", &Options::overlapped_tasks, &DeputyGpuOptions::overlapped_tasks, -1, 16,
     "", "-1",
     "Number of asynchronous tasks whose transfers overlap with the kernels of other tasks; each "
     "has its inputs and outputs in device memory once more. 0: transfers and kernels alternate. "
     "-1: 3 on discrete GPUs, else 0."},
};

std::string Expected(const Row& row, std::string_view what, std::string_view value) {
  return std::string("option '") + row.key + "': expected " + std::string(what) + ", found '" +
         std::string(value) + "'";
}

// Returns the index of `value` among the choices; -1 if it is not one of them.
int ChoiceOf(std::string_view choices, std::string_view value) {
  for (int index = 0;; ++index) {
    const size_t bar = choices.find('|');
    if (choices.substr(0, bar) == value) return index;
    if (bar == std::string_view::npos) return -1;
    choices.remove_prefix(bar + 1);
  }
}

std::string ReadableChoices(std::string_view choices) {
  std::string text(choices);
  for (size_t bar = text.find('|'); bar != std::string::npos; bar = text.find('|', bar)) {
    text.replace(bar, 1, text.find('|', bar + 1) == std::string::npos ? " or " : ", ");
  }
  return text;
}

std::string Range(const Row& row) {
  char text[96];
  std::snprintf(text, sizeof(text), "%.15g to %.15g", row.min, row.max);
  return text;
}

template <typename T>
std::string ParseNumber(const Row& row, std::string_view value, T* out_number) {
  const char* type = std::is_integral_v<T> ? "a whole number from " : "a number from ";
  T number{};
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  const bool is_number = error == std::errc() && end == value.data() + value.size();
  // The negated comparisons reject NaN.
  if (!is_number || !(static_cast<double>(number) >= row.min) ||
      !(static_cast<double>(number) <= row.max)) {
    return Expected(row, type + Range(row), value);
  }
  *out_number = number;
  return "";
}

std::string ParseBool(const Row& row, std::string_view value, bool* out_value) {
  const bool yes = value == "true" || value == "1";
  if (!yes && value != "false" && value != "0") {
    return Expected(row, "true, false, 1 or 0", value);
  }
  *out_value = yes;
  return "";
}

// Parses a text into the row's member. Returns "" or an error message.
std::string Set(const Row& row, std::string_view value, Options* options) {
  return std::visit(
      [&](auto member) -> std::string {
        auto& target = options->*member;
        using T = std::remove_reference_t<decltype(target)>;
        if constexpr (std::is_same_v<T, std::string>) {
          target = value;
        } else if constexpr (std::is_same_v<T, bool>) {
          return ParseBool(row, value, &target);
        } else if constexpr (std::is_enum_v<T>) {
          const int choice = ChoiceOf(row.choices, value);
          if (choice < 0) return Expected(row, ReadableChoices(row.choices), value);
          target = static_cast<T>(choice);
        } else {
          return ParseNumber(row, value, &target);
        }
        return "";
      },
      row.member);
}

int32_t TypeOf(const Row& row) {
  if (std::holds_alternative<bool Options::*>(row.member)) return kDeputyOptionBool;
  if (std::holds_alternative<int64_t Options::*>(row.member)) return kDeputyOptionInt;
  if (std::holds_alternative<double Options::*>(row.member)) return kDeputyOptionFloat;
  return kDeputyOptionString;
}

// The option without a field in the public struct, which contains the objects themselves.
constexpr DeputyPluginOption kClientObjects = {
    "client_objects", kDeputyOptionString, 0, "",
    "OpenCL objects of this process, for programs that create the delegate as a plug-in: "
    "PROCESS:CONTEXT:QUEUE, the number of the process and the addresses of a cl_context and an "
    "in-order cl_command_queue (0: none), in decimal; empty: none."};

// Parses the text of kClientObjects. Addresses of another process are ignored: a plug-in may run in
// a process of its own.
std::string SetClientObjects(std::string_view value, Options* options) {
  options->context = options->queue = nullptr;
  options->has_foreign_objects = false;
  if (value.empty()) return "";
  uint64_t numbers[3] = {};
  const char *at = value.data(), *const end = at + value.size();
  for (uint64_t& number : numbers) {
    const bool follows = &number != numbers;
    if (follows && (at == end || *at++ != ':')) at = nullptr;
    if (at == nullptr) break;
    const auto [next, error] = std::from_chars(at, end, number);
    at = error == std::errc() ? next : nullptr;
    if (at == nullptr) break;
  }
  if (at != end) {
    return std::string("option 'client_objects': expected PROCESS:CONTEXT:QUEUE, found '") +
           std::string(value) + "'";
  }
  options->has_foreign_objects = numbers[0] != static_cast<uint64_t>(getpid());
  if (options->has_foreign_objects) return "";
  options->context = reinterpret_cast<void*>(static_cast<uintptr_t>(numbers[1]));
  options->queue = reinterpret_cast<void*>(static_cast<uintptr_t>(numbers[2]));
  return "";
}

std::string UnknownKey(std::string_view key) {
  std::string text = "unknown option '" + std::string(key) + "': expected one of ";
  for (const Row& row : kRows) text += std::string(&row == kRows ? "'" : ", '") + row.key + "'";
  return text + ", '" + kClientObjects.name + "'";
}

std::string ParseOne(const char* key, const char* value, Options* options) {
  if (key == nullptr) return "expected the key of an option, found NULL";
  if (value == nullptr) return std::string("option '") + key + "': expected a value, found NULL";
  if (std::string_view(key) == kClientObjects.name) return SetClientObjects(value, options);
  const Row* row = std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& candidate) {
    return std::string_view(candidate.key) == key;
  });
  return row == std::end(kRows) ? UnknownKey(key) : Set(*row, value, options);
}

// Returns the choice with an index; empty if out of range.
std::string_view ChoiceAt(std::string_view choices, int32_t number) {
  for (; number > 0 && !choices.empty(); --number) {
    const size_t bar = choices.find('|');
    choices.remove_prefix(bar == std::string_view::npos ? choices.size() : bar + 1);
  }
  return number < 0 ? std::string_view() : choices.substr(0, choices.find('|'));
}

std::string RealText(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof(text), value).ptr};
}

// Copies a public field to the row's member, by way of its text. Returns "" or an error message.
std::string Take(const Row& row, const DeputyGpuOptions& given, Options* options) {
  return std::visit(
      [&](auto field) -> std::string {
        const auto value = given.*field;
        using T = std::remove_const_t<decltype(value)>;
        if constexpr (std::is_same_v<T, const char*>) {
          return Set(row, value == nullptr ? row.default_value : value, options);
        } else if constexpr (std::is_same_v<T, double>) {
          return Set(row, RealText(value), options);
        } else if constexpr (std::is_same_v<T, int64_t>) {
          return Set(row, std::to_string(value), options);
        } else {
          if (row.choices[0] == '\0') return Set(row, value == 0 ? "false" : "true", options);
          const std::string_view choice = ChoiceAt(row.choices, value);
          return choice.empty() ? Expected(row, "a number of " + ReadableChoices(row.choices),
                                           std::to_string(value))
                                : Set(row, choice, options);
        }
      },
      row.field);
}

void SetDefault(const Row& row, const Options& defaults, DeputyGpuOptions* options) {
  std::visit(
      [&](auto member, auto field) {
        auto& target = options->*field;
        using From = std::remove_reference_t<decltype(options->*field)>;
        using To = std::remove_cvref_t<decltype(defaults.*member)>;
        if constexpr (std::is_same_v<From, const char*>) {
          target = row.default_value;
        } else if constexpr (!std::is_same_v<To, std::string>) {
          target = static_cast<From>(defaults.*member);
        }
      },
      row.member, row.field);
}

// Checks the priorities: AUTO may be followed by AUTO only, and every other priority may occur
// once.
std::string CheckPriorities(const int32_t (&priorities)[3]) {
  for (int i = 0; i < 3; ++i) {
    if (priorities[i] < TFLITE_GPU_INFERENCE_PRIORITY_AUTO ||
        priorities[i] > TFLITE_GPU_INFERENCE_PRIORITY_MIN_MEMORY_USAGE) {
      return "inference_priority" + std::to_string(i + 1) + ": expected 0 to 3, found " +
             std::to_string(priorities[i]);
    }
    for (int before = 0; before < i; ++before) {
      const bool is_auto = priorities[before] == TFLITE_GPU_INFERENCE_PRIORITY_AUTO;
      if (is_auto && priorities[i] != TFLITE_GPU_INFERENCE_PRIORITY_AUTO) {
        return "inference priorities: AUTO may be followed by AUTO only";
      }
      if (!is_auto && priorities[before] == priorities[i]) {
        return "inference priorities: duplicate value";
      }
    }
  }
  return "";
}

std::string CheckV2(const TfLiteGpuDelegateOptionsV2& v2) {
  if (v2.is_precision_loss_allowed < -1 || v2.is_precision_loss_allowed > 1) {
    return "is_precision_loss_allowed: expected -1, 0 or 1, found " +
           std::to_string(v2.is_precision_loss_allowed);
  }
  if (v2.inference_preference < TFLITE_GPU_INFERENCE_PREFERENCE_FAST_SINGLE_ANSWER ||
      v2.inference_preference > TFLITE_GPU_INFERENCE_PREFERENCE_BALANCED) {
    return "inference_preference: expected 0, 1 or 2, found " +
           std::to_string(v2.inference_preference);
  }
  if ((v2.experimental_flags & TFLITE_GPU_EXPERIMENTAL_FLAGS_GL_ONLY) != 0) {
    return "experimental_flags: OpenGL is not supported, only OpenCL";
  }
  return CheckPriorities({v2.inference_priority1, v2.inference_priority2, v2.inference_priority3});
}

// Returns the precision that is_precision_loss_allowed determines or, if it is negative, the
// priorities. They permit half precision (where it is faster) if the client ranks another priority
// above precision. If all priorities are AUTO, float32 is used.
Precision PrecisionOf(const TfLiteGpuDelegateOptionsV2& v2) {
  if (v2.is_precision_loss_allowed >= 0) {
    return v2.is_precision_loss_allowed == 1 ? Precision::kAutomatic : Precision::kFp32;
  }
  const bool precise = v2.inference_priority1 == TFLITE_GPU_INFERENCE_PRIORITY_AUTO ||
                       v2.inference_priority1 == TFLITE_GPU_INFERENCE_PRIORITY_MAX_PRECISION;
  return precise ? Precision::kFp32 : Precision::kAutomatic;
}

}  // namespace

Options::Options() {
  // Cannot fail: a test checks that every default is valid.
  for (const Row& row : kRows) static_cast<void>(Set(row, row.default_value, this));
}

std::string ParseOptions(const char* const* keys, const char* const* values, size_t count,
                         Options* options) {
  if (count > 0 && (keys == nullptr || values == nullptr)) {
    return std::to_string(count) + " options: expected their keys and values, found NULL";
  }
  Options parsed = *options;
  for (size_t i = 0; i < count; ++i) {
    std::string problem = ParseOne(keys[i], values[i], &parsed);
    if (!problem.empty()) return problem;
  }
  *options = parsed;
  return "";
}

std::span<const DeputyPluginOption> PluginOptions() {
  static const auto options = [] {
    std::array<DeputyPluginOption, std::size(kRows) + 1> made{};
    made.back() = kClientObjects;
    for (size_t i = 0; i < std::size(kRows); ++i) {
      made[i] = {kRows[i].key, TypeOf(kRows[i]), 0, kRows[i].default_value, kRows[i].help};
    }
    return made;
  }();
  return options;
}

std::string FromV2(const TfLiteGpuDelegateOptionsV2& v2, Options* out_options) {
  std::string problem = CheckV2(v2);
  if (!problem.empty()) return problem;
  Options options;
  options.precision = PrecisionOf(v2);
  options.preference = static_cast<Preference>(v2.inference_preference);
  options.quantized = (v2.experimental_flags & TFLITE_GPU_EXPERIMENTAL_FLAGS_ENABLE_QUANT) != 0;
  options.max_partitions = std::max(1, v2.max_delegated_partitions);
  // Serialization is enabled under the same condition as in TensorFlow Lite: flag, directory and
  // token are set.
  if ((v2.experimental_flags & TFLITE_GPU_EXPERIMENTAL_FLAGS_ENABLE_SERIALIZATION) != 0 &&
      v2.serialization_dir != nullptr && v2.model_token != nullptr) {
    options.cache_dir = v2.serialization_dir;
    options.cache_token = v2.model_token;
  }
  *out_options = options;
  return "";
}

DeputyGpuOptions PublicDefaults() {
  DeputyGpuOptions options{};
  options.struct_size = sizeof options;
  const Options defaults;
  for (const Row& row : kRows) SetDefault(row, defaults, &options);
  return options;
}

std::string FromPublic(const DeputyGpuOptions& given, Options* out_options) {
  // Size of the struct's first version.
  constexpr size_t kFirstSize = offsetof(DeputyGpuOptions, cl_command_queue) + sizeof(void*);
  if (given.struct_size < kFirstSize) {
    return "DeputyGpuOptions: expected a struct_size of at least " + std::to_string(kFirstSize) +
           ", found " + std::to_string(given.struct_size);
  }
  DeputyGpuOptions known = PublicDefaults();
  std::memcpy(&known, &given, std::min(given.struct_size, sizeof known));
  Options options;
  for (const Row& row : kRows) {
    std::string problem = Take(row, known, &options);
    if (!problem.empty()) return problem;
  }
  options.context = known.cl_context;
  options.queue = known.cl_command_queue;
  *out_options = options;
  return "";
}

}  // namespace deputy::gpu_cl
