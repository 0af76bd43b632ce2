// SPDX-License-Identifier: Apache-2.0
//
// NumPy's .npy files: one array with its type and shape. Read in C order and little-endian only.
#ifndef DEPUTY_TOOLS_NPY_H_
#define DEPUTY_TOOLS_NPY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "deputy/c_api_types.h"

namespace deputy::tools {

struct NpyArray {
  TfLiteType type = kTfLiteNoType;
  std::vector<int> shape;
  std::vector<char> bytes;
};

// Both end the command with kExitUsage (reading) or kExitFailed (writing) and one line naming the
// file and what is wrong with it.
NpyArray ReadNpy(const std::string& path);
void WriteNpy(const std::string& path, TfLiteType type, const std::vector<int>& shape,
              const void* data, size_t bytes);

// The whole file; ends the command with kExitUsage when it cannot be read.
std::vector<char> ReadFile(const std::string& path);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_NPY_H_
