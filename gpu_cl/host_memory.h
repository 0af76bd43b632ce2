// SPDX-License-Identifier: Apache-2.0
//
// Implementations of DeputyGpuAllocateHostMemory and DeputyGpuFreeHostMemory.
#ifndef DEPUTY_GPU_CL_HOST_MEMORY_H_
#define DEPUTY_GPU_CL_HOST_MEMORY_H_

#include <cstddef>
#include <string>

#include "tensorflow/lite/c/common.h"

namespace deputy::gpu_cl {

// Returns null and an error message on failure.
void* AllocateHostMemory(TfLiteDelegate* delegate, size_t bytes, std::string* out_error);
// Returns "" or an error message.
std::string FreeHostMemory(void* memory);

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_HOST_MEMORY_H_
