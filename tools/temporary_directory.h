// SPDX-License-Identifier: Apache-2.0
#ifndef DEPUTY_TOOLS_TEMPORARY_DIRECTORY_H_
#define DEPUTY_TOOLS_TEMPORARY_DIRECTORY_H_

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "text.h"

namespace deputy::tools {

// A new directory with access for the user only. The destructor deletes it with its contents. If it
// cannot be created, the constructor ends the command with kExitFailed.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::error_code error;
    path_ = (std::filesystem::temp_directory_path(error) / "deputy.XXXXXX").string();
    if (error || mkdtemp(path_.data()) == nullptr) {
      path_.clear();
      FailWork("no temporary directory can be created");
    }
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_TEMPORARY_DIRECTORY_H_
