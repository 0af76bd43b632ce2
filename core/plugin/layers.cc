// SPDX-License-Identifier: Apache-2.0
#include "core/plugin/layers.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "core/plugin/isolation.h"
#include "core/support/option_list.h"

namespace deputy {

namespace {

std::vector<std::string> GivenLayers() {
  const char* const value = std::getenv("DEPUTY_LAYERS");
  return value == nullptr ? std::vector<std::string>() : SplitOptions(value);
}

}  // namespace

std::optional<std::string> InterpreterLayer(const std::string& name) {
  for (const std::string& layer : GivenLayers()) {
    const auto [key, value] = SplitOption(layer);
    if (key == name) return value;
  }
  return std::nullopt;
}

bool HasIsolation(const std::string& layers) {
  const std::vector<std::string> all = SplitOptions(layers);
  return std::any_of(all.begin(), all.end(), [](const std::string& layer) {
    return SplitOption(layer).first == "isolate";
  });
}

std::string LayersFromEnvironment() {
  std::string layers;
  for (const std::string& layer : GivenLayers()) {
    const std::string name = SplitOption(layer).first;
    if (name != "validate" && name != "verify") AppendOption(layer, &layers);
  }
  const std::string profile = IsolationProfile();
  if (!layers.empty() && !profile.empty() && !HasIsolation(layers)) {
    AppendOption("isolate=" + profile, &layers);
  }
  return layers;
}

GivenOptions LayersOptions(const std::string& path, const std::string& layers,
                           const PluginOptions& options) {
  return {{"library", path}, {"options", JoinOptions(options)}, {"layers", layers}};
}

}  // namespace deputy
