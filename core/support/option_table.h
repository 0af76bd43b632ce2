// SPDX-License-Identifier: Apache-2.0
//
// Parses the options of a delegate by a table of parsers.
#ifndef DEPUTY_CORE_SUPPORT_OPTION_TABLE_H_
#define DEPUTY_CORE_SUPPORT_OPTION_TABLE_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "c_api/include/deputy_plugin.h"

namespace deputy {

// Stores an option's text in `options`. Returns "" on success, otherwise a description of the
// expected text.
template <typename Options>
using OptionParser = std::string (*)(std::string_view text, Options* options);

// Parses one option with the parser at the position of its declaration. Returns "" or the problem.
template <typename Options, size_t count>
std::string ParseOption(const DeputyPluginOption (&declared)[count],
                        const OptionParser<Options> (&parsers)[count], std::string_view key,
                        std::string_view value, Options* options) {
  std::string names;
  for (size_t i = 0; i < count; ++i) {
    if (key == declared[i].name) {
      const std::string expected = parsers[i](value, options);
      if (expected.empty()) return "";
      return "option '" + std::string(key) + "': expected " + expected + ", found '" +
             std::string(value) + "'";
    }
    names.append(names.empty() ? "" : ", ").append(declared[i].name);
  }
  return "option '" + std::string(key) + "': expected one of " + names;
}

// Parses `given` options, whose keys and values may be null. Returns "" or the first problem, with
// unchanged options.
template <typename Options, size_t count>
std::string ParseOptionTable(const DeputyPluginOption (&declared)[count],
                             const OptionParser<Options> (&parsers)[count], const char* const* keys,
                             const char* const* values, size_t given, Options* options) {
  Options parsed = *options;
  for (size_t i = 0; i < given; ++i) {
    std::string problem = ParseOption(declared, parsers, keys[i] == nullptr ? "" : keys[i],
                                      values[i] == nullptr ? "" : values[i], &parsed);
    if (!problem.empty()) return problem;
  }
  *options = std::move(parsed);
  return "";
}

}  // namespace deputy

#endif  // DEPUTY_CORE_SUPPORT_OPTION_TABLE_H_
