// SPDX-License-Identifier: Apache-2.0
#include "gpu_cl/buffer_table.h"

#include <utility>

namespace deputy::gpu_cl {
namespace {

// A handle is a positive int: the generation in 15 bits, above 16 bits of the slot index.
constexpr int kPlaceBits = 16;
constexpr int kGenerations = 1 << 15;
constexpr size_t kPlaces = size_t{1} << kPlaceBits;

size_t IndexOf(TfLiteBufferHandle handle) { return static_cast<size_t>(handle) % kPlaces; }

TfLiteBufferHandle HandleOf(size_t place, int generation) {
  return generation << kPlaceBits | static_cast<int>(place);
}

}  // namespace

TfLiteBufferHandle BufferTable::Add(std::shared_ptr<const DeviceBuffer> buffer) {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) {
    if (places_.size() == kPlaces) return kTfLiteNullBufferHandle;
    free_.reserve(places_.size() + 1);  // so that Remove cannot fail
    places_.emplace_back();
    free_.push_back(places_.size() - 1);
  }
  const size_t index = free_.back();
  free_.pop_back();
  Place& place = places_[index];
  place.buffer = std::move(buffer);
  place.taken = true;
  return HandleOf(index, place.generation);
}

const BufferTable::Place* BufferTable::PlaceOf(TfLiteBufferHandle handle) const {
  if (handle < 0 || IndexOf(handle) >= places_.size()) return nullptr;
  const Place& place = places_[IndexOf(handle)];
  return place.taken && place.generation == handle >> kPlaceBits ? &place : nullptr;
}

bool BufferTable::Replace(TfLiteBufferHandle handle, std::shared_ptr<const DeviceBuffer> buffer) {
  const std::lock_guard lock(mutex_);
  if (PlaceOf(handle) == nullptr) return false;
  // The old buffer is released with the argument, after the lock.
  std::swap(places_[IndexOf(handle)].buffer, buffer);
  return true;
}

std::shared_ptr<const DeviceBuffer> BufferTable::Find(TfLiteBufferHandle handle) const {
  const std::lock_guard lock(mutex_);
  const Place* place = PlaceOf(handle);
  return place == nullptr ? nullptr : place->buffer;
}

void BufferTable::Forget(const DeviceBuffer* buffer) {
  const std::lock_guard lock(mutex_);
  for (Place& place : places_) {
    if (place.buffer.get() == buffer) place.buffer.reset();
  }
}

void BufferTable::Remove(TfLiteBufferHandle handle) {
  const std::lock_guard lock(mutex_);
  if (PlaceOf(handle) == nullptr) return;
  Place& place = places_[IndexOf(handle)];
  place.buffer.reset();
  place.taken = false;
  place.generation = (place.generation + 1) % kGenerations;
  free_.push_back(IndexOf(handle));
}

}  // namespace deputy::gpu_cl
