// SPDX-License-Identifier: Apache-2.0
#include "mindspore/ms/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <system_error>

#include "mindspore/ms/convert.h"

namespace deputy::ms {
namespace {

constexpr size_t kIdentifierEnd = 8;
// Maximum size of a file in bytes: the range of FlatBuffers' signed 32-bit offsets.
constexpr uint64_t kMaxBytes = (uint64_t{1} << 31) - 1;

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return number_; }

 private:
  int number_;
};

std::string SystemText() { return std::generic_category().message(errno); }

const char* KindOf(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

// Reads exactly `size` bytes. Returns false on an error, or at the end of the file, where errno is
// set to 0.
bool ReadFully(int file, char* to, size_t size) {
  for (size_t done = 0; done < size;) {
    const ssize_t count = read(file, to + done, size - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      if (count == 0) errno = 0;
      return false;
    }
    done += static_cast<size_t>(count);
  }
  return true;
}

}  // namespace

bool ReadMsFile(const std::string& path, std::vector<char>* out_bytes, std::string* error) {
  out_bytes->clear();
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status;
  if (file.get() < 0 || fstat(file.get(), &status) != 0) {
    *error = "cannot be read: " + SystemText();
    return false;
  }
  if (!S_ISREG(status.st_mode)) {
    *error = std::string("is ") + KindOf(status.st_mode) + ", expected a regular file";
    return false;
  }
  const auto size = static_cast<uint64_t>(status.st_size);
  std::vector<char> bytes(kIdentifierEnd);
  if (size < bytes.size()) return true;
  bool read = ReadFully(file.get(), bytes.data(), bytes.size());
  if (read && !IsMsModel({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()})) {
    return true;
  }
  if (size > kMaxBytes) {
    *error = "is a .ms model of " + std::to_string(size) + " bytes, expected less than 2 GiB";
    return false;
  }
  bytes.resize(static_cast<size_t>(size));
  read =
      read && ReadFully(file.get(), bytes.data() + kIdentifierEnd, bytes.size() - kIdentifierEnd);
  if (!read) {
    *error = "cannot be read: " + (errno == 0 ? "the file was truncated meanwhile" : SystemText());
    return false;
  }
  *out_bytes = std::move(bytes);
  return true;
}

}  // namespace deputy::ms
