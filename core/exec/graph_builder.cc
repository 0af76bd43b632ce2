// SPDX-License-Identifier: Apache-2.0
#include "core/exec/graph_builder.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

#include "core/exec/int_array.h"
#include "core/exec/interpreter_state.h"

namespace deputy {
namespace {

// Number of tensors for which upstream reserves memory in every subgraph.
constexpr size_t kTensorsToReserve = 128;

// Reason in reports for the nodes of delegates that a change of the graph has undone.
constexpr const char* kUndoneByChange = "undone by a change of the graph until allocation";

bool Contains(std::span<const int> indices, int index) {
  return std::find(indices.begin(), indices.end(), index) != indices.end();
}

}  // namespace

GraphBuilder::GraphBuilder(Subgraph* subgraph)
    : subgraph_(subgraph),
      parts_(&subgraph->parts()),
      graph_(&parts_->graph),
      reporter_(parts_->interpreter->reporter()) {}

void GraphBuilder::Begin() {
  Built();
  graph_->ReserveTensors(kTensorsToReserve);
}

void GraphBuilder::SetName(const char* name) {
  BuiltGraph& built = Built();
  built.name = name;
  parts_->name = built.name.c_str();
}

BuiltGraph& GraphBuilder::Built() {
  if (parts_->built == nullptr) parts_->built = std::make_unique<BuiltGraph>(*graph_);
  return *parts_->built;
}

// ---- Checks -------------------------------------------------------------------------------------

TfLiteStatus GraphBuilder::CheckNoDelegate(const char* function) {
  if (subgraph_->immutable()) {
    return Fail(reporter_, kTfLiteError, "%s is disallowed when graph is immutable.", function);
  }
  if (!subgraph_->delegation().any_applied()) return kTfLiteOk;
  return Fail(reporter_, kTfLiteError,
              "%s is disallowed while a delegate is applied; subgraph %d: remove the delegates "
              "first",
              function, parts_->index);
}

TfLiteStatus GraphBuilder::CheckIndices(const char* what, std::span<const int> indices,
                                        bool allow_absent) {
  for (int index : indices) {
    if (index == kTfLiteOptionalTensor && allow_absent) continue;
    if (index >= 0 && index < graph_->tensor_count()) continue;
    parts_->inconsistency = "subgraph " + std::to_string(parts_->index) +
                            ": invalid tensor index " + std::to_string(index) + " in " + what;
    reporter_->ReportWithDetail(parts_->inconsistency.c_str(),
                                "Invalid tensor index %d in %s. The subgraph has %d tensors\n",
                                index, what, graph_->tensor_count());
    return kTfLiteError;
  }
  return kTfLiteOk;
}

TfLiteStatus GraphBuilder::CheckNoOverlap(const Subgraph::NewNode& node) {
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const auto output = std::find(node.outputs.begin(), node.outputs.end(), node.inputs[i]);
    if (node.inputs[i] < 0 || output == node.outputs.end()) continue;
    parts_->inconsistency = "subgraph " + std::to_string(parts_->index) + ": tensor " +
                            std::to_string(*output) + " is an input and an output of a node";
    reporter_->ReportWithDetail(parts_->inconsistency.c_str(),
                                "Tensor %d is both input %zu and output %zu\n", *output, i,
                                static_cast<size_t>(output - node.outputs.begin()));
    return kTfLiteError;
  }
  return kTfLiteOk;
}

// ---- Nodes --------------------------------------------------------------------------------------

// Gives tensors that the client has not described a shape, which builtin kernels require.
void GraphBuilder::DescribeTensors(std::span<const int> indices) {
  for (int index : indices) {
    TfLiteTensor* const tensor = graph_->tensor(index);
    if (tensor != nullptr && tensor->dims == nullptr) tensor->dims = MakeArray({}).release();
  }
}

