// SPDX-License-Identifier: Apache-2.0
//
// Store of values that are computed once from constants: packed in a kernel's layout, or
// dequantised. A model has one that its interpreters share, and each interpreter has one for values
// of single nodes.
#ifndef DEPUTY_CORE_BASE_PACKED_CONSTANTS_H_
#define DEPUTY_CORE_BASE_PACKED_CONSTANTS_H_

#include <array>
#include <compare>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/memory.h"

namespace deputy {

class ThreadPool;

// Identifies a packed constant.
struct PackedKey {
  const void* constant = nullptr;  // address of the constant's values
  // Address of a variable or function of the kernel, which identifies the packed layout.
  const void* form = nullptr;
  std::array<int64_t, 10> layout{};

  // clang-tidy mistakes the compiler-generated comparison with 0 for a null pointer.
  friend auto operator<=>(const PackedKey&,
                          const PackedKey&) = default;  // NOLINT(modernize-use-nullptr)
};

// Thread-safe store of packed constants.
class PackedConstants {
 public:
  // Returns the values of this key: `bytes`, aligned to kTensorAlignment, which fill(char* data)
  // writes at the first call, and again at the first one after the values were discarded. The
  // address is valid as long as this object. `parameters` are the bytes of everything else that the
  // values depend on. The pool's threads prefault memory. Returns null if a limit is exceeded or
  // memory is exhausted.
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

  // Returns `bytes` of memory for values without a key, valid as long as this object. Null on
  // failure.
  char* Reserve(size_t bytes, const Limits& limits, ThreadPool* pool);

  // Announces that about this number of bytes will be packed next: they are allocated together, in
  // huge pages.
  void Expect(size_t bytes);
  // Releases pages that are not used yet.
  void ReleaseUnused();

  // Count the users of the values. EndUse of the last user discards all values: their pages are
  // released, addresses stay valid. Before a user reads values again, it must call FindOrMake again
  // for each of its keys, and write again to memory of Reserve.
  void BeginUse();
  void EndUse();

  // Values that Discard has discarded.
  struct Discarded {
    size_t bytes = 0;
    std::vector<const char*> values;  // their addresses, sorted
  };
  // Discards the values that were computed from these constants, also indirectly, unless there are
  // several users. The user must call FindOrMake before it reads them again. Values that were
  // discarded before are part of the result.
  Discarded Discard(std::vector<std::span<const char>> constants);

  // For tests: discarded values are overwritten, because the pages at the ends of a chunk are not
  // released.
  static void OverwriteDiscarded(bool overwrites);

  // Returns true if `data` points into values of this object.
  bool Contains(const void* data) const;

  // Total size of all values that are not discarded, and of memory of Reserve, which counts also
  // when it is discarded. An object has values of FindOrMake or memory of Reserve, not both.
  size_t bytes() const {
    const std::lock_guard lock(mutex_);
    return bytes_;
  }

 private:
  // Memory for many values: separate blocks would each begin at a new page, and be too small for
  // huge pages.
  struct Chunk {
    Block block;
    size_t used = 0;
    size_t expected = 0;  // bytes of the chunk that will be used soon
    size_t resident = 0;  // bytes of the chunk that are already resident

    // Allocates the next `bytes`.
    char* Take(size_t bytes, ThreadPool* pool);
  };

  struct Values {
    char* data = nullptr;
    size_t bytes = 0;
    bool is_filled = false;  // false: the values were discarded
  };

  char* Place(size_t bytes, const Limits& limits, ThreadPool* pool);
  static void DiscardBytes(char* data, size_t bytes);

  mutable std::mutex mutex_;
  std::map<std::pair<PackedKey, std::string>, Values> places_;
  int users_ = 0;
  std::vector<Chunk> chunks_;
  size_t bytes_ = 0;
  size_t expected_ = 0;  // expected value of bytes_ when packing is complete
};

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_PACKED_CONSTANTS_H_
