// SPDX-License-Identifier: Apache-2.0
#include "core/exec/interpreter_state.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <thread>

#include "core/model/control_edges.h"

namespace deputy {

InterpreterState::InterpreterState(std::shared_ptr<const Model> model,
                                   const InterpreterConfig& config)
    : model_(std::move(model)),
      reporter_(config.reporter),
      cancellation_(config.cancellation),
      arithmetic_(config.arithmetic),
      precision_(config.precision),
      fusion_(config.fusion),
      hot_(config.hot),
      delegate_retry_(config.delegate_retry),
      max_plans_(config.max_plans),
      verification_(config.verification),
      limits_(config.limits),
      pool_(config.pool),
      packed_constants_(model_->SharePackedConstants()) {
  for (const InterpreterConfig::MakeObserver& make : config.make_observers) {
    own_observers_.push_back(make(this));
    observers_.Add(own_observers_.back().get());
  }
}

InterpreterState::~InterpreterState() = default;

void InterpreterState::AttachMetadata() {
  metadata_attached_ = true;
  if (const auto* edges = FindMetadata(kControlDependenciesMetadata)) {
    ParseControlEdges(*edges, model_->desc().subgraphs.size(), &control_edges_);
  }
}

ThreadPool& InterpreterState::pool() {
  if (pool_ == nullptr) {
    const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    pool_ = std::make_shared<ThreadPool>(std::min(num_threads_, cores));
  }
  if (single_thread_pool_ == nullptr) single_thread_pool_ = std::make_unique<ThreadPool>(1);
  // Prepare announces memory for all threads, whichever pool later runs the nodes.
  return runs_alone_ && allocation_depth_ == 0 ? *single_thread_pool_ : *pool_;
}

InterpreterState::TimedInference::TimedInference(InterpreterState* interpreter)
    : interpreter_(interpreter) {
  const bool shares =
      interpreter->single_thread_pool_ != nullptr && interpreter->pool_->threads() > 1;
  if (!shares || interpreter->needs_exact_tensors() || interpreter->timed_) {
    interpreter_ = nullptr;
    return;
  }
  interpreter->timed_ = true;
  interpreter->runs_alone_ = interpreter->help_trial_.alone();
  began_ = ThreadPool::SteadyClock();
}

InterpreterState::TimedInference::~TimedInference() {
  if (interpreter_ == nullptr) return;
  const HelpTrial::Time now = ThreadPool::SteadyClock();
  interpreter_->help_trial_.Ended(now, now - began_);
  interpreter_->runs_alone_ = interpreter_->timed_ = false;
}

void InterpreterState::MarkSkippable(int subgraph) {
  if (skippable(subgraph)) return;
  marked_skippable_.resize(subgraphs_.size());
  skippable_.push_back(subgraph);
  marked_skippable_[static_cast<size_t>(subgraph)] = true;
}

bool InterpreterState::skippable(int subgraph) const {
  return !marked_skippable_.empty() && marked_skippable_[static_cast<size_t>(subgraph)];
}

void InterpreterState::KeepSkippable(size_t count) {
  for (; skippable_.size() > count; skippable_.pop_back()) {
    marked_skippable_[static_cast<size_t>(skippable_.back())] = false;
  }
}

const std::vector<PartitionGraph::ControlEdge>* InterpreterState::ControlEdges(int subgraph) const {
  return control_edges_.empty() ? nullptr : &control_edges_[subgraph];
}

TfLiteStatus InterpreterState::Cancel() {
  if (!cancellation_) return kTfLiteError;
  cancel_requested_.store(true, std::memory_order_release);
  return kTfLiteOk;
}

TfLiteStatus InterpreterState::CheckCancellation() {
  if (!TakeCancellation()) return kTfLiteOk;
  return Fail(&reporter_, kTfLiteCancelled, "Client requested cancel during %s()",
              cancellable_call_);
}

void InterpreterState::SaveVariablesOf(Subgraph* subgraph) {
  for (NodeFallback* fallback : restartable_) fallback->SaveVariablesOf(subgraph);
}

bool InterpreterState::EnterSubgraph() {
  // The outermost subgraph does not count as a call.
  if (call_depth_ > limits_.max_call_depth) {
    reporter_.Report("Subgraphs call each other too deeply: expected at most %d calls",
                     limits_.max_call_depth);
    return false;
  }
  ++call_depth_;
  return true;
}

const std::span<const uint8_t>* InterpreterState::FindMetadata(const char* name) const {
  if (!metadata_attached_) return nullptr;
  for (const MetadataDesc& entry : model_->desc().metadata) {
    if (strcmp(entry.name, name) == 0) return &entry.data;
  }
  return nullptr;
}

PackedConstants* InterpreterState::PackedConstantsOf(const void* data) {
  const std::span<const uint8_t> file = model_->bytes();
  const auto* const at = static_cast<const uint8_t*>(data);
  const bool inside =
      std::less_equal<>()(file.data(), at) && std::less<>()(at, file.data() + file.size());
  return inside || packed_constants_->Contains(data) ? packed_constants_.get() : nullptr;
}

TfLiteExternalContext* InterpreterState::external_context(TfLiteExternalContextType type) const {
  return type >= 0 && type < kTfLiteMaxExternalContexts ? external_contexts_[type] : nullptr;
}

void InterpreterState::set_external_context(TfLiteExternalContextType type,
                                            TfLiteExternalContext* context) {
  if (type >= 0 && type < kTfLiteMaxExternalContexts) external_contexts_[type] = context;
}

}  // namespace deputy
