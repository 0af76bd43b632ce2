// SPDX-License-Identifier: Apache-2.0
//
// Half-precision storage: values are stored as float16; products and sums are still accumulated in
// float32.
#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "compiler/half_ranges.h"
#include "compiler/passes.h"

namespace deputy::compiler {
namespace {

// Marks the values whose type is fixed: inputs and outputs of the graph, constants, and values that
// share the memory of one, since a view uses its source's memory.
std::vector<bool> FindBoundary(const Graph& graph) {
  std::vector<size_t> root(graph.values.size());
  std::iota(root.begin(), root.end(), size_t{0});
  // The source of a view precedes it.
  for (const Operation& operation : graph.operations) {
    if (!std::holds_alternative<View>(operation.kind)) continue;
    root[static_cast<size_t>(operation.output())] = root[static_cast<size_t>(operation.inputs[0])];
  }
  std::vector<bool> is_fixed(graph.values.size(), false), boundary;
  for (const auto* ids : {&graph.inputs, &graph.outputs}) {
    for (ValueId id : *ids) is_fixed[root[static_cast<size_t>(id)]] = true;
  }
  for (size_t i = 0; i < root.size(); ++i) {
    boundary.push_back(is_fixed[root[i]] || graph.values[root[i]].constant());
  }
  return boundary;
}

ValueId HalfConstant(Graph* graph, ValueId id) {
  const Value source = graph->value(id);
  const int64_t count = ElementCount(source.shape);
  std::vector<std::byte> contents(static_cast<size_t>(count) * ElementBytes(kTfLiteFloat16));
  for (int64_t i = 0; i < count; ++i) {
    StoreElement(kTfLiteFloat16, source.At(i), contents.data(), i);
  }
  return graph->AddConstant(kTfLiteFloat16, source.shape, std::move(contents), source.name);
}

// The float16 copies of filters, each of which is made once. Filters are the bulk of the constants.
class Filters {
 public:
  explicit Filters(Graph* graph) : graph_(*graph), halves_(graph->values.size(), kNoValue) {}

  // Replaces the operation's filter; returns true if it changed.
  bool Replace(Operation* operation) {
    constexpr size_t kFilter = 1;
    if (!HasFilter(*operation)) return false;
    ValueId& id = operation->inputs[kFilter];
    const Value& filter = graph_.value(id);
    if (!filter.constant() || filter.type != kTfLiteFloat32) return false;
    ValueId& half = halves_[static_cast<size_t>(id)];
    if (half == kNoValue) half = HoldsInHalf(filter) ? HalfConstant(&graph_, id) : id;
    return std::exchange(id, half) != half;
  }

 private:
  static bool HasFilter(const Operation& operation) {
    return std::holds_alternative<Conv2d>(operation.kind) ||
           std::holds_alternative<DepthwiseConv2d>(operation.kind) ||
           std::holds_alternative<TransposedConv2d>(operation.kind) ||
           std::holds_alternative<MatMul>(operation.kind);
  }

  Graph& graph_;
  std::vector<ValueId>
      halves_;  // float16 copy by value; the value itself if float16 cannot hold it
};

}  // namespace

int UseHalfStorage(Graph* graph) {
  const std::vector<bool> boundary = FindBoundary(*graph), wide = FindWideValues(*graph);
  Filters filters(graph);
  int changes = 0;
  for (Operation& operation : graph->operations) {
    bool changed = filters.Replace(&operation);
    for (ValueId id : operation.outputs) {
      Value& value = graph->value(id);
      const auto index = static_cast<size_t>(id);
      if (boundary[index] || wide[index] || value.type != kTfLiteFloat32) continue;
      value.type = kTfLiteFloat16;
      changed = true;
    }
    changes += changed ? 1 : 0;
  }
  return changes;
}

}  // namespace deputy::compiler
