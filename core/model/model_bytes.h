// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a model: in the caller's memory, in a mapped file, or in a copy. They are 16-byte
// aligned, as FlatBuffers and the tensors in them require.
#ifndef DEPUTY_CORE_MODEL_MODEL_BYTES_H_
#define DEPUTY_CORE_MODEL_MODEL_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/error.h"
#include "core/base/memory.h"

namespace deputy {

inline constexpr size_t kModelAlignment = 16;

// Immutable once a loader has returned true. One of the three loaders may be called, once; on
// failure it returns false after one report.
class ModelBytes {
 public:
  ModelBytes() = default;
  ~ModelBytes();
  ModelBytes(const ModelBytes&) = delete;
  ModelBytes& operator=(const ModelBytes&) = delete;

  // Uses the caller's memory in place; it must outlive this object. Unaligned memory is copied.
  bool Borrow(const void* data, size_t size, const Limits& limits, ErrorReporter* reporter);
  // Maps the file and keeps its descriptor. If the file shrinks later, a read of its former bytes
  // may raise SIGBUS.
  bool Map(const char* path, ErrorReporter* reporter);
  // Reads the whole file into memory.
  bool Read(const char* path, const Limits& limits, ErrorReporter* reporter);

  std::span<const uint8_t> bytes() const { return bytes_; }
  // Reads `bytes` at `from`, part of a mapped file, that are needed once. Returns `from` after
  // mapping all their pages, or `to` after copying them there, whichever is faster; null if they
  // are not part of the file or cannot be read; `to` may then have been written.
  const void* ReadPart(const void* from, size_t bytes, void* to) const;
  // Releases the whole pages between `from` and `from + bytes` to the system; a later read, from
  // any thread, reads them from the file again. No effect on memory that is not part of the mapped
  // file. Returns the size of the pages.
  size_t ReleasePages(const void* from, size_t bytes) const;
  // Descriptor of the mapped file; -1 if no file is mapped.
  int file_descriptor() const { return file_descriptor_; }

 private:
  // Returns true, and stores the offset in the file, if these bytes are part of a mapped file.
  bool IsMapped(const void* from, size_t bytes, size_t* out_offset) const;

  std::span<const uint8_t> bytes_;
  int file_descriptor_ = -1;
  void* map_ = nullptr;
  Block copy_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_MODEL_MODEL_BYTES_H_
