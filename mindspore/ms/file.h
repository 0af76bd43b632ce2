// SPDX-License-Identifier: Apache-2.0
//
// Reads .ms files from disk. Only regular files below the size limit of the format are read: pipes
// and devices could block or never end.
#ifndef DEPUTY_MINDSPORE_MS_FILE_H_
#define DEPUTY_MINDSPORE_MS_FILE_H_

#include <string>
#include <vector>

namespace deputy::ms {

// Reads the file at `path` if its first bytes identify it as a .ms file; otherwise `out_bytes` is
// empty and the function returns true. On failure returns false; `error` is then the end of a
// sentence that begins with the path ("is a pipe, expected ..."). Throws only std::bad_alloc.
bool ReadMsFile(const std::string& path, std::vector<char>* out_bytes, std::string* error);

}  // namespace deputy::ms

#endif  // DEPUTY_MINDSPORE_MS_FILE_H_
