// SPDX-License-Identifier: Apache-2.0
//
// Memory that holds the bytes of a model: a mapped file, a copy of a file, or memory of the
// program.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_ALLOCATION_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_ALLOCATION_H_

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <new>
#include <utility>

#include "tensorflow/lite/core/api/error_reporter.h"
#include "tensorflow/lite/stderr_reporter.h"

namespace tflite {

// Readable bytes whose owner is this object or, for MemoryAllocation, the program. An object whose
// constructor fails has reported the reason, except for a null MemoryAllocation, and is not
// valid().
class Allocation {
 public:
  using Ptr = std::unique_ptr<Allocation>;

  enum class Type { kMMap, kFileCopy, kMemory };

  virtual ~Allocation() = default;
  Allocation(const Allocation&) = delete;
  Allocation& operator=(const Allocation&) = delete;

  // First byte.
  virtual const void* base() const = 0;
  // Number of bytes.
  virtual size_t bytes() const = 0;
  virtual bool valid() const = 0;
  Type type() const { return type_; }

 protected:
  Allocation(ErrorReporter* error_reporter, Type type)
      : error_reporter_(error_reporter != nullptr ? error_reporter : DefaultErrorReporter()),
        type_(type) {}

  ErrorReporter* error_reporter_;  // borrowed

 private:
  const Type type_;
};

// A mapped file, or a part of it. With `map_private` the mapping can be written to, without effect
// on the file. File descriptors are duplicated; the caller closes its own.
class MMAPAllocation : public Allocation {
 public:
  MMAPAllocation(const char* filename, ErrorReporter* error_reporter, bool map_private = false)
      : Allocation(error_reporter, Type::kMMap) {
    if (OpenFile(filename)) Map(0, FileSize(), map_private);
  }
  MMAPAllocation(const char* filename, size_t offset, size_t length, ErrorReporter* error_reporter,
                 bool map_private = false)
      : Allocation(error_reporter, Type::kMMap) {
    if (OpenFile(filename)) Map(offset, length, map_private);
  }
  MMAPAllocation(int fd, ErrorReporter* error_reporter, bool map_private = false)
      : Allocation(error_reporter, Type::kMMap) {
    if (Duplicate(fd)) Map(0, FileSize(), map_private);
  }
  MMAPAllocation(int fd, size_t offset, size_t length, ErrorReporter* error_reporter,
                 bool map_private = false)
      : Allocation(error_reporter, Type::kMMap) {
    if (Duplicate(fd)) Map(offset, length, map_private);
  }

  ~MMAPAllocation() override {
    if (valid()) munmap(const_cast<void*>(mmapped_buffer_), mmapped_buffer_size());
    if (mmap_fd_ >= 0) close(mmap_fd_);
  }

  const void* base() const override {
    return valid() ? static_cast<const char*>(mmapped_buffer_) + offset_in_buffer_ : nullptr;
  }
  size_t bytes() const override { return buffer_size_bytes_; }
  bool valid() const override { return mmapped_buffer_ != nullptr; }

  int fd() const { return mmap_fd_; }

  // The mapping, which begins at a page: base() is offset_in_buffer_ bytes after it.
  const void* mmapped_buffer() const { return mmapped_buffer_; }
  size_t mmapped_buffer_size() const { return buffer_size_bytes_ + offset_in_buffer_; }
  size_t mmapped_buffer_offset_in_file() const { return offset_of_buffer_in_file_; }

  static bool IsSupported() { return true; }

 protected:
  int mmap_fd_ = -1;
  const void* mmapped_buffer_ = nullptr;
  size_t buffer_size_bytes_ = 0;
  size_t offset_in_buffer_ = 0;
  size_t offset_of_buffer_in_file_ = 0;

 private:
  bool OpenFile(const char* filename) {
    if (filename == nullptr) filename = "";
    mmap_fd_ = open(filename, O_RDONLY | O_CLOEXEC);
    if (mmap_fd_ < 0) error_reporter_->Report("Could not open '%s'.", filename);
    return mmap_fd_ >= 0;
  }

