// SPDX-License-Identifier: Apache-2.0
//
// Constants of a model in the order in which some kernel reads them: made once, and shared by all
// interpreters of the model.
#ifndef DEPUTY_CORE_BASE_PACKED_CONSTANTS_H_
#define DEPUTY_CORE_BASE_PACKED_CONSTANTS_H_

#include <array>
#include <compare>
#include <map>
#include <memory>
#include <mutex>

#include "core/base/memory.h"

namespace deputy {

// What is packed, and how.
struct PackedKey {
  const void* constant = nullptr;  // where its values begin
  const void* form = nullptr;      // the code that reads it
  std::array<int64_t, 8> layout{};

  friend auto operator<=>(const PackedKey&, const PackedKey&) = default;
};

// Any thread may use it.
class PackedConstants {
 public:
  // The block of that key, of `bytes`, which fill(char* data) makes unless somebody did before; it
  // stays as long as this object. Null when the limits or the allocator refuse.
  template <typename Fill>
  const Block* FindOrMake(const PackedKey& key, size_t bytes, const Limits& limits, Fill&& fill) {
    // Others may wait for this one: two would do the same work.
    const std::lock_guard lock(mutex_);
    const auto [entry, added] = blocks_.try_emplace(key);
    if (!added) return &entry->second;
    if (!entry->second.Reserve(bytes, 0, limits)) {
      blocks_.erase(entry);
      return nullptr;
    }
    fill(entry->second.data());
    bytes_ += bytes;
    return &entry->second;
  }

  // What all of them take.
  size_t bytes() const {
    const std::lock_guard lock(mutex_);
    return bytes_;
  }

 private:
  mutable std::mutex mutex_;
  std::map<PackedKey, Block> blocks_;
  size_t bytes_ = 0;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_PACKED_CONSTANTS_H_
