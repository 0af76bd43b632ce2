// SPDX-License-Identifier: Apache-2.0
//
// Files with the source of programs, for developers of kernels.
#ifndef DEPUTY_GPU_CL_RUN_SOURCE_FILE_H_
#define DEPUTY_GPU_CL_RUN_SOURCE_FILE_H_

#include <string>

namespace deputy::gpu_cl {

// Writes `source` to a file of `folder`, named by the first 16 digits of its SHA-256. Returns "" or
// an error message.
std::string WriteSource(const std::string& folder, const std::string& source);

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_RUN_SOURCE_FILE_H_
