// SPDX-License-Identifier: Apache-2.0
#include "core/delegation.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "core/context.h"
#include "core/delegate_call.h"
#include "core/delegate_params.h"
#include "core/interpreter.h"
#include "core/kernel_call.h"
#include "core/op_names.h"
#include "core/plugin_delegate.h"
#include "core/subgraph.h"

namespace deputy {
namespace {

std::span<const int> Indices(const TfLiteIntArray* array) {
  return {array->data, static_cast<size_t>(array->size)};
}

// The same tensor on both sides would be read after it was overwritten.
bool Overlap(const std::vector<int>& sorted_a, const std::vector<int>& sorted_b) {
  std::vector<int> both;
  std::set_intersection(sorted_a.begin(), sorted_a.end(), sorted_b.begin(), sorted_b.end(),
                        std::back_inserter(both));
  return !both.empty();
}

}  // namespace

int64_t DelegateFlags(const TfLiteDelegate* delegate) {
  const TfLiteOpaqueDelegateBuilder* builder = BuilderOf(delegate);
  return builder != nullptr ? builder->flags : delegate->flags;
}

Delegation::~Delegation() {
  FreePreviews();
  TfLiteIntArrayFree(plan_array_);
}

// ---- Applying -----------------------------------------------------------------------------------

TfLiteStatus Delegation::Apply(TfLiteDelegate* delegate) {
  ErrorReporter* reporter = subgraph_->interpreter()->reporter();
  if (delegate == nullptr) return Fail(reporter, kTfLiteDelegateError, "Null delegate.");
  if (const TfLiteStatus status = Redo(); status != kTfLiteOk) return status;
  subgraph_->hot_fallback().Invalidate();
  BeginRecord(delegate);
  KeepLibrary(delegate);
  applying_ = true;
  TfLiteStatus status = kTfLiteError;
  try {
    status = subgraph_->interpreter()->hot() ? ApplyOrTakeBack(delegate) : ApplySteps(delegate);
    EndRecord(status);
  } catch (...) {
    Fail(reporter, kTfLiteError, "out of memory");
  }
  recording_ = -1;
  applying_ = false;
  return status;
}

TfLiteStatus Delegation::ApplySteps(TfLiteDelegate* delegate) try {
  const int64_t flags = DelegateFlags(delegate);
  const bool dynamic = (flags & kTfLiteDelegateFlagsAllowDynamicTensors) != 0;
  const bool hint = (flags & kTfLiteDelegateFlagsHintFullyDelegatedToSingleDelegate) != 0;
  const bool was_immutable = subgraph_->state_ == Subgraph::State::kInvokableAndImmutable;
  const bool was_invokable = subgraph_->state_ == Subgraph::State::kInvokable;
  if (was_immutable) {
    subgraph_->state_ = Subgraph::State::kUninvokable;
  } else if (!dynamic && !hint) {
    if (const TfLiteStatus status = CheckStaticShapes(); status != kTfLiteOk) return status;
  }
  if (transaction_ != nullptr) transaction_->before.KeepTensorsAddedSoFar();
  if (applied_.empty()) original_plan_ = subgraph_->plan_;

  applied_.reserve(applied_.size() + 1);
  if (CallPrepare(delegate) != kTfLiteOk) return Restore();
  if (hint) {
    if (const TfLiteStatus status = CheckFullyDelegated(); status != kTfLiteOk) return status;
  }
  const TfLiteStatus status = AllocateAfter(delegate, was_immutable, was_invokable);
  if (status == kTfLiteOk) applied_.push_back(delegate);
  return status;
} catch (...) {
  Fail(subgraph_->interpreter()->reporter(), kTfLiteError, "out of memory");
  return Restore();
}

TfLiteStatus Delegation::CheckFullyDelegated() {
  for (int node : subgraph_->plan_) {
    if (subgraph_->nodes_[node].first.delegate != nullptr) continue;
    return Fail(subgraph_->interpreter()->reporter(), kTfLiteApplicationError,
                "The delegate promised to take the whole graph; subgraph %d node %d %s: "
                "expected a delegate, found the CPU",
                subgraph_->index(), node, OperatorName(subgraph_->nodes_[node].second));
  }
  return kTfLiteOk;
}

// ---- Applying under the policy Hot --------------------------------------------------------------

// A delegate that was asked and failed is a delegate's error, whatever it failed with.
TfLiteStatus Delegation::ApplyOrTakeBack(TfLiteDelegate* delegate) {
  transaction_ = std::make_unique<Transaction>(subgraph_);
  const TfLiteStatus status = ApplySteps(delegate);
  if (status == kTfLiteOk) return kTfLiteOk;
  const bool asked = transaction_->asked;
  TakeBack();
  if (!asked) return status;
  return Fail(subgraph_->interpreter()->reporter(), kTfLiteDelegateError,
              "subgraph %d: the delegate could not be applied; the graph is as it was before",
              subgraph_->index());
}

Delegation::Transaction::Transaction(Subgraph* subgraph)
    : before(subgraph), was_immutable(subgraph->state_ == Subgraph::State::kInvokableAndImmutable) {
  was_ready = subgraph->state_ != Subgraph::State::kUninvokable;
  if (!was_ready) return;
  for (const std::vector<int>* indices : {&subgraph->inputs_, &subgraph->variables_}) {
    for (int index : *indices) {
      if (index >= 0) contents.Save(index, subgraph->tensors_[index]);
    }
  }
}

void Delegation::TakeBack() {
  if (transaction_ == nullptr) return;
  const std::unique_ptr<Transaction> transaction = std::move(transaction_);
  transaction->before.Restore();
  subgraph_->hot_fallback().Invalidate();
  if (!transaction->was_ready || subgraph_->Reallocate() != kTfLiteOk) return;
  if (transaction->was_immutable) subgraph_->state_ = Subgraph::State::kInvokableAndImmutable;
  transaction->contents.PutBack(&subgraph_->tensors_);
}

// A static delegate needs to see every shape.
TfLiteStatus Delegation::CheckStaticShapes() {
  subgraph_->next_to_prepare_ = 0;
  bool dynamic = false;
  const TfLiteStatus status = subgraph_->PrepareAll(subgraph_->plan_, &dynamic);
  if (status != kTfLiteOk) return status;
  if (!dynamic) return kTfLiteOk;
  const TfLiteStatus allocated = subgraph_->Reallocate();
  if (allocated != kTfLiteOk) return allocated;
  if (!warned_about_dynamic_tensors_) {
    warned_about_dynamic_tensors_ = true;
    subgraph_->interpreter()->reporter()->Report(
        "Attempting to use a delegate that only supports static-sized tensors with a graph that "
        "has dynamic-sized tensors; subgraph %d stays on the CPU",
        subgraph_->index());
  }
  return kTfLiteApplicationError;
}

TfLiteStatus Delegation::CallPrepare(TfLiteDelegate* delegate) {
  if (transaction_ != nullptr) transaction_->asked = true;
  Enter();
  AskForSupport(subgraph_, delegate, &records_[static_cast<size_t>(recording_)]);
  Validation::Call call(subgraph_->interpreter()->validation(),
                        {Callback::kDelegatePrepare, subgraph_, -1, delegate});
  TfLiteStatus status = CallDelegatePrepare(subgraph_->context(), delegate);
  call.Returned(status);
  Leave();
  for (int node = 0; node < subgraph_->node_count() && status == kTfLiteOk; ++node) {
    status = subgraph_->CheckNodeIndices(node);
  }
  return status;
}

// Steps 8 to 11 of abi.md 5.3: when memory is planned depends on the delegate's flags and on what
// the graph was before.
TfLiteStatus Delegation::AllocateAfter(TfLiteDelegate* delegate, bool was_immutable,
                                       bool was_invokable) {
  const int64_t flags = DelegateFlags(delegate);
  const bool dynamic = (flags & kTfLiteDelegateFlagsAllowDynamicTensors) != 0;
  const bool hint = (flags & kTfLiteDelegateFlagsHintFullyDelegatedToSingleDelegate) != 0;
  if (!dynamic) {
    if (!hint && subgraph_->Reallocate() != kTfLiteOk) return Restore();
    subgraph_->state_ = Subgraph::State::kInvokableAndImmutable;
    return kTfLiteOk;
  }
  if (was_immutable) {
    bool dynamic_tensors = false;
    if (subgraph_->PrepareAll(subgraph_->plan_, &dynamic_tensors) != kTfLiteOk) return Restore();
    if (dynamic_tensors) {
      const TfLiteStatus removed = transaction_ != nullptr ? kTfLiteOk : Remove();
      if (removed != kTfLiteOk) return removed;
      return Fail(subgraph_->interpreter()->reporter(), kTfLiteApplicationError,
                  "Cannot allow dynamic tensors due to previous delegation, resetting to original "
                  "execution plan.");
    }
    if (subgraph_->Reallocate() != kTfLiteOk) return Restore();
    subgraph_->state_ = Subgraph::State::kInvokableAndImmutable;
    return kTfLiteOk;
  }
  if (was_invokable && subgraph_->Reallocate() != kTfLiteOk) return Restore();
  return kTfLiteOk;
}

// What a failed apply leaves: the CPU alone. Under Hot the caller puts back what was before.
TfLiteStatus Delegation::Restore() {
  if (transaction_ != nullptr) return kTfLiteDelegateError;
  const TfLiteStatus status = Remove();
  if (status != kTfLiteOk) return status;
  return Fail(subgraph_->interpreter()->reporter(), kTfLiteDelegateError,
              "Restored original execution plan after delegate application failure.");
}

// A client that deletes a delegate from a library before the interpreter must not find the
// library's code gone when the interpreter frees its kernels.
void Delegation::KeepLibrary(const TfLiteDelegate* delegate) {
  std::shared_ptr<const PluginLibrary> library = LibraryOf(delegate);
  if (library == nullptr) return;
  if (std::find(libraries_.begin(), libraries_.end(), library) == libraries_.end()) {
    libraries_.push_back(std::move(library));
  }
}

// ---- Records ------------------------------------------------------------------------------------

void Delegation::BeginRecord(TfLiteDelegate* delegate) {
  DelegateRecord record;
  record.delegate = delegate;
  record.name = DelegateName(delegate);
  record.nodes.resize(subgraph_->nodes_.size());
  const auto known = std::find_if(records_.begin(), records_.end(),
                                  [&](const auto& other) { return other.delegate == delegate; });
  recording_ = static_cast<int>(known - records_.begin());
  if (known == records_.end()) {
    records_.push_back(std::move(record));
  } else {
    *known = std::move(record);
  }
}

void Delegation::EndRecord(TfLiteStatus status) {
  DelegateRecord& record = records_[static_cast<size_t>(recording_)];
  record.applied = status == kTfLiteOk;
  if (!record.applied) record.failure = subgraph_->interpreter()->reporter()->last_error();
  Conclude(subgraph_, &record);
}

NodeAnswer* Delegation::AnswerOf(int node_index) {
  if (recording_ < 0 || node_index < 0) return nullptr;
  DelegateRecord& record = records_[static_cast<size_t>(recording_)];
  const size_t index = static_cast<size_t>(node_index);
  return index < record.nodes.size() ? &record.nodes[index] : nullptr;
}

// ---- Undo, redo, remove -------------------------------------------------------------------------

void Delegation::Undo() {
  if (original_plan_.empty()) return;
  const int kept = 1 + *std::max_element(original_plan_.begin(), original_plan_.end());
  // In plan order, as upstream frees them; then those that a later delegate swallowed.
  for (int node : subgraph_->plan_) {
    if (node >= kept) subgraph_->FreeNode(&subgraph_->nodes_[node]);
  }
  for (int node = kept; node < subgraph_->node_count(); ++node) {
    subgraph_->FreeNode(&subgraph_->nodes_[node]);
  }
  subgraph_->nodes_.resize(static_cast<size_t>(kept));
  if (subgraph_->costs_.size() > static_cast<size_t>(kept)) subgraph_->costs_.resize(kept);
  subgraph_->plan_ = original_plan_;
  RestoreHalfInputs();
  ForgetTensors();
  for (int i = 0; i < subgraph_->interpreter()->subgraph_count(); ++i) {
    subgraph_->interpreter()->subgraph(i)->delegation().set_skippable(false);
  }
  original_plan_.clear();
  subgraph_->hot_fallback().Invalidate();
  subgraph_->state_ = Subgraph::State::kUninvokable;
  undone_ = true;
}

// A delegate for float16 may have pointed a node past a DEQUANTIZE, at its constant. On the CPU the
// node wants the float32 again.
void Delegation::RestoreHalfInputs() {
  for (int index : subgraph_->plan_) {
    const auto& [dequantize, registration] = subgraph_->nodes_[index];
    if (registration.builtin_code != kTfLiteBuiltinDequantize || dequantize.inputs->size != 1 ||
        dequantize.outputs->size != 1) {
      continue;
    }
    const int half = dequantize.inputs->data[0];
    if (half < 0 || subgraph_->tensors_[half].type != kTfLiteFloat16) continue;
    for (int other : subgraph_->plan_) {
      if (other == index) continue;
      TfLiteIntArray* inputs = subgraph_->nodes_[other].first.inputs;
      for (int i = 0; i < inputs->size; ++i) {
        if (inputs->data[i] == half) inputs->data[i] = dequantize.outputs->data[0];
      }
    }
  }
}

// Handles survive, a redo may count on them. What must not survive is a stale bit, which would copy
// old device data over fresh CPU results, nor a claim that has nothing behind it. No delegate is
// left, so this goes for all of them, the one that failed to apply included.
void Delegation::ForgetTensors() {
  for (TfLiteTensor& tensor : subgraph_->tensors_) {
    if (tensor.delegate == nullptr) continue;
    tensor.data_is_stale = false;
    if (tensor.buffer_handle == kTfLiteNullBufferHandle) tensor.delegate = nullptr;
  }
}

TfLiteStatus Delegation::Redo() {
  if (!undone_) return kTfLiteOk;
  undone_ = false;
  const std::vector<TfLiteDelegate*> delegates = std::move(applied_);
  applied_.clear();
  for (TfLiteDelegate* delegate : delegates) {
    const TfLiteStatus status = Apply(delegate);
    Commit();
    if (status == kTfLiteOk) continue;
    if (!subgraph_->interpreter()->hot()) return status;
    subgraph_->interpreter()->NoteDelegateLeftOut();
  }
  return kTfLiteOk;
}

TfLiteStatus Delegation::Remove() {
  Undo();
  applied_.clear();
  undone_ = false;
  return subgraph_->Reallocate();
}

bool Delegation::requires_propagated_shapes() const {
  return std::any_of(applied_.begin(), applied_.end(), [](const TfLiteDelegate* delegate) {
    const int64_t flags = DelegateFlags(delegate);
    return (flags & kTfLiteDelegateFlagsRequirePropagatedShapes) != 0;
  });
}

// ---- Delegate mode ------------------------------------------------------------------------------

void Delegation::Enter() {
  if (mode_depth_++ == 0) SetContextMode(true);
}

void Delegation::Leave() {
  if (mode_depth_ == 0) {
    if (Validation* validation = subgraph_->interpreter()->validation()) {
      validation->ReleasedTooOften(subgraph_);
    }
    subgraph_->interpreter()->reporter()->Report("subgraph %d: released more often than acquired",
                                                 subgraph_->index());
    return;
  }
  if (--mode_depth_ > 0) return;
  SetContextMode(false);
  FreePreviews();
}

void Delegation::SetContextMode(bool delegate_mode) {
  SetContextFunctions(subgraph_->context(), delegate_mode);
}

TfLiteStatus Delegation::GetExecutionPlan(TfLiteIntArray** out_plan) {
  if (out_plan == nullptr) return kTfLiteError;
  TfLiteIntArray* plan = TfLiteIntArrayCreate(static_cast<int>(subgraph_->plan_.size()));
  if (plan == nullptr) return kTfLiteError;
  std::copy(subgraph_->plan_.begin(), subgraph_->plan_.end(), plan->data);
  TfLiteIntArrayFree(plan_array_);
  plan_array_ = plan;
  *out_plan = plan;
  return kTfLiteOk;
}

TfLiteStatus Delegation::GetNodeAndRegistration(int node_index, TfLiteNode** out_node,
                                                TfLiteRegistration** out_registration) {
  if (node_index < 0 || node_index >= subgraph_->node_count() || out_node == nullptr ||
      out_registration == nullptr) {
    return kTfLiteError;
  }
  if (NodeAnswer* answer = AnswerOf(node_index)) answer->asked = true;
  auto& [node, registration] = subgraph_->nodes_[node_index];
  // Plug-ins with accessors of their own look at the operator, so every registration has one.
  if (registration.registration_external == nullptr) {
    registration.registration_external = OperatorOf(node_index);
  }
  *out_node = &node;
  *out_registration = &registration;
  return kTfLiteOk;
}

// A stand-in for the registration of a node; one serves all nodes of the same operator.
TfLiteOperator* Delegation::OperatorOf(int node_index) {
  const TfLiteRegistration& registration = subgraph_->registration(node_index);
  std::unique_ptr<TfLiteOperator>& op =
      operators_[{registration.builtin_code, registration.custom_name, registration.version}];
  if (op == nullptr) {
    op = std::make_unique<TfLiteOperator>();
    op->builtin_code = registration.builtin_code;
    op->custom_name = registration.custom_name;
    op->version = registration.version;
    op->node_index = node_index;
  }
  return op.get();
}

// ---- Replacing ----------------------------------------------------------------------------------

TfLiteStatus Delegation::Cut(std::span<const int> nodes, std::vector<NodeSubset>* out_subsets) {
  // A delegate may have written into the nodes it was shown.
  for (int node = 0; node < subgraph_->node_count(); ++node) {
    if (subgraph_->CheckNodeIndices(node) != kTfLiteOk) return kTfLiteError;
  }
  PartitionGraph graph;
  graph.tensor_count = subgraph_->tensor_count();
  for (const auto& [node, registration] : subgraph_->nodes_) {
    graph.nodes.push_back({Indices(node.inputs), Indices(node.outputs)});
  }
  graph.plan = subgraph_->plan_;
  graph.outputs = subgraph_->outputs_;
  graph.control_edges = subgraph_->ControlEdges();
  std::string error;
  if (Partition(graph, nodes, {}, out_subsets, &error)) return kTfLiteOk;
  return Fail(subgraph_->interpreter()->reporter(), kTfLiteError,
              "subgraph %d: the graph cannot be partitioned: %s", subgraph_->index(),
              error.c_str());
}

// As Cut, without the nodes that the caller keeps from this delegate and without groups that would
// be torn apart.
TfLiteStatus Delegation::CutAllowed(const TfLiteIntArray* nodes,
                                    std::vector<NodeSubset>* out_subsets) {
  std::vector<int> allowed;
  for (int node : Indices(nodes)) {
    if (MayTake(node)) allowed.push_back(node);
  }
  do {
    out_subsets->clear();
    const TfLiteStatus status = Cut(allowed, out_subsets);
    if (status != kTfLiteOk) return status;
  } while (DropBrokenGroups(*out_subsets, &allowed));
  return kTfLiteOk;
}

bool Delegation::MayTake(int node_index) {
  if (node_index < 0 || static_cast<size_t>(node_index) >= placed_nodes_.size()) return true;
  const PlacedNode& placed = placed_nodes_[static_cast<size_t>(node_index)];
  const bool known = recording_ >= 0;
  if (!known || placed.Allows(records_[static_cast<size_t>(recording_)].delegate)) return true;
  if (NodeAnswer* answer = AnswerOf(node_index)) {
    const bool excluded = placed.delegate == nullptr;
    answer->reason = excluded ? kDeputyReasonExcluded : kDeputyReasonPinned;
    answer->text =
        excluded ? "the caller keeps it on the CPU" : "the caller keeps it for another delegate";
  }
  return false;
}

// A group stays whole where all its nodes of the plan are in one partition. True when `nodes` has
// lost some that are not.
bool Delegation::DropBrokenGroups(const std::vector<NodeSubset>& subsets, std::vector<int>* nodes) {
  if (recording_ < 0) return false;
  const int kNowhere = -1, kTornApart = -2;
  std::map<int, int> place;  // group -> number of the partition that has it
  for (size_t i = 0; i < subsets.size(); ++i) {
    for (int node : subsets[i].nodes) {
      const NodeAnswer* answer = AnswerOf(node);
      if (answer == nullptr || answer->group < 0) continue;
      const int here = subsets[i].taken ? static_cast<int>(i) : kNowhere;
      const auto [entry, fresh] = place.try_emplace(answer->group, here);
      if (!fresh && entry->second != here) entry->second = kTornApart;
    }
  }
  const auto broken = [&](int node) {
    NodeAnswer* answer = AnswerOf(node);
    if (answer == nullptr || answer->group < 0 || place[answer->group] != kTornApart) return false;
    answer->reason = kDeputyReasonGroup;
    answer->text = "group " + std::to_string(answer->group) + " cannot stay in one partition";
    return true;
  };
  return std::erase_if(*nodes, broken) > 0;
}

// Brings a registration that came by value, perhaps from a shorter struct, to what nodes keep.
TfLiteStatus Delegation::AdoptRegistration(TfLiteDelegate* delegate,
                                           TfLiteRegistration* registration) {
  registration->builtin_code = kTfLiteBuiltinDelegate;
  if (BuilderOf(delegate) == nullptr) {
    // Behind the shorter structs of old headers lies whatever was on the caller's stack. An
    // operator counts only where no function of the registration itself does.
    registration->async_kernel = nullptr;
    registration->inplace_operator = 0;
    const bool has_functions = registration->init != nullptr || registration->free != nullptr ||
                               registration->prepare != nullptr || registration->invoke != nullptr;
    if (has_functions) registration->registration_external = nullptr;
    if (registration->registration_external != nullptr) {
      registration->registration_external->builtin_code = kTfLiteBuiltinDelegate;
    }
    return kTfLiteOk;
  }
  TfLiteOperator* op = registration->registration_external;
  if (op == nullptr) {
    return Fail(subgraph_->interpreter()->reporter(), kTfLiteDelegateError,
                "subgraph %d: an opaque delegate must replace nodes with an operator",
                subgraph_->index());
  }
  // The operator is the subgraph's from here on, whatever becomes of the replacement.
  std::unique_ptr<TfLiteOperator> owned(op);
  op->builtin_code = kTfLiteBuiltinDelegate;
  auto& slot = operators_[{op->builtin_code, op->custom_name, op->version}];
  if (slot == nullptr) slot = std::move(owned);
  registration->registration_external = slot.get();
  return kTfLiteOk;
}

TfLiteStatus Delegation::Replace(const TfLiteRegistration& foreign, const TfLiteIntArray* nodes,
                                 TfLiteDelegate* delegate) {
  if (nodes == nullptr || delegate == nullptr) {
    return Fail(subgraph_->interpreter()->reporter(), kTfLiteError,
                "subgraph %d: expected nodes to replace and their delegate", subgraph_->index());
  }
  TfLiteRegistration registration = foreign;
  const TfLiteStatus adopted = AdoptRegistration(delegate, &registration);
  if (adopted != kTfLiteOk || nodes->size == 0) return adopted;
  for (int i = 0; i < nodes->size; ++i) {
    if (NodeAnswer* answer = AnswerOf(nodes->data[i])) answer->asked = answer->claimed = true;
  }
  std::vector<NodeSubset> subsets;
  if (CutAllowed(nodes, &subsets) != kTfLiteOk) return kTfLiteError;
  if (std::none_of(subsets.begin(), subsets.end(), [](const auto& s) { return s.taken; })) {
    return kTfLiteOk;
  }
  if (recording_ >= 0 && records_[static_cast<size_t>(recording_)].name.empty()) {
    records_[static_cast<size_t>(recording_)].name = OperatorName(registration);
  }

  const std::vector<int> old_plan = subgraph_->plan_;
  const int old_nodes = subgraph_->node_count();
  std::vector<TfLiteDelegate*> old_owners;
  for (const TfLiteTensor& tensor : subgraph_->tensors_) old_owners.push_back(tensor.delegate);

  subgraph_->plan_.clear();
  TfLiteStatus status = kTfLiteOk;
  for (const NodeSubset& subset : subsets) {
    if (subset.taken) {
      status = AddMacroOp(subset, registration, delegate);
      if (status != kTfLiteOk) break;
    } else {
      subgraph_->plan_.insert(subgraph_->plan_.end(), subset.nodes.begin(), subset.nodes.end());
    }
  }
  subgraph_->state_ = Subgraph::State::kUninvokable;
  if (status == kTfLiteOk) return kTfLiteOk;

  // Upstream leaves the plan half built here; a delegate that swallows the error would lose nodes.
  for (int node = old_nodes; node < subgraph_->node_count(); ++node) {
    subgraph_->FreeNode(&subgraph_->nodes_[node]);
  }
  subgraph_->nodes_.resize(static_cast<size_t>(old_nodes));
  subgraph_->plan_ = old_plan;
  for (size_t i = 0; i < old_owners.size(); ++i) subgraph_->tensors_[i].delegate = old_owners[i];
  return kTfLiteError;
}

TfLiteStatus Delegation::AddMacroOp(const NodeSubset& subset,
                                    const TfLiteRegistration& registration,
                                    TfLiteDelegate* delegate) {
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
  node.builtin_data = MakeDelegateParams(delegate, BuilderOf(delegate), subset);
  if (node.builtin_data == nullptr) return Fail(reporter, kTfLiteError, "out of memory");
  if (subgraph_->AddNode(node) != kTfLiteOk) return kTfLiteError;
  for (int index : subset.outputs) {
    TfLiteTensor& output = subgraph_->tensors_[index];
    if (output.delegate != nullptr && output.delegate != delegate) {
      return Fail(reporter, kTfLiteError, "subgraph %d: tensor %d '%s' belongs to another delegate",
                  subgraph_->index(), index, output.name == nullptr ? "" : output.name);
    }
    output.delegate = delegate;
  }
  subgraph_->nodes_.back().first.delegate = delegate;
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
  if (CutAllowed(nodes, &subsets) != kTfLiteOk) return kTfLiteError;
  for (int i = 0; i < nodes->size; ++i) {
    if (NodeAnswer* answer = AnswerOf(nodes->data[i])) answer->asked = answer->previewed = true;
  }
  preview_blocks_.reserve(subsets.size());
  previews_.reserve(subsets.size());
  for (const NodeSubset& subset : subsets) {
    if (!subset.taken) continue;
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
