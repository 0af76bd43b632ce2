// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "compiler/passes.h"
#include "compiler/rewrite.h"

namespace deputy::compiler {
namespace {

// Calls `function` for every list of values in a graph.
template <typename Function>
void ForLists(Graph* graph, const Function& function) {
  function(&graph->inputs);
  function(&graph->outputs);
  for (Operation& operation : graph->operations) {
    function(&operation.inputs);
    function(&operation.epilogue_inputs);
    function(&operation.outputs);
  }
}

void CompactValues(Graph* graph) {
  std::vector<bool> named(graph->values.size(), false);
  ForLists(graph, [&](std::vector<ValueId>* ids) {
    for (ValueId id : *ids) {
      if (id != kNoValue) named[static_cast<size_t>(id)] = true;
    }
  });
  std::vector<ValueId> number(graph->values.size(), kNoValue);
  std::deque<Value> values;
  for (size_t i = 0; i < named.size(); ++i) {
    if (!named[i]) continue;
    number[i] = static_cast<ValueId>(values.size());
    values.push_back(std::move(graph->values[i]));
  }
  graph->values.swap(values);
  ForLists(graph, [&](std::vector<ValueId>* ids) {
    for (ValueId& id : *ids) {
      if (id != kNoValue) id = number[static_cast<size_t>(id)];
    }
  });
}

}  // namespace

int RemoveDead(Graph* graph) {
  const size_t before = graph->operations.size();
  Rewrite rewrite(graph);
  Operation operation;
  while (rewrite.Next(&operation)) rewrite.Add(std::move(operation));
  rewrite.Finish();
  CompactValues(graph);
  return static_cast<int>(before - graph->operations.size());
}

}  // namespace deputy::compiler
