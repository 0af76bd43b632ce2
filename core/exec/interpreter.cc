// SPDX-License-Identifier: Apache-2.0
#include "core/exec/interpreter.h"

#include <algorithm>
#include <span>
#include <utility>

#include "core/base/guard.h"
#include "core/base/saved_contents.h"
#include "core/exec/builder.h"
#include "core/exec/context.h"
#include "core/exec/copied_constants.h"
#include "core/exec/graph_builder.h"
#include "core/model/model_limits.h"

namespace deputy {

namespace {

void SaveTensors(const Graph& graph, std::span<const int> tensors, SavedContents* contents) {
  for (const int tensor : tensors) {
    if (tensor >= 0) contents->Save(tensor, graph.tensors()[static_cast<size_t>(tensor)]);
  }
}

}  // namespace

Interpreter::Interpreter(std::shared_ptr<const Model> model, const InterpreterConfig& config)
    : InterpreterState(std::move(model), config),
      signatures_(&InterpreterState::model().desc().signatures) {}

// Subgraphs use the reporter and runners refer to subgraphs, so the order of destruction is
// runners, subgraphs, base class.
Interpreter::~Interpreter() {
  background_plans_.reset();
  signature_runners_.clear();
  for (size_t i = 0; i < subgraphs_.size(); ++i) {
    subgraphs_[i].reset();
    ForgetSubgraph(static_cast<int>(i));
  }
}

// The timer stays in the list of observers, since an operator may be running.
void Interpreter::AddOpListener(OpListener* listener) {
  timer_.Remove(listener);
  timer_.Add(listener);
  if (!observes_timer_) observers().Add(&timer_);
  observes_timer_ = true;
  if (background_plans_ != nullptr) background_plans_->AddOpListener(listener);
}

void Interpreter::RemoveOpListener(OpListener* listener) noexcept {
  timer_.Remove(listener);
  if (background_plans_ != nullptr) background_plans_->RemoveOpListener(listener);
}

void Interpreter::ShareOpListeners(Interpreter* with) const {
  for (OpListener* const listener : timer_.listeners()) {
    if (listener != nullptr) with->AddOpListener(listener);
  }
}

std::unique_ptr<Interpreter> Interpreter::Create(std::shared_ptr<const Model> model,
                                                 const InterpreterConfig& config,
                                                 OpResolver* resolver) {
  std::unique_ptr<Interpreter> interpreter(new Interpreter(std::move(model), config));
  return interpreter->Build(config, resolver) == kTfLiteOk ? std::move(interpreter) : nullptr;
}

std::unique_ptr<Interpreter> Interpreter::Create(std::shared_ptr<const Model> model,
                                                 const InterpreterConfig& config,
                                                 std::vector<ResolvedOperator> operators,
                                                 OpResolver* resolver) {
  std::unique_ptr<Interpreter> interpreter(new Interpreter(std::move(model), config));
  interpreter->operators_ = std::move(operators);
  return interpreter->Build(config, resolver) == kTfLiteOk ? std::move(interpreter) : nullptr;
}

TfLiteStatus Interpreter::Build(const InterpreterConfig& config, OpResolver* resolver) {
  const ModelDesc& desc = model().desc();
  // The model was loaded under limits that may differ from the interpreter's.
  const std::string exceeded = FindExceededLimit(desc.counts, config.limits);
  if (!exceeded.empty()) {
    return Fail(reporter(), kTfLiteError, "The model exceeds the limits of the interpreter; %s",
                exceeded.c_str());
  }
  if (operators_.empty() &&
      ResolveOperators(desc, resolver, reporter(), &operators_) != kTfLiteOk) {
    return kTfLiteError;
  }
  // All subgraphs must exist before any kernel's init runs, since an init may access another one.
  for (const SubgraphDesc& subgraph : desc.subgraphs) AddSubgraph(&subgraph);
  for (size_t i = 0; i < desc.subgraphs.size(); ++i) {
    if (BuildSubgraph(desc, desc.subgraphs[i], operators_, resolver, subgraphs_[i].get()) !=
        kTfLiteOk) {
      return kTfLiteError;
    }
  }
  AttachMetadata();
  SetNumThreads(config.num_threads);
  return kTfLiteOk;
}

std::unique_ptr<Interpreter> Interpreter::CreateEmpty(const InterpreterConfig& config) {
  std::unique_ptr<Interpreter> interpreter(new Interpreter(Model::Empty(), config));
  if (interpreter->AddSubgraphs(1, nullptr) != kTfLiteOk) return nullptr;
  interpreter->AttachMetadata();
  interpreter->SetNumThreads(config.num_threads);
  return interpreter;
}

void Interpreter::AddSubgraph(const SubgraphDesc* desc) {
  subgraphs_.reserve(subgraphs_.size() + 1);
  auto subgraph =
      std::make_unique<Subgraph>(this, subgraph_count(), desc, config().make_delegate_parts);
  InterpreterState::AddSubgraph(subgraph.get(), &callees_.emplace_back(subgraph.get()));
  InitContext(subgraph.get());
  subgraphs_.push_back(std::move(subgraph));
}

TfLiteStatus Interpreter::AddSubgraphs(int count, int* out_first_index) {
  const int first = subgraph_count();
  if (count < 0 || count > limits().max_subgraphs - first) {
    return Fail(reporter(), kTfLiteError,
                "Cannot add %d subgraphs to %d: expected at most %d in all", count, first,
                limits().max_subgraphs);
  }
  for (int i = 0; i < count; ++i) {
    AddSubgraph(&empty_desc_);
    Subgraph& added = *subgraphs_.back();
    added.context()->recommended_num_threads = primary().context()->recommended_num_threads;
    GraphBuilder(&added).Begin();
  }
  if (out_first_index != nullptr) *out_first_index = first;
  return kTfLiteOk;
}

TfLiteStatus Interpreter::SetNumThreads(int num_threads) {
  if (num_threads < -1) {
    return Fail(reporter(), kTfLiteError,
                "num_threads should be >=0 or just -1 to let TFLite runtime set the value.");
  }
  const int count = num_threads == 0 ? 1 : num_threads;
  for (auto& subgraph : subgraphs_) subgraph->context()->recommended_num_threads = count;
  TfLiteStatus status = kTfLiteOk;
  if (threads().SetCount(std::max(count, 1))) {
    if (background_plans_ != nullptr) background_plans_->PrepareAgain();
    // Nodes are prepared for a number of threads.
    for (auto& subgraph : subgraphs_) {
      const TfLiteStatus prepared = subgraph->PrepareAgain();
      if (status == kTfLiteOk) status = prepared;
    }
  }
  for (int type = 0; type < kTfLiteMaxExternalContexts; ++type) {
    TfLiteExternalContext* const external =
        external_context(static_cast<TfLiteExternalContextType>(type));
    if (external == nullptr || external->Refresh == nullptr) continue;
    Guard(Ignore, [&] { external->Refresh(primary().context()); });
  }
  return status;
}

void Interpreter::ReleaseMemory() {
  for (auto& subgraph : subgraphs_) subgraph->ReleaseMemory();
}

size_t Interpreter::MemoryUse() const {
  auto& self = const_cast<Interpreter&>(*this);
  size_t bytes =
      self.scratch().bytes() + self.node_constants().bytes() + packed_constants().bytes();
  for (const auto& subgraph : subgraphs_) {
    const MemoryLayout& memory = subgraph->execution_plan().memory();
    bytes += memory.arena().bytes() + memory.persistent().bytes() + subgraph->plans().idle_bytes();
  }
  return bytes + shared_states_.bytes();
}

void Interpreter::ReleaseIdleMemory() {
  if (Interpreter* const other = running(); other != this) other->ReleaseIdleMemory();
  for (auto& subgraph : subgraphs_) subgraph->ReleaseIdleMemory();
  scratch().Free();
  const auto can_prepare = [](const auto& subgraph) { return subgraph->CanPrepareUnnoticed(); };
  if (!std::all_of(subgraphs_.begin(), subgraphs_.end(), can_prepare)) return;
  ReleasePackedConstants();
  must_prepare_ = true;
}

// Prepares the subgraphs whose packed constants were released. Cancellation is deferred: a
// subgraph that is not prepared could not run again.
TfLiteStatus Interpreter::PrepareReleased() {
  if (!std::exchange(must_prepare_, false)) return kTfLiteOk;
  const CancelScope uninterrupted(this, nullptr);
  TfLiteStatus status = kTfLiteOk;
  for (auto& subgraph : subgraphs_) {
    const TfLiteStatus prepared = subgraph->PrepareAgain();
    if (status == kTfLiteOk) status = prepared;
  }
  return status;
}

Subgraph* Interpreter::FindOwner(const TfLiteTensor* tensor) const {
  for (const auto& subgraph : subgraphs_) {
    if (subgraph->graph().IndexOf(tensor) >= 0) return subgraph.get();
  }
  return nullptr;
}

TfLiteStatus Interpreter::AllocateTensors() {
  TF_LITE_ENSURE_STATUS(EnterCall("AllocateTensors"));
  return AllocateTensors(&primary());
}

TfLiteStatus Interpreter::Invoke(bool allow_stale_outputs) {
  TF_LITE_ENSURE_STATUS(EnterCall(kInvokeCall));
  return Invoke(&primary(), allow_stale_outputs);
}

TfLiteStatus Interpreter::AllocateTensors(Subgraph* subgraph) {
  TF_LITE_ENSURE_STATUS(subgraph->CheckNotRunning("AllocateTensors"));
  if (IsOutermostCall()) ArmCancellation();
  const CancelScope cancellable(this, "AllocateTensors");
  OpenWeightFile();
  const TfLiteStatus status = subgraph->AllocateTensors();
  if (status == kTfLiteOk) Guard(Ignore, [&] { SaveWeightFile(); });
  if (status == kTfLiteOk && IsOutermostCall()) ReleaseConstantsOfDelegates();
  if (status == kTfLiteOk && background_plans_ != nullptr && IsOutermostCall()) {
    background_plans_->Update();
  }
  return status;
}

// Releases constants that applied delegates have copied, if the delegates have changed since the
// last call.
void Interpreter::ReleaseConstantsOfDelegates() {
  if (TakeNewDelegates()) set_released_constants(ReleaseCopiedConstants(subgraphs_));
}

Interpreter* Interpreter::running() const {
  Interpreter* const other = background_plans_ == nullptr ? nullptr : background_plans_->current();
  return other != nullptr ? other : const_cast<Interpreter*>(this);
}

InterpreterConfig Interpreter::ConfigForBackground() {
  InterpreterConfig copy = config();
  copy.reporter = ErrorReporter();
  copy.make_observers.clear();
  copy.num_threads = primary().context()->recommended_num_threads;
  copy.pool = threads().shared_pool();
  return copy;
}

// Runs a subgraph by this interpreter's plan, or by one that another thread has prepared.
TfLiteStatus Interpreter::RunSubgraph(Subgraph* subgraph, bool allow_stale_outputs,
                                      bool outermost) {
  if (outermost && background_plans_ != nullptr && subgraph->ready()) {
    TF_LITE_ENSURE_STATUS(subgraph->CheckInvokable());
    Interpreter* const other = background_plans_->Select(*subgraph);
    if (other != nullptr) return RunInstead(subgraph, other);
  }
  const auto run = [&] {
    // The inference is not timed if an observer needs exact tensors, since it must see the
    // requested number of threads.
    const InterpreterThreads::TimedInference timed(needs_exact_tensors() ? nullptr : &threads());
    return subgraph->Invoke(allow_stale_outputs);
  };
  return outermost ? run_hooks_.Around(subgraph, run) : run();
}

// Runs the other interpreter's subgraph, which polls this interpreter for cancellation.
TfLiteStatus Interpreter::RunInstead(Subgraph* subgraph, Interpreter* other) {
  const CallDepth depth(this);
  const SubgraphRun running(&subgraph->parts());
  const TfLiteStatus status = other->Invoke(other->subgraph(subgraph->index()), false);
  return status != kTfLiteOk && TakeCancellation() ? kTfLiteCancelled : status;
}

TfLiteStatus Interpreter::Invoke(Subgraph* subgraph, bool allow_stale_outputs) {
  TF_LITE_ENSURE_STATUS(subgraph->CheckNotRunning(kInvokeCall));
  // A kernel of the client may run another subgraph; that call is part of the inference.
  if (IsOutermostCall()) ArmCancellation();
  return InvokeArmed(subgraph, allow_stale_outputs);
}

TfLiteStatus Interpreter::InvokeArmed(Subgraph* subgraph, bool allow_stale_outputs) {
  const bool outermost = IsOutermostCall();
  const CancelScope cancellable(this, kInvokeCall);
  if (outermost) TF_LITE_ENSURE_STATUS(PrepareReleased());
  if (outermost && subgraph->ready()) {
    CountInference();
    TF_LITE_ENSURE_STATUS(shared_states_.BeginRun(subgraph));
  }
  const TfLiteStatus status = RunSubgraph(subgraph, allow_stale_outputs, outermost);
  if (outermost && status == kTfLiteOk) shared_states_.EndRun(subgraph);
  return outermost ? ClientStatus(status) : status;
}

TfLiteStatus Interpreter::InvokeDelegateNode(Subgraph* subgraph, int node_index) {
  TF_LITE_ENSURE_STATUS(subgraph->CheckNotRunning("InvokeNode"));
  ArmCancellation();
  const CancelScope cancellable(this, kInvokeCall);
  TF_LITE_ENSURE_STATUS(PrepareReleased());
  if (subgraph->ready()) TF_LITE_ENSURE_STATUS(shared_states_.BeginRun(subgraph));
  const auto run = [&] { return subgraph->InvokeDelegateNode(node_index); };
  return ClientStatus(run_hooks_.Around(subgraph, run));
}

TfLiteStatus Interpreter::ResetVariableTensors() {
  TF_LITE_ENSURE_STATUS(run_gate()->Check("ResetVariableTensors"));
  for (auto& subgraph : subgraphs_) {
    if (subgraph->ResetVariableTensors() != kTfLiteOk) return kTfLiteError;
  }
  return kTfLiteOk;
}

TfLiteStatus Interpreter::ModifyGraphWithDelegate(TfLiteDelegate* delegate) {
  return ApplyOrUndo(std::vector<bool>(subgraphs_.size(), true), delegate);
}

TfLiteStatus Interpreter::ModifySubgraphsWithDelegate(TfLiteDelegate* delegate,
                                                      std::span<const int> subgraphs) {
  if (subgraphs.empty()) {
    return Fail(reporter(), kTfLiteApplicationError, "Active subgraph indices must not be empty.");
  }
  std::vector<bool> active(subgraphs_.size(), false);
  for (int index : subgraphs) {
    if (index < 0 || index >= subgraph_count()) {
      return Fail(reporter(), kTfLiteApplicationError, "Active subgraph index %d is out of range.",
                  index);
    }
    active[static_cast<size_t>(index)] = true;
  }
  return ApplyOrUndo(active, delegate);
}

TfLiteStatus Interpreter::ApplyOrUndo(const std::vector<bool>& subgraphs,
                                      TfLiteDelegate* delegate) {
  TF_LITE_ENSURE_STATUS(EnterCall("ModifyGraphWithDelegate"));
  // A callback's kernel may be among the nodes that the delegate would replace.
  if (is_running()) {
    return Fail(reporter(), kTfLiteError, "%s: expected an interpreter that does not run",
                "ModifyGraphWithDelegate");
  }
  if (background_plans_ != nullptr) {
    return Fail(reporter(), kTfLiteApplicationError,
                "ModifyGraphWithDelegate: expected no delegates in the background, found some; "
                "remove them before");
  }
  const TfLiteStatus status = ApplyTo(subgraphs, delegate);
  if (status == kTfLiteOk) ReleaseConstantsOfDelegates();
  if (hot()) {
    if (status != kTfLiteOk) NoteDelegateSkipped();
    for (auto& subgraph : subgraphs_) {
      if (status != kTfLiteOk) subgraph->delegation().Rollback();
      subgraph->delegation().Commit();
    }
    return status;
  }
  if (status != kTfLiteDelegateError) return status;
  const TfLiteStatus removed =
      RemoveAllDelegates("removed with all others when a delegate could not be applied");
  return removed == kTfLiteOk ? status : removed;
}

TfLiteStatus Interpreter::ApplyTo(const std::vector<bool>& subgraphs, TfLiteDelegate* delegate) {
  for (size_t i = 0; i < subgraphs.size(); ++i) {
    Subgraph& subgraph = *subgraphs_[i];
    const bool is_offered =
        subgraphs[i] && subgraph.is_for_delegates() && !skippable().Has(subgraph.index());
    if (!is_offered) continue;
    const TfLiteStatus status = subgraph.delegation().Apply(delegate);
    if (status != kTfLiteOk) return status;
  }
  return kTfLiteOk;
}

TfLiteStatus Interpreter::RemoveAppliedDelegates(const char* why) {
  background_plans_.reset();
  TfLiteStatus first_failure = kTfLiteOk;
  for (auto& subgraph : subgraphs_) {
    if (!subgraph->delegation().any_applied()) continue;
    const TfLiteStatus status = subgraph->delegation().Remove(why);
    if (first_failure == kTfLiteOk) first_failure = status;
  }
  return first_failure;
}

// Applies each delegate to the subgraphs that list it, in the order of the lists.
TfLiteStatus Interpreter::ApplyLists(const AppliedLists& lists) {
  std::vector<TfLiteDelegate*> order;
  for (const auto& list : lists) {
    for (TfLiteDelegate* const delegate : list) {
      if (std::find(order.begin(), order.end(), delegate) == order.end()) order.push_back(delegate);
    }
  }
  for (TfLiteDelegate* const delegate : order) {
    std::vector<bool> users;
    for (const auto& list : lists) {
      users.push_back(std::find(list.begin(), list.end(), delegate) != list.end());
    }
    const TfLiteStatus status = ApplyOrUndo(users, delegate);
    if (status != kTfLiteOk) return status;
  }
  return kTfLiteOk;
}

TfLiteStatus Interpreter::ReplaceDelegate(TfLiteDelegate* old_delegate,
                                          TfLiteDelegate* new_delegate) {
  AppliedLists before;
  bool is_applied = false;
  for (const auto& subgraph : subgraphs_) {
    const auto& list = before.emplace_back(subgraph->delegation().applied());
    is_applied = is_applied || std::find(list.begin(), list.end(), old_delegate) != list.end();
  }
  if (!is_applied || new_delegate == nullptr) {
    return Fail(reporter(), kTfLiteApplicationError,
                "ReplaceDelegate: expected an applied delegate and a new one, found %s",
                is_applied ? "NULL" : "one that is not applied");
  }
  AppliedLists after = before;
  for (auto& list : after) std::replace(list.begin(), list.end(), old_delegate, new_delegate);
  std::vector<SavedContents> contents(subgraphs_.size());
  for (size_t i = 0; i < subgraphs_.size(); ++i) {
    Subgraph& subgraph = *subgraphs_[i];
    // A variable may be on the device of a delegate that is removed.
    for (const int variable : subgraph.graph().variables()) {
      TF_LITE_ENSURE_STATUS(subgraph.EnsureReadable(variable));
    }
    SaveTensors(subgraph.graph(), subgraph.graph().variables(), &contents[i]);
  }
  TfLiteStatus status = RemoveAppliedDelegates("replaced by another delegate");
  for (size_t i = 0; i < subgraphs_.size(); ++i) {
    SaveTensors(subgraphs_[i]->graph(), subgraphs_[i]->graph().inputs(), &contents[i]);
  }
  if (status == kTfLiteOk) status = ApplyLists(after);
  if (status != kTfLiteOk) {
    (void)RemoveAppliedDelegates("rolled back: another delegate could not replace this one");
    (void)ApplyLists(before);
  }
  for (size_t i = 0; i < subgraphs_.size(); ++i) {
    contents[i].Restore(subgraphs_[i]->graph().tensors());
  }
  return status;
}

TfLiteStatus Interpreter::RemoveAllDelegates(const char* why) {
  background_plans_.reset();
  TfLiteStatus first_failure = kTfLiteOk;
  for (auto& subgraph : subgraphs_) {
    const TfLiteStatus status = subgraph->delegation().Remove(why);
    if (first_failure == kTfLiteOk) first_failure = status;
  }
  return first_failure;
}

TfLiteStatus Interpreter::FallBackToCpu() {
  Subgraph& graph = primary();
  // Removing delegates plans the memory again, so the caller's inputs are saved and restored.
  // Inputs on a device are read back when their delegate is removed.
  SavedContents inputs;
  for (int index : graph.graph().inputs()) {
    const TfLiteTensor* tensor = graph.graph().tensor(index);
    if (tensor == nullptr || tensor->allocation_type != kTfLiteArenaRw) continue;
    if (!tensor->data_is_stale) inputs.Save(index, *tensor);
  }
  const TfLiteStatus removed = RemoveAllDelegates("removed by the CPU fallback");
  if (removed != kTfLiteOk) return removed;
  graph.Restore(inputs);
  const TfLiteStatus status = InvokeArmed(&graph, false);
  return status == kTfLiteOk ? kTfLiteDelegateError : status;
}

bool Interpreter::HasDelegates() const {
  return running() != this ||
         std::any_of(subgraphs_.begin(), subgraphs_.end(),
                     [](const auto& subgraph) { return subgraph->delegation().any_applied(); });
}

SignatureRunner* Interpreter::GetSignatureRunner(const char* key) {
  const SignatureDesc* const wanted =
      key != nullptr ? signatures_.Find(key) : signatures_.FindOver(0);
  if (wanted == nullptr && (key != nullptr || signatures_.count() > 0)) {
    reporter()->Report(key != nullptr ? "The model has no signature '%s'"
                                      : "The model has no signature over its first subgraph%s",
                       key != nullptr ? key : "");
    return nullptr;
  }
  std::unique_ptr<SignatureRunner>& runner = signature_runners_[wanted];
  if (runner == nullptr) {
    runner = wanted == nullptr ? std::make_unique<SignatureRunner>(&primary())
                               : std::make_unique<SignatureRunner>(
                                     subgraphs_[wanted->subgraph_index].get(), *wanted);
  }
  return runner.get();
}

}  // namespace deputy
