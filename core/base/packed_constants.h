// SPDX-License-Identifier: Apache-2.0
//
// Store of values that are computed once from constants: packed in a kernel's layout, or
// dequantised. A model has one that its interpreters share, and each interpreter has one for values
// of single nodes. The model's store can keep its values in a file that processes share.
#ifndef DEPUTY_CORE_BASE_PACKED_CONSTANTS_H_
#define DEPUTY_CORE_BASE_PACKED_CONSTANTS_H_

#include <array>
#include <atomic>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/memory.h"
#include "core/base/weight_file.h"

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

// Use of a file by a store.
struct WeightFileUse {
  WeightFileState state = WeightFileState::kAbsent;  // state of the file when it was opened
  int64_t reused = 0;                                // values read from the file
  int64_t packed = 0;                                // values computed because the file lacks them
  size_t mapped_bytes = 0;                           // size of the values in mapped pages
};

// Thread-safe store of packed constants.
class PackedConstants {
 public:
  PackedConstants() = default;
  ~PackedConstants();
  PackedConstants(const PackedConstants&) = delete;
  PackedConstants& operator=(const PackedConstants&) = delete;

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

  // Source of values that a file can contain.
  struct Source {
    std::span<const uint8_t> model;  // bytes that contain the constants
    int model_file = -1;             // descriptor of the file with exactly these bytes; -1: none
    std::string code;  // identifies settings on which the values depend, such as the CPU kernels
  };
  // Makes FindOrMake use values of the file at `path`. If that cannot be used, or `path` is empty,
  // it uses those of `stored`, the bytes of such a file. Only the first call has an effect. Returns
  // false, without an effect, if the library has no build ID.
  bool UseFile(const std::string& path, const Source& source, std::span<const uint8_t> stored = {});
  // Writes all values to the file if it lacks some, and replaces their memory by pages of the file.
  // Returns false, with errno set, if the file cannot be written; later calls try again only after
  // further values were computed.
  bool SaveFile();
  WeightFileUse file_use() const;

  // Count the users of the values. EndUse of the last user discards all values: their pages are
  // released, addresses stay valid. Before a user reads values again, it must call FindOrMake again
  // for each of its keys, and write again to memory of Reserve.
  void BeginUse();
  void EndUse();

  // Values that Discard has discarded.
  struct Discarded {
    size_t bytes = 0;
    std::vector<const char*> values;  // addresses of the values, sorted
  };
  // Discards the values that were computed from these constants, also indirectly; no effect if
  // there are several users. The user must call FindOrMake before it reads them again. The result
  // includes values that were discarded before.
  Discarded Discard(std::vector<std::span<const char>> constants);

  // For tests: discarded values are overwritten, because the pages at the ends of a chunk are not
  // released.
  static void OverwriteDiscarded(bool overwrites);

  // Returns true if `data` points into values of this object.
  bool Contains(const void* data) const;

  // Total size of all values that are not discarded, and of memory of Reserve, which counts also
  // when it is discarded. An object has values of FindOrMake or memory of Reserve, not both.
  // Takes no lock: a fill that needs scratch memory calls it.
  size_t bytes() const { return bytes_; }

 private:
  // Memory for many values: separate blocks would each begin at a new page, and be too small for
  // huge pages.
  struct Chunk {
    Block block;
    size_t used = 0;
    bool is_paged = false;  // true: pages of a file can replace the whole pages up to `capacity`
    size_t mapped = 0;      // end of the pages of a file, which are read-only; 0: none
    size_t capacity = 0;
    size_t expected = 0;  // bytes of the chunk that will be used soon
    size_t resident = 0;  // bytes of the chunk that are already resident

    // Allocates the next `bytes`.
    char* Take(size_t bytes, ThreadPool* pool);
  };

  struct Values {
    const char* data = nullptr;
    size_t bytes = 0;
    bool is_filled = false;  // false: the values were discarded
    bool is_mapped = false;  // true: in a page of a file, readable after it was discarded, too
    bool has_name = false;
    DeputyFingerprint name = {};  // key in the file, if has_name
  };
  // State of a store that uses a file; see UseFile.
  struct Storage {
    std::string path;
    WeightFileIdentity identity;
    std::unique_ptr<WeightFile> file;  // null: the file could not be used
    WeightFileUse use;
    bool is_changed = false;  // true: the file lacks values, or has damaged ones
    std::map<const void*, DeputyFingerprint> names;  // names of the values, by address
  };
  using FullKey = std::pair<PackedKey, std::string>;

  char* Place(size_t bytes, const Limits& limits, ThreadPool* pool);
  static void DiscardBytes(char* data, size_t bytes);
  bool SetName(const FullKey& key, Values* values) const;
  const char* Add(FullKey&& key, const Values& values);
  void Map(int file, std::span<const WeightFilePiece> pieces);

  mutable std::mutex mutex_;
  std::map<FullKey, Values> places_;
  std::unique_ptr<Storage> storage_;  // null: no file
  int users_ = 0;
  std::vector<Chunk> chunks_;
  std::atomic<size_t> bytes_ = 0;
  size_t expected_ = 0;  // expected value of bytes_ when packing is complete
};

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_PACKED_CONSTANTS_H_
