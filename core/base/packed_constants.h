// SPDX-License-Identifier: Apache-2.0
//
// Values that are computed once from the constants of a model and shared by all its interpreters:
// packed in the order in which a kernel reads them, or dequantised.
#ifndef DEPUTY_CORE_BASE_PACKED_CONSTANTS_H_
#define DEPUTY_CORE_BASE_PACKED_CONSTANTS_H_

#include <array>
#include <compare>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/base/memory.h"

namespace deputy {

class ThreadPool;

// What is packed, and how.
struct PackedKey {
  const void* constant = nullptr;  // where its values begin
  const void* form = nullptr;      // the code that reads it
  std::array<int64_t, 10> layout{};

  // clang-tidy takes the comparison with 0 that the compiler generates for a null pointer.
  friend auto operator<=>(const PackedKey&,
                          const PackedKey&) = default;  // NOLINT(modernize-use-nullptr)
};

// Any thread may use it.
class PackedConstants {
 public:
  // The values of that key, `bytes` at a multiple of kTensorAlignment, which fill(char* data) makes
  // at the first call; they are valid as long as this object. `parameters`: bytes of everything
  // that the values depend on beside the key. The pool's threads help to prefault memory. Null when
  // the limits or the allocator refuse.
  template <typename Fill>
  const char* FindOrMake(const PackedKey& key, size_t bytes, const Limits& limits, ThreadPool* pool,
                         const Fill& fill, std::string parameters = {}) {
    return FindOrMake(
        key, std::move(parameters), bytes, limits, pool,
        [](const void* f, char* data) { (*static_cast<const Fill*>(f))(data); }, &fill);
  }
  using FillFunction = void (*)(const void* fill, char* data);
  const char* FindOrMake(const PackedKey& key, std::string parameters, size_t bytes,
                         const Limits& limits, ThreadPool* pool, FillFunction call,
                         const void* fill);

  // `bytes` for values that have no key, for as long as this object lives. Null as above.
  char* Reserve(size_t bytes, const Limits& limits, ThreadPool* pool);

  // About so many bytes are to be packed next: they will lie together, in large pages.
  void Expect(size_t bytes);
  // Gives back the pages that nothing lies in yet.
  void ReleaseUnused();

  // Returns true if `data` points into values of this object.
  bool Contains(const void* data) const;

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
  std::map<std::pair<PackedKey, std::string>, char*> places_;
  std::vector<Chunk> chunks_;
  size_t bytes_ = 0;
  size_t expected_ = 0;  // what bytes_ will be when all is packed that is expected
};

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_PACKED_CONSTANTS_H_
