// SPDX-License-Identifier: Apache-2.0
#include "core/delegation/fallback_scratch.h"

#include <utility>
#include <vector>

#include "core/graph/graph.h"

namespace deputy {

bool FallbackScratch::Plan(std::span<const int> nodes, size_t end, const Limits& limits) {
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
  scratch_.Reset();
  slots_.clear();
}

// Returns true if the tensor needs arena memory but has none in the subgraph's arenas, or has lost
// it because a replaced node has resized the tensor.
bool FallbackScratch::NeedsMemory(int tensor) const {
  if (tensor < 0) return false;
  const TfLiteAllocationType type = graph_->tensor(tensor)->allocation_type;
  if (type != kTfLiteArenaRw && type != kTfLiteArenaRwPersistent) return false;
  return graph_->tensor(tensor)->data.raw == nullptr ||
         (arena_->Address(tensor) == nullptr && persistent_->Address(tensor) == nullptr);
}

}  // namespace deputy
