// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "compiler/passes.h"
#include "compiler/reference.h"
#include "compiler/rewrite.h"

namespace deputy::compiler {
namespace {

using ContentsOfOutputs = std::vector<std::vector<std::byte>>;

// Computes an operation in a graph of its own: the price does not depend on the rest of the graph.
bool ComputeAlone(const Graph& graph, const Operation& operation, ContentsOfOutputs* out_contents) {
  Graph alone;
  Operation copy = operation;
  for (auto* ids : {&copy.inputs, &copy.epilogue_inputs, &copy.outputs}) {
    for (ValueId& id : *ids) {
      if (id == kNoValue) continue;
      alone.values.push_back(graph.value(id));
      id = static_cast<ValueId>(alone.values.size()) - 1;
    }
  }
  std::string error;
  return ComputeConstant(alone, copy, out_contents, &error);
}

// Constants take the place of the outputs; an output of the graph becomes a view of one.
void ReplaceOutputs(const Operation& operation, ContentsOfOutputs contents, Rewrite* rewrite) {
  for (size_t i = 0; i < operation.outputs.size(); ++i) {
    const ValueId id = operation.outputs[i];
    const TfLiteType type = rewrite->value(id).type;
    const Shape shape = rewrite->value(id).shape;
    const std::string name = rewrite->value(id).name;
    const ValueId constant =
        rewrite->graph().AddConstant(type, shape, std::move(contents[i]), name);
    if (!rewrite->IsOutput(id)) {
      rewrite->Replace(id, constant);
      continue;
    }
    Operation view;
    view.kind = View{};
    view.inputs = {constant};
    view.outputs = {id};
    view.node = operation.node;
    rewrite->Add(std::move(view));
  }
}

}  // namespace

int FoldConstants(Graph* graph) {
  Rewrite rewrite(graph);
  Operation operation;
  while (rewrite.Next(&operation)) {
    const std::vector<ValueId> read = ReadValues(operation);
    const bool folds = std::all_of(read.begin(), read.end(),
                                   [&](ValueId id) { return rewrite.value(id).constant(); });
    const bool is_done =
        std::holds_alternative<View>(operation.kind) && rewrite.IsOutput(operation.output());
    ContentsOfOutputs contents;
    if (folds && !is_done && ComputeAlone(*graph, operation, &contents)) {
      ReplaceOutputs(operation, std::move(contents), &rewrite);
      rewrite.CountChange();
    } else {
      rewrite.Add(std::move(operation));
    }
  }
  return rewrite.Finish();
}

}  // namespace deputy::compiler
