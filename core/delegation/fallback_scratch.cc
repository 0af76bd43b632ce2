// SPDX-License-Identifier: Apache-2.0
#include "core/delegation/fallback_scratch.h"

#include <utility>
#include <vector>

#include "core/graph/graph.h"

namespace deputy {

void FallbackScratch::Hide(std::span<const int> tensors) {
  if (!hidden_.empty()) return;
  for (const int index : tensors) {
    TfLiteTensor& tensor = *graph_->tensor(index);
    if (tensor.allocation_type != kTfLiteArenaRw && tensor.allocation_type != kTfLiteCustom)
      continue;
    hidden_.push_back({index, tensor.allocation_type, tensor.data.raw});
    tensor.allocation_type = kTfLiteArenaRw;
    tensor.data.raw = nullptr;
  }
}

bool FallbackScratch::Plan(std::span<const int> nodes, size_t end, const Limits& limits,
                           std::span<const int> hidden) {
  Hide(hidden);
  std::vector<Arena::Slot> slots(slots_.size());
  const auto include = [&](const TfLiteIntArray* indices, size_t step, bool is_written) {
    for (const int index : IndicesOf(indices)) {
      if (!NeedsMemory(index)) continue;
      auto entry = slots_.find(index);
      if (entry == slots_.end()) {
        if (!is_written) continue;
        entry = slots_.emplace(index, static_cast<int>(slots.size())).first;
        slots.emplace_back();
      }
      Arena::Slot& slot = slots[static_cast<size_t>(entry->second)];
      if (!is_written && !slot.lifetime.used()) continue;
      slot.bytes = graph_->tensor(index)->bytes;
      slot.lifetime.Include(static_cast<int>(step));
    }
  };
  for (size_t step = 0; step < nodes.size(); ++step) {
    const TfLiteNode& node = *graph_->node(nodes[step]);
    include(node.inputs, step, false);
    if (step >= end) continue;
    include(node.outputs, step, true);
    include(node.temporaries, step, true);
  }
  return scratch_.Plan(std::move(slots), limits, nullptr);
}

void FallbackScratch::PointTensors() {
  for (const auto& [tensor, slot] : slots_) {
    char* const address = scratch_.Address(slot);
    if (address != nullptr) graph_->tensor(tensor)->data.raw = address;
  }
}

void FallbackScratch::ForgetAddresses() {
  for (const auto& [tensor, slot] : slots_) {
    if (scratch_.Address(slot) != nullptr) graph_->tensor(tensor)->data.raw = nullptr;
  }
  Reset();
}

void FallbackScratch::Reset() {
  // In reverse order: a tensor that is listed twice gets its first memory.
  for (auto hidden = hidden_.rbegin(); hidden != hidden_.rend(); ++hidden) {
    TfLiteTensor& tensor = *graph_->tensor(hidden->tensor);
    tensor.allocation_type = hidden->type;
    tensor.data.raw = hidden->data;
  }
  hidden_.clear();
  scratch_.Reset();
  slots_.clear();
}

// Returns true if the tensor needs arena memory but has none in the subgraph's arenas, or has lost
// it because a replaced node has resized the tensor.
bool FallbackScratch::NeedsMemory(int tensor) const {
  if (tensor < 0) return false;
  const TfLiteAllocationType type = graph_->tensor(tensor)->allocation_type;
  if (type != kTfLiteArenaRw && type != kTfLiteArenaRwPersistent) return false;
  return graph_->tensor(tensor)->data.raw == nullptr || slots_.contains(tensor) ||
         (arena_->Address(tensor) == nullptr && persistent_->Address(tensor) == nullptr);
}

}  // namespace deputy
