// SPDX-License-Identifier: Apache-2.0
//
// Functions that a delegate may call during its Prepare: access to the plan and its nodes,
// previews, and the replacement of nodes.
#include <algorithm>
#include <cstdlib>
#include <map>

#include "core/base/delegate_call.h"
#include "core/base/delegate_params.h"
#include "core/delegation/delegation.h"
#include "core/exec/interpreter_state.h"
#include "core/exec/node_calls.h"
#include "core/exec/subgraph.h"
#include "core/model/op_names.h"

namespace deputy {
namespace {

// Returns true if a tensor is both an input and an output of a partition: it would be overwritten
// before it is read.
bool Overlap(const std::vector<int>& sorted_a, const std::vector<int>& sorted_b) {
  std::vector<int> both;
  std::set_intersection(sorted_a.begin(), sorted_a.end(), sorted_b.begin(), sorted_b.end(),
                        std::back_inserter(both));
  return !both.empty();
}

}  // namespace

// ---- Inspection ---------------------------------------------------------------------------------

TfLiteStatus Delegation::GetExecutionPlan(TfLiteIntArray** out_plan) {
  if (out_plan == nullptr) return kTfLiteError;
  TfLiteIntArray* plan = TfLiteIntArrayCreate(static_cast<int>(subgraph_->graph().plan().size()));
  if (plan == nullptr) return kTfLiteError;
  std::copy(subgraph_->graph().plan().begin(), subgraph_->graph().plan().end(), plan->data);
  TfLiteIntArrayFree(plan_array_);
  plan_array_ = plan;
  *out_plan = plan;
  return kTfLiteOk;
}

TfLiteStatus Delegation::GetNodeAndRegistration(int node_index, TfLiteNode** out_node,
                                                TfLiteRegistration** out_registration) {
  if (node_index < 0 || node_index >= subgraph_->graph().node_count() || out_node == nullptr ||
      out_registration == nullptr) {
    return kTfLiteError;
  }
  if (NodeSupport* support = delegates_.SupportOf(node_index)) support->inspected = true;
  subgraph_->ReserveNodes();
  TfLiteNode& node = *subgraph_->graph().node(node_index);
  TfLiteRegistration& registration = *subgraph_->graph().registration(node_index);
  // Plug-ins with statically linked accessors read this field, so every registration needs an
  // operator.
  if (registration.registration_external == nullptr) {
    registration.registration_external = operators_.Describe(registration, node_index);
  }
  *out_node = &node;
  *out_registration = &registration;
  return kTfLiteOk;
}

// ---- Replacement --------------------------------------------------------------------------------

TfLiteStatus Delegation::Cut(std::span<const int> nodes, LayoutPlan* layout,
                             std::vector<NodeSubset>* out_subsets) {
  // The delegate may have written to nodes that it inspected.
  for (int node = 0; node < subgraph_->graph().node_count(); ++node) {
    if (CheckNodeIndices(&subgraph_->parts(), node) != kTfLiteOk) return kTfLiteError;
  }
  *layout = {};
  PartitionGraph& graph = layout->graph;
  graph.tensor_count = subgraph_->graph().tensor_count();
  for (int i = 0; i < subgraph_->graph().node_count(); ++i) {
    const TfLiteNode& node = *subgraph_->graph().node(i);
    graph.nodes.push_back({IndicesOf(node.inputs), IndicesOf(node.outputs)});
  }
  graph.plan = subgraph_->graph().plan();
  graph.outputs = subgraph_->graph().outputs();
  graph.control_edges = subgraph_->ControlEdges();
  if (delegates_.current() != nullptr && delegates_.current()->computes_in_nchw) {
    PlanLayout(subgraph_->graph(), layout_.parts(), nodes, layout);
  }
  std::string error;
  if (Partition(graph, nodes, {}, out_subsets, &error)) return kTfLiteOk;
  return Fail(subgraph_->interpreter()->reporter(), kTfLiteError,
              "subgraph %d: the graph cannot be partitioned: %s", subgraph_->index(),
              error.c_str());
}

// Cuts the plan without nodes that the delegate may not claim, and without groups that would be
// split.
TfLiteStatus Delegation::CutAllowed(const TfLiteIntArray* nodes, LayoutPlan* layout,
                                    std::vector<NodeSubset>* out_subsets) {
  std::vector<int> allowed;
  for (int node : IndicesOf(nodes)) {
    if (MayClaim(node) && CanConvert(node)) allowed.push_back(node);
  }
  do {
    out_subsets->clear();
    const TfLiteStatus status = Cut(allowed, layout, out_subsets);
    if (status != kTfLiteOk) return status;
  } while (DropBrokenGroups(*out_subsets, &allowed));
  return kTfLiteOk;
}

// Returns false for nodes that the client keeps from the delegate, and for transpositions that the
// runtime has inserted: these are moved when another delegate in NCHW is applied.
bool Delegation::MayClaim(int node_index) {
  if (node_index >= 0 && node_index < subgraph_->graph().node_count() &&
      layout_.IsTransposition(node_index)) {
    return false;
  }
  if (node_index < 0 || static_cast<size_t>(node_index) >= placed_nodes_.size()) return true;
  const PlacedNode& placed = placed_nodes_[static_cast<size_t>(node_index)];
  const AppliedDelegate* current = delegates_.current();
  if (current == nullptr || placed.Allows(current->handle)) return true;
  if (NodeSupport* support = delegates_.SupportOf(node_index)) {
    const bool excluded = placed.delegate == nullptr;
    support->reason = excluded ? kDeputyReasonExcluded : kDeputyReasonPinned;
    support->text = excluded ? "excluded by the client: it runs on the CPU"
                             : "pinned by the client to another delegate";
  }
  return false;
}

// Returns false, and records the reason, for a node that a delegate in NCHW cannot get.
bool Delegation::CanConvert(int node_index) {
  const AppliedDelegate* const current = delegates_.current();
  const char* why = nullptr;
  if (current == nullptr || !current->computes_in_nchw || node_index < 0 ||
      node_index >= subgraph_->graph().node_count() ||
      (why = WhyNotInNchw(subgraph_->graph(), layout_.parts(), node_index)) == nullptr) {
    return true;
  }
  if (NodeSupport* support = delegates_.SupportOf(node_index)) {
    support->reason = kDeputyReasonOther;
    support->text = std::string("the runtime cannot convert the node to NCHW: ") + why;
  }
  return false;
}

// Removes the nodes of broken groups from `nodes`; returns true if there were any. A group is
// intact if all its nodes of the plan are in one partition, or all remain on the CPU.
bool Delegation::DropBrokenGroups(const std::vector<NodeSubset>& subsets, std::vector<int>* nodes) {
  if (delegates_.current() == nullptr) return false;
  const int kOnCpu = -1, kSplit = -2;
  std::map<int, int> partition_of;  // maps a group to the index of its partition
  for (size_t i = 0; i < subsets.size(); ++i) {
    for (int node : subsets[i].nodes) {
      const NodeSupport* support = delegates_.SupportOf(node);
      if (support == nullptr || support->group < 0) continue;
      const int partition = subsets[i].claimed ? static_cast<int>(i) : kOnCpu;
      const auto [entry, fresh] = partition_of.try_emplace(support->group, partition);
      if (!fresh && entry->second != partition) entry->second = kSplit;
    }
  }
  const auto broken = [&](int node) {
    NodeSupport* support = delegates_.SupportOf(node);
    if (support == nullptr || support->group < 0 || partition_of[support->group] != kSplit)
      return false;
    support->reason = kDeputyReasonGroup;
    support->text = "group " + std::to_string(support->group) + " does not fit into one partition";
    return true;
  };
  return std::erase_if(*nodes, broken) > 0;
}

// Normalises a registration that was passed by value, possibly from a shorter struct.
TfLiteStatus Delegation::AdoptRegistration(const Replacer& replacer,
                                           TfLiteRegistration* registration) {
  registration->builtin_code = kTfLiteBuiltinDelegate;
  if (replacer.builder != nullptr) return AdoptOperator(replacer, registration);
  // With old headers the struct is shorter, so the last fields are uninitialised stack memory. The
  // operator is used only if the registration itself has no functions.
  registration->async_kernel = nullptr;
  registration->inplace_operator = 0;
  const bool has_functions = registration->init != nullptr || registration->free != nullptr ||
                             registration->prepare != nullptr || registration->invoke != nullptr;
  if (has_functions) registration->registration_external = nullptr;
  TfLiteOperator* op = registration->registration_external;
  if (op == nullptr) return kTfLiteOk;
  if (op->node_index >= 0) return RefuseOperatorOfANode();
  op->builtin_code = kTfLiteBuiltinDelegate;
  return kTfLiteOk;
}

// Takes ownership of an operator that is not a node's, whether or not the replacement succeeds.
TfLiteStatus Delegation::AdoptOperator(const Replacer& replacer, TfLiteRegistration* registration) {
  TfLiteOperator* op = registration->registration_external;
  if (op == nullptr) {
    return Fail(subgraph_->interpreter()->reporter(), kTfLiteDelegateError,
                "subgraph %d: an opaque delegate must replace nodes with an operator",
                subgraph_->index());
  }
  if (operators_.HasAdopted(replacer.delegate, op)) return kTfLiteOk;
  if (IsOperatorOfANode(op)) return RefuseOperatorOfANode();
  op->builtin_code = kTfLiteBuiltinDelegate;
  registration->registration_external = operators_.Adopt(
      replacer.delegate, std::unique_ptr<TfLiteOperator>(op), subgraph_->graph().node_count());
  return kTfLiteOk;
}

// Operators of nodes belong to the runtime or the client; a delegate must not use them.
bool Delegation::IsOperatorOfANode(const TfLiteOperator* op) const {
  if (op->node_index >= 0) return true;
  for (int node = 0; node < subgraph_->graph().node_count(); ++node) {
    if (subgraph_->graph().registration(node)->registration_external == op) return true;
  }
  return false;
}

TfLiteStatus Delegation::RefuseOperatorOfANode() {
  return Fail(subgraph_->interpreter()->reporter(), kTfLiteDelegateError,
              "subgraph %d: a delegate replaces nodes: expected an operator of its own, found the "
              "operator of a node",
              subgraph_->index());
}

TfLiteStatus Delegation::Replace(const TfLiteRegistration& foreign, const TfLiteIntArray* nodes,
                                 TfLiteDelegate* delegate) {
  if (nodes == nullptr || delegate == nullptr) {
    return Fail(subgraph_->interpreter()->reporter(), kTfLiteError,
                "subgraph %d: expected nodes to replace and their delegate", subgraph_->index());
  }
  TfLiteRegistration registration = foreign;
  AppliedDelegate* const current = delegates_.current();
  const bool for_itself = current != nullptr && current->inner == delegate;
  const Replacer replacer = {delegate, for_itself ? current->builder : BuilderOf(delegate)};
  const TfLiteStatus adopted = AdoptRegistration(replacer, &registration);
  if (adopted != kTfLiteOk || nodes->size == 0) return adopted;
  for (int i = 0; i < nodes->size; ++i) {
    NodeSupport* support = delegates_.SupportOf(nodes->data[i]);
    if (support != nullptr) support->inspected = support->claimed = true;
  }
  std::vector<NodeSubset> subsets;
  LayoutPlan layout;
  if (CutAllowed(nodes, &layout, &subsets) != kTfLiteOk) return kTfLiteError;
  if (std::none_of(subsets.begin(), subsets.end(), [](const auto& s) { return s.claimed; })) {
    return kTfLiteOk;
  }
  if (current != nullptr && current->name.empty()) current->name = OperatorName(registration);

  const std::vector<int> old_plan = subgraph_->graph().plan();
  const int old_nodes = subgraph_->graph().node_count();
  std::vector<TfLiteDelegate*> old_owners;
  for (const TfLiteTensor& tensor : subgraph_->graph().tensors()) {
    old_owners.push_back(tensor.delegate);
  }

  // The delegate may have removed all others during its Prepare, which restored their plan.
  if (current != nullptr && original_plan_.empty()) RememberPlan();
  TfLiteStatus status = AddLayout(layout, &subsets);
  subgraph_->SetPlan({});
  for (const NodeSubset& subset : subsets) {
    if (status != kTfLiteOk) break;
    status = subset.claimed ? AddDelegateNode(subset, registration, replacer)
                            : AddCpuNodes(subset, layout);
  }
  if (status != kTfLiteOk) {
    // The plan is restored, unlike upstream: a delegate that ignores the error would otherwise lose
    // nodes.
    RemoveNodesFrom(old_nodes);
    subgraph_->SetPlan(old_plan);
    for (size_t i = 0; i < old_owners.size(); ++i) {
      subgraph_->graph().tensors()[i].delegate = old_owners[i];
    }
  }
  subgraph_->SetUninvokable();
  return status == kTfLiteOk ? kTfLiteOk : kTfLiteError;
}

// Adds tensors and nodes for a delegate in NCHW.
TfLiteStatus Delegation::AddLayout(const LayoutPlan& layout, std::vector<NodeSubset>* subsets) {
  if (!layout.is_used()) return kTfLiteOk;
  TF_LITE_ENSURE_STATUS(layout_.AddTensors(layout));
  // At most one copy per node and three transpositions per image are added: one to the plan, and
  // one in each direction for the CPU. Pointers to nodes stay valid from here on.
  size_t count = static_cast<size_t>(subgraph_->graph().node_count()) + layout.tensors.size() * 3;
  for (const NodeSubset& subset : *subsets) count += subset.nodes.size() + 1;
  subgraph_->graph().ReserveNodes(count);
  for (NodeSubset& subset : *subsets) {
    if (subset.claimed) TF_LITE_ENSURE_STATUS(layout_.AddNodesFor(layout, &subset));
  }
  return kTfLiteOk;
}

TfLiteStatus Delegation::AddCpuNodes(const NodeSubset& subset, const LayoutPlan& layout) {
  for (const int node : subset.nodes) {
    const int added = layout.is_used() ? node - layout.first_transposition : -1;
    if (added < 0) {
      subgraph_->AppendToPlan(node);
    } else {
      const auto& transposition = layout.transpositions[static_cast<size_t>(added)];
      TF_LITE_ENSURE_STATUS(layout_.AddToPlan(transposition));
    }
  }
  return kTfLiteOk;
}

TfLiteStatus Delegation::AddDelegateNode(const NodeSubset& subset,
                                         const TfLiteRegistration& registration,
                                         const Replacer& replacer) {
  TfLiteDelegate* const delegate = replacer.delegate;
  ErrorReporter* reporter = subgraph_->interpreter()->reporter();
  if (Overlap(subset.inputs, subset.outputs)) {
    return Fail(reporter, kTfLiteError,
                "subgraph %d: a tensor is both input and output of a delegate's node",
                subgraph_->index());
  }
  Subgraph::NewNode node;
  node.inputs = subset.inputs;
  node.outputs = subset.outputs;
  node.registration = registration;
  node.is_delegates = true;
  node.builtin_data = MakeDelegateParams(delegate, replacer.builder, subset);
  if (node.builtin_data == nullptr) return Fail(reporter, kTfLiteError, "out of memory");
  if (subgraph_->AddNode(node) != kTfLiteOk) return kTfLiteError;
  for (int index : subset.outputs) {
    TfLiteTensor& output = subgraph_->graph().tensors()[index];
    if (output.delegate != nullptr && output.delegate != delegate) {
      return Fail(reporter, kTfLiteError, "subgraph %d: tensor %d '%s' belongs to another delegate",
                  subgraph_->index(), index, NameOf(output));
    }
    output.delegate = delegate;
  }
  subgraph_->graph().node(subgraph_->graph().node_count() - 1)->delegate = delegate;
  return kTfLiteOk;
}

// ---- Previews -----------------------------------------------------------------------------------

TfLiteStatus Delegation::Preview(const TfLiteIntArray* nodes, TfLiteDelegateParams** out_params,
                                 int* out_count) {
  FreePreviews();
  if (out_params == nullptr || out_count == nullptr) return kTfLiteError;
  *out_params = nullptr;
  *out_count = 0;
  if (nodes == nullptr) return kTfLiteError;
  if (nodes->size == 0) return kTfLiteOk;
  std::vector<NodeSubset> subsets;
  LayoutPlan layout;
  if (CutAllowed(nodes, &layout, &subsets) != kTfLiteOk) return kTfLiteError;
  if (layout.is_used()) {
    const std::vector<int> model_tensor = layout_.ModelTensors(layout);
    for (NodeSubset& subset : subsets) {
      for (std::vector<int>* const tensors : {&subset.inputs, &subset.outputs}) {
        for (int& tensor : *tensors) tensor = model_tensor[static_cast<size_t>(tensor)];
        std::sort(tensors->begin(), tensors->end());
        tensors->erase(std::unique(tensors->begin(), tensors->end()), tensors->end());
      }
    }
  }
  for (int i = 0; i < nodes->size; ++i) {
    NodeSupport* support = delegates_.SupportOf(nodes->data[i]);
    if (support != nullptr) support->inspected = support->previewed = true;
  }
  preview_blocks_.reserve(subsets.size());
  previews_.reserve(subsets.size());
  for (const NodeSubset& subset : subsets) {
    if (!subset.claimed) continue;
    auto* params = static_cast<TfLiteDelegateParams*>(MakeDelegateParams(nullptr, nullptr, subset));
    if (params == nullptr) return kTfLiteError;
    preview_blocks_.push_back(params);
    previews_.push_back(*params);
  }
  *out_params = previews_.data();
  *out_count = static_cast<int>(previews_.size());
  return kTfLiteOk;
}

void Delegation::FreePreviews() {
  for (TfLiteDelegateParams* block : preview_blocks_) free(block);
  preview_blocks_.clear();
  previews_.clear();
}

}  // namespace deputy