TfLiteStatus GraphBuilder::AddNode(const Subgraph::NewNode& new_node, int* out_node_index) {
  std::unique_ptr<void, decltype(&free)> builtin_data(new_node.builtin_data, &free);
  TF_LITE_ENSURE_STATUS(CheckNoDelegate("AddNodeWithParameters"));
  subgraph_->RequireAllocation();
  TF_LITE_ENSURE_STATUS(CheckIndices("node inputs", new_node.inputs, true));
  TF_LITE_ENSURE_STATUS(CheckIndices("node outputs", new_node.outputs, true));
  TF_LITE_ENSURE_STATUS(CheckIndices("node intermediates", new_node.intermediates, true));
  // A custom operator may work in place, so its inputs may be outputs. Upstream recognises builtin
  // operators by their options.
  const bool is_builtin =
      new_node.is_own && new_node.registration.builtin_code != kTfLiteBuiltinCustom;
  if (builtin_data != nullptr || is_builtin) TF_LITE_ENSURE_STATUS(CheckNoOverlap(new_node));
  if (new_node.is_own) {
    for (const std::span<const int32_t>& tensors : {new_node.inputs, new_node.outputs}) {
      DescribeTensors(tensors);
    }
  }
  BuiltGraph& built = Built();
  built.ReserveNode();
  static_cast<void>(builtin_data.release());
  TF_LITE_ENSURE_STATUS(subgraph_->AddNode(new_node));
  built.AddNode(new_node.is_own);
  built.NoteChange();
  if (out_node_index != nullptr) *out_node_index = graph_->node_count() - 1;
  return kTfLiteOk;
}

// ---- Lists and plan -----------------------------------------------------------------------------

TfLiteStatus GraphBuilder::FinishList() {
  Built().NoteChange();
  if (subgraph_->delegation().any_applied()) subgraph_->delegation().Undo(kUndoneByChange);
  return subgraph_->PrepareAgain();
}

TfLiteStatus GraphBuilder::SetInputs(std::span<const int> tensors) {
  TF_LITE_ENSURE_STATUS(CheckIndices("inputs", tensors, true));
  if (std::ranges::equal(tensors, graph_->inputs())) return kTfLiteOk;
  graph_->SetInputs(tensors);
  return FinishList();
}

TfLiteStatus GraphBuilder::SetOutputs(std::span<const int> tensors) {
  TF_LITE_ENSURE_STATUS(CheckIndices("outputs", tensors, false));
  if (std::ranges::equal(tensors, graph_->outputs())) return kTfLiteOk;
  graph_->SetOutputs(tensors);
  return FinishList();
}

TfLiteStatus GraphBuilder::SetVariables(std::span<const int> tensors) {
  TF_LITE_ENSURE_STATUS(CheckIndices("variables", tensors, false));
  std::vector<int> variables(tensors.begin(), tensors.end());
  // Variables that the client does not list need persistent memory, too.
  for (int index : graph_->variables()) {
    if (graph_->tensor(index)->is_variable && !Contains(tensors, index)) variables.push_back(index);
  }
  if (variables == graph_->variables()) return kTfLiteOk;
  graph_->SetVariables(std::move(variables));
  return FinishList();
}

TfLiteStatus GraphBuilder::SetPlan(std::span<const int> nodes) {
  TF_LITE_ENSURE_STATUS(CheckNoDelegate("SetExecutionPlan"));
  std::vector<bool> seen(static_cast<size_t>(graph_->node_count()), false);
  for (int node : nodes) {
    if (node < 0 || node >= graph_->node_count() || seen[static_cast<size_t>(node)]) {
      return Fail(reporter_, kTfLiteError,
                  "subgraph %d: execution plan: expected node indices below %d, each once, found "
                  "%d",
                  parts_->index, graph_->node_count(), node);
    }
    seen[static_cast<size_t>(node)] = true;
  }
  if (std::ranges::equal(nodes, graph_->plan())) return kTfLiteOk;
  subgraph_->SetPlan({nodes.begin(), nodes.end()});
  Built().NoteChange();
  return subgraph_->PrepareAgain();
}

}  // namespace deputy
