// SPDX-License-Identifier: Apache-2.0
#include "core/delegation/placement.h"

#include "core/delegation/delegation.h"

#include <cstring>

#include "core/exec/interpreter_state.h"
#include "core/model/op_names.h"

namespace deputy {
namespace {

bool Produces(Subgraph* subgraph, int node_index, const std::string& tensor_name) {
  const TfLiteIntArray* outputs = subgraph->graph().node(node_index)->outputs;
  for (int i = 0; i < outputs->size; ++i) {
    const TfLiteTensor* tensor = subgraph->graph().tensor(outputs->data[i]);
    if (tensor != nullptr && tensor->name != nullptr && tensor_name == tensor->name) return true;
  }
  return false;
}

bool Selects(const Placement& placement, Subgraph* subgraph, int node_index) {
  if (placement.subgraph >= 0 && placement.subgraph != subgraph->index()) return false;
  switch (placement.selector) {
    case Placement::Selector::kIndex:
      return true;  // Place calls this for the selected node only
    case Placement::Selector::kOutputTensor:
      return Produces(subgraph, node_index, placement.name);
    case Placement::Selector::kOperator:
      return placement.name == OperatorName(*subgraph->graph().registration(node_index));
  }
  return false;
}

std::string Describe(const Placement& placement) {
  switch (placement.selector) {
    case Placement::Selector::kIndex:
      return "node " + std::to_string(placement.node);
    case Placement::Selector::kOutputTensor:
      return "the node that produces tensor '" + placement.name + "'";
    case Placement::Selector::kOperator:
      return "operator " + placement.name;
  }
  return "";
}

TfLiteStatus Place(const Placement& placement, Subgraph* subgraph, int* matches) {
  std::vector<PlacedNode>& placed = DelegationOf(subgraph).placed_nodes();
  int first = 0, end = subgraph->graph().node_count();
  placed.resize(static_cast<size_t>(end));
  // A loop over all nodes for each placement by index would be quadratic.
  if (placement.selector == Placement::Selector::kIndex) {
    if (placement.node < 0 || placement.node >= end) return kTfLiteOk;
    first = placement.node;
    end = first + 1;
  }
  for (int node = first; node < end; ++node) {
    if (!Selects(placement, subgraph, node)) continue;
    ++*matches;
    PlacedNode& entry = placed[static_cast<size_t>(node)];
    if (!entry.Allows(placement.delegate)) {
      return Fail(subgraph->interpreter()->reporter(), kTfLiteError,
                  "subgraph %d node %d %s: placed twice, on different delegates; the second time "
                  "as %s",
                  subgraph->index(), node, OperatorName(*subgraph->graph().registration(node)),
                  Describe(placement).c_str());
    }
    entry = {true, placement.delegate};
  }
  return kTfLiteOk;
}

}  // namespace

TfLiteStatus ApplyPlacements(const std::vector<Placement>& placements,
                             InterpreterState* interpreter) {
  for (const Placement& placement : placements) {
    int matches = 0;
    for (int i = 0; i < interpreter->subgraph_count(); ++i) {
      const TfLiteStatus status = Place(placement, interpreter->subgraph(i), &matches);
      if (status != kTfLiteOk) return status;
    }
    // An operator may be missing from a model; a node or tensor that was named may not.
    if (matches == 0 && placement.selector != Placement::Selector::kOperator) {
      return Fail(interpreter->reporter(), kTfLiteError, "Cannot place %s: the model has none",
                  Describe(placement).c_str());
    }
  }
  return kTfLiteOk;
}

}  // namespace deputy
