// SPDX-License-Identifier: Apache-2.0
#include "compiler/lifetimes.h"

#include <algorithm>

namespace deputy::compiler {
namespace {

// Marks the values that are inputs (if `inputs`) or outputs (if `outputs`) of the graph.
std::vector<bool> MarkClientValues(const Graph& graph, bool inputs, bool outputs) {
  std::vector<bool> marked(graph.values.size(), false);
  for (ValueId id : graph.inputs) marked[static_cast<size_t>(id)] = inputs;
  for (ValueId id : graph.outputs) {
    if (outputs) marked[static_cast<size_t>(id)] = true;
  }
  return marked;
}

void Extend(Lifetime* lifetime, int step) {
  lifetime->first = lifetime->empty() ? step : std::min(lifetime->first, step);
  lifetime->last = std::max(lifetime->last, step);
}

// Returns the value whose memory each value uses, without lifetimes.
std::vector<ValueId> FindStorage(const Graph& graph) {
  std::vector<ValueId> storage(graph.values.size(), kNoValue);
  std::vector<bool> is_client_memory = MarkClientValues(graph, true, false);
  const std::vector<bool> is_output = MarkClientValues(graph, false, true);
  for (ValueId id : graph.inputs) storage[static_cast<size_t>(id)] = id;
  for (const Operation& operation : graph.operations) {
    for (ValueId id : operation.outputs) {
      const auto value = static_cast<size_t>(id);
      storage[value] = id;
      if (is_output[value]) is_client_memory[value] = true;
    }
    if (!std::holds_alternative<View>(operation.kind)) continue;
    const auto to = static_cast<size_t>(operation.output());
    const ValueId source = storage[static_cast<size_t>(operation.inputs[0])];
    if (source == kNoValue || (is_output[to] && is_client_memory[static_cast<size_t>(source)]))
      continue;
    storage[to] = source;
    if (is_output[to]) is_client_memory[static_cast<size_t>(source)] = true;
  }
  return storage;
}

}  // namespace

Lifetimes FindLifetimes(const Graph& graph) {
  Lifetimes lifetimes{FindStorage(graph), std::vector<Lifetime>(graph.values.size())};
  const auto use = [&](ValueId id, int step) {
    const ValueId storage = lifetimes.storage[static_cast<size_t>(id)];
    if (storage != kNoValue) Extend(&lifetimes.of_storage[static_cast<size_t>(storage)], step);
  };
  for (ValueId id : graph.inputs) use(id, 0);
  for (size_t i = 0; i < graph.operations.size(); ++i) {
    for (ValueId id : ReadValues(graph.operations[i])) use(id, static_cast<int>(i));
    for (ValueId id : graph.operations[i].outputs) use(id, static_cast<int>(i));
  }
  const int last = std::max(static_cast<int>(graph.operations.size()) - 1, 0);
  for (ValueId id : graph.outputs) use(id, last);
  return lifetimes;
}

}  // namespace deputy::compiler
