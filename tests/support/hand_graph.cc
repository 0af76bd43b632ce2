// SPDX-License-Identifier: Apache-2.0
#include "tests/support/hand_graph.h"

#include <algorithm>
#include <cstdlib>

#include "core/base/delegate_params.h"

namespace deputy {

TfLiteIntArray* IntArrayOf(const std::vector<int>& values) {
  TfLiteIntArray* array = TfLiteIntArrayCreate(static_cast<int>(values.size()));
  std::copy(values.begin(), values.end(), array->data);
  return array;
}

HandGraph::HandGraph(int tensor_count) {
  graph_.AddTensors(tensor_count);
  for (TfLiteTensor& tensor : graph_.tensors()) {
    tensor.type = kTfLiteFloat32;
    tensor.allocation_type = kTfLiteArenaRw;
    tensor.dims = IntArrayOf({1});
    tensor.bytes = sizeof(float);
  }
}

HandGraph::~HandGraph() { RemoveNodesFrom(0, {}); }

int HandGraph::AddNode(const std::vector<int>& inputs, const std::vector<int>& outputs,
                       int32_t builtin_code, int version) {
  TfLiteRegistration registration{};
  registration.builtin_code = builtin_code;
  registration.version = version;
  const int node = AddToTable(inputs, outputs, registration);
  graph_.AppendToPlan(node);
  return node;
}

int HandGraph::Replace(const std::vector<int>& nodes, TfLiteDelegate* delegate,
                       const std::vector<int>& inputs, const std::vector<int>& outputs) {
  TfLiteRegistration registration{};
  registration.builtin_code = kTfLiteBuiltinDelegate;
  registration.custom_name = "ByHand";
  registration.version = 1;
  const int added = AddToTable(inputs, outputs, registration);
  NodeSubset subset;
  subset.nodes = nodes;
  graph_.node(added)->builtin_data = MakeDelegateParams(delegate, nullptr, subset);
  graph_.node(added)->delegate = delegate;
  std::vector<int> plan;
  for (const int node : graph_.plan()) {
    const auto replaced = std::find(nodes.begin(), nodes.end(), node);
    if (replaced == nodes.end()) plan.push_back(node);
    if (replaced == nodes.begin()) plan.push_back(added);
  }
  graph_.SetPlan(plan);
  return added;
}

void HandGraph::RemoveNodesFrom(int count, const std::vector<int>& plan) {
  graph_.SetPlan(plan);
  for (int i = count; i < graph_.node_count(); ++i) {
    TfLiteNode& node = *graph_.node(i);
    for (TfLiteIntArray* array :
         {node.inputs, node.outputs, node.intermediates, node.temporaries}) {
      TfLiteIntArrayFree(array);
    }
    free(node.builtin_data);
  }
  graph_.RemoveNodesFrom(count);
}

int HandGraph::AddToTable(const std::vector<int>& inputs, const std::vector<int>& outputs,
                          const TfLiteRegistration& registration) {
  TfLiteNode node{};
  node.inputs = IntArrayOf(inputs);
  node.outputs = IntArrayOf(outputs);
  node.intermediates = IntArrayOf({});
  node.temporaries = IntArrayOf({});
  return graph_.AddNode(node, registration);
}

}  // namespace deputy
