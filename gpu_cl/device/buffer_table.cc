// SPDX-License-Identifier: Apache-2.0
#include "gpu_cl/device/buffer_table.h"

#include <utility>

namespace deputy::gpu_cl {
namespace {

// A handle is a non-negative int: the generation in 15 bits, above 16 bits of the slot index.
constexpr int kSlotBits = 16;
constexpr int kGenerations = 1 << 15;
constexpr size_t kSlots = size_t{1} << kSlotBits;

size_t IndexOf(TfLiteBufferHandle handle) { return static_cast<size_t>(handle) % kSlots; }

TfLiteBufferHandle HandleOf(size_t slot, int generation) {
  return generation << kSlotBits | static_cast<int>(slot);
}

}  // namespace

TfLiteBufferHandle BufferTable::Add(std::shared_ptr<const DeviceBuffer> buffer) {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) {
    if (slots_.size() == kSlots) return kTfLiteNullBufferHandle;
    free_.reserve(slots_.size() + 1);  // so that Remove cannot fail
    slots_.emplace_back();
    free_.push_back(slots_.size() - 1);
  }
  const size_t index = free_.back();
  free_.pop_back();
  Slot& slot = slots_[index];
  slot.buffer = std::move(buffer);
  slot.in_use = true;
  return HandleOf(index, slot.generation);
}

const BufferTable::Slot* BufferTable::FindSlot(TfLiteBufferHandle handle) const {
  if (handle < 0 || IndexOf(handle) >= slots_.size()) return nullptr;
  const Slot& slot = slots_[IndexOf(handle)];
  return slot.in_use && slot.generation == handle >> kSlotBits ? &slot : nullptr;
}

bool BufferTable::Replace(TfLiteBufferHandle handle, std::shared_ptr<const DeviceBuffer> buffer) {
  const std::lock_guard lock(mutex_);
  if (FindSlot(handle) == nullptr) return false;
  // The old buffer is released when the argument is destroyed, after the mutex is unlocked.
  std::swap(slots_[IndexOf(handle)].buffer, buffer);
  return true;
}

std::shared_ptr<const DeviceBuffer> BufferTable::Find(TfLiteBufferHandle handle) const {
  const std::lock_guard lock(mutex_);
  const Slot* slot = FindSlot(handle);
  return slot == nullptr ? nullptr : slot->buffer;
}

void BufferTable::Forget(const DeviceBuffer* buffer) {
  const std::lock_guard lock(mutex_);
  for (Slot& slot : slots_) {
    if (slot.buffer.get() == buffer) slot.buffer.reset();
  }
}

void BufferTable::Remove(TfLiteBufferHandle handle) {
  const std::lock_guard lock(mutex_);
  if (FindSlot(handle) == nullptr) return;
  Slot& slot = slots_[IndexOf(handle)];
  slot.buffer.reset();
  slot.in_use = false;
  slot.generation = (slot.generation + 1) % kGenerations;
  free_.push_back(IndexOf(handle));
}

}  // namespace deputy::gpu_cl
