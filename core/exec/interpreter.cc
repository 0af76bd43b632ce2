// SPDX-License-Identifier: Apache-2.0
#include "core/exec/interpreter.h"

#include <algorithm>
#include <cstring>
#include <thread>

#include "core/exec/builder.h"
#include "core/model/control_edges.h"
#include "core/model/model_limits.h"

namespace deputy {

Interpreter::Interpreter(std::shared_ptr<const Model> model, const InterpreterConfig& config)
    : model_(std::move(model)),
      reporter_(config.reporter),
      cancellation_(config.cancellation),
      arithmetic_(config.arithmetic),
      hot_(config.hot),
      delegate_retry_(config.delegate_retry),
      limits_(config.limits),
      pool_(config.pool),
      call_observers_(config.limits.max_call_depth) {
  if (config.make_observer) observer_ = config.make_observer(this);
  call_observers_.SetObserver(observer_.get());
}

// Subgraphs report through the reporter while they go, so they go first; runners refer to them.
Interpreter::~Interpreter() {
  signature_runners_.clear();
  for (auto& subgraph : subgraphs_) subgraph.reset();
}

std::unique_ptr<Interpreter> Interpreter::Create(std::shared_ptr<const Model> model,
                                                 const InterpreterConfig& config,
                                                 OpResolver* resolver) {
  std::unique_ptr<Interpreter> interpreter(new Interpreter(std::move(model), config));
  const ModelDesc& desc = interpreter->model_->desc();
  // The model was loaded under limits of its own.
  const std::string exceeded = FindExceededLimit(desc.counts, config.limits);
  if (!exceeded.empty()) {
    interpreter->reporter()->Report("The model exceeds the limits of the interpreter; %s",
                                    exceeded.c_str());
    return nullptr;
  }
  std::vector<TfLiteRegistration> registrations;
  if (ResolveOperators(desc, resolver, interpreter->reporter(), &registrations) != kTfLiteOk) {
    return nullptr;
  }
  // All subgraphs exist before any kernel's init runs, since an init may look at another one.
  for (size_t i = 0; i < desc.subgraphs.size(); ++i) {
    interpreter->subgraphs_.push_back(std::make_unique<Subgraph>(
        interpreter.get(), static_cast<int>(i), &desc.subgraphs[i], config.make_delegate_parts));
  }
  for (size_t i = 0; i < desc.subgraphs.size(); ++i) {
    if (BuildSubgraph(desc, desc.subgraphs[i], registrations, resolver,
                      interpreter->subgraph(static_cast<int>(i))) != kTfLiteOk) {
      return nullptr;
    }
  }
  interpreter->metadata_attached_ = true;
  if (const auto* edges = interpreter->FindMetadata(kControlDependenciesMetadata)) {
    ParseControlEdges(*edges, desc.subgraphs.size(), &interpreter->control_edges_);
  }
  interpreter->SetNumThreads(config.num_threads);
  return interpreter;
}

void Interpreter::SetNumThreads(int num_threads) {
  if (num_threads < -1) {
    reporter_.Report("num_threads should be >= 0 or just -1 to let TFLite runtime set the value.");
    return;
  }
  if (num_threads == -1) return;
  num_threads_ = std::max(num_threads, 1);
  for (auto& subgraph : subgraphs_) subgraph->context()->recommended_num_threads = num_threads_;
}

ThreadPool& Interpreter::pool() {
  if (pool_ == nullptr) {
    const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    pool_ = std::make_shared<ThreadPool>(std::min(num_threads_, cores));
  }
  return *pool_;
}

Subgraph* Interpreter::FindOwner(const TfLiteTensor* tensor) const {
  for (const auto& subgraph : subgraphs_) {
    if (subgraph->IndexOf(tensor) >= 0) return subgraph.get();
  }
  return nullptr;
}

TfLiteStatus Interpreter::AllocateTensors() {
  if (observer_ != nullptr) observer_->EnterInterpreter("AllocateTensors");
  return AllocateTensors(&primary());
}

TfLiteStatus Interpreter::Invoke(bool allow_stale_outputs) {
  if (observer_ != nullptr) observer_->EnterInterpreter("Invoke");
  return Invoke(&primary(), allow_stale_outputs);
}

TfLiteStatus Interpreter::AllocateTensors(Subgraph* subgraph) {
  ArmCancellation();
  const CancelScope cancellable(this, "AllocateTensors");
  return subgraph->AllocateTensors();
}

TfLiteStatus Interpreter::Invoke(Subgraph* subgraph, bool allow_stale_outputs) {
  ArmCancellation();
  const CancelScope cancellable(this, "Invoke");
  if (subgraph->ready()) ++inference_;
  return subgraph->Invoke(allow_stale_outputs);
}

TfLiteStatus Interpreter::ResetVariableTensors() {
  for (auto& subgraph : subgraphs_) {
    if (subgraph->ResetVariableTensors() != kTfLiteOk) return kTfLiteError;
  }
  return kTfLiteOk;
}

TfLiteStatus Interpreter::ModifyGraphWithDelegate(TfLiteDelegate* delegate) {
  if (observer_ != nullptr) observer_->EnterInterpreter("ModifyGraphWithDelegate");
  const TfLiteStatus status = ApplyEverywhere(delegate);
  if (hot_) {
    if (status != kTfLiteOk) NoteDelegateLeftOut();
    for (auto& subgraph : subgraphs_) {
      if (status != kTfLiteOk) subgraph->delegation().TakeBack();
      subgraph->delegation().Commit();
    }
    return status;
  }
  if (status != kTfLiteDelegateError) return status;
  const TfLiteStatus removed =
      RemoveAllDelegates("removed with all others when a delegate could not be applied");
  return removed == kTfLiteOk ? status : removed;
}

TfLiteStatus Interpreter::ApplyEverywhere(TfLiteDelegate* delegate) {
  for (auto& subgraph : subgraphs_) {
    if (subgraph->is_for_validation() || skippable(subgraph->index())) continue;
    const TfLiteStatus status = subgraph->delegation().Apply(delegate);
    if (status != kTfLiteOk) return status;
  }
  return kTfLiteOk;
}

TfLiteStatus Interpreter::RemoveAllDelegates(const char* why) {
  for (auto& subgraph : subgraphs_) {
    const TfLiteStatus status = subgraph->delegation().Remove(why);
    if (status != kTfLiteOk) return status;
  }
  return kTfLiteOk;
}

TfLiteStatus Interpreter::FallBackToCpu() {
  Subgraph& graph = primary();
  // Removing delegates lays the memory out anew; what the caller wrote must come along.
  SavedContents inputs;
  for (int index : graph.inputs()) {
    const TfLiteTensor* tensor = graph.tensor(index);
    if (tensor != nullptr && tensor->allocation_type == kTfLiteArenaRw) inputs.Save(index, *tensor);
  }
  const TfLiteStatus removed = RemoveAllDelegates("removed when the CPU took over");
  if (removed != kTfLiteOk) return removed;
  graph.PutBack(inputs);
  const TfLiteStatus status = Invoke(false);
  return status == kTfLiteOk ? kTfLiteDelegateError : status;
}

bool Interpreter::HasDelegates() const {
  return std::any_of(subgraphs_.begin(), subgraphs_.end(),
                     [](const auto& subgraph) { return subgraph->delegation().any_applied(); });
}

void Interpreter::MarkSkippable(int subgraph) {
  if (skippable(subgraph)) return;
  marked_skippable_.resize(subgraphs_.size());
  skippable_.push_back(subgraph);
  marked_skippable_[static_cast<size_t>(subgraph)] = true;
}

bool Interpreter::skippable(int subgraph) const {
  return !marked_skippable_.empty() && marked_skippable_[static_cast<size_t>(subgraph)];
}

void Interpreter::KeepSkippable(size_t count) {
  for (; skippable_.size() > count; skippable_.pop_back()) {
    marked_skippable_[static_cast<size_t>(skippable_.back())] = false;
  }
}

TfLiteStatus Interpreter::AcquireSubgraphContext(int index, TfLiteContext** out_context) {
  if (index < 0 || index >= subgraph_count() || out_context == nullptr) return kTfLiteError;
  subgraphs_[index]->delegation().Enter();
  *out_context = subgraphs_[index]->context();
  return kTfLiteOk;
}

TfLiteStatus Interpreter::ReleaseSubgraphContext(int index) {
  if (index < 0 || index >= subgraph_count()) return kTfLiteError;
  subgraphs_[index]->delegation().Leave();
  return kTfLiteOk;
}

const std::vector<PartitionGraph::ControlEdge>* Interpreter::ControlEdges(int subgraph) const {
  return control_edges_.empty() ? nullptr : &control_edges_[subgraph];
}

TfLiteStatus Interpreter::Cancel() {
  if (!cancellation_) return kTfLiteError;
  cancel_requested_.store(true, std::memory_order_release);
  return kTfLiteOk;
}

TfLiteStatus Interpreter::CheckCancellation() {
  if (!TakeCancellation()) return kTfLiteOk;
  return Fail(&reporter_, kTfLiteCancelled, "Client requested cancel during %s()",
              cancellable_call_);
}

void Interpreter::SaveVariablesOf(Subgraph* subgraph) {
  for (NodeFallback* fallback : restartable_) fallback->SaveVariablesOf(subgraph);
}

bool Interpreter::EnterSubgraph() {
  // The first one is at work without having been called.
  if (call_depth_ > limits_.max_call_depth) {
    reporter_.Report("Subgraphs call each other too deeply: expected at most %d calls",
                     limits_.max_call_depth);
    return false;
  }
  ++call_depth_;
  return true;
}

// Of signatures with one key it is the first.
const SignatureDesc* Interpreter::FindSignature(const char* key) {
  if (signatures_by_key_.empty()) {
    std::vector<const SignatureDesc*> sorted;
    for (const SignatureDesc& signature : model_->desc().signatures) sorted.push_back(&signature);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const SignatureDesc* x, const SignatureDesc* y) {
                       // One long string in the file may be many keys.
                       return x->key != y->key && strcmp(x->key, y->key) < 0;
                     });
    signatures_by_key_ = std::move(sorted);
  }
  const auto found = std::lower_bound(signatures_by_key_.begin(), signatures_by_key_.end(), key,
                                      [](const SignatureDesc* signature, const char* wanted) {
                                        return strcmp(signature->key, wanted) < 0;
                                      });
  const bool known = found != signatures_by_key_.end() && strcmp((*found)->key, key) == 0;
  return known ? *found : nullptr;
}

