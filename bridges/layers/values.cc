// SPDX-License-Identifier: Apache-2.0
#include "bridges/layers/values.h"

#include <charconv>
#include <cstdint>
#include <string_view>
#include <system_error>

namespace deputy::layers {

std::optional<CallKind> ParseCallKind(const std::string& name) {
  for (int i = 0; i < kCallKinds; ++i) {
    const auto kind = static_cast<CallKind>(i);
    if (name == NameOf(kind)) return kind;
  }
  return std::nullopt;
}

std::optional<std::chrono::milliseconds> ParseMilliseconds(const std::string& text) {
  constexpr int64_t kMax = 1'000'000'000;  // in milliseconds
  int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || number < 1 || number > kMax) return std::nullopt;
  const std::string_view unit(at, static_cast<size_t>(end - at));
  if (unit == "ms") return std::chrono::milliseconds(number);
  if (unit != "s" || number > kMax / 1000) return std::nullopt;
  return std::chrono::milliseconds(1000 * number);
}

}  // namespace deputy::layers
