// SPDX-License-Identifier: Apache-2.0
//
// Files of Linux with a few numbers, as in /proc and /sys.
#ifndef DEPUTY_CORE_BASE_SMALL_FILE_H_
#define DEPUTY_CORE_BASE_SMALL_FILE_H_

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>

namespace deputy {

// Reads at most size - 1 bytes into `out_text` and terminates them with a NUL character. Returns
// false if the file cannot be read or is empty.
template <size_t size>
bool ReadSmallFile(const char* path, char (&out_text)[size]) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const ssize_t length = read(file, out_text, size - 1);
  close(file);
  out_text[std::max<ssize_t>(length, 0)] = '\0';
  return length > 0;
}

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_SMALL_FILE_H_