SignatureRunner* Interpreter::GetSignatureRunner(const char* key) {
  const std::vector<SignatureDesc>& signatures = model_->desc().signatures;
  const SignatureDesc* wanted = nullptr;
  if (key != nullptr) {
    wanted = FindSignature(key);
  } else {
    const auto found =
        std::find_if(signatures.begin(), signatures.end(),
                     [](const SignatureDesc& signature) { return signature.subgraph_index == 0; });
    if (found != signatures.end()) wanted = &*found;
  }
  if (wanted == nullptr && (key != nullptr || !signatures.empty())) {
    reporter_.Report(key != nullptr ? "The model has no signature '%s'"
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

const std::span<const uint8_t>* Interpreter::FindMetadata(const char* name) const {
  if (!metadata_attached_) return nullptr;
  for (const MetadataDesc& entry : model_->desc().metadata) {
    if (strcmp(entry.name, name) == 0) return &entry.data;
  }
  return nullptr;
}

TfLiteExternalContext* Interpreter::external_context(TfLiteExternalContextType type) const {
  return type >= 0 && type < kTfLiteMaxExternalContexts ? external_contexts_[type] : nullptr;
}

void Interpreter::set_external_context(TfLiteExternalContextType type,
                                       TfLiteExternalContext* context) {
  if (type >= 0 && type < kTfLiteMaxExternalContexts) external_contexts_[type] = context;
}

}  // namespace deputy
