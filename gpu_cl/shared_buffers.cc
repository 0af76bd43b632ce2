// SPDX-License-Identifier: Apache-2.0
#include "gpu_cl/shared_buffers.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "gpu_cl/gpu_delegate.h"
#include "gpu_cl/handles.h"
#include "gpu_cl/partition.h"

namespace deputy::gpu_cl {
namespace {

uint64_t DomainOf(const GpuDelegate& gpu) {
  return reinterpret_cast<uintptr_t>(gpu.context->context());
}

}  // namespace

TfLiteStatus MemoryTypes(TfLiteDelegate* delegate, TfLiteContext*, TfLiteNode* node, int32_t tensor,
                         DeputyMemoryTypeCallback callback, void* user_data) {
  const GpuDelegate& gpu = Of(delegate);
  if (gpu.process.IsForked() || gpu.context == nullptr || !UsesOnDevice(*node, tensor)) {
    return kTfLiteOk;
  }
  DeputyMemoryRequirements type{};
  type.struct_size = sizeof type;
  type.type = kDeputyMemoryOpenCl;
  type.domain = DomainOf(gpu);
  callback(user_data, &type);
  return kTfLiteOk;
}

TfLiteStatus ShareOutputOf(TfLiteDelegate* delegate, TfLiteContext* context, TfLiteNode* node,
                           int32_t tensor, const DeputyMemoryRequirements* requirements) {
  return GuardedOn(Of(delegate), context, [&]() -> TfLiteStatus {
    const std::string problem = ShareOutput(*node, tensor, requirements != nullptr);
    return problem.empty() ? kTfLiteOk : Fail(context, kTfLiteError, problem);
  });
}

TfLiteStatus ExportBuffer(TfLiteDelegate* delegate, TfLiteContext* context,
                          TfLiteBufferHandle handle, const DeputyMemoryRequirements*,
                          DeputyBuffer* buffer) {
  const GpuDelegate& gpu = Of(delegate);
  return GuardedOn(gpu, context, [&]() -> TfLiteStatus {
    const std::shared_ptr<const DeviceBuffer> found = gpu.buffers.Find(handle);
    if (found == nullptr) {
      return Fail(context, kTfLiteError,
                  "buffer handle " + std::to_string(handle) + ": the handle is not valid");
    }
    buffer->type = kDeputyMemoryOpenCl;
    buffer->object = found->memory.get();
    buffer->domain = DomainOf(gpu);
    buffer->offset = found->offset;
    buffer->bytes = found->bytes;
    buffer->size = found->offset + found->bytes;
    return kTfLiteOk;
  });
}

TfLiteStatus ImportBuffer(TfLiteDelegate* delegate, TfLiteContext* context,
                          const DeputyBuffer* buffer, TfLiteBufferHandle* handle) {
  GpuDelegate& gpu = Of(delegate);
  return GuardedOn(gpu, context, [&]() -> TfLiteStatus {
    if (buffer->type != kDeputyMemoryOpenCl || buffer->object == nullptr) {
      return Fail(context, kTfLiteError, "expected an OpenCL buffer");
    }
    auto imported = std::make_shared<DeviceBuffer>();
    imported->offset = buffer->offset;
    imported->bytes = buffer->bytes;
    imported->from_client = true;
    const std::string problem =
        Adopt(*gpu.context, static_cast<cl_mem>(buffer->object), imported.get());
    if (!problem.empty()) return Fail(context, kTfLiteError, problem);
    *handle = gpu.buffers.Add(std::move(imported));
    if (*handle != kTfLiteNullBufferHandle) return kTfLiteOk;
    return Fail(context, kTfLiteError, "no free buffer handle (65536 are in use)");
  });
}

}  // namespace deputy::gpu_cl
