// SPDX-License-Identifier: Apache-2.0
//
// Fills tensors from files: .npy, or raw bytes.
#ifndef DEPUTY_TOOLS_TENSOR_FILE_H_
#define DEPUTY_TOOLS_TENSOR_FILE_H_

#include <string>

#include "deputy/c_api.h"
#include "session.h"

namespace deputy::tools {

// Fills a tensor from a file. Ends the command with kExitUsage unless the file's array or bytes
// match the tensor. An .npy array of the tensor's own type is copied bit by bit; another type is
// converted (real values are quantised).
void WriteFromFile(const std::string& path, TfLiteTensor* tensor);

// Returns the index of the input selected by "NAME=FILE", or by "FILE" if there is only one input.
// Ends the command with kExitUsage if there is none.
int InputOf(const std::string& assignment, const Session& session);

// Fills the input that InputOf selects and returns its index. Ends the command with kExitUsage like
// WriteFromFile and InputOf.
int WriteInput(const std::string& assignment, const Session& session);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_TENSOR_FILE_H_
