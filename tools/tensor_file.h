// SPDX-License-Identifier: Apache-2.0
//
// Tensors from files: .npy, or the raw bytes.
#ifndef DEPUTY_TOOLS_TENSOR_FILE_H_
#define DEPUTY_TOOLS_TENSOR_FILE_H_

#include <string>

#include "deputy/c_api.h"
#include "session.h"

namespace deputy::tools {

// Ends the command with kExitUsage unless the file's array or bytes suit the tensor. A .npy of the
// tensor's own type is copied bit by bit, of another type converted (real values quantised).
void WriteFromFile(const std::string& path, TfLiteTensor* tensor);

// The number of the input that "NAME=FILE", or "FILE" where there is one input, names. Ends the
// command with kExitUsage if there is none.
int InputOf(const std::string& assignment, const Session& session);

// Fills that input and returns its number. Ends the command with kExitUsage like WriteFromFile, and
// where no input is named.
int WriteInput(const std::string& assignment, const Session& session);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_TENSOR_FILE_H_
