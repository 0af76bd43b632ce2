// SPDX-License-Identifier: Apache-2.0
#include "core/delegation/graph_snapshot.h"

#include <utility>

#include "c_api/abi/borrowed_data.h"
#include "core/graph/graph.h"

namespace deputy {
namespace {

// Returns true if the tensor's data is a heap block, its own or borrowed.
bool OwnsData(const TfLiteTensor& tensor) {
  return tensor.allocation_type == kTfLiteDynamic || tensor.allocation_type == kTfLitePersistentRo;
}

void RestoreMemory(const TfLiteTensor& before, TfLiteTensor* now) {
  // The data that a tensor borrows may have changed since the snapshot.
  if (!BorrowsData(*now)) now->allocation = BorrowsData(before) ? nullptr : before.allocation;
  if (now->allocation_type == before.allocation_type && now->bytes == before.bytes) return;
  if (OwnsData(*now)) TfLiteTensorDataFree(now);
  // Fixed memory is restored with the fields, planned memory with the next plan.
  const bool fixed =
      before.allocation_type == kTfLiteMmapRo || before.allocation_type == kTfLiteCustom;
  now->data.raw = fixed ? before.data.raw : nullptr;
  now->allocation_type = before.allocation_type;
  now->bytes = before.bytes;
}

}  // namespace

GraphSnapshot::GraphSnapshot(Graph* graph) : graph_(graph), plan_(graph->plan()) {
  nodes_.reserve(static_cast<size_t>(graph->node_count()));
  for (int i = 0; i < graph->node_count(); ++i) {
    nodes_.emplace_back(*graph->node(i), *graph->registration(i));
  }
  tensors_.reserve(graph->tensors().size());
  for (const TfLiteTensor& tensor : graph->tensors()) tensors_.emplace_back(tensor);
}

void GraphSnapshot::NotePrepared(int node_index, size_t first_added) {
  if (node_index >= node_count()) return;  // it belongs to the delegate that is being applied
  for (size_t i = first_added; i < graph_->tensors().size(); ++i) kept_tensors_.push_back(i);
  nodes_[static_cast<size_t>(node_index)].node.RefreshArray(*graph_->node(node_index),
                                                            &TfLiteNode::temporaries);
}

void GraphSnapshot::Restore(const FreeHandle& free_handle) noexcept {
  for (int i = 0; i < node_count(); ++i) {
    nodes_[static_cast<size_t>(i)].node.Restore(graph_->node(i));
    nodes_[static_cast<size_t>(i)].registration.Restore(graph_->registration(i));
  }
  for (size_t i = 0; i < tensors_.size(); ++i) RestoreTensor(static_cast<int>(i), free_handle);
  RemoveAddedTensors(free_handle);
  graph_->SetPlan(std::move(plan_));
}

void GraphSnapshot::RemoveAddedTensors(const FreeHandle& free_handle) {
  auto kept = kept_tensors_.begin();
  for (size_t i = tensors_.size(); i < graph_->tensors().size(); ++i) {
    if (kept != kept_tensors_.end() && *kept == i) {
      ++kept;
      continue;
    }
    TfLiteTensor& added = graph_->tensors()[i];
    if (added.buffer_handle != kTfLiteNullBufferHandle && added.delegate != nullptr) {
      free_handle(static_cast<int>(i));
    }
    TfLiteTensorFree(&added);
    added = TfLiteTensor{};
    added.buffer_handle = kTfLiteNullBufferHandle;
  }
  const size_t count = kept_tensors_.empty() ? tensors_.size() : kept_tensors_.back() + 1;
  graph_->RemoveTensorsFrom(static_cast<int>(count));
}

void GraphSnapshot::RestoreTensor(int index, const FreeHandle& free_handle) {
  Tensor& before = tensors_[static_cast<size_t>(index)];
  TfLiteTensor* const now = graph_->tensor(index);
  if (now->buffer_handle != before.fields().buffer_handle && now->delegate != nullptr &&
      now->buffer_handle != kTfLiteNullBufferHandle) {
    free_handle(index);
  }
  RestoreMemory(before.fields(), now);
  before.Restore(now);
}

}  // namespace deputy
