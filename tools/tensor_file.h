// SPDX-License-Identifier: Apache-2.0
//
// Tensors from files: .npy, or the raw bytes.
#ifndef DEPUTY_TOOLS_TENSOR_FILE_H_
#define DEPUTY_TOOLS_TENSOR_FILE_H_

#include <string>

#include "deputy/c_api.h"

namespace deputy::tools {

// Ends the command with kExitUsage unless the file's array or bytes suit the tensor. A .npy of the
// tensor's own type is copied bit by bit, of another type converted (real values quantised).
void WriteFromFile(const std::string& path, TfLiteTensor* tensor);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_TENSOR_FILE_H_
