// SPDX-License-Identifier: Apache-2.0
#include "core/delegation/background_delegates.h"

#include <algorithm>
#include <utility>

#include "core/base/guard.h"
#include "core/delegation/delegation.h"

namespace deputy {
namespace {

constexpr size_t kMaxFailures = 16;  // shapes that could not be prepared and are remembered

bool IsBuiltInCode(Interpreter* interpreter) {
  for (int i = 0; i < interpreter->subgraph_count(); ++i) {
    if (interpreter->subgraph(i)->parts().built != nullptr) return true;
  }
  return false;
}

bool HasResources(const Interpreter& interpreter) {
  for (int i = 0; i < interpreter.subgraph_count(); ++i) {
    const std::span<const TfLiteTensor> tensors =
        std::as_const(interpreter.subgraph(i)->graph()).tensors();
    const bool any = std::any_of(tensors.begin(), tensors.end(), [](const TfLiteTensor& tensor) {
      return tensor.type == kTfLiteResource || tensor.type == kTfLiteVariant;
    });
    if (any) return true;
  }
  return false;
}

// Returns true if the tensor can use memory of another interpreter.
bool CanBePointed(const TfLiteTensor& tensor) {
  switch (tensor.allocation_type) {
    case kTfLiteArenaRw:
    case kTfLiteArenaRwPersistent:
    case kTfLiteCustom:
    case kTfLiteNonCpu:
      return true;
    default:
      return false;
  }
}

bool IsConstant(const TfLiteTensor& tensor) {
  return tensor.allocation_type == kTfLiteMmapRo || tensor.allocation_type == kTfLitePersistentRo;
}

// Copies variables from the devices of delegates to memory, which the client's tensors share.
void ReadVariables(Interpreter* interpreter) {
  for (int i = 0; i < interpreter->subgraph_count(); ++i) {
    Subgraph& subgraph = *interpreter->subgraph(i);
    for (const int variable : subgraph.graph().variables()) subgraph.EnsureReadable(variable);
  }
}

}  // namespace

BackgroundDelegates::BackgroundDelegates(Interpreter* owner, Settings settings,
                                         BackgroundTask::MakeInterpreter make)
    : owner_(owner), settings_(std::move(settings)), make_(std::move(make)) {
  Update();
}

BackgroundDelegates::~BackgroundDelegates() {
  if (current_ != nullptr) Guard(Ignore, [this] { ReadVariables(current()); });
  if (preparation_ == nullptr) return;
  const auto limit = settings_.time_limit;
  if (limit.count() == 0 || preparation_->WaitUntil(preparation_->begun() + limit)) {
    Guard(Ignore, [this] { preparation_->Take(); });
  } else {
    preparation_->Abandon();
  }
}

std::string BackgroundDelegates::RefusalOf(Interpreter* interpreter) {
  if (interpreter->background_plans() != nullptr || interpreter->HasDelegates()) {
    return "expected an interpreter without delegates, found some";
  }
  if (IsBuiltInCode(interpreter) || interpreter->model().desc().subgraphs.empty()) {
    return "expected the graph of a model, found one that was built or changed in code";
  }
  if (interpreter->needs_exact_tensors()) {
    return "expected no validation, which observes delegates on the client's thread";
  }
  if (HasResources(*interpreter)) {
    return "expected no resource variables or hash tables, which plans cannot share";
  }
  return "";
}

// ---- Preparations -------------------------------------------------------------------------------

std::vector<RootShapes> BackgroundDelegates::PresentShapes() const {
  std::vector<bool> is_root(static_cast<size_t>(owner_->subgraph_count()), false);
  is_root[0] = true;
  for (const SignatureDesc& signature : owner_->model().desc().signatures) {
    if (signature.subgraph_index < is_root.size()) is_root[signature.subgraph_index] = true;
  }
  std::vector<RootShapes> shapes;
  for (int i = 0; i < owner_->subgraph_count(); ++i) {
    const Subgraph& subgraph = *owner_->subgraph(i);
    if (!is_root[static_cast<size_t>(i)] || !subgraph.ready()) continue;
    RootShapes& root = shapes.emplace_back();
    root.subgraph = i;
    for (const int input : subgraph.graph().inputs()) {
      const std::span<const int> dims =
          input < 0 ? std::span<const int>()
                    : IndicesOf(subgraph.graph().tensors()[static_cast<size_t>(input)].dims);
      root.inputs.emplace_back(dims.begin(), dims.end());
    }
  }
  return shapes;
}

void BackgroundDelegates::BeginIfNeeded() {
  if (current_ != nullptr || preparation_ != nullptr || !time_out_.empty() || !failure_.empty())
    return;
  BackgroundTask task;
  task.shapes = PresentShapes();
  if (task.shapes.empty()) return;
  Trim(settings_.max_plans - 1, false);
  Trim(kMaxFailures - 1, true);
  task.make = make_;
  task.config = owner_->ConfigForBackground();
  task.delegates = settings_.delegates;
  for (int i = 0; i < owner_->subgraph_count(); ++i) {
    task.placed_nodes.push_back(DelegationOf(owner_->subgraph(i)).placed_nodes());
  }
  preparation_ = BackgroundPreparation::Begin(std::move(task));
  ++statistics_.preparations;
}

// Takes the result of a preparation that has ended, or gives up one that exceeds its time limit.
// Returns false if neither is the case.
bool BackgroundDelegates::Collect() {
  if (preparation_ == nullptr) return false;
  if (preparation_->is_done()) {
    TakeResult();
    return true;
  }
  const auto limit = settings_.time_limit;
  const auto now = BackgroundPreparation::Clock::now();
  if (limit.count() == 0 || now < preparation_->begun() + limit) return false;
  time_out_ = "it took longer than " + std::to_string(limit.count()) + " ms";
  preparation_->Abandon();
  preparation_.reset();
  ReportFailure(time_out_);
  return true;
}

void BackgroundDelegates::TakeResult() {
  std::list<Variant> taken(1);
  Variant& variant = taken.back();
  variant.shapes = preparation_->shapes();
  variant.plan = preparation_->Take();
  preparation_.reset();
  statistics_.prepared_in = variant.plan.duration;
  if (std::exchange(outdated_, false)) return;
  if (variant.plan.interpreter == nullptr) {
    ReportFailure(variant.plan.failure);
  } else {
    Adopt(&variant.plan);
  }
  variants_.splice(variants_.end(), taken);
}

// Connects the interpreter of a plan with the client's: its reports, listeners and external
// contexts, and the cancellation of inferences.
void BackgroundDelegates::Adopt(BackgroundPlan* plan) {
  if (!plan->reports->text().empty()) {
    owner_->reporter()->Report("%s", plan->reports->text().c_str());
  }
  plan->reports->PassTo(owner_->reporter());
  plan->interpreter->SetCancellationFunction(
      owner_, [](void* owner) { return static_cast<Interpreter*>(owner)->IsCancelled(); });
  owner_->ShareOpListeners(plan->interpreter.get());
  for (int i = 0; i < kTfLiteMaxExternalContexts; ++i) {
    const auto type = static_cast<TfLiteExternalContextType>(i);
    if (TfLiteExternalContext* const external = owner_->external_context(type)) {
      plan->interpreter->set_external_context(type, external);
    }
  }
}

void BackgroundDelegates::ReportFailure(const std::string& text) {
  if (owner_->hot()) owner_->NoteDelegateSkipped();
  owner_->reporter()->Report(
      "A delegate could not be prepared in the background, the CPU runs the model: %s",
      text.c_str());
}

void BackgroundDelegates::Trim(size_t count, bool failed) {
  const auto counts = [&](const Variant& variant) {
    return failed == (variant.plan.interpreter == nullptr);
  };
  auto kept = static_cast<size_t>(std::count_if(variants_.begin(), variants_.end(), counts));
  for (; kept > count; --kept) {
    variants_.erase(std::find_if(variants_.begin(), variants_.end(), counts));
  }
}

size_t BackgroundDelegates::plan_count() const {
  return static_cast<size_t>(
      std::count_if(variants_.begin(), variants_.end(),
                    [](const Variant& variant) { return variant.plan.interpreter != nullptr; }));
}

// ---- Selection ----------------------------------------------------------------------------------

void BackgroundDelegates::Update() noexcept {
  Guard(Ignore, [this] {
    Collect();
    SelectVariant();
    BeginIfNeeded();
  });
}

void BackgroundDelegates::PrepareAgain() noexcept {
  if (current_ != nullptr) Guard(Ignore, [this] { ReadVariables(current()); });
  current_ = nullptr;
  failure_.clear();
  variants_.clear();
  outdated_ = preparation_ != nullptr;
}

void BackgroundDelegates::SelectVariant() {
  current_ = nullptr;
  failure_ = IsBuiltInCode(owner_) ? "the graph was changed in code" : "";
  if (!failure_.empty()) return;
  const std::vector<RootShapes> shapes = PresentShapes();
  const auto found = std::find_if(variants_.begin(), variants_.end(),
                                  [&](const Variant& known) { return known.shapes == shapes; });
  if (found == variants_.end()) return;
  variants_.splice(variants_.end(), variants_, found);
  Variant& variant = variants_.back();
  if (variant.plan.interpreter != nullptr) {
    variant.plan.failure = ShareTensors(&variant);
    if (!variant.plan.failure.empty()) ReportFailure(variant.plan.failure);
  }
  failure_ = variant.plan.failure;
  if (failure_.empty()) current_ = &variant;
}

// Lists the tensors that share memory with the client's. Returns the reason if one cannot.
std::string BackgroundDelegates::ShareTensors(Variant* variant) const {
  variant->shared.clear();
  for (const RootShapes& root : variant->shapes) {
    const Graph& graph = owner_->subgraph(root.subgraph)->graph();
    for (const std::vector<int>* tensors : {&graph.inputs(), &graph.outputs()}) {
      for (const int tensor : *tensors) {
        std::string problem = ShareTensor({root.subgraph, tensor}, variant);
        if (!problem.empty()) return problem;
      }
    }
  }
  for (int i = 0; i < owner_->subgraph_count(); ++i) {
    SubgraphParts& parts = owner_->subgraph(i)->parts();
    for (int tensor = 0; tensor < parts.graph.tensor_count(); ++tensor) {
      const bool is_shared =
          parts.graph.tensor(tensor)->is_variable || parts.custom_allocations.Has(tensor);
      if (!is_shared || parts.graph.tensor(tensor)->data.raw == nullptr) continue;
      std::string problem = ShareTensor({i, tensor}, variant);
      if (!problem.empty()) return problem;
    }
  }
  return "";
}

std::string BackgroundDelegates::ShareTensor(const TensorIndex& index, Variant* variant) const {
  const TfLiteTensor* const ours = owner_->subgraph(index.subgraph)->graph().tensor(index.tensor);
  const TfLiteTensor* const other =
      variant->plan.interpreter->subgraph(index.subgraph)->graph().tensor(index.tensor);
  if (ours == nullptr || other == nullptr) return "";
  if (IsConstant(*ours) && IsConstant(*other)) return "";
  const bool same_shape = ours->type == other->type && ours->bytes == other->bytes &&
                          TfLiteIntArrayEqual(ours->dims, other->dims) != 0;
  if (!same_shape || !CanBePointed(*ours) || !CanBePointed(*other)) {
    return "subgraph " + std::to_string(index.subgraph) + ": tensor " +
           std::to_string(index.tensor) + " '" + NameOf(*ours) + "': expected " +
           (same_shape ? "a static tensor, found a dynamic one"
                       : "the type and shape of the CPU's plan, found others");
  }
  if (ours->bytes > 0) variant->shared.push_back(index);
  return "";
}

// Gives the shared tensors the memory that the client's have now. Returns false if one has none.
bool BackgroundDelegates::PointTensors(Variant* variant) const {
  for (const TensorIndex& index : variant->shared) {
    const TfLiteTensor& ours = *owner_->subgraph(index.subgraph)->graph().tensor(index.tensor);
    Subgraph& subgraph = *variant->plan.interpreter->subgraph(index.subgraph);
    if (subgraph.graph().tensor(index.tensor)->data.raw == ours.data.raw) continue;
    const TfLiteCustomAllocation memory = {ours.data.raw, ours.bytes};
    const TfLiteStatus status = subgraph.SetCustomAllocation(
        index.tensor, memory, kTfLiteCustomAllocationFlagsSkipAlignCheck);
    if (status != kTfLiteOk) return false;
  }
  return true;
}

Interpreter* BackgroundDelegates::Select(const Subgraph& subgraph) {
  if (Collect()) Update();
  const bool has_subgraph =
      current_ != nullptr &&
      std::any_of(current_->shapes.begin(), current_->shapes.end(),
                  [&](const RootShapes& root) { return root.subgraph == subgraph.index(); });
  bool can_run = has_subgraph;
  for (const int input : subgraph.graph().inputs()) {
    can_run = can_run && owner_->subgraph(subgraph.index())->EnsureReadable(input) == kTfLiteOk;
  }
  if (!can_run || !PointTensors(current_)) {
    ++statistics_.cpu_inferences;
    return nullptr;
  }
  ++statistics_.delegate_inferences;
  if (statistics_.first_inference == 0) statistics_.first_inference = owner_->inference();
  return current();
}

bool BackgroundDelegates::Wait(std::chrono::milliseconds timeout) {
  using Clock = BackgroundPreparation::Clock;
  // A year means no limit: later times can overflow in the standard library.
  constexpr std::chrono::hours kYear(24 * 365);
  const Clock::time_point end =
      Clock::now() + (timeout.count() < 0 ? kYear : std::min<Clock::duration>(timeout, kYear));
  Update();
  while (current_ == nullptr && preparation_ != nullptr) {
    Clock::time_point until = end;
    if (settings_.time_limit.count() > 0) {
      until = std::min(until, preparation_->begun() + settings_.time_limit);
    }
    preparation_->WaitUntil(until);
    const bool was_collected = Collect();
    Update();
    if (!was_collected && Clock::now() >= end) return false;
  }
  return true;
}

BackgroundDelegates::State BackgroundDelegates::state() const {
  if (current_ != nullptr) return State::kActive;
  if (!time_out_.empty()) return State::kTimedOut;
  if (!failure_.empty()) return State::kFailed;
  if (preparation_ == nullptr) return State::kWaiting;
  return preparation_->is_done() && preparation_->shapes() == PresentShapes() ? State::kReady
                                                                              : State::kPreparing;
}

const char* BackgroundDelegates::failure() const {
  return state() == State::kTimedOut ? time_out_.c_str() : failure_.c_str();
}

// ---- Listeners ----------------------------------------------------------------------------------

void BackgroundDelegates::AddOpListener(OpListener* listener) {
  for (Variant& variant : variants_) {
    if (variant.plan.interpreter != nullptr) variant.plan.interpreter->AddOpListener(listener);
  }
}

void BackgroundDelegates::RemoveOpListener(OpListener* listener) noexcept {
  for (Variant& variant : variants_) {
    if (variant.plan.interpreter != nullptr) variant.plan.interpreter->RemoveOpListener(listener);
  }
}

}  // namespace deputy
