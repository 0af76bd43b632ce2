// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "compiler/fold.h"
#include "compiler/passes.h"
#include "compiler/rewrite.h"

namespace deputy::compiler {
namespace {

using ContentsOfOutputs = std::vector<std::vector<std::byte>>;

// Replaces the outputs by constants; an output of the graph becomes a view of its constant.
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
    const bool is_done =
        std::holds_alternative<View>(operation.kind) && rewrite.IsOutput(operation.output());
    ContentsOfOutputs contents;
    if (!is_done && Fold(graph, operation, &contents)) {
      ReplaceOutputs(operation, std::move(contents), &rewrite);
      rewrite.CountChange();
    } else {
      rewrite.Add(std::move(operation));
    }
  }
  return rewrite.Finish();
}

}  // namespace deputy::compiler
