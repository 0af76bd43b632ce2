// SPDX-License-Identifier: Apache-2.0
//
// NumPy's .npy files: one array with type and shape. Only C order and little-endian data are
// supported.
#ifndef DEPUTY_TOOLS_NPY_H_
#define DEPUTY_TOOLS_NPY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "deputy/c_api_types.h"
#include "user_file.h"

namespace deputy::tools {

// A .npy file with a parsed and checked header. The constructor and Read() end the command with
// kExitUsage and one line that names the file and the fault.
class NpyFile {
 public:
  explicit NpyFile(const std::string& path);
  TfLiteType type() const { return type_; }
  const std::vector<int>& shape() const { return shape_; }
  // Reads the data, whose size follows from type and shape. May be called once.
  std::vector<char> Read() const;

 private:
  void ParseHeader(const std::string& header);

  UserFile file_;
  TfLiteType type_ = kTfLiteNoType;
  std::vector<int> shape_;
  size_t bytes_ = 0;  // size of the data
};

// Writes an array. Ends the command with kExitFailed and one line if the file cannot be written.
void WriteNpy(const std::string& path, TfLiteType type, const std::vector<int>& shape,
              const void* data, size_t bytes);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_NPY_H_
