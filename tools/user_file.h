// SPDX-License-Identifier: Apache-2.0
//
// Reads files named by users. Only regular files of a bounded size are read: opening a pipe blocks
// until a writer appears, and a device may never end.
#ifndef DEPUTY_TOOLS_USER_FILE_H_
#define DEPUTY_TOOLS_USER_FILE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace deputy::tools {

// Size limits by kind of file, far above useful sizes.
inline constexpr uint64_t kMaxSettingsBytes = uint64_t{1} << 20;
inline constexpr uint64_t kMaxLabelsBytes = uint64_t{1} << 26;
inline constexpr uint64_t kMaxImageBytes = uint64_t{1} << 28;
inline constexpr uint64_t kMaxRowsBytes = uint64_t{1} << 30;

// An open regular file. All functions end the command with kExitUsage and a text that names the
// file if it cannot be opened or read.
class UserFile {
 public:
  explicit UserFile(const std::string& path);
  ~UserFile();
  UserFile(const UserFile&) = delete;
  UserFile& operator=(const UserFile&) = delete;

  const std::string& path() const { return path_; }
  uint64_t size() const { return size_; }
  // Reads exactly out.size() bytes.
  void Read(std::span<char> out) const;

 private:
  std::string path_;
  int descriptor_;
  uint64_t size_ = 0;
};

// Reads the whole file. A file larger than `max_bytes` is rejected before reading.
std::vector<char> ReadFile(const std::string& path, uint64_t max_bytes);

// Ends the command with kExitUsage unless the path names a regular file that can be opened.
void CheckReadable(const std::string& path);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_USER_FILE_H_
