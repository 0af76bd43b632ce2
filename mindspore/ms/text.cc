// SPDX-License-Identifier: Apache-2.0
#include "mindspore/ms/text.h"

#include <cstdarg>
#include <cstdio>

namespace deputy::ms {

std::string Format(const char* format, ...) {
  char text[512];
  va_list args;
  va_start(args, format);
  std::vsnprintf(text, sizeof(text), format, args);
  va_end(args);
  return text;
}

std::string Quoted(std::string_view name) {
  constexpr size_t kMaxLength = 80;
  std::string text(name.substr(0, kMaxLength));
  for (char& letter : text) {
    if (static_cast<unsigned char>(letter) < ' ') letter = '?';
  }
  return "'" + text + "'";
}

std::string DimsText(const std::vector<int32_t>& dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i) {
    text += (i == 0 ? "" : ",") + std::to_string(dims[i]);
  }
  return text + "]";
}

}  // namespace deputy::ms
