// SPDX-License-Identifier: Apache-2.0
#include "gpu_cl/device/pinned.h"

#include <cstdint>
#include <utility>

namespace deputy::gpu_cl {

ClStatus PinnedBuffer::Create(const SharedContext& context, cl_command_queue queue, size_t bytes) {
  Release();
  api_ = &context.api();
  queue_ = queue;
  cl_int code = CL_SUCCESS;
  memory_ = ClMemory(
      api_, api_->CreateBuffer(context.context(), CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes,
                               nullptr, &code));
  if (code != CL_SUCCESS) return ClCall("clCreateBuffer", code);
  data_ = static_cast<char*>(api_->EnqueueMapBuffer(queue_, memory_.get(), CL_TRUE,
                                                    CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0,
                                                    nullptr, nullptr, &code));
  if (code == CL_SUCCESS) return {};
  data_ = nullptr;
  memory_.Reset();
  return ClCall("clEnqueueMapBuffer", code);
}

void PinnedBuffer::Release() {
  // Completion is awaited by the queue's owner. A failure is ignored.
  if (data_ != nullptr) {
    (void)api_->EnqueueUnmapMemObject(queue_, memory_.get(), data_, 0, nullptr, nullptr);
  }
  data_ = nullptr;
  memory_.Reset();
}

HostBlocks& HostBlocks::Process() {
  static auto* blocks = new HostBlocks;  // never destroyed: clients may free blocks until exit
  return *blocks;
}

void* HostBlocks::Allocate(std::shared_ptr<SharedContext> context, size_t bytes,
                           ClStatus* out_status) {
  if (bytes == 0 || bytes > SIZE_MAX - kAlignment) {
    *out_status = {CL_INVALID_BUFFER_SIZE,
                   "expected a size of at least 1 byte, found " + std::to_string(bytes)};
    return nullptr;
  }
  const ClApi& api = context->api();
  auto block = std::make_unique<Block>();
  block->context = std::move(context);
  block->bytes = bytes;
  cl_int code = CL_SUCCESS;
  block->queue = ClQueue(&api, api.CreateCommandQueue(block->context->context(),
                                                      block->context->device().id, 0, &code));
  *out_status = ClCall("clCreateCommandQueue", code);
  // Drivers align pinned memory to pages, but are not required to.
  if (out_status->ok()) {
    *out_status = block->buffer.Create(*block->context, block->queue.get(), bytes + kAlignment - 1);
  }
  if (!out_status->ok()) {
    out_status->text += ": " + std::to_string(bytes) + " bytes of pinned host memory";
    return nullptr;
  }
  const auto address = reinterpret_cast<uintptr_t>(block->buffer.data());
  char* const aligned = block->buffer.data() + (kAlignment - address % kAlignment) % kAlignment;
  const std::lock_guard lock(mutex_);
  blocks_.emplace(aligned, std::move(block));
  return aligned;
}

std::string HostBlocks::Free(void* block) {
  std::string forked = process_.ForkError();
  if (!forked.empty()) return forked;
  std::unique_ptr<Block> freed;  // released after the mutex
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(static_cast<const char*>(block));
  if (found == blocks_.end()) return "expected memory of DeputyGpuAllocateHostMemory";
  freed = std::move(found->second);
  blocks_.erase(found);
  return "";
}

bool HostBlocks::Contain(const SharedContext& context, const void* address, size_t bytes) const {
  const auto* const first = static_cast<const char*>(address);
  const std::lock_guard lock(mutex_);
  auto found = blocks_.upper_bound(first);
  if (found == blocks_.begin()) return false;
  --found;
  const auto offset = static_cast<size_t>(first - found->first);
  const Block& block = *found->second;
  return block.context.get() == &context && offset <= block.bytes && bytes <= block.bytes - offset;
}

}  // namespace deputy::gpu_cl
