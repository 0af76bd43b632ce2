// SPDX-License-Identifier: Apache-2.0
//
// Constants of a model in the order in which some kernel reads them: made once, and shared by all
// interpreters of the model.
#ifndef DEPUTY_CORE_BASE_PACKED_CONSTANTS_H_
#define DEPUTY_CORE_BASE_PACKED_CONSTANTS_H_

#include <array>
#include <compare>
#include <map>
#include <mutex>
#include <vector>

#include "core/base/memory.h"

namespace deputy {

class ThreadPool;

// What is packed, and how.
struct PackedKey {
  const void* constant = nullptr;  // where its values begin
  const void* form = nullptr;      // the code that reads it
  std::array<int64_t, 10> layout{};

  friend auto operator<=>(const PackedKey&, const PackedKey&) = default;
};

// Any thread may use it.
class PackedConstants {
 public:
  // The values of that key, `bytes` at a multiple of kTensorAlignment, which fill(char* data) makes
  // unless somebody did before; they stay as long as this object. The pool's threads help to make
  // memory ready. Null when the limits or the allocator refuse.
  template <typename Fill>
  const char* FindOrMake(const PackedKey& key, size_t bytes, const Limits& limits, ThreadPool* pool,
                         Fill&& fill) {
    // Others may wait for this one: two would do the same work.
    const std::lock_guard lock(mutex_);
    if (const auto found = places_.find(key); found != places_.end()) return found->second;
    char* const place = Place(bytes, limits, pool);
    if (place == nullptr) return nullptr;
    // It may throw: nobody finds what is not complete.
    fill(place);
    places_.emplace(key, place);
    bytes_ += bytes;
    return place;
  }

  // `bytes` for values that have no key, for as long as this object lives. Null as above.
  char* Reserve(size_t bytes, const Limits& limits, ThreadPool* pool);

  // About so many bytes are to be packed next: they will lie together, in large pages.
  void Expect(size_t bytes);
  // Gives back the pages that nothing lies in yet.
  void ReleaseUnused();

  // What all of them take.
  size_t bytes() const {
    const std::lock_guard lock(mutex_);
    return bytes_;
  }

 private:
  // Memory for many of them: in blocks of their own they would begin a page each, and be too small
  // for large pages.
  struct Chunk {
    Block block;
    size_t used = 0;
    size_t expected = 0;  // so many bytes will be used soon,
    size_t resident = 0;  // and so many of them are resident already

    // Takes the next `bytes`.
    char* Take(size_t bytes, ThreadPool* pool);
  };

  char* Place(size_t bytes, const Limits& limits, ThreadPool* pool);

  mutable std::mutex mutex_;
  std::map<PackedKey, char*> places_;
  std::vector<Chunk> chunks_;
  size_t bytes_ = 0;
  size_t expected_ = 0;  // what bytes_ will be when all is packed that is expected
};

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_PACKED_CONSTANTS_H_
