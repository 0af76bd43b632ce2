// SPDX-License-Identifier: Apache-2.0
#ifndef DEPUTY_TESTS_LITERT_UPSTREAM_ADAPTERS_LITERT_CC_INTERNAL_SCOPED_FILE_H_
#define DEPUTY_TESTS_LITERT_UPSTREAM_ADAPTERS_LITERT_CC_INTERNAL_SCOPED_FILE_H_

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "litert/cc/litert_expected.h"

namespace litert {

// A file that is open for reading.
class ScopedFile {
 public:
  static Expected<ScopedFile> Open(const std::string& path) {
    return ScopedFile(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  }
  explicit ScopedFile(int file) : file_(file) {}
  ScopedFile(ScopedFile&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  ScopedFile& operator=(ScopedFile&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }
  ~ScopedFile() { close(file_); }

  int file() const { return file_; }
  Expected<size_t> GetSize() const {
    struct stat status = {};
    fstat(file_, &status);
    return static_cast<size_t>(status.st_size);
  }

 private:
  int file_;
};

}  // namespace litert

#endif  // DEPUTY_TESTS_LITERT_UPSTREAM_ADAPTERS_LITERT_CC_INTERNAL_SCOPED_FILE_H_
