// SPDX-License-Identifier: Apache-2.0
//
// Reads .ms files from disk. Only regular files are read, and none that the format cannot describe:
// pipes and devices would block or never end.
#ifndef DEPUTY_MINDSPORE_MS_FILE_H_
#define DEPUTY_MINDSPORE_MS_FILE_H_

#include <string>
#include <vector>

namespace deputy::ms {

// The bytes of the file at `path`, or none if it is of another format; its first bytes decide. On
// failure false, with a text for `error` that follows the path ("is a pipe, expected ..."). Throws
// nothing but std::bad_alloc.
bool ReadMsFile(const std::string& path, std::vector<char>* out_bytes, std::string* error);

}  // namespace deputy::ms

#endif  // DEPUTY_MINDSPORE_MS_FILE_H_
