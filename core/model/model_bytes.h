// SPDX-License-Identifier: Apache-2.0
//
// Where the bytes of a model lie: in the caller's memory, in a map of a file, or in a copy of
// ours. The bytes are 16-byte aligned, which is what FlatBuffers and the tensors in them count on.
#ifndef DEPUTY_CORE_MODEL_MODEL_BYTES_H_
#define DEPUTY_CORE_MODEL_MODEL_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/error.h"
#include "core/base/memory.h"

namespace deputy {

inline constexpr size_t kModelAlignment = 16;

// Immutable once one of the three loaders has returned true; each is called at most once and
// returns false after one report.
class ModelBytes {
 public:
  ModelBytes() = default;
  ~ModelBytes();
  ModelBytes(const ModelBytes&) = delete;
  ModelBytes& operator=(const ModelBytes&) = delete;

  // Uses the caller's memory in place; the caller keeps it alive. Memory that is not aligned is
  // copied.
  bool Borrow(const void* data, size_t size, const Limits& limits, ErrorReporter* reporter);
  // Maps the file and keeps its descriptor. Bytes of a file that shrinks later cannot be read.
  bool Map(const char* path, ErrorReporter* reporter);
  // Reads the whole file into memory.
  bool Read(const char* path, const Limits& limits, ErrorReporter* reporter);

  std::span<const uint8_t> bytes() const { return bytes_; }
  // Copies `bytes` from `from` on, which lie in a mapped file, to `to` without mapping their pages:
  // what is read once is there sooner, and is not resident. False where they do not, or cannot be
  // read; `to` may then have been written.
  bool Copy(const void* from, size_t bytes, void* to) const;
  // Gives the whole pages between `from` and `bytes` behind it back to the system: whoever reads a
  // byte again, in whatever thread, has its page read from the file. Without effect on memory, and
  // on what is not part of it.
  void ReleasePages(const void* from, size_t bytes) const;
  // Descriptor of the mapped file, else -1.
  int file_descriptor() const { return file_descriptor_; }

 private:
  // Whether these bytes are part of a mapped file, and where.
  bool IsMapped(const void* from, size_t bytes, size_t* out_offset) const;

  std::span<const uint8_t> bytes_;
  int file_descriptor_ = -1;
  void* map_ = nullptr;
  Block copy_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_MODEL_MODEL_BYTES_H_
