// SPDX-License-Identifier: Apache-2.0
#include "core/delegation/delegation.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/base/delegate_call.h"
#include "core/base/delegate_params.h"
#include "core/base/kernel_call.h"
#include "core/delegation/application_log.h"
#include "core/delegation/dynamic_tensors.h"
#include "core/delegation/support_query.h"
#include "core/exec/context.h"
#include "core/exec/interpreter_state.h"
#include "core/exec/node_calls.h"
#include "core/exec/run_hooks.h"
#include "core/exec/subgraph.h"
#include "core/graph/graph_digest.h"
#include "core/model/model.h"
#include "core/model/op_names.h"
#include "core/plugin/plugin_delegate.h"

namespace deputy {

namespace {

// Reason in reports for delegates that were removed because another one failed.
constexpr char kNotApplied[] = "removed with all others when a delegate could not be applied";
constexpr char kRolledBack[] = "rolled back: the delegate could not be applied to every subgraph";

// Returns true if the delegate provides the memory of all tensors. Transpositions need memory.
bool ProvidesAllMemory(const AppliedDelegate& delegate) {
  return delegate.Has(kTfLiteDelegateFlagsHintFullyDelegatedToSingleDelegate) &&
         !delegate.computes_in_nchw;
}

bool NeedsShapes(const AppliedDelegate& delegate) {
  return delegate.computes_in_nchw || delegate.Has(kTfLiteDelegateFlagsRequirePropagatedShapes);
}

}  // namespace

Delegation::~Delegation() {
  FreePreviews();
  TfLiteIntArrayFree(plan_array_);
}

// ---- Application --------------------------------------------------------------------------------

TfLiteStatus Delegation::Apply(TfLiteDelegate* delegate) {
  ErrorReporter* reporter = subgraph_->interpreter()->reporter();
  if (delegate == nullptr) return Fail(reporter, kTfLiteDelegateError, "Null delegate.");
  if (const TfLiteStatus status = Redo(); status != kTfLiteOk) return status;
  subgraph_->fallback().Invalidate();
  prepare_problem_.clear();
  shape_refusal_.clear();
  const AppliedDelegates::Application application(&delegates_, delegate);
  const AppliedDelegate& offered = *delegates_.current();
  const ReportCollector reports(reporter);
  TfLiteStatus status = kTfLiteError;
  try {
    status = subgraph_->interpreter()->hot() ? ApplyOrRollback(offered) : ApplySteps(offered);
    delegates_.ConcludeCurrent(reports.text()[0] != '\0' ? reports.text() : shape_refusal_.c_str());
  } catch (...) {
    Fail(reporter, kTfLiteError, "out of memory");
  }
  subgraph_->interpreter()->NoteDelegatesChanged();
  LogApplication(subgraph_->graph(), subgraph_->index(), offered);
  return status;
}

TfLiteStatus Delegation::ApplySteps(const AppliedDelegate& delegate) try {
  if (!subgraph_->consistent()) return ApplyToInconsistent(delegate);
  const bool dynamic = delegate.Has(kTfLiteDelegateFlagsAllowDynamicTensors);
  const bool hint = delegate.Has(kTfLiteDelegateFlagsHintFullyDelegatedToSingleDelegate);
  const bool was_immutable = subgraph_->immutable();
  const bool was_invokable = subgraph_->ready() && !subgraph_->immutable();
  if (was_immutable) {
    subgraph_->SetUninvokable();
  } else if (!dynamic && !ProvidesAllMemory(delegate)) {
    if (const TfLiteStatus status = CheckStaticShapes(); status != kTfLiteOk) return status;
  } else {
    PropagateShapesFor(delegate);
  }
  if (!any_applied()) RememberPlan();

  if (CallPrepare(delegate) != kTfLiteOk) return Restore();
  if (hint) {
    if (const TfLiteStatus status = CheckFullyDelegated(); status != kTfLiteOk) return status;
  }
  const TfLiteStatus status = AllocateAfter(delegate, was_immutable, was_invokable);
  if (status == kTfLiteOk) delegates_.AddCurrent();
  return status;
} catch (...) {
  Fail(subgraph_->interpreter()->reporter(), kTfLiteError, "out of memory");
  return Restore();
}

void Delegation::RememberPlan() {
  fp16_weights_ = Fp16Weights(subgraph_->graph());
  original_plan_ = subgraph_->graph().plan();
  original_nodes_ = subgraph_->graph().node_count();
}

// Handles a subgraph whose nodes may be invalid or missing. It will never run, so delegates are not
// called. Upstream detects the inconsistency when it plans memory, which for static delegates is
// during the application.
TfLiteStatus Delegation::ApplyToInconsistent(const AppliedDelegate& delegate) {
  const bool dynamic = delegate.Has(kTfLiteDelegateFlagsAllowDynamicTensors);
  if (!dynamic) return subgraph_->Reallocate();  // Reallocate reports the inconsistency
  delegates_.AddCurrent();
  return kTfLiteOk;
}

// Fails if the CPU runs a node, and then removes all delegates. Upstream keeps the nodes of the
// rejected delegate, which the caller may delete.
TfLiteStatus Delegation::CheckFullyDelegated() {
  for (int node : subgraph_->graph().plan()) {
    if (subgraph_->graph().node(node)->delegate != nullptr || layout_.IsTransposition(node)) {
      continue;
    }
    Fail(subgraph_->interpreter()->reporter(), kTfLiteApplicationError,
         "The delegate promised to claim the whole graph; subgraph %d node %d %s: "
         "expected a delegate, found the CPU",
         subgraph_->index(), node, OperatorName(*subgraph_->graph().registration(node)));
    const TfLiteStatus removed = RemoveUnlessHot();
    return removed == kTfLiteOk ? kTfLiteApplicationError : removed;
  }
  return kTfLiteOk;
}

// ---- Application under the policy Hot -----------------------------------------------------------

// Applies a delegate, or rolls back. A failure of a delegate that was called is returned as
// kTfLiteDelegateError, whatever the delegate's status.
TfLiteStatus Delegation::ApplyOrRollback(const AppliedDelegate& delegate) {
  transaction_ = std::make_unique<Transaction>(subgraph_);
  const TfLiteStatus status = ApplySteps(delegate);
  if (status == kTfLiteOk) return kTfLiteOk;
  // A delegate that has applied another one meanwhile has ended the transaction.
  const bool called = transaction_ != nullptr && transaction_->called;
  Rollback();
  if (!called) return status;
  return Fail(subgraph_->interpreter()->reporter(), kTfLiteDelegateError,
              "subgraph %d: the delegate could not be applied%s%s; the graph is unchanged",
              subgraph_->index(), prepare_problem_.empty() ? "" : ": ", prepare_problem_.c_str());
}

Delegation::Transaction::Transaction(Subgraph* subgraph)
    : before(&subgraph->graph()),
      applied(DelegationOf(subgraph).delegates_.applied()),
      original_plan(DelegationOf(subgraph).original_plan_),
      undone(DelegationOf(subgraph).undone_),
      skippable_count(subgraph->interpreter()->skippable().count()),
      was_immutable(subgraph->immutable()) {
  was_ready = subgraph->ready();
  if (!was_ready) return;
  for (const std::vector<int>* indices :
       {&subgraph->graph().inputs(), &subgraph->graph().variables()}) {
    for (int index : *indices) {
      if (index >= 0) contents.Save(index, subgraph->graph().tensors()[index]);
    }
  }
}

void Delegation::Rollback() {
  if (transaction_ == nullptr) return;
  const std::unique_ptr<Transaction> transaction = std::move(transaction_);
  RemoveNodesFrom(transaction->before.node_count());
  layout_.ForgetTensorsFrom(transaction->before.tensor_count());
  transaction->before.Restore([this](int tensor) { subgraph_->FreeBufferHandle(tensor); });
  subgraph_->PlanHasChanged();
  subgraph_->interpreter()->skippable().KeepFirst(transaction->skippable_count);
  subgraph_->SetUninvokable();
  delegates_.SetApplied(std::move(transaction->applied));
  original_plan_.swap(transaction->original_plan);
  undone_ = transaction->undone;
  delegates_.Revise(kRolledBack);
  subgraph_->fallback().Invalidate();
  if (!transaction->was_ready && transaction->was_immutable) {
    subgraph_->SetImmutable();
    subgraph_->ReleaseMemory();
  }
  if (!transaction->was_ready || subgraph_->Reallocate() != kTfLiteOk) return;
  if (transaction->was_immutable) subgraph_->SetImmutable();
  transaction->contents.Restore(subgraph_->graph().tensors());
}

// Returns upstream's text, followed by the node that made the graph dynamic.
std::string Delegation::DynamicShapeRefusal() const {
  const DynamicTensor first = FindDynamicTensor(subgraph_->graph());
  std::string text =
      "Attempting to use a delegate that only supports static-sized tensors with a graph that has "
      "dynamic-sized tensors";
  if (first.tensor >= 0) {
    text += " (tensor#" + std::to_string(first.tensor) + " is a dynamic-sized tensor)";
  }
  text += ".; subgraph " + std::to_string(subgraph_->index()) + " stays on the CPU";
  return first.tensor < 0 ? text : text + ": " + first.text;
}

// Computes the shapes that a delegate requires, up to the first node with a dynamic output, or that
// the CPU cannot prepare and the delegate may be able to run. For a delegate in NCHW, also finds
// all nodes with dynamic outputs. Until the graph is allocated, tensors have the shapes of the
// file, even if an input was resized.
void Delegation::PropagateShapesFor(const AppliedDelegate& delegate) {
  if (!NeedsShapes(delegate)) return;
  const ReportSilencer silencer(subgraph_->interpreter()->reporter());
  ExecutionPlan& plan = subgraph_->execution_plan();
  if (!subgraph_->ready()) static_cast<void>(plan.PropagateShapes(subgraph_->graph().plan()));
  const bool is_prepared = subgraph_->ready() && plan.is_complete();
  if (delegate.computes_in_nchw && !is_prepared) FindDynamicOutputs();
}

// Prepares the nodes after the first one with a dynamic output: their kernels make further outputs
// dynamic, so that WhyNotInNchw finds them.
void Delegation::FindDynamicOutputs() {
  Graph& graph = subgraph_->graph();
  const AllocationPass pass(subgraph_->interpreter());
  bool is_after = false;
  for (const int node : graph.plan()) {
    const bool is_cpu =
        graph.node(node)->delegate == nullptr && !IsUnresolvedCustomOp(*graph.registration(node));
    if (is_after && is_cpu) {
      graph.EnsureTensorCapacity();
      static_cast<void>(subgraph_->execution_plan().RunPrepare(node));
    }
    is_after = is_after || graph.HasDynamicTensor(IndicesOf(graph.node(node)->outputs));
  }
}

// Fails unless all shapes are known, which a static delegate requires.
TfLiteStatus Delegation::CheckStaticShapes() {
  bool dynamic = false;
  const TfLiteStatus status =
      subgraph_->execution_plan().PrepareAll(subgraph_->graph().plan(), &dynamic);
  if (status != kTfLiteOk) return status;
  if (!dynamic) return kTfLiteOk;
  shape_refusal_ = DynamicShapeRefusal();
  const TfLiteStatus allocated = subgraph_->Reallocate();
  if (allocated != kTfLiteOk) return allocated;
  if (!warned_about_dynamic_tensors_) {
    warned_about_dynamic_tensors_ = true;
    subgraph_->interpreter()->reporter()->Report("%s", shape_refusal_.c_str());
  }
  return kTfLiteApplicationError;
}

TfLiteStatus Delegation::CallPrepare(const AppliedDelegate& delegate) {
  if (transaction_ != nullptr) transaction_->called = true;
  prepare_problem_.clear();
  CallObserver* const observer = subgraph_->interpreter()->call_observer();
  const Model& model = subgraph_->interpreter()->model();
  PassModel(subgraph_->context(), delegate.handle, model.bytes(), model.file_descriptor(),
            observer);
  PassCancellation(subgraph_->context(), delegate.handle, &IsCancelled, observer);
  PassMemoryProvider(subgraph_->context(), delegate.handle, &ProvideMemory, observer);
  EnterDelegateMode();
  deputy::QuerySupport(observer, subgraph_->context(), subgraph_->graph().plan(),
                       delegates_.current());
  const ForeignCall call = {.callback = Callback::kDelegatePrepare,
                            .context = subgraph_->context(),
                            .delegate = delegate.handle};
  const ErrorReporter& reporter = *subgraph_->interpreter()->reporter();
  const size_t reports_before = reporter.count();
  const NchwPreparation nchw(delegate.computes_in_nchw);
  const CallResult result = CallDelegatePrepare(observer, call);
  TfLiteStatus status = result.status;
  if (result.exception != nullptr) {
    prepare_problem_ = result.exception;
  } else if (status != kTfLiteOk && reporter.count() == reports_before) {
    prepare_problem_ = "Prepare returned status " + std::to_string(status);
  }
  LeaveDelegateMode();
  // A failed delegate's changes of the nodes' arrays remain, so they are validated in any case.
  for (int node = 0; node < subgraph_->graph().node_count(); ++node) {
    const TfLiteStatus checked = CheckNodeIndices(&subgraph_->parts(), node);
    if (status == kTfLiteOk) status = checked;
  }
  return status;
}

// Steps 8 to 11 of abi.md 5.3: the delegate's flags and the graph's previous state determine when
// memory is planned.
TfLiteStatus Delegation::AllocateAfter(const AppliedDelegate& delegate, bool was_immutable,
                                       bool was_invokable) {
  const bool dynamic = delegate.Has(kTfLiteDelegateFlagsAllowDynamicTensors);
  if (!dynamic) {
    if (!ProvidesAllMemory(delegate) && subgraph_->Reallocate() != kTfLiteOk) return Restore();
    subgraph_->SetImmutable();
    return kTfLiteOk;
  }
  if (was_immutable) {
    bool dynamic_tensors = false;
    if (subgraph_->execution_plan().PrepareAll(subgraph_->graph().plan(), &dynamic_tensors) !=
        kTfLiteOk)
      return Restore();
    if (dynamic_tensors) {
      if (const TfLiteStatus removed = RemoveUnlessHot(); removed != kTfLiteOk) return removed;
      return Fail(subgraph_->interpreter()->reporter(), kTfLiteApplicationError,
                  "Cannot allow dynamic tensors due to previous delegation, resetting to original "
                  "execution plan.");
    }
    if (subgraph_->Reallocate() != kTfLiteOk) return Restore();
    subgraph_->SetImmutable();
    return kTfLiteOk;
  }
  if (was_invokable && subgraph_->Reallocate() != kTfLiteOk) return Restore();
  return kTfLiteOk;
}

// Removes all delegates. Under Hot the caller rolls back instead.
TfLiteStatus Delegation::RemoveUnlessHot() {
  return transaction_ != nullptr ? kTfLiteOk : Remove(kNotApplied);
}

// Cleans up after a failed application: removes all delegates. Under Hot the caller rolls back.
TfLiteStatus Delegation::Restore() {
  if (transaction_ != nullptr) return kTfLiteDelegateError;
  const TfLiteStatus status = Remove(kNotApplied);
  if (status != kTfLiteOk) return status;
  subgraph_->interpreter()->reporter()->ReportWithDetail(
      prepare_problem_.c_str(),
      "Restored original execution plan after delegate application failure.");
  return kTfLiteDelegateError;
}

// ---- Support queries ----------------------------------------------------------------------------

TfLiteStatus Delegation::QuerySupport(AppliedDelegate* delegate) {
  delegate->record.nodes.resize(static_cast<size_t>(subgraph_->graph().node_count()));
  // Delegates are not called for an inconsistent subgraph.
  if (!subgraph_->consistent()) return kTfLiteOk;
  const bool dynamic = delegate->Has(kTfLiteDelegateFlagsAllowDynamicTensors);
  if (!subgraph_->immutable() && !dynamic && !ProvidesAllMemory(*delegate)) {
    if (const TfLiteStatus status = CheckStaticShapes(); status != kTfLiteOk) return status;
  } else {
    PropagateShapesFor(*delegate);
  }
  CallObserver* const observer = subgraph_->interpreter()->call_observer();
  const Model& model = subgraph_->interpreter()->model();
  PassModel(subgraph_->context(), delegate->handle, model.bytes(), model.file_descriptor(),
            observer);
  EnterDelegateMode();
  const bool succeeded =
      deputy::QuerySupport(observer, subgraph_->context(), subgraph_->graph().plan(), delegate);
  LeaveDelegateMode();
  if (succeeded) return kTfLiteOk;
  return Fail(subgraph_->interpreter()->reporter(), kTfLiteError,
              "subgraph %d: the delegate could not report which nodes it supports",
              subgraph_->index());
}

// ---- Undo, redo, remove -------------------------------------------------------------------------

void Delegation::Undo(const char* why) {
  RestorePlan();
  delegates_.Revise(why);
}

void Delegation::RestorePlan() {
  if (original_plan_.empty()) return;
  RemoveNodesFrom(original_nodes_);
  subgraph_->SetPlan(std::move(original_plan_));
  fp16_weights_.Widen(&subgraph_->graph());
  ForgetTensors();
  subgraph_->interpreter()->skippable().KeepFirst(0);
  original_plan_.clear();
  subgraph_->fallback().Invalidate();
  subgraph_->SetUninvokable();
  undone_ = true;
}

void Delegation::RemoveNodesFrom(int count) noexcept {
  buffers_.Release();
  subgraph_->RemoveNodesFrom(count);
  layout_.ForgetNodesFrom(count);
  operators_.ForgetNodesFrom(count);
}

// Keeps buffer handles, since a redo may use them; Remove frees them. Clears stale bits, which
// would cause old device data to overwrite new CPU results, and the delegate of tensors without a
// handle. No delegate is left, so this applies to all, including one that failed to apply.
void Delegation::ForgetTensors() {
  for (TfLiteTensor& tensor : subgraph_->graph().tensors()) {
    if (tensor.delegate == nullptr) continue;
    tensor.data_is_stale = false;
    if (tensor.buffer_handle == kTfLiteNullBufferHandle) tensor.delegate = nullptr;
  }
}

TfLiteStatus Delegation::Redo() {
  if (!undone_) return kTfLiteOk;
  undone_ = false;
  const std::vector<TfLiteDelegate*> handles = delegates_.applied_handles();
  delegates_.ClearApplied();
  for (TfLiteDelegate* handle : handles) {
    const TfLiteStatus status = Apply(handle);
    Commit();
    if (status == kTfLiteOk) continue;
    const bool is_hot = subgraph_->interpreter()->hot();
    FreeHandlesOfForgotten(is_hot ? std::span<TfLiteDelegate* const>(&handle, 1) : handles);
    if (!is_hot) {
      delegates_.Revise(kNotApplied);  // marks also the delegates after the failed one
      return status;
    }
    subgraph_->interpreter()->NoteDelegateSkipped();
  }
  return kTfLiteOk;
}

// Removes all delegates. If a delegate cannot copy an input back, the removal is completed
// nevertheless and returns the failure.
TfLiteStatus Delegation::Remove(const char* why) {
  SavedContents inputs;
  const TfLiteStatus read = ReadBackInputs(&inputs);
  RestorePlan();
  FreeHandlesOfRemoved();
  delegates_.ClearApplied();
  subgraph_->interpreter()->NoteDelegatesChanged();
  undone_ = false;
  delegates_.Revise(why);
  const TfLiteStatus status = subgraph_->Reallocate();
  if (status == kTfLiteOk) inputs.Restore(subgraph_->graph().tensors());
  return status == kTfLiteOk ? read : status;
}

TfLiteStatus Delegation::PropagateShapes() {
  const AppliedDelegates::Order& applied = delegates_.applied();
  const bool required =
      std::any_of(applied.begin(), applied.end(),
                  [](const AppliedDelegate* delegate) { return NeedsShapes(*delegate); });
  if (!required) return kTfLiteOk;
  // Kernels of the CPU cannot read the float16 tensors that delegates read.
  const WidenedInputs widened(&subgraph_->graph(), fp16_weights_, original_plan_);
  TF_LITE_ENSURE_STATUS(subgraph_->execution_plan().PropagateShapes(original_plan_));
  return layout_.PropagateShapes(original_plan_);
}

void Delegation::AddRunHooks(std::vector<RunHook>* hooks) const {
  for (const AppliedDelegate* delegate : delegates_.applied()) {
    const DeputyDelegatePlugin* const plugin =
        delegate->library == nullptr ? nullptr : delegate->library->plugin();
    if (plugin == nullptr || (plugin->run_start == nullptr && plugin->run_end == nullptr)) continue;
    const bool is_listed = std::any_of(hooks->begin(), hooks->end(), [&](const RunHook& hook) {
      return hook.delegate == delegate->inner;
    });
    if (!is_listed) hooks->push_back({delegate->inner, plugin});
  }
}

bool Delegation::CopiesConstants(int node_index) const {
  const AppliedDelegate* const delegate =
      delegates_.Find(subgraph_->graph().node(node_index)->delegate);
  if (delegate == nullptr || delegate->library == nullptr) return false;
  const DeputyDelegatePlugin* const plugin = delegate->library->plugin();
  return plugin != nullptr && (plugin->flags & kDeputyPluginCopiesConstants) != 0;
}

DeputyNodeLayout Delegation::LayoutOf(int node_index) const {
  const TfLiteNode& node = *subgraph_->graph().node(node_index);
  if (node.delegate != nullptr) {
    const bool is_same = TfLiteIntArrayEqual(ReplacedNodes(node), DescribedNodes(node)) != 0;
    return is_same ? kDeputyNodeOfModel : kDeputyNodeInNchw;
  }
  if (original_plan_.empty() || node_index < original_nodes_) return kDeputyNodeOfModel;
  if (subgraph_->graph_index().position(node_index) < 0) return kDeputyNodeAuxiliary;
  const bool is_nchw = layout_.parts().IsNchw(node.outputs->data[0]);
  return is_nchw ? kDeputyNodeToNchw : kDeputyNodeToNhwc;
}

uint64_t Delegation::Digest() const {
  uint64_t digest = GraphDigest(subgraph_->graph());
  for (const AppliedDelegate* delegate : delegates_.applied()) {
    digest = digest * 31 + reinterpret_cast<uintptr_t>(delegate->handle);
  }
  return digest;
}

// ---- Delegate mode ------------------------------------------------------------------------------

void Delegation::EnterDelegateMode() {
  if (mode_depth_++ == 0) SetContextMode(true);
}

void Delegation::LeaveDelegateMode() {
  if (mode_depth_ == 0) {
    if (Observer* observer = subgraph_->interpreter()->observer()) {
      observer->ReleasedTooOften(subgraph_);
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

}  // namespace deputy
