// SPDX-License-Identifier: Apache-2.0
#include "litert/client/setting_reader.h"

#include <algorithm>

namespace deputy::litert_client {
namespace {

using std::string_view;

string_view Trim(string_view text) {
  constexpr const char* kSpace = " \t\n\r";
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

bool IsQuote(char c) { return c == '"' || c == '\''; }

bool IsQuoted(string_view text) {
  return text.size() >= 2 && IsQuote(text.front()) && text.back() == text.front();
}

}  // namespace

void ForEachSetting(string_view text, const std::function<void(string_view, string_view)>& read) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const string_view line = Trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t equals = line.find('=');
    if (line.empty() || line.front() == '#' || equals == string_view::npos) continue;
    string_view value = Trim(line.substr(equals + 1));
    if (IsQuoted(value)) value = value.substr(1, value.size() - 2);
    read(Trim(line.substr(0, equals)), value);
  }
}

std::optional<std::vector<std::string>> ReadList(string_view text) {
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return std::nullopt;
  text = Trim(text.substr(1, text.size() - 2));
  std::vector<std::string> list;
  while (!text.empty()) {
    const size_t end = IsQuote(text.front()) ? text.find(text.front(), 1) : string_view::npos;
    if (end == string_view::npos) return std::nullopt;
    list.emplace_back(text.substr(1, end - 1));
    text = Trim(text.substr(end + 1));
    if (!text.empty() && text.front() != ',') return std::nullopt;
    if (!text.empty()) text = Trim(text.substr(1));
  }
  return list;
}

}  // namespace deputy::litert_client
