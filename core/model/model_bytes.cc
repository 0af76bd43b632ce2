// SPDX-License-Identifier: Apache-2.0
//
// Loads the bytes of a model. Files are opened without blocking, because a path may name a pipe
// without a writer.
#include "core/model/model_bytes.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <functional>

#include "core/base/pages.h"
#include "core/support/int_math.h"

namespace deputy {
namespace {

// An open regular file and its size. The destructor closes the descriptor unless it was moved out.
struct File {
  int descriptor = -1;
  size_t size = 0;

  ~File() {
    if (descriptor >= 0) close(descriptor);
  }
};

// Returns the text of an errno value. Thread-safe: strerror of older C libraries of GNU returns a
// constant for every known error, as that of musl and Android does for all.
const char* ErrnoText(int error) {
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 32)
  const char* text = strerrordesc_np(error);
#else
  const char* text = std::strerror(error);
#endif
  return text == nullptr ? "unknown error" : text;
}

const char* KindOfPath(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return S_ISCHR(mode) || S_ISBLK(mode) ? "a device" : "something else";
}

bool Open(const char* path, ErrorReporter* reporter, File* out_file) {
  if (path == nullptr) {
    reporter->Report("Could not open '(null)'.");
    return false;
  }
  out_file->descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status;
  if (out_file->descriptor < 0 || fstat(out_file->descriptor, &status) != 0) {
    reporter->Report("Could not open '%s'.; %s", path, ErrnoText(errno));
    return false;
  }
  if (!S_ISREG(status.st_mode)) {
    reporter->Report("Could not open '%s'.; expected a regular file, found %s", path,
                     KindOfPath(status.st_mode));
    return false;
  }
  if (status.st_size <= 0) {
    reporter->Report("The model is not a valid Flatbuffer buffer; '%s' is empty", path);
    return false;
  }
  out_file->size = static_cast<size_t>(status.st_size);
  return true;
}

bool ReadAll(int descriptor, size_t offset, char* data, size_t size) {
  size_t done = 0;
  while (done < size) {
    const ssize_t count =
        pread(descriptor, data + done, size - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      if (count == 0) errno = EIO;  // the file shrank since its size was read
      return false;
    }
    done += static_cast<size_t>(count);
  }
  return true;
}

}  // namespace

ModelBytes::~ModelBytes() {
  if (map_ != nullptr) munmap(map_, bytes_.size());
  if (file_descriptor_ >= 0) close(file_descriptor_);
}

bool ModelBytes::IsMapped(const void* from, size_t bytes, size_t* out_offset) const {
  const auto* const at = static_cast<const uint8_t*>(from);
  const std::less<> before;
  if (map_ == nullptr || before(at, bytes_.data()) || before(bytes_.data() + bytes_.size(), at)) {
    return false;
  }
  *out_offset = static_cast<size_t>(at - bytes_.data());
  return bytes <= bytes_.size() - *out_offset;
}

const void* ModelBytes::ReadPart(const void* from, size_t bytes, void* to) const {
  size_t offset;
  if (!IsMapped(from, bytes, &offset)) return nullptr;
  if (ReadsPagesFast() && MapPages(from, bytes)) return from;
  return ReadAll(file_descriptor_, offset, static_cast<char*>(to), bytes) ? to : nullptr;
}

size_t ModelBytes::ReleasePages(const void* from, size_t bytes) const {
  size_t offset;
  if (!IsMapped(from, bytes, &offset)) return 0;
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t first = RoundUp(offset, page), last = (offset + bytes) / page * page;
  if (first >= last) return 0;
  // A failure of madvise only costs memory.
  madvise(static_cast<char*>(map_) + first, last - first, MADV_DONTNEED);
  return last - first;
}

bool ModelBytes::Borrow(const void* data, size_t size, const Limits& limits,
                        ErrorReporter* reporter) {
  if (data == nullptr) {
    reporter->Report("The model allocation is null/empty");
    return false;
  }
  if (size == 0) {
    reporter->Report("The model is not a valid Flatbuffer buffer; it has no bytes");
    return false;
  }
  if (reinterpret_cast<uintptr_t>(data) % kModelAlignment != 0) {
    if (!copy_.Reserve(size, 0, limits)) {
      reporter->Report("The model could not be loaded: no memory for a copy of %zu bytes", size);
      return false;
    }
    data = std::memcpy(copy_.data(), data, size);
  }
  bytes_ = {static_cast<const uint8_t*>(data), size};
  return true;
}

bool ModelBytes::Map(const char* path, ErrorReporter* reporter) {
  File file;
  if (!Open(path, reporter, &file)) return false;
  void* map = mmap(nullptr, file.size, PROT_READ, MAP_SHARED, file.descriptor, 0);
  if (map == MAP_FAILED) {
    reporter->Report("Could not map '%s', %zu bytes: %s", path, file.size, ErrnoText(errno));
    return false;
  }
  map_ = map;
  bytes_ = {static_cast<const uint8_t*>(map), file.size};
  file_descriptor_ = file.descriptor;
  file.descriptor = -1;
  return true;
}

bool ModelBytes::Read(const char* path, const Limits& limits, ErrorReporter* reporter) {
  File file;
  if (!Open(path, reporter, &file)) return false;
  if (!copy_.Reserve(file.size, 0, limits)) {
    reporter->Report("Could not read '%s': no memory for %zu bytes", path, file.size);
    return false;
  }
  if (!ReadAll(file.descriptor, 0, copy_.data(), file.size)) {
    reporter->Report("Could not read '%s': %s", path, ErrnoText(errno));
    return false;
  }
  bytes_ = {reinterpret_cast<const uint8_t*>(copy_.data()), file.size};
  return true;
}

}  // namespace deputy
