// SPDX-License-Identifier: Apache-2.0
#include "bridges/layers/stack.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "bridges/layers/fault.h"
#include "bridges/layers/record_layer.h"
#include "core/support/option_list.h"

namespace deputy::layers {
namespace {

// Each layer takes space on the stack of every call.
constexpr size_t kMaxLayers = 1000;

std::string AddIsolation(const std::string& value, Stack* stack) {
  const std::string profile = value.substr(0, value.find('+'));
  const std::string suffix = value.substr(profile.size());
  if ((!value.empty() && profile != "none" && profile != "device" && profile != "strict") ||
      (!suffix.empty() && suffix != "+dynamic")) {
    return "layer 'isolate': expected none, device or strict, perhaps with +dynamic, found '" +
           value + "'";
  }
  stack->isolates = true;
  stack->profile = value.empty() ? "device" : value;
  return "";
}

std::string AddDeadline(const std::string& value, Stack* stack) {
  Deadlines deadlines{};
  std::string problem = ParseDeadlines(value, &deadlines);
  if (!problem.empty()) return problem;
  stack->layers.push_back(MakeDeadline(deadlines));
  for (size_t i = 0; i < deadlines.size(); ++i) {
    if (deadlines[i].count() > 0) stack->deadlines[i] = deadlines[i];
  }
  return "";
}

std::string Add(const std::string& name, const std::string& value, Stack* stack) {
  if (name == "isolate") return AddIsolation(value, stack);
  if (name == "deadline") return AddDeadline(value, stack);
  if (name == "fault") {
    std::string problem;
    auto layer = MakeFault(value, &problem);
    if (layer != nullptr) stack->layers.push_back(std::move(layer));
    return problem;
  }
  if (name == "record") {
    std::string problem;
    auto layer = MakeRecord(value, &problem);
    if (layer != nullptr) stack->layers.push_back(std::move(layer));
    return problem;
  }
  return "unknown layer '" + name + "', expected deadline, fault, isolate or record";
}

}  // namespace

std::string MakeStack(const std::string& list, Stack* stack) {
  const std::vector<std::string> options = SplitOptions(list);
  if (options.size() > kMaxLayers) {
    return "expected at most " + std::to_string(kMaxLayers) + " layers, found " +
           std::to_string(options.size());
  }
  for (const std::string& option : options) {
    if (stack->isolates) {
      AppendOption(option, &stack->inside);
      continue;
    }
    const auto [name, value] = SplitOption(option);
    std::string problem = Add(name, value, stack);
    if (!problem.empty()) return problem;
  }
  return "";
}

}  // namespace deputy::layers
