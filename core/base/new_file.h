// SPDX-License-Identifier: Apache-2.0
//
// Files that are replaced as a whole: readers find the old or the new contents.
#ifndef DEPUTY_CORE_BASE_NEW_FILE_H_
#define DEPUTY_CORE_BASE_NEW_FILE_H_

#include <span>

namespace deputy {

// Returns true if a file of this name can be created or replaced; otherwise sets errno. Devices,
// pipes, directories and links are not replaced.
bool IsReplaceable(const char* path);

// Writes a new file, and renames it to `path`. Returns false on failure, with an older file
// unchanged.
bool WriteNewFile(const char* path, std::span<const char> bytes);

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_NEW_FILE_H_
