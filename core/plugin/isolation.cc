// SPDX-License-Identifier: Apache-2.0
#include "core/plugin/isolation.h"

#include <cstdlib>

namespace deputy {

std::string IsolationProfile() {
  const char* const value = std::getenv("DEPUTY_ISOLATE");
  const std::string text = value == nullptr ? "" : value;
  if (text == "1") return "device";
  return text == "0" ? "" : text;
}

bool IsIsolationProfile(std::string_view text) {
  constexpr std::string_view kDynamic = "+dynamic";
  if (text.ends_with(kDynamic)) text.remove_suffix(kDynamic.size());
  return text == "none" || text == "device" || text == "strict";
}

GivenOptions SandboxOptions(const std::string& path, const std::string& profile,
                            const PluginOptions& options) {
  return {{"library", path}, {"profile", profile}, {"options", JoinOptions(options)}};
}

}  // namespace deputy
