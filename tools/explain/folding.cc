// SPDX-License-Identifier: Apache-2.0
#include "tools/explain/folding.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "tools/text.h"

namespace deputy::tools {
namespace {

// Maximum number of nodes folded into one node; bounds the work for hostile models.
constexpr size_t kMaxFolded = 64;

// Returns false for operators whose result differs between calls or that have side effects.
bool IsPlain(std::string_view name) {
  constexpr std::string_view kOthers[] = {"RANDOM_STANDARD_NORMAL",
                                          "RANDOM_UNIFORM",
                                          "MULTINOMIAL",
                                          "STABLEHLO_RNG_BIT_GENERATOR",
                                          "IF",
                                          "WHILE",
                                          "CALL",
                                          "CALL_ONCE"};
  return std::find(std::begin(kOthers), std::end(kOthers), name) == std::end(kOthers);
}

}  // namespace

// Finds the folded nodes. The forward pass folds nodes whose inputs are all constant; the backward
// pass unfolds those without a consumer.
Folding::Folding(const Json& subgraph) : subgraph_(subgraph) {
  std::vector<const Json*> folded;
  for (const Json& node : subgraph["nodes"]) {
    for (const Json& index : node["outputs"]) produced_[index.get<int>()] = true;
  }
  for (const Json& node : subgraph["nodes"]) {
    if (!ComputesFromConstants(node)) continue;
    folded.push_back(&node);
    for (const Json& index : node["outputs"]) producers_[index.get<int>()] = &node;
  }
  // Iterates backwards, so that the last consumer assigned is the first in execution order.
  std::map<int, const Json*> consumers;
  const auto& nodes = subgraph["nodes"];
  for (size_t i = nodes.size(); i-- > 0;) {
    const Json& node = nodes[i];
    const bool was_folded = std::binary_search(folded.begin(), folded.end(), &node);
    const Json* box = &node;
    for (const Json& index : node["outputs"]) {
      if (!was_folded) break;
      const auto consumer = consumers.find(index.get<int>());
      box = consumer == consumers.end() ? &node : consumer->second;
      if (box == &node) break;
    }
    if (was_folded && box != &node) {
      consumers_[&node] = box;
    } else if (was_folded) {
      for (const Json& index : node["outputs"]) producers_.erase(index.get<int>());
    }
    for (const Json& index : node["inputs"]) consumers[index.get<int>()] = box;
  }
}

bool Folding::IsConstant(int tensor) const {
  const Json& tensors = subgraph_["tensors"];
  return tensor >= 0 && static_cast<size_t>(tensor) < tensors.size() &&
         produced_.count(tensor) == 0 &&
         tensors[static_cast<size_t>(tensor)]["constant"].get<bool>();
}

bool Folding::ComputesFromConstants(const Json& node) const {
  bool any = false;
  for (const Json& index : node["inputs"]) {
    const int tensor = index;
    if (tensor < 0) continue;
    if (!IsConstant(tensor) && producers_.count(tensor) == 0) return false;
    any = true;
  }
  return any && !node["outputs"].empty() && IsPlain(node["operator"].get<std::string>());
}

const Json* Folding::ConsumerOf(const Json& node) const {
  const auto consumer = consumers_.find(&node);
  return consumer == consumers_.end() ? nullptr : consumer->second;
}

std::vector<const Json*> Folding::FoldedInto(const Json& node) const {
  std::vector<const Json*> found;
  const auto add = [&](const Json& consumer) {
    for (const Json& index : consumer["inputs"]) {
      const auto producer = producers_.find(index.get<int>());
      if (producer == producers_.end() || found.size() >= kMaxFolded) continue;
      if (std::find(found.begin(), found.end(), producer->second) == found.end()) {
        found.push_back(producer->second);
      }
    }
  };
  add(node);
  for (size_t i = 0; i < found.size(); ++i) add(*found[i]);
  return found;
}

std::string Folding::ConstantsText(const Json& node) const {
  std::vector<const Json*> consumers = FoldedInto(node);
  const size_t folded = consumers.size();
  consumers.push_back(&node);
  std::set<int> seen;
  size_t bytes = 0;
  for (const Json* consumer : consumers) {
    for (const Json& index : (*consumer)["inputs"]) {
      const int tensor = index;
      if (!IsConstant(tensor) || !seen.insert(tensor).second) continue;
      bytes += subgraph_["tensors"][static_cast<size_t>(tensor)]["bytes"].get<size_t>();
    }
  }
  if (seen.empty()) return "";
  const std::string constants = PluralText(seen.size(), "constant", "constants");
  if (folded == 0) return constants + ", " + BytesText(bytes);
  return BytesText(bytes) + ", " + constants + " +" + PluralText(folded, "node", "nodes");
}

std::string Folding::FoldedText(const Json& node) const {
  std::map<std::string, size_t> counts;
  for (const Json* each : FoldedInto(node)) ++counts[(*each)["operator"].get<std::string>()];
  std::string text;
  for (const auto& [name, count] : counts) {
    text += (text.empty() ? "" : ", ") + (count == 1 ? "" : std::to_string(count) + " ") + name;
  }
  return text;
}

}  // namespace deputy::tools
