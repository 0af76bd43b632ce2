// SPDX-License-Identifier: Apache-2.0
#include "core/delegation/dynamic_tensors.h"

#include <algorithm>
#include <span>
#include <vector>

#include "core/graph/graph.h"
#include "core/model/op_names.h"

namespace deputy {
namespace {

std::string TensorText(const Graph& graph, int index) {
  const char* const name = graph.tensor(index)->name;
  return "tensor " + std::to_string(index) + " '" + (name == nullptr ? "" : name) + "'";
}

std::string NodeText(const Graph& graph, int node) {
  return "node " + std::to_string(node) + " " + OperatorName(*graph.registration(node));
}

// Returns the node of the plan that computes the tensor; -1: none.
int ProducerOf(const Graph& graph, int tensor) {
  for (const int node : graph.plan()) {
    const std::span<const int> outputs = IndicesOf(graph.node(node)->outputs);
    if (std::find(outputs.begin(), outputs.end(), tensor) != outputs.end()) return node;
  }
  return -1;
}

// Returns true if a shape may depend on the tensor's values: shapes, axes, sizes and indices are
// integers, and a constant does not make an output dynamic.
bool MayDecideShapes(const TfLiteTensor& tensor) {
  const bool integer = tensor.type == kTfLiteInt32 || tensor.type == kTfLiteInt64;
  return integer && tensor.allocation_type != kTfLiteMmapRo &&
         tensor.allocation_type != kTfLitePersistentRo;
}

std::string Reason(const Graph& graph, int node) {
  std::string inputs;
  int count = 0;
  for (const int index : IndicesOf(graph.node(node)->inputs)) {
    if (index < 0 || !MayDecideShapes(*graph.tensor(index))) continue;
    const int producer = ProducerOf(graph, index);
    inputs += (count++ == 0 ? "" : " and ") + TensorText(graph, index) +
              (producer < 0 ? " of the graph's inputs" : " of " + NodeText(graph, producer));
  }
  if (count == 0) return "its shape depends on the values that the node computes";
  return "its shape may depend on " + inputs +
         (count == 1 ? ", which is not constant" : ", which are not constant");
}

}  // namespace

DynamicTensor FindDynamicTensor(const Graph& graph) {
  for (const int node : graph.plan()) {
    for (const int index : IndicesOf(graph.node(node)->outputs)) {
      if (index < 0 || graph.tensor(index)->allocation_type != kTfLiteDynamic) continue;
      return {index,
              NodeText(graph, node) + ": " + TensorText(graph, index) + ": " + Reason(graph, node)};
    }
  }
  return {};
}

}  // namespace deputy
