// SPDX-License-Identifier: Apache-2.0
#include "core/base/arena.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/pages.h"

namespace deputy {
namespace {

// Fill pattern of new memory under validation, which makes reads of uninitialised memory visible.
constexpr int kFreshByte = 0xC9;

}  // namespace

void Arena::ForgetFrom(int position) {
  for (Slot& slot : slots_) {
    if (slot.lifetime.first >= position && slot.lifetime.last != kForever) slot = Slot{};
  }
  std::erase_if(
      placed_, [&](int tensor) { return slots_[static_cast<size_t>(tensor)].offset == kNoOffset; });
}

bool Arena::Plan(std::vector<Slot> slots, const Limits& limits, ThreadPool* pool) {
  std::vector<BlockRequest> requests;
  std::vector<int> owners;
  requests.reserve(slots.size());
  owners.reserve(slots.size());
  for (size_t tensor = 0; tensor < slots.size(); ++tensor) {
    Slot& slot = slots[tensor];
    slot.offset = kNoOffset;
    if (slot.bytes == 0 || !slot.lifetime.used() || slot.owner >= 0) continue;
    const bool placed = tensor < slots_.size() && slots_[tensor].offset != kNoOffset &&
                        slots_[tensor].bytes >= slot.bytes;
    if (placed) slot.bytes = slots_[tensor].bytes;
    size_t guarded = 0;
    if (!AddSizes(slot.bytes, 2 * guard_bytes_, &guarded)) return false;
    requests.push_back({.bytes = guarded,
                        .first = slot.lifetime.first,
                        .last = slot.lifetime.last,
                        .fixed_offset = placed ? slots_[tensor].offset - guard_bytes_ : kNoOffset,
                        .idle = slot.idle});
    owners.push_back(static_cast<int>(tensor));
  }
  MemoryPlan plan;
  if (!PlanMemory(requests, kTensorAlignment, &plan)) return false;
  TightenPlan(requests, kTensorAlignment, &plan);
  const size_t kept_bytes = slots_.empty() ? 0 : planned_bytes_;
  const size_t total = std::max(plan.total_bytes, kept_bytes);
  const size_t old_size = block_.size(), kept = std::min(kept_bytes, old_size);
  if (!block_.Reserve(total, kept, limits)) return false;
  const size_t busy = InLargePages(plan.busy_bytes);
  if (block_.size() > old_size) {
    if (busy < total) UseSmallPages(block_.data() + busy, block_.size() - busy);
    MakeResidentForInference(block_.data(), std::min(busy, block_.size()), pool);
  }
  // The validation layer compares tensors before they are written, so the contents must be defined.
  if (guard_bytes_ > 0 && block_.size() > old_size) {
    memset(block_.data() + kept, kFreshByte, block_.size() - kept);
  }
  for (size_t i = 0; i < owners.size(); ++i) {
    slots[static_cast<size_t>(owners[i])].offset = plan.offsets[i] + guard_bytes_;
  }
  placed_.clear();
  for (size_t tensor = 0; tensor < slots.size(); ++tensor) {
    Slot& slot = slots[tensor];
    if (slot.owner >= 0) {
      const size_t offset = slots[static_cast<size_t>(slot.owner)].offset;
      slot.offset = offset == kNoOffset ? kNoOffset : offset + slot.owner_offset;
    }
    if (slot.offset != kNoOffset) placed_.push_back(static_cast<int>(tensor));
  }
  slots_ = std::move(slots);
  planned_bytes_ = total;
  return true;
}

void Arena::DiscardPages() {
  if (guard_bytes_ > 0) return;
  std::vector<std::pair<size_t, size_t>> kept;
  for (const int tensor : placed_) {
    const Slot& slot = slots_[static_cast<size_t>(tensor)];
    if (slot.lifetime.last == kForever) kept.emplace_back(slot.offset, slot.offset + slot.bytes);
  }
  kept.emplace_back(block_.size(), block_.size());
  std::sort(kept.begin(), kept.end());
  size_t begin = 0;
  for (const auto& [first, last] : kept) {
    if (first > begin) deputy::DiscardPages(block_.data() + begin, first - begin);
    begin = std::max(begin, last);
  }
}

char* Arena::Address(int tensor) const {
  if (static_cast<size_t>(tensor) >= slots_.size()) return nullptr;
  const Slot& slot = slots_[tensor];
  return slot.offset == kNoOffset ? nullptr : block_.data() + slot.offset;
}

}  // namespace deputy
