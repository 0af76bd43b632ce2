// SPDX-License-Identifier: Apache-2.0
#include "core/exec/interpreter.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/exec/builder.h"
#include "core/exec/context.h"
#include "core/model/model_limits.h"

namespace deputy {

Interpreter::Interpreter(std::shared_ptr<const Model> model, const InterpreterConfig& config)
    : InterpreterState(std::move(model), config) {}

// Subgraphs use the reporter and runners refer to subgraphs, so the order of destruction is
// runners, subgraphs, base class.
Interpreter::~Interpreter() {
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
}

void Interpreter::RemoveOpListener(OpListener* listener) noexcept { timer_.Remove(listener); }

std::unique_ptr<Interpreter> Interpreter::Create(std::shared_ptr<const Model> model,
                                                 const InterpreterConfig& config,
                                                 OpResolver* resolver) {
  std::unique_ptr<Interpreter> interpreter(new Interpreter(std::move(model), config));
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
  std::vector<ResolvedOperator> operators;
  if (ResolveOperators(desc, resolver, reporter(), &operators) != kTfLiteOk) {
    return kTfLiteError;
  }
  // All subgraphs must exist before any kernel's init runs, since an init may access another one.
  for (size_t i = 0; i < desc.subgraphs.size(); ++i) {
    subgraphs_.push_back(std::make_unique<Subgraph>(this, static_cast<int>(i), &desc.subgraphs[i],
                                                    config.make_delegate_parts));
    AddSubgraph(subgraphs_.back().get(), &callees_.emplace_back(subgraphs_.back().get()));
    InitContext(subgraphs_.back().get());
  }
  for (size_t i = 0; i < desc.subgraphs.size(); ++i) {
    if (BuildSubgraph(desc, desc.subgraphs[i], operators, resolver, subgraphs_[i].get()) !=
        kTfLiteOk) {
      return kTfLiteError;
    }
  }
  AttachMetadata();
  SetNumThreads(config.num_threads);
  return kTfLiteOk;
}

void Interpreter::SetNumThreads(int num_threads) {
  if (num_threads < -1) {
    reporter()->Report("num_threads should be >=0 or just -1 to let TFLite runtime set the value.");
    return;
  }
  if (num_threads == -1) return;
  threads().SetCount(std::max(num_threads, 1));
  for (auto& subgraph : subgraphs_) {
    subgraph->context()->recommended_num_threads = std::max(num_threads, 1);
  }
}

Subgraph* Interpreter::FindOwner(const TfLiteTensor* tensor) const {
  for (const auto& subgraph : subgraphs_) {
    if (subgraph->graph().IndexOf(tensor) >= 0) return subgraph.get();
  }
  return nullptr;
}

TfLiteStatus Interpreter::AllocateTensors() {
  if (observer() != nullptr) observer()->EnterInterpreter("AllocateTensors");
  return AllocateTensors(&primary());
}

TfLiteStatus Interpreter::Invoke(bool allow_stale_outputs) {
  if (observer() != nullptr) observer()->EnterInterpreter("Invoke");
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
  if (subgraph->ready()) CountInference();
  // The inference is not timed if an observer needs exact tensors, since it must see the requested
  // number of threads.
  const InterpreterThreads::TimedInference timed(needs_exact_tensors() ? nullptr : &threads());
  return subgraph->Invoke(allow_stale_outputs);
}

TfLiteStatus Interpreter::ResetVariableTensors() {
  for (auto& subgraph : subgraphs_) {
    if (subgraph->ResetVariableTensors() != kTfLiteOk) return kTfLiteError;
  }
  return kTfLiteOk;
}

TfLiteStatus Interpreter::ModifyGraphWithDelegate(TfLiteDelegate* delegate) {
  if (observer() != nullptr) observer()->EnterInterpreter("ModifyGraphWithDelegate");
  const TfLiteStatus status = ApplyEverywhere(delegate);
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

TfLiteStatus Interpreter::ApplyEverywhere(TfLiteDelegate* delegate) {
  for (auto& subgraph : subgraphs_) {
    if (!subgraph->is_for_delegates() || skippable().Has(subgraph->index())) continue;
    const TfLiteStatus status = subgraph->delegation().Apply(delegate);
    if (status != kTfLiteOk) return status;
  }
  return kTfLiteOk;
}

TfLiteStatus Interpreter::RemoveAllDelegates(const char* why) {
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
  const TfLiteStatus status = Invoke(false);
  return status == kTfLiteOk ? kTfLiteDelegateError : status;
}

bool Interpreter::HasDelegates() const {
  return std::any_of(subgraphs_.begin(), subgraphs_.end(),
                     [](const auto& subgraph) { return subgraph->delegation().any_applied(); });
}

// Returns the first signature with this key.
const SignatureDesc* Interpreter::FindSignature(const char* key) {
  if (signatures_by_key_.empty()) {
    std::vector<const SignatureDesc*> sorted;
    for (const SignatureDesc& signature : model().desc().signatures) sorted.push_back(&signature);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const SignatureDesc* x, const SignatureDesc* y) {
                       // Several keys may be one long string in the file: the pointers are compared
                       // first.
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
  const std::vector<SignatureDesc>& signatures = model().desc().signatures;
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
