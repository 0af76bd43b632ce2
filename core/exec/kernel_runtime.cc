// SPDX-License-Identifier: Apache-2.0
#include "core/exec/kernel_runtime.h"

#include <algorithm>

#include "core/exec/execution_plan.h"
#include "core/exec/interpreter_state.h"
#include "core/exec/subgraph_parts.h"

namespace deputy {

Subgraph* KernelRuntime::subgraph() const { return parts_->subgraph; }

ThreadPool& KernelRuntime::pool() { return parts_->interpreter->pool(); }
TileObserver* KernelRuntime::tile_observer() { return parts_->interpreter->tile_observer(); }
Arithmetic KernelRuntime::arithmetic() const { return parts_->interpreter->arithmetic(); }
Precision KernelRuntime::precision() const {
  return parts_->interpreter->NodePrecision(parts_->index, plan_->preparing_node());
}
const Limits& KernelRuntime::limits() const {
  const InterpreterState& interpreter = *parts_->interpreter;
  if (!interpreter.has_budget()) return interpreter.limits();
  return remaining_limits_ = interpreter.LimitsFor(0);
}
const CpuKernels& KernelRuntime::cpu() const {
  const bool prepares = plan_->preparing_node() >= 0;
  return prepares ? parts_->interpreter->CpuFor(precision()) : parts_->interpreter->cpu();
}

std::span<const int> KernelRuntime::DeclaredShape(int tensor_index) const {
  const bool is_declared =
      tensor_index >= 0 && static_cast<size_t>(tensor_index) < parts_->desc->tensors.size();
  return is_declared && OnlyTheBatchIsResized()
             ? parts_->desc->tensors[static_cast<size_t>(tensor_index)].shape
             : std::span<const int>();
}

bool KernelRuntime::OnlyTheBatchIsResized() const {
  bool is_resized = false;
  for (const int input : parts_->graph.inputs()) {
    const auto index = static_cast<size_t>(input);
    if (input < 0 || index >= parts_->desc->tensors.size()) continue;
    const std::span<const int> declared = parts_->desc->tensors[index].shape;
    const std::span<const int> now = IndicesOf(parts_->graph.tensors()[index].dims);
    if (std::ranges::equal(declared, now)) continue;
    if (declared.empty() || declared.size() != now.size() ||
        !std::ranges::equal(declared.subspan(1), now.subspan(1))) {
      return false;
    }
    is_resized = true;
  }
  return is_resized;
}

bool KernelRuntime::HasDeclaredShape(int tensor_index) const {
  if (tensor_index < 0 || static_cast<size_t>(tensor_index) >= parts_->desc->tensors.size())
    return false;
  const TensorDesc& declared = parts_->desc->tensors[static_cast<size_t>(tensor_index)];
  const auto is_open = [](int32_t extent) { return extent < 0; };
  return std::none_of(declared.signature.begin(), declared.signature.end(), is_open) &&
         std::ranges::equal(
             declared.shape,
             IndicesOf(parts_->graph.tensors()[static_cast<size_t>(tensor_index)].dims));
}

CallableSubgraph* KernelRuntime::FindSubgraph(int index) {
  plan_->NoteState();  // a call depends on the shapes of the other subgraph
  return parts_->interpreter->callee(index);
}

bool KernelRuntime::TakeCancellation() { return parts_->interpreter->TakeCancellation(); }

ScratchArena& KernelRuntime::scratch() { return parts_->interpreter->scratch(); }

Resources& KernelRuntime::resources() {
  plan_->NoteState();
  return parts_->interpreter->resources();
}

PackedConstants* KernelRuntime::PackedConstantsOf(const void* data) {
  return parts_->interpreter->PackedConstantsOf(data);
}

PackedConstants& KernelRuntime::node_constants() { return parts_->interpreter->node_constants(); }

const void* KernelRuntime::ReadConstant(const void* data, size_t bytes, void* to) {
  return parts_->interpreter->model().ReadPart(data, bytes, to);
}

bool KernelRuntime::TensorIsRead(int tensor_index) const {
  return plan_->TensorIsRead(tensor_index);
}

void KernelRuntime::RequestPacking(const TfLiteNode* node,
                                   TfLiteStatus (*pack)(TfLiteContext*, TfLiteNode*)) {
  plan_->RequestPacking(node, pack);
}

void KernelRuntime::NoteContents(int tensor_index) { plan_->NoteContents(tensor_index); }

bool KernelRuntime::HasContents(int tensor_index) const { return plan_->HasContents(tensor_index); }

void KernelRuntime::NoteImplementation(const char* name) { plan_->NoteImplementation(name); }

void KernelRuntime::NoteState() { plan_->NoteState(); }

void KernelRuntime::OfferFusion(const TfLiteNode* node, const FusionOffer& offer) {
  plan_->OfferFusion(node, offer);
}

void KernelRuntime::OfferViews(const TfLiteNode* node, const ViewOffer& offer) {
  plan_->OfferViews(node, offer);
}

TfLiteNode* KernelRuntime::group_node(int node_index) { return parts_->graph.node(node_index); }

void KernelRuntime::NoteFailure(const char* text) { parts_->interpreter->failure_note().Set(text); }

void KernelRuntime::Report(const char* format, va_list args) {
  if (Observer* observer = parts_->interpreter->observer())
    observer->EnterFunction(parts_->subgraph, "ReportError");
  parts_->interpreter->reporter()->ReportV(format, args);
}

TfLiteExternalContext* KernelRuntime::external_context(TfLiteExternalContextType type) {
  if (Observer* observer = parts_->interpreter->observer())
    observer->EnterFunction(parts_->subgraph, "GetExternalContext");
  return parts_->interpreter->external_context(type);
}

}  // namespace deputy
