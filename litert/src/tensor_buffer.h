// SPDX-License-Identifier: Apache-2.0
//
// Tensor buffers: reference-counted memory of a tensor, in host memory, in a dma-buf, in OpenCL
// memory or in memory of a vendor.
#ifndef DEPUTY_LITERT_SRC_TENSOR_BUFFER_H_
#define DEPUTY_LITERT_SRC_TENSOR_BUFFER_H_

#include <atomic>
#include <cstddef>
#include <memory>

#include "litert/c/litert_tensor_buffer.h"
#include "litert/src/buffer_handlers.h"
#include "litert/src/event.h"
#include "litert/src/opencl.h"

class LiteRtTensorBufferT {
 public:
  LiteRtTensorBufferT(const LiteRtRankedTensorType& tensor_type, LiteRtTensorBufferType type,
                      size_t bytes, size_t offset);
  LiteRtTensorBufferT(const LiteRtTensorBufferT&) = delete;
  LiteRtTensorBufferT& operator=(const LiteRtTensorBufferT&) = delete;

  void Retain() { ++references_; }
  // Deletes the buffer with its last reference.
  void Release();

  // Waits for the event and returns the address of the tensor in host memory.
  LiteRtStatus Lock(LiteRtTensorBufferLockMode mode, void** out_address);
  LiteRtStatus Unlock();
  // Does the same for a run in which a device uses the memory: there is no address.
  LiteRtStatus LockForDevice();
  LiteRtStatus Clear();
  // Fails unless the tensor has a static shape and fits into the buffer, and host memory is
  // aligned.
  LiteRtStatus Check() const;

  using Deallocator = void (*)(void* object);

  const LiteRtRankedTensorType tensor_type;
  const LiteRtTensorBufferType type;
  const size_t bytes, offset;
  const size_t packed_bytes;  // size of the dense tensor; for strings that of the buffer
  std::unique_ptr<LiteRtEventT> event;

  // Host memory, a mapped dma-buf or the client's cl_mem; null for other memory.
  char* address = nullptr;
  int fd = -1;                        // of a dma-buf
  Deallocator deallocator = nullptr;  // gets the address

  std::unique_ptr<deputy::litert::OpenClBuffer> opencl;

  HwMemoryInfoPtr vendor_memory = nullptr;
  deputy::litert::BufferHandlers handlers;  // of a vendor's memory

 private:
  ~LiteRtTensorBufferT();

  std::atomic<int> references_{1};
  bool is_locked_ = false, is_for_device_ = false;
  LiteRtTensorBufferLockMode lock_mode_ = kLiteRtTensorBufferLockModeRead;
};

namespace deputy::litert {

struct ReleaseTensorBuffer {
  void operator()(LiteRtTensorBufferT* buffer) const { buffer->Release(); }
};
using TensorBufferPtr = std::unique_ptr<LiteRtTensorBufferT, ReleaseTensorBuffer>;

}  // namespace deputy::litert

#endif  // DEPUTY_LITERT_SRC_TENSOR_BUFFER_H_