  bool Duplicate(int fd) {
    mmap_fd_ = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (mmap_fd_ < 0) error_reporter_->Report("Failed to dup '%d' file descriptor.", fd);
    return mmap_fd_ >= 0;
  }

  size_t FileSize() const {
    struct stat status;
    return fstat(mmap_fd_, &status) == 0 ? static_cast<size_t>(status.st_size) : 0;
  }

  void Map(size_t offset, size_t length, bool map_private) {
    buffer_size_bytes_ = length;
    const size_t size = FileSize();
    if (length == 0) {
      error_reporter_->Report("mmap of size 0 requested.");
      return;
    }
    if (offset > size || length > size - offset) {
      error_reporter_->Report("Cannot map '%d', offset %zu, length %zu: the file has %zu bytes.",
                              mmap_fd_, offset, length, size);
      return;
    }
    offset_in_buffer_ = offset % static_cast<size_t>(sysconf(_SC_PAGESIZE));
    offset_of_buffer_in_file_ = offset - offset_in_buffer_;
    void* const mapping =
        mmap(nullptr, length + offset_in_buffer_, map_private ? PROT_READ | PROT_WRITE : PROT_READ,
             map_private ? MAP_PRIVATE : MAP_SHARED, mmap_fd_,
             static_cast<off_t>(offset_of_buffer_in_file_));
    if (mapping == MAP_FAILED) {
      error_reporter_->Report("Mmap of '%d' at offset '%zu' failed.", mmap_fd_, offset);
      return;
    }
    mmapped_buffer_ = mapping;
  }
};

// A copy of a file in memory.
class FileCopyAllocation : public Allocation {
 public:
  FileCopyAllocation(const char* filename, ErrorReporter* error_reporter)
      : Allocation(error_reporter, Type::kFileCopy) {
    if (filename == nullptr) filename = "";
    const std::unique_ptr<FILE, int (*)(FILE*)> file(fopen(filename, "rb"), &fclose);
    if (file == nullptr) {
      error_reporter_->Report("Could not open '%s'.", filename);
      return;
    }
    struct stat status;
    if (fstat(fileno(file.get()), &status) != 0 || !S_ISREG(status.st_mode)) {
      error_reporter_->Report("Failed to get file size of '%s'.", filename);
      return;
    }
    Read(file.get(), static_cast<size_t>(status.st_size), filename);
  }

  const void* base() const override { return copied_buffer_.get(); }
  size_t bytes() const override { return buffer_size_bytes_; }
  bool valid() const override { return copied_buffer_ != nullptr; }

 private:
  void Read(FILE* file, size_t size, const char* filename) {
    std::unique_ptr<char[]> buffer(new (std::nothrow) char[size == 0 ? 1 : size]);
    if (buffer == nullptr) {
      error_reporter_->Report("Malloc of buffer to hold copy of '%s' failed.", filename);
      return;
    }
    buffer_size_bytes_ = size;
    if (fread(buffer.get(), 1, size, file) != size) {
      error_reporter_->Report("Read of '%s' failed (too few bytes read).", filename);
      return;
    }
    copied_buffer_ = std::move(buffer);
  }

  std::unique_ptr<const char[]> copied_buffer_;
  size_t buffer_size_bytes_ = 0;
};

// Memory of the program, which must stay valid and unchanged as long as this object.
class MemoryAllocation : public Allocation {
 public:
  MemoryAllocation(const void* ptr, size_t num_bytes, ErrorReporter* error_reporter)
      : Allocation(error_reporter, Type::kMemory), buffer_(ptr), buffer_size_bytes_(num_bytes) {
#ifdef __arm__
    // 32-bit ARM cannot load a word from an odd address.
    if (reinterpret_cast<uintptr_t>(ptr) % 4 != 0) {
      error_reporter_->Report("The supplied buffer is not 4-bytes aligned");
      buffer_ = nullptr;
      buffer_size_bytes_ = 0;
    }
#endif
  }

  const void* base() const override { return buffer_; }
  size_t bytes() const override { return buffer_size_bytes_; }
  bool valid() const override { return buffer_ != nullptr; }

 private:
  const void* buffer_;
  size_t buffer_size_bytes_;
};

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_ALLOCATION_H_
