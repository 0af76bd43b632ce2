// SPDX-License-Identifier: Apache-2.0
#include "gpu_cl/handles.h"

#include <mutex>
#include <utility>

namespace deputy::gpu_cl {
namespace {

std::string Describe(const TfLiteTensor& tensor, TfLiteBufferHandle handle) {
  return std::string("tensor '") + (tensor.name == nullptr ? "" : tensor.name) +
         "', buffer handle " + std::to_string(handle) + ": ";
}

bool HasHandleOf(const GpuDelegate& gpu, const TfLiteTensor& tensor) {
  return tensor.delegate == &gpu.delegate && tensor.buffer_handle != kTfLiteNullBufferHandle;
}

// Finds the buffer of a handle and checks its size. Returns "" or an error message.
std::string Find(const GpuDelegate& gpu, const TfLiteTensor& tensor, TfLiteBufferHandle handle,
                 size_t bytes, std::shared_ptr<const DeviceBuffer>* out_buffer) {
  *out_buffer = gpu.buffers.Find(handle);
  if (*out_buffer == nullptr) {
    return Describe(tensor, handle) + "the handle is not valid (its buffer was released)";
  }
  if ((*out_buffer)->bytes == bytes) return "";
  return Describe(tensor, handle) + "expected " + std::to_string(bytes) + " bytes, found " +
         std::to_string((*out_buffer)->bytes);
}

// Returns the queue for copies outside of runs. It need not be synchronised with the queues of
// runs, because runs complete their commands before they return.
cl_command_queue CopyQueue(GpuDelegate* gpu, ClStatus* out_status) {
  if (gpu->queue) return gpu->queue.get();
  const std::lock_guard lock(gpu->mutex);
  if (!gpu->copies) {
    const SharedContext& context = *gpu->context;
    cl_int code = CL_SUCCESS;
    gpu->copies = ClQueue(&context.api(), context.api().CreateCommandQueue(
                                              context.context(), context.device().id, 0, &code));
    *out_status = ClCall("clCreateCommandQueue", code);
  }
  return gpu->copies.get();
}

// Copies between a tensor and its buffer: `copy(queue, buffer)` enqueues the copy and waits.
template <typename Copying>
TfLiteStatus CopyTensor(TfLiteContext* context, TfLiteDelegate* delegate, TfLiteBufferHandle handle,
                        const TfLiteTensor& tensor, const Copying& copy) {
  GpuDelegate& gpu = Of(delegate);
  return GuardedOn(gpu, context, [&]() -> TfLiteStatus {
    std::shared_ptr<const DeviceBuffer> buffer;
    const std::string problem = Find(gpu, tensor, handle, tensor.bytes, &buffer);
    if (!problem.empty()) return Fail(context, kTfLiteError, problem);
    if (tensor.bytes == 0) return kTfLiteOk;
    if (tensor.data.raw == nullptr) {
      return Fail(context, kTfLiteError,
                  Describe(tensor, handle) + "the tensor has no host memory");
    }
    ClStatus status;
    cl_command_queue queue = CopyQueue(&gpu, &status);
    if (status.ok()) status = copy(queue, *buffer);
    if (status.ok()) return kTfLiteOk;
    if (IsDeviceLost(status.code)) gpu.context->Poison();
    return Fail(context, kTfLiteError, Describe(tensor, handle) + status.text);
  });
}

TfLiteStatus CopyFrom(TfLiteContext* context, TfLiteDelegate* delegate, TfLiteBufferHandle handle,
                      TfLiteTensor* tensor) {
  const ClApi& api = Of(delegate).context->api();
  return CopyTensor(
      context, delegate, handle, *tensor, [&](cl_command_queue queue, const DeviceBuffer& from) {
        return ClCall("clEnqueueReadBuffer",
                      api.EnqueueReadBuffer(queue, from.memory.get(), CL_TRUE, from.offset,
                                            tensor->bytes, tensor->data.raw, 0, nullptr, nullptr));
      });
}

TfLiteStatus CopyTo(TfLiteContext* context, TfLiteDelegate* delegate, TfLiteBufferHandle handle,
                    TfLiteTensor* tensor) {
  const ClApi& api = Of(delegate).context->api();
  return CopyTensor(
      context, delegate, handle, *tensor, [&](cl_command_queue queue, const DeviceBuffer& to) {
        return ClCall("clEnqueueWriteBuffer",
                      api.EnqueueWriteBuffer(queue, to.memory.get(), CL_TRUE, to.offset,
                                             tensor->bytes, tensor->data.raw, 0, nullptr, nullptr));
      });
}

void FreeHandle(TfLiteContext*, TfLiteDelegate* delegate, TfLiteBufferHandle* handle) {
  if (!Of(delegate).process.IsForked()) Of(delegate).buffers.Remove(*handle);
  *handle = kTfLiteNullBufferHandle;
}

template <typename T>
ClStatus Query(const ClApi& api, cl_mem memory, cl_mem_info what, T* out_value) {
  return ClCall("clGetMemObjectInfo",
                api.GetMemObjectInfo(memory, what, sizeof *out_value, out_value, nullptr));
}

}  // namespace

std::string Adopt(const SharedContext& context, cl_mem memory, DeviceBuffer* buffer) {
  const ClApi& api = context.api();
  cl_context buffer_context = nullptr;
  size_t size = 0;
  ClStatus status = Query(api, memory, CL_MEM_CONTEXT, &buffer_context);
  if (status.ok()) status = Query(api, memory, CL_MEM_SIZE, &size);
  if (status.ok() && buffer_context != context.context()) {
    return "the buffer belongs to a different context than the delegate";
  }
  if (status.ok() && (buffer->offset > size || buffer->bytes > size - buffer->offset)) {
    return "expected a buffer of " + std::to_string(buffer->bytes) + " bytes from offset " +
           std::to_string(buffer->offset) + " on, found one of " + std::to_string(size);
  }
  if (status.ok()) status = ClCall("clRetainMemObject", api.RetainMemObject(memory));
  if (status.ok()) buffer->memory = ClMemory(&api, memory);
  return status.text;
}

bool IsOurs(const TfLiteDelegate* delegate) {
  return delegate != nullptr && delegate->CopyFromBufferHandle == &CopyFrom;
}

void SetHandleFunctions(TfLiteDelegate* delegate) {
  delegate->CopyFromBufferHandle = &CopyFrom;
  delegate->CopyToBufferHandle = &CopyTo;
  delegate->FreeBufferHandle = &FreeHandle;
}

std::string FindInput(const GpuDelegate& gpu, size_t bytes, bool from_client, TfLiteTensor* tensor,
                      InputLocation* out_location) {
  out_location->host = tensor->data.raw;
  if (from_client && !tensor->data_is_stale && FindClientBuffer(gpu, *tensor) != nullptr) {
    tensor->data_is_stale = true;
  }
  if (!tensor->data_is_stale || !HasHandleOf(gpu, *tensor)) return "";
  return Find(gpu, *tensor, tensor->buffer_handle, bytes, &out_location->device);
}

std::shared_ptr<const DeviceBuffer> FindClientBuffer(const GpuDelegate& gpu,
                                                     const TfLiteTensor& tensor) {
  if (!HasHandleOf(gpu, tensor)) return nullptr;
  std::shared_ptr<const DeviceBuffer> buffer = gpu.buffers.Find(tensor.buffer_handle);
  return buffer != nullptr && buffer->from_client ? buffer : nullptr;
}

bool MarkOnDevice(GpuDelegate* gpu, std::shared_ptr<const DeviceBuffer> buffer,
                  TfLiteTensor* tensor) {
  if (!HasHandleOf(*gpu, *tensor) || !gpu->buffers.Replace(tensor->buffer_handle, buffer)) {
    tensor->buffer_handle = gpu->buffers.Add(std::move(buffer));
    if (tensor->buffer_handle == kTfLiteNullBufferHandle) return false;
  }
  tensor->delegate = &gpu->delegate;
  tensor->data_is_stale = true;
  return true;
}

void MarkOnHost(const GpuDelegate& gpu, TfLiteTensor* tensor) {
  if (tensor->delegate == &gpu.delegate) tensor->data_is_stale = false;
}

std::string BindBuffer(TfLiteDelegate* delegate, TfLiteTensor* tensor, cl_mem memory,
                       size_t offset) {
  if (!IsOurs(delegate)) return "expected a delegate created by DeputyGpuDelegateCreate";
  if (tensor == nullptr || memory == nullptr) return "expected a tensor and a buffer, found NULL";
  GpuDelegate& gpu = Of(delegate);
  std::string forked = gpu.process.ForkError();
  if (!forked.empty()) return forked;
  if (tensor->delegate != nullptr && tensor->delegate != delegate) {
    return Describe(*tensor, tensor->buffer_handle) + "the tensor belongs to another delegate";
  }
  auto buffer = std::make_shared<DeviceBuffer>();
  buffer->offset = offset;
  buffer->bytes = tensor->bytes;
  buffer->from_client = true;
  std::string problem = Adopt(*gpu.context, memory, buffer.get());
  if (!problem.empty()) return Describe(*tensor, tensor->buffer_handle) + problem;
  if (!MarkOnDevice(&gpu, std::move(buffer), tensor))
    return "no free buffer handle (65536 are in use)";
  return "";
}

std::string UnbindBuffer(TfLiteDelegate* delegate, TfLiteTensor* tensor) {
  if (!IsOurs(delegate)) return "expected a delegate created by DeputyGpuDelegateCreate";
  if (tensor == nullptr) return "expected a tensor, found NULL";
  GpuDelegate& gpu = Of(delegate);
  std::string forked = gpu.process.ForkError();
  if (!forked.empty()) return forked;
  if (FindClientBuffer(gpu, *tensor) == nullptr) {
    return Describe(*tensor, tensor->buffer_handle) + "no buffer is bound";
  }
  FreeHandle(nullptr, delegate, &tensor->buffer_handle);
  tensor->delegate = nullptr;
  tensor->data_is_stale = false;
  return "";
}

}  // namespace deputy::gpu_cl
