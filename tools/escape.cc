// SPDX-License-Identifier: Apache-2.0
#include "escape.h"

#include "text.h"

namespace deputy::tools {

std::string Escape(const std::string& text) {
  std::string escaped;
  for (const char c : OneLine(WithoutInvalidUtf8(text))) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string Escape(const Json& text) { return Escape(text.get<std::string>()); }

}  // namespace deputy::tools
