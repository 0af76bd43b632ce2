// SPDX-License-Identifier: Apache-2.0
#include "gpu_cl/host_memory.h"

#include "gpu_cl/device/pinned.h"
#include "gpu_cl/gpu_delegate.h"
#include "gpu_cl/handles.h"

namespace deputy::gpu_cl {

void* AllocateHostMemory(TfLiteDelegate* delegate, size_t bytes, std::string* out_error) {
  if (!IsOurs(delegate)) {
    *out_error = "expected a delegate created by DeputyGpuDelegateCreate";
    return nullptr;
  }
  const GpuDelegate& gpu = Of(delegate);
  *out_error = gpu.process.ForkError();
  if (!out_error->empty()) return nullptr;
  ClStatus status = CheckDevice(*gpu.context);
  void* const memory =
      status.ok() ? HostBlocks::Process().Allocate(gpu.context, bytes, &status) : nullptr;
  if (IsDeviceLost(status.code)) gpu.context->Poison();
  *out_error = status.text;
  return memory;
}

std::string FreeHostMemory(void* memory) {
  return memory == nullptr ? "" : HostBlocks::Process().Free(memory);
}

}  // namespace deputy::gpu_cl
