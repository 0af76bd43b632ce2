// SPDX-License-Identifier: Apache-2.0
#include "core/exec/interpreter_state.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <utility>

#include "core/base/guard.h"
#include "core/model/control_edges.h"

namespace deputy {

InterpreterState::InterpreterState(std::shared_ptr<const Model> model,
                                   const InterpreterConfig& config)
    : model_(std::move(model)),
      reporter_(config.reporter),
      config_(config),
      threads_(config.pool),
      packed_constants_(model_->SharePackedConstants()),
      cancellation_(config.cancellation) {
  for (const InterpreterConfig::MakeObserver& make : config.make_observers) {
    observers_.AddOwned(make(this));
  }
}

InterpreterState::~InterpreterState() { ReleasePackedConstants(); }

Precision InterpreterState::NodePrecision(int subgraph, int node) const {
  const bool exact = config_.arithmetic == Arithmetic::kReference || needs_exact_tensors();
  if (exact) return Precision::kFloat32;
  const auto found = config_.node_precisions.find({subgraph, node});
  return found == config_.node_precisions.end() ? config_.precision : found->second;
}

void InterpreterState::UsePackedConstants() {
  if (std::exchange(uses_packed_constants_, true)) return;
  packed_constants_->BeginUse();
  node_constants_.BeginUse();
}

void InterpreterState::ReleasePackedConstants() {
  if (!std::exchange(uses_packed_constants_, false)) return;
  Guard(Ignore, [&] { SaveWeightFile(); });  // values that were packed during an inference
  packed_constants_->EndUse();
  node_constants_.EndUse();
}

void InterpreterState::OpenWeightFile() {
  const std::span<const uint8_t> stored = model_->packed_weights();
  if (config_.weight_file.empty() && stored.empty()) return;
  if (!packed_constants_->UseFile(
          config_.weight_file,
          {model_->bytes(), stored.empty() ? model_->file_descriptor() : -1, config_.weight_code},
          stored)) {
    reporter_.Report("weight cache '%s': not used, because this library has no build ID",
                     config_.weight_file.c_str());
  }
}

void InterpreterState::SaveWeightFile() {
  if (config_.weight_file.empty() || packed_constants_->SaveFile()) return;
  reporter_.Report("weight cache '%s': cannot be written: %s", config_.weight_file.c_str(),
                   strerror(errno));
}

Limits InterpreterState::LimitsFor(size_t replaced) const {
  Limits left = limits();
  if (!has_budget()) return left;
  const size_t used = MemoryUse() - replaced;
  const size_t remaining = memory_budget() > used ? memory_budget() - used : 0;
  left.max_block_bytes = std::min(left.max_block_bytes, remaining);
  return left;
}

void InterpreterState::AttachMetadata() {
  control_edges_.emplace();
  if (const auto* edges = FindMetadata(kControlDependenciesMetadata)) {
    ParseControlEdges(*edges, model_->desc().subgraphs.size(), &*control_edges_);
  }
}

const std::vector<PartitionGraph::ControlEdge>* InterpreterState::ControlEdges(int subgraph) const {
  // Subgraphs that were added in code have no edges.
  const bool any =
      control_edges_.has_value() && static_cast<size_t>(subgraph) < control_edges_->size();
  return any ? &(*control_edges_)[static_cast<size_t>(subgraph)] : nullptr;
}

TfLiteStatus InterpreterState::Cancel() {
  return cancellation_.Request() ? kTfLiteOk : kTfLiteError;
}

TfLiteStatus InterpreterState::CheckCancellation() {
  if (!TakeCancellation()) return kTfLiteOk;
  return Fail(&reporter_, kTfLiteCancelled, "Client requested cancel during %s()",
              cancellation_.call());
}

TfLiteStatus InterpreterState::EnterCall(const char* call) {
  TF_LITE_ENSURE_STATUS(run_gate_->Check(call));
  if (observer() != nullptr) observer()->EnterInterpreter(call);
  return kTfLiteOk;
}

void InterpreterState::SaveVariablesOf(Subgraph* subgraph) {
  for (NodeFallback* fallback : restartable_) fallback->SaveVariablesOf(subgraph);
}

bool InterpreterState::EnterSubgraph() {
  // The outermost subgraph does not count as a call.
  if (call_depth_ > limits().max_call_depth) {
    reporter_.Report("Subgraphs call each other too deeply: expected at most %d calls",
                     limits().max_call_depth);
    return false;
  }
  ++call_depth_;
  return true;
}

const std::span<const uint8_t>* InterpreterState::FindMetadata(const char* name) const {
  if (!control_edges_.has_value()) return nullptr;
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
