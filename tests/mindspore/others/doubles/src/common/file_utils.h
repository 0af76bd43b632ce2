// SPDX-License-Identifier: Apache-2.0
//
// Replaces a header of MindSpore Lite: reading of a whole file.
#ifndef DEPUTY_TESTS_MINDSPORE_OTHERS_DOUBLES_SRC_COMMON_FILE_UTILS_H_
#define DEPUTY_TESTS_MINDSPORE_OTHERS_DOUBLES_SRC_COMMON_FILE_UTILS_H_

#include <cstddef>
#include <fstream>

namespace mindspore::lite {

// Returns the bytes of a file, which the caller frees with delete[]; null if it cannot be read.
inline char* ReadFile(const char* path, size_t* size) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return nullptr;
  *size = static_cast<size_t>(file.tellg());
  char* const bytes = new char[*size];
  file.seekg(0);
  file.read(bytes, static_cast<std::streamsize>(*size));
  return bytes;
}

}  // namespace mindspore::lite

#endif  // DEPUTY_TESTS_MINDSPORE_OTHERS_DOUBLES_SRC_COMMON_FILE_UTILS_H_
