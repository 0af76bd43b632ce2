// SPDX-License-Identifier: Apache-2.0
#include "core/plugin/isolation.h"

#include <cstdlib>
#include <string_view>

namespace deputy {
namespace {

// Appends a text; a backslash precedes the characters that separate options.
void AppendEscaped(std::string_view text, std::string* out) {
  for (const char c : text) {
    if (c == ';' || c == '\\') *out += '\\';
    *out += c;
  }
}

}  // namespace

std::string IsolationProfile() {
  const char* const value = std::getenv("DEPUTY_ISOLATE");
  const std::string text = value == nullptr ? "" : value;
  if (text == "1") return "device";
  return text == "0" ? "" : text;
}

GivenOptions SandboxOptions(const std::string& path, const std::string& profile,
                            const PluginOptions& options) {
  std::string joined;
  for (size_t i = 0; i < options.count; ++i) {
    if (i > 0) joined += ';';
    AppendEscaped(options.keys[i], &joined);
    joined += '=';
    AppendEscaped(options.values[i], &joined);
  }
  return {{"library", path}, {"profile", profile}, {"options", joined}};
}

}  // namespace deputy
