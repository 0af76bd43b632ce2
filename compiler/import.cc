// SPDX-License-Identifier: Apache-2.0
#include "compiler/import.h"

#include <algorithm>
#include <array>

#include "compiler/node_import.h"
#include "compiler/operator_name.h"

namespace deputy::compiler {
namespace {

auto Tables() {
  return std::array{ConvRows(),     ElementwiseRows(), LookupRows(), MatmulRows(), MovementRows(),
                    QuantizeRows(), ReduceRows(),      ShapeRows(),  SliceRows()};
}

// Returns the row of an operator; null if there is none. Custom operators are identified by name.
const ImportRow* FindRow(const TfLiteRegistration& registration) {
  for (const auto& rows : Tables()) {
    for (const ImportRow& row : rows) {
      if (row.code != registration.builtin_code) continue;
      if (row.code != kTfLiteBuiltinCustom) return &row;
      if (registration.custom_name != nullptr &&
          row.name == std::string(registration.custom_name)) {
        return &row;
      }
    }
  }
  return nullptr;
}

Refusal Unknown(const TfLiteRegistration& registration) {
  if (registration.custom_name != nullptr) {
    return {kDeputyReasonOperator,
            "custom operator '" + std::string(registration.custom_name) + "'"};
  }
  return {kDeputyReasonOperator, "operator " + OperatorName(registration.builtin_code)};
}

std::optional<Refusal> ImportNode(ImportState* state, int node_index, const TfLiteNode& node,
                                  const TfLiteRegistration& registration) {
  const ImportRow* row = FindRow(registration);
  if (row == nullptr) return Unknown(registration);
  if (registration.version > row->max_version) {
    return Refusal{kDeputyReasonVersion, std::string(row->name) + ": expected version 1 to " +
                                             std::to_string(row->max_version) + ", found " +
                                             std::to_string(registration.version)};
  }
  NodeImport import(state, row->name, node_index, node);
  const int* const outputs = node.outputs->data;
  if (std::any_of(outputs, outputs + node.outputs->size, [](int tensor) { return tensor < 0; })) {
    import.Refuse(kDeputyReasonOther, "optional outputs are not supported");
  } else if (node.outputs->size == 0) {
    import.Refuse(kDeputyReasonOther, "expected an output, found none");
  } else if ((row->moves && !import.CheckOneScale()) || !row->import(&import)) {
    import.Refuse(kDeputyReasonOther, "unsupported combination of parameters");
  } else if (import.outputs_set() != node.outputs->size) {
    import.Refuse(kDeputyReasonOther, "expected %d outputs, found %d", import.outputs_set(),
                  node.outputs->size);
  }
  return import.refusal();
}

// Makes the values of `tensors` the graph's outputs. A value that is an input, a constant or
// already an output is copied by a view, so that each output has a value of its own.
void SetGraphOutputs(const TfLiteIntArray& tensors, const ImportState& state) {
  Graph& graph = *state.graph;
  const std::vector<int> producers = Producers(graph);
  std::vector<bool> is_output(producers.size(), false);  // by value: is already an output
  for (int i = 0; i < tensors.size; ++i) {
    ValueId id = state.values.at(tensors.data[i]);
    const bool is_separate =
        producers[static_cast<size_t>(id)] >= 0 && !is_output[static_cast<size_t>(id)];
    is_output[static_cast<size_t>(id)] = true;
    if (!is_separate) {
      Operation copy;
      copy.kind = View{};
      copy.inputs = {id};
      id = graph.AddValue(graph.value(id).type, graph.value(id).shape, graph.value(id).name);
      copy.outputs = {id};
      graph.operations.push_back(copy);
    }
    graph.value(id).tensor = tensors.data[i];
    graph.outputs.push_back(id);
  }
}

}  // namespace

std::vector<ImportedOperator> ImportedOperators() {
  std::vector<ImportedOperator> operators;
  for (const auto& rows : Tables()) {
    for (const ImportRow& row : rows) {
      operators.push_back({row.name, row.code, row.max_version});
    }
  }
  return operators;
}

std::optional<Refusal> CheckNode(TfLiteContext* context, int node_index, const TfLiteNode& node,
                                 const TfLiteRegistration& registration, Work* out_work) {
  Graph graph;
  ImportState state;
  state.context = context;
  state.graph = &graph;
  state.check_only = true;
  std::optional<Refusal> refusal = ImportNode(&state, node_index, node, registration);
  if (refusal || out_work == nullptr) return refusal;
  for (int i = 0; i < node.outputs->size; ++i) {
    graph.outputs.push_back(state.values.at(node.outputs->data[i]));
  }
  const std::vector<Work> works = WorkOfNodes(graph);
  *out_work = works.empty() ? Work() : works.front();
  return std::nullopt;
}

std::optional<Refusal> Import(TfLiteContext* context, const TfLiteDelegateParams& params,
                              Graph* out_graph, Products products) {
  Graph graph;
  ImportState state;
  state.context = context;
  state.graph = &graph;
  state.integer_products = products == Products::kIntegers;
  for (int i = 0; i < params.nodes_to_replace->size; ++i) {
    const int index = params.nodes_to_replace->data[i];
    TfLiteNode* node;
    TfLiteRegistration* registration;
    if (context->GetNodeAndRegistration(context, index, &node, &registration) != kTfLiteOk) {
      return Refusal{kDeputyReasonOther, "node " + std::to_string(index) + " does not exist"};
    }
    std::optional<Refusal> refusal = ImportNode(&state, index, *node, *registration);
    if (refusal) return refusal;
  }
  for (int i = 0; i < params.input_tensors->size; ++i) {
    const auto found = state.values.find(params.input_tensors->data[i]);
    if (found == state.values.end() || graph.value(found->second).constant()) continue;
    graph.inputs.push_back(found->second);
  }
  for (int i = 0; i < params.output_tensors->size; ++i) {
    if (state.values.contains(params.output_tensors->data[i])) continue;
    return Refusal{kDeputyReasonOther, "tensor " + std::to_string(params.output_tensors->data[i]) +
                                           " is not the output of any node of the partition"};
  }
  SetGraphOutputs(*params.output_tensors, state);
  const std::string fault = FindFault(graph);
  if (!fault.empty()) return Refusal{kDeputyReasonOther, fault};
  *out_graph = std::move(graph);
  return std::nullopt;
}

}  // namespace deputy::compiler
