// SPDX-License-Identifier: Apache-2.0
#include "core/plugin/plugin_options.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "core/support/option_list.h"

namespace deputy {
namespace {

// Returns true if all of `text` is a finite number of type T.
template <typename T>
bool IsNumber(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() &&
         std::isfinite(static_cast<double>(value));
}

bool IsOfType(std::string_view text, int32_t type) {
  switch (type) {
    case kDeputyOptionBool:
      return text == "true" || text == "false" || text == "1" || text == "0";
    case kDeputyOptionInt:
      return IsNumber<int64_t>(text);
    case kDeputyOptionFloat:
      return IsNumber<double>(text);
    default:  // text, and types that only newer plug-ins have
      return true;
  }
}

const char* TypeText(int32_t type) {
  switch (type) {
    case kDeputyOptionBool:
      return "true, false, 1 or 0";
    case kDeputyOptionInt:
      return "a decimal integer of 64 bits";
    default:
      return "a decimal number";
  }
}

const DeputyPluginOption* FindOption(const DeputyDelegatePlugin& plugin, std::string_view key) {
  for (size_t i = 0; i < plugin.option_count; ++i) {
    if (key == plugin.options[i].name) return &plugin.options[i];
  }
  return nullptr;
}

// Returns the names of the options for which `is_listed` returns true.
template <typename IsListed>
std::string Names(const DeputyDelegatePlugin& plugin, const IsListed& is_listed) {
  std::string names;
  for (size_t i = 0; i < plugin.option_count; ++i) {
    if (!is_listed(plugin.options[i])) continue;
    names += std::string(names.empty() ? "'" : ", '") + plugin.options[i].name + "'";
  }
  return names;
}

std::string CheckPair(const DeputyDelegatePlugin& plugin, const char* key, const char* value) {
  const DeputyPluginOption* option = FindOption(plugin, key);
  if (option == nullptr) {
    return std::string("unknown option '") + key + "': expected " +
           (plugin.option_count == 1 ? "" : "one of ") +
           Names(plugin, [](const DeputyPluginOption&) { return true; });
  }
  if (IsOfType(value, option->type)) return "";
  return std::string("option '") + key + "': expected " + TypeText(option->type) + ", found '" +
         value + "'";
}

}  // namespace

std::string CheckPluginOptions(const DeputyDelegatePlugin* plugin, const PluginOptions& options) {
  if (options.count > 0 && (options.keys == nullptr || options.values == nullptr)) {
    return std::to_string(options.count) + " options: expected their keys and values, found NULL";
  }
  for (size_t i = 0; i < options.count; ++i) {
    const char* key = options.keys[i];
    const char* value = options.values[i];
    if (key == nullptr || value == nullptr) {
      return "option " + std::to_string(i) + (key == nullptr ? "" : std::string(" '") + key + "'") +
             ": expected a " + (key == nullptr ? "key" : "value") + ", found NULL";
    }
    if (plugin == nullptr || plugin->option_count == 0) continue;
    std::string problem = CheckPair(*plugin, key, value);
    if (!problem.empty()) return problem;
  }
  return "";
}

std::string CheckLiveOptions(const DeputyDelegatePlugin* plugin, const PluginOptions& options) {
  std::string problem = CheckPluginOptions(plugin, options);
  const auto is_live = [](const DeputyPluginOption& option) { return option.live != 0; };
  for (size_t i = 0; problem.empty() && plugin != nullptr && i < options.count; ++i) {
    const DeputyPluginOption* const option = FindOption(*plugin, options.keys[i]);
    if (option == nullptr || is_live(*option)) continue;
    const std::string names = Names(*plugin, is_live);
    problem = std::string("option '") + options.keys[i] +
              "' is fixed when the delegate is created; options that can change: " +
              (names.empty() ? "none" : names);
  }
  return problem;
}

std::string JoinOptions(const PluginOptions& options) {
  std::string list;
  for (size_t i = 0; i < options.count; ++i) {
    AppendOption(std::string(options.keys[i]) + "=" + options.values[i], &list);
  }
  return list;
}

}  // namespace deputy
