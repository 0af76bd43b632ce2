// SPDX-License-Identifier: Apache-2.0
//
// Names of the .npy files that `deputy run --output-dir` writes.
#ifndef DEPUTY_TOOLS_OUTPUT_FILES_H_
#define DEPUTY_TOOLS_OUTPUT_FILES_H_

#include <cstddef>
#include <set>
#include <string>

namespace deputy::tools {

// Gives a different name to each output of each inference, and a different prefix to each
// inference. No name exceeds the limit of the file system.
class OutputFiles {
 public:
  // Creates names of files in `folder`; `max_name` is the maximum length of a name in bytes.
  OutputFiles(const std::string& folder, size_t max_name) : folder_(folder), max_name_(max_name) {}
  // Creates the directory if it does not exist; ends the command with kExitUsage if that fails.
  static OutputFiles In(const std::string& folder);

  // Starts the outputs of one inference. `item` is its image or row, "" if there is only one. File
  // names begin with `item` without its extension.
  void Begin(const std::string& item);
  // Returns a new path for an output of the current inference: FOLDER/ITEM_INDEX_TENSOR.npy. Ends
  // in "~2" and so on before the extension if the name was returned before.
  std::string PathOf(int index, const std::string& tensor);

 private:
  std::string folder_;
  size_t max_name_;
  std::string stem_;  // prefix with its underscore; "" without an item
  std::set<std::string> stems_;
  std::set<std::string> names_;  // names of files, without the extension
};

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_OUTPUT_FILES_H_
