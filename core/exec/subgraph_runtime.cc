// SPDX-License-Identifier: Apache-2.0
//
// Services of a subgraph for its builtin kernels (core/kernel_api/runtime.h).
#include <algorithm>

#include "core/exec/interpreter_state.h"
#include "core/exec/subgraph.h"

namespace deputy {

ThreadPool& Subgraph::pool() { return interpreter_->pool(); }
TileObserver* Subgraph::tile_observer() { return interpreter_->tile_observer(); }
Arithmetic Subgraph::arithmetic() const { return interpreter_->arithmetic(); }
Precision Subgraph::precision() const { return interpreter_->precision(); }
const Limits& Subgraph::limits() const { return interpreter_->limits(); }

bool Subgraph::TensorIsRead(int tensor_index) const {
  // Tensors added since MarkReadTensors count as read, which costs time but keeps results correct.
  return tensor_index < 0 || static_cast<size_t>(tensor_index) >= read_.size() ||
         read_[tensor_index];
}

bool Subgraph::HasDeclaredShape(int tensor_index) const {
  if (tensor_index < 0 || static_cast<size_t>(tensor_index) >= desc_->tensors.size()) return false;
  const TensorDesc& declared = desc_->tensors[static_cast<size_t>(tensor_index)];
  const auto is_open = [](int32_t extent) { return extent < 0; };
  return std::none_of(declared.signature.begin(), declared.signature.end(), is_open) &&
         std::ranges::equal(declared.shape,
                            IndicesOf(graph_.tensors()[static_cast<size_t>(tensor_index)].dims));
}

CallableSubgraph* Subgraph::FindSubgraph(int index) {
  return index >= 0 && index < interpreter_->subgraph_count() ? interpreter_->subgraph(index)
                                                              : nullptr;
}

bool Subgraph::TakeCancellation() { return interpreter_->TakeCancellation(); }

ScratchArena& Subgraph::scratch() { return interpreter_->scratch(); }

Resources& Subgraph::resources() { return interpreter_->resources(); }

PackedConstants* Subgraph::PackedConstantsOf(const void* data) {
  return interpreter_->PackedConstantsOf(data);
}

PackedConstants& Subgraph::node_constants() { return interpreter_->node_constants(); }

bool Subgraph::CopyConstant(const void* data, size_t bytes, void* to) {
  return interpreter_->model().CopyBytes(data, bytes, to);
}

void Subgraph::RequestPacking(const TfLiteNode* node,
                              TfLiteStatus (*pack)(TfLiteContext*, TfLiteNode*)) {
  // A delegate may call a kernel's prepare with a node that is not in the graph.
  if (preparing_node_ < 0 || node != graph_.node(preparing_node_)) return;
  pack_requests_.push_back({preparing_node_, pack});
}

void Subgraph::NoteContents(int tensor_index) {
  has_contents_.resize(graph_.tensors().size());
  has_contents_[static_cast<size_t>(tensor_index)] = true;
}

bool Subgraph::HasContents(int tensor_index) const {
  return static_cast<size_t>(tensor_index) < has_contents_.size() &&
         has_contents_[static_cast<size_t>(tensor_index)];
}

void Subgraph::NoteImplementation(const char* name) {
  if (preparing_node_ < 0) return;
  const auto index = static_cast<size_t>(preparing_node_);
  if (implementations_.size() <= index) {
    implementations_.resize(static_cast<size_t>(graph_.node_count()));
  }
  implementations_[index] = name;
}

const char* Subgraph::implementation(int node_index) const {
  const auto index = static_cast<size_t>(node_index);
  const char* const name = index < implementations_.size() ? implementations_[index] : nullptr;
  return name == nullptr ? "" : name;
}

void Subgraph::NoteFailure(const char* text) { interpreter_->failure_note().Set(text); }

void Subgraph::Report(const char* format, va_list args) {
  if (Observer* observer = interpreter_->observer()) observer->EnterFunction(this, "ReportError");
  interpreter_->reporter()->ReportV(format, args);
}

}  // namespace deputy
