// SPDX-License-Identifier: Apache-2.0
//
// Texts that contain several options, KEY=VALUE;KEY=VALUE. A backslash precedes a separator or a
// backslash that belongs to a value.
#ifndef DEPUTY_CORE_SUPPORT_OPTION_LIST_H_
#define DEPUTY_CORE_SUPPORT_OPTION_LIST_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace deputy {

// Appends an option to a list, after a separator unless the list is empty.
inline void AppendOption(std::string_view option, std::string* list, char separator = ';') {
  if (!list->empty()) *list += separator;
  for (const char c : option) {
    if (c == separator || c == '\\') *list += '\\';
    *list += c;
  }
}

// Returns the options of a list without the backslashes. Empty ones are left out.
inline std::vector<std::string> SplitOptions(std::string_view list, char separator = ';') {
  std::vector<std::string> options(1);
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i] == '\\' && i + 1 < list.size()) {
      options.back() += list[++i];
    } else if (list[i] == separator) {
      options.emplace_back();
    } else {
      options.back() += list[i];
    }
  }
  std::erase(options, "");
  return options;
}

// Returns the text before the first '=' and the text after it; without '=' the second one is "".
inline std::pair<std::string, std::string> SplitOption(const std::string& option) {
  const size_t equals = option.find('=');
  if (equals == std::string::npos) return {option, ""};
  return {option.substr(0, equals), option.substr(equals + 1)};
}

// Sets an option in a list of keys and values: removes its former values and appends the new one.
inline void SetOption(const std::string& key, std::string_view value,
                      std::vector<std::pair<std::string, std::string>>* options) {
  std::erase_if(*options, [&](const auto& option) { return option.first == key; });
  options->emplace_back(key, value);
}

}  // namespace deputy

#endif  // DEPUTY_CORE_SUPPORT_OPTION_LIST_H_
