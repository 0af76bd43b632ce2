// SPDX-License-Identifier: Apache-2.0
//
// Pinned host memory: a device transfers it directly, while a driver copies pageable memory to
// pinned memory first.
#ifndef DEPUTY_GPU_CL_DEVICE_PINNED_H_
#define DEPUTY_GPU_CL_DEVICE_PINNED_H_

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "gpu_cl/device/cl_api.h"
#include "gpu_cl/device/device.h"
#include "gpu_cl/device/process.h"

namespace deputy::gpu_cl {

// A buffer in pinned host memory, which stays mapped until it is released. Not thread-safe.
class PinnedBuffer {
 public:
  PinnedBuffer() = default;
  ~PinnedBuffer() { Release(); }
  PinnedBuffer(const PinnedBuffer&) = delete;
  PinnedBuffer& operator=(const PinnedBuffer&) = delete;

  // Releases the buffer and creates another one. Context and queue must outlive it. It is empty
  // after a failure.
  ClStatus Create(const SharedContext& context, cl_command_queue queue, size_t bytes);
  // Enqueues the end of the mapping, and releases the buffer.
  void Release();
  // Returns the address of the memory; null if empty.
  char* data() const { return data_; }

 private:
  const ClApi* api_ = nullptr;
  cl_command_queue queue_ = nullptr;
  ClMemory memory_;
  char* data_ = nullptr;
};

// Blocks of pinned memory that clients have allocated. A block keeps its context alive, so that it
// may be freed after the delegate. Thread-safe.
class HostBlocks {
 public:
  // Alignment of blocks: that of tensors in TensorFlow Lite.
  static constexpr size_t kAlignment = 64;

  // Returns the blocks of the process.
  static HostBlocks& Process();

  // Returns the address of a new block; null on failure.
  void* Allocate(std::shared_ptr<SharedContext> context, size_t bytes, ClStatus* out_status);
  // Frees a block. Returns "" or an error message.
  std::string Free(void* block);
  // Returns true if a block of the context contains the whole range.
  bool Contain(const SharedContext& context, const void* address, size_t bytes) const;

 private:
  struct Block {
    std::shared_ptr<SharedContext> context;
    ClQueue queue;
    PinnedBuffer buffer;  // destroyed before the queue
    size_t bytes = 0;
  };

  const ProcessMark process_{};
  mutable std::mutex mutex_;
  std::map<const char*, std::unique_ptr<Block>> blocks_;  // by address
};

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_DEVICE_PINNED_H_
