// SPDX-License-Identifier: Apache-2.0
//
// NumPy's .npy files: one array with its type and shape. Read in C order and little-endian only.
#ifndef DEPUTY_TOOLS_NPY_H_
#define DEPUTY_TOOLS_NPY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "deputy/c_api_types.h"
#include "user_file.h"

namespace deputy::tools {

// A .npy file whose header has been read and checked. Both functions end the command with
// kExitUsage and one line that names the file and what is wrong with it.
class NpyFile {
 public:
  explicit NpyFile(const std::string& path);
  TfLiteType type() const { return type_; }
  const std::vector<int>& shape() const { return shape_; }
  // The data: as many bytes as type and shape need. To be called once.
  std::vector<char> Read() const;

 private:
  void ParseHeader(const std::string& header);

  UserFile file_;
  TfLiteType type_ = kTfLiteNoType;
  std::vector<int> shape_;
  size_t bytes_ = 0;  // of data
};

// Ends the command with kExitFailed and one line if the file cannot be written.
void WriteNpy(const std::string& path, TfLiteType type, const std::vector<int>& shape,
              const void* data, size_t bytes);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_NPY_H_
