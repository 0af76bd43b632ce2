// SPDX-License-Identifier: Apache-2.0
#include "user_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "text.h"

namespace deputy::tools {
namespace {

const char* KindOfPath(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

}  // namespace

UserFile::UserFile(const std::string& path)
    : path_(path), descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  struct stat status = {};
  if (descriptor_ < 0 || fstat(descriptor_, &status) != 0) {
    // The file is closed here, because the destructor does not run if the constructor throws.
    const std::string reason = std::strerror(errno);
    if (descriptor_ >= 0) close(descriptor_);
    FailUsage("%s: %s", path.c_str(), reason.c_str());
  }
  if (!S_ISREG(status.st_mode)) {
    close(descriptor_);
    FailUsage("%s: is %s, expected a regular file", path.c_str(), KindOfPath(status.st_mode));
  }
  size_ = static_cast<uint64_t>(status.st_size);
}

UserFile::~UserFile() { close(descriptor_); }

void UserFile::Read(std::span<char> out) const {
  for (size_t done = 0; done < out.size();) {
    const ssize_t count = read(descriptor_, out.data() + done, out.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) FailUsage("%s: %s", path_.c_str(), std::strerror(errno));
    if (count == 0) FailUsage("%s: became shorter while it was read", path_.c_str());
    done += static_cast<size_t>(count);
  }
}

std::vector<char> ReadFile(const std::string& path, uint64_t max_bytes) {
  const UserFile file(path);
  if (file.size() > max_bytes) {
    FailUsage("%s: is too large: %s, expected at most %s", path.c_str(),
              BytesText(static_cast<size_t>(file.size())).c_str(),
              BytesText(static_cast<size_t>(max_bytes)).c_str());
  }
  std::vector<char> bytes(static_cast<size_t>(file.size()));
  file.Read(bytes);
  return bytes;
}

void CheckReadable(const std::string& path) { const UserFile file(path); }

}  // namespace deputy::tools
