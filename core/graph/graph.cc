// SPDX-License-Identifier: Apache-2.0
#include "core/graph/graph.h"

#include <algorithm>

namespace deputy {

Graph::~Graph() {
  for (TfLiteTensor& tensor : tensors_) TfLiteTensorFree(&tensor);
}

// ---- Tensors ------------------------------------------------------------------------------------

int Graph::IndexOf(const TfLiteTensor* tensor) const {
  const auto first = reinterpret_cast<uintptr_t>(tensors_.data());
  const auto wanted = reinterpret_cast<uintptr_t>(tensor);
  if (wanted < first || (wanted - first) % sizeof(TfLiteTensor) != 0) return -1;
  const size_t index = (wanted - first) / sizeof(TfLiteTensor);
  return index < tensors_.size() ? static_cast<int>(index) : -1;
}

bool Graph::IndicesExist(std::span<const int32_t> indices) const {
  return std::all_of(indices.begin(), indices.end(), [this](int32_t index) {
    return index == kTfLiteOptionalTensor || (index >= 0 && index < tensor_count());
  });
}

bool Graph::HasDynamicTensor(std::span<const int> indices) const {
  return std::any_of(indices.begin(), indices.end(), [this](int index) {
    return index >= 0 && tensors_[static_cast<size_t>(index)].allocation_type == kTfLiteDynamic;
  });
}

int Graph::AddTensors(int count) {
  const int first = tensor_count();
  TfLiteTensor empty{};
  empty.buffer_handle = kTfLiteNullBufferHandle;
  tensors_.resize(tensors_.size() + static_cast<size_t>(count), empty);
  PublishTensors();
  return first;
}

void Graph::RemoveTensorsFrom(int count) {
  tensors_.resize(static_cast<size_t>(count));
  PublishTensors();
}

void Graph::EnsureTensorCapacity() {
  if (tensors_.capacity() - tensors_.size() >= kTensorsToSpare) return;
  tensors_.reserve(std::max(tensors_.size() * 2, tensors_.size() + kTensorsToSpare));
  PublishTensors();
}

void Graph::PublishTensors() {
  context_->tensors = tensors_.data();
  context_->tensors_size = tensors_.size();
}

// ---- Nodes and plan -----------------------------------------------------------------------------

int Graph::AddNode(const TfLiteNode& node, const TfLiteRegistration& registration) {
  nodes_.push_back({node, registration, next_id_});
  ++next_id_;
  return node_count() - 1;
}

void Graph::RemoveNodesFrom(int count) noexcept {
  if (count >= node_count()) return;
  nodes_.erase(nodes_.begin() + count, nodes_.end());
}

void Graph::ReservePlan(size_t count) {
  if (count > plan_.capacity()) plan_.reserve(std::max(count, 2 * plan_.capacity()));
}

}  // namespace deputy
