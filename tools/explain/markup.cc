// SPDX-License-Identifier: Apache-2.0
#include "tools/explain/markup.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "tools/explain/report.h"
#include "tools/text.h"

namespace deputy::tools {
namespace {

// Colours of delegates, which repeat if there are more delegates.
constexpr const char* kColours[] = {"#a8ddb5", "#a9ccf5", "#fdc086", "#d5c0eb",
                                    "#f2e394", "#f4b6c2", "#9fe0dc", "#d9c7a8"};
constexpr const char* kCpuColour = "#e3e3e3";

// Hues spaced by the golden angle, so that adjacent ones differ clearly.
std::string Colour(size_t index, double saturation, double lightness) {
  const double hue = std::fmod(static_cast<double>(index) * 137.508 + 210, 360);
  const double reach = saturation * std::min(lightness, 1 - lightness);
  const auto channel = [&](double offset) {
    const double k = std::fmod(offset + hue / 30, 12);
    const double value = lightness - reach * std::max(-1.0, std::min({k - 3, 9 - k, 1.0}));
    return static_cast<int>(std::lround(255 * value));
  };
  return Format("#%02x%02x%02x", channel(0), channel(8), channel(4));
}

}  // namespace

std::string OwnerColour(int owner) {
  return owner < 0 ? kCpuColour : kColours[static_cast<size_t>(owner) % std::size(kColours)];
}

std::string PartitionColour(size_t partition) { return Colour(partition, 0.65, 0.42); }
std::string PartitionTint(size_t partition) { return Colour(partition, 0.7, 0.92); }

std::vector<std::string> HeatColours() {
  return {"#fffbe6", "#fff3c4", "#ffe9a0", "#ffdb7d", "#ffca63",
          "#ffb551", "#fd9d47", "#f78342", "#ee6a44", "#e2524a"};
}

std::string OwnerClass(const Json& owner) {
  return owner == -1 ? "own-cpu" : "own-" + JsonText(owner);
}

std::string KeyOf(const Json& subgraph, const Json& node) {
  return JsonText(subgraph["index"]) + "-" + JsonText(node["index"]);
}

std::string OwnerText(const Json& report, const Json& owner) {
  if (owner == -1) return "CPU";
  const Json& delegate = report["delegates"][owner.get<size_t>()];
  return "[" + JsonText(owner) + "] " + DelegateText(delegate);
}

std::string RunnerText(const Json& report, const Json& node) {
  return node.contains("missing") ? "none: no kernel" : OwnerText(report, node["owner"]);
}

std::string PlainShape(const Json& tensor) {
  std::string text;
  for (const Json& dim : tensor["shape"]) text += (text.empty() ? "" : "x") + JsonText(dim);
  return text.empty() ? "scalar" : text;
}

std::string CaptionText(const Json& node) {
  std::string text = "CPU";
  if (node["owner"] != -1) {
    text = "[" + JsonText(node["owner"]) + "] partition " + JsonText(node["partition"]);
  } else if (node.contains("missing")) {
    text = "no kernel";
  } else if (node["runner"] == -1) {
    text = "does not run";
  } else if (!node["support"].empty()) {
    text = "CPU, " + node["support"].back()["reason_name"].get<std::string>();
  }
  if (const std::string time = TimeText(node); !time.empty()) text += ", " + time;
  if (FollowsInGroup(node)) text += ", with " + JsonText(node["group_head"]);
  return text;
}

}  // namespace deputy::tools
