// SPDX-License-Identifier: Apache-2.0
//
// Names of the .npy files that `deputy run --output-dir` writes.
#ifndef DEPUTY_TOOLS_OUTPUT_FILES_H_
#define DEPUTY_TOOLS_OUTPUT_FILES_H_

#include <cstddef>
#include <set>
#include <string>

namespace deputy::tools {

// Gives different names to the outputs of one inference, and a different prefix to each inference.
// No name exceeds the limit of the file system.
class OutputFiles {
 public:
  // Creates names of files in `folder`; `max_name` is the maximum length of a name in bytes.
  OutputFiles(const std::string& folder, size_t max_name) : folder_(folder), max_name_(max_name) {}
  // Creates the directory if it does not exist; ends the command with kExitUsage if that fails.
  static OutputFiles In(const std::string& folder);

  // Starts the outputs of one inference. `item` is its image or row, "" if there is only one. File
  // names begin with `item` without its extension.
  void Begin(const std::string& item);
  // Returns the path for an output of the current inference: FOLDER/ITEM_INDEX_TENSOR.npy.
  std::string PathOf(int index, const std::string& tensor) const;

 private:
  std::string folder_;
  size_t max_name_;
  std::string stem_;  // prefix with its underscore; "" without an item
  std::set<std::string> stems_;
};

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_OUTPUT_FILES_H_
