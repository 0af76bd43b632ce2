// SPDX-License-Identifier: Apache-2.0
#include "core/base/new_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "c_api/include/delegate_serialization.h"

namespace deputy {

bool IsReplaceable(const char* path) {
  struct stat status;
  if (lstat(path, &status) != 0) return errno == ENOENT;
  if (S_ISREG(status.st_mode)) return true;
  errno = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
  return false;
}

bool WriteNewFile(const char* path, std::span<const char> bytes) {
  char draft[kDeputySerializationPathBytes];
  const int file = IsReplaceable(path) ? DeputySerializationMakeDraft(path, draft) : -1;
  if (file < 0) return false;
  bool good = DeputySerializationWriteAll(file, bytes.data(), bytes.size());
  good = close(file) == 0 && good;
  if (good && rename(draft, path) == 0) return true;
  unlink(draft);
  return false;
}

}  // namespace deputy
