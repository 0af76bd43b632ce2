// SPDX-License-Identifier: Apache-2.0
#include "litert/src/tensor_buffer.h"

#include <linux/dma-buf.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "litert/src/environment.h"
#include "litert/src/layout.h"
#include "litert/src/log.h"
#include "litert/src/plugin_files.h"
#include "litert/src/requirements.h"

using deputy::litert::BufferHandlers;
using deputy::litert::ElementCount;
using deputy::litert::Fail;
using deputy::litert::Guard;
using deputy::litert::NumberOf;
using deputy::litert::PackedBytes;
using deputy::litert::TensorBufferPtr;

namespace {

// Kernels may read beyond the end of a tensor in managed memory.
constexpr size_t kExtraBytes = 128;

// Size of the dense tensor, as far as it is known before run time.
size_t DenseBytes(const LiteRtRankedTensorType& type, size_t buffer_bytes) {
  return NumberOf(type.element_type) == kLiteRtElementTypeTfString ? buffer_bytes
                                                                   : PackedBytes(type).value_or(0);
}

// Returns the minimum size of a buffer for a tensor; empty if it is unknown.
std::optional<size_t> LeastBytes(const LiteRtRankedTensorType& type) {
  if (NumberOf(type.element_type) != kLiteRtElementTypeTfString) return PackedBytes(type);
  // A string tensor begins with its number of strings and their offsets.
  const size_t count = ElementCount(type.layout).value_or(SIZE_MAX);
  if (count > SIZE_MAX / sizeof(int32_t) - 2) return std::nullopt;
  return sizeof(int32_t) * (count + 2);
}

// Marks the begin or end of accesses by the processor to a dma-buf. Buffers that are no dma-buf,
// for example memfds, are coherent.
LiteRtStatus SyncDmaBuf(int fd, LiteRtTensorBufferLockMode mode, bool begins) {
  dma_buf_sync sync = {};
  sync.flags = begins ? DMA_BUF_SYNC_START : DMA_BUF_SYNC_END;
  if (mode != kLiteRtTensorBufferLockModeWrite) sync.flags |= DMA_BUF_SYNC_READ;
  if (mode != kLiteRtTensorBufferLockModeRead) sync.flags |= DMA_BUF_SYNC_WRITE;
  int result = 0;
  do {
    result = ioctl(fd, DMA_BUF_IOCTL_SYNC, &sync);
  } while (result != 0 && (errno == EINTR || errno == EAGAIN));
  if (result == 0 || errno == ENOTTY) return kLiteRtStatusOk;
  return Fail(kLiteRtStatusErrorRuntimeFailure, "tensor buffer: dma-buf %d: %s", fd,
              strerror(errno));
}

LiteRtStatus CreateManagedHostMemory(const LiteRtRankedTensorType& tensor_type, size_t bytes,
                                     size_t alignment, LiteRtTensorBuffer* out_buffer) {
  size_t padded = 0;
  void* memory = nullptr;
  if (__builtin_add_overflow(bytes, kExtraBytes, &padded) ||
      posix_memalign(&memory, alignment, padded) != 0) {
    return Fail(kLiteRtStatusErrorRuntimeFailure, "tensor buffer: no memory for %zu bytes", bytes);
  }
  std::memset(static_cast<char*>(memory) + bytes, 0, kExtraBytes);
  return LiteRtCreateTensorBufferFromHostMemory(&tensor_type, memory, bytes, &std::free,
                                                out_buffer);
}

LiteRtStatus FindOpenCl(LiteRtEnvironment environment,
                        std::shared_ptr<deputy::litert::OpenCl>* out_open_cl) {
  std::string reason = "expected an environment, found NULL";
  if (environment != nullptr) *out_open_cl = environment->FindOpenCl(&reason);
  if (*out_open_cl != nullptr) return kLiteRtStatusOk;
  return Fail(kLiteRtStatusErrorRuntimeFailure, "tensor buffer: OpenCL is not available: %s",
              reason.c_str());
}

LiteRtStatus CreateManagedOpenCl(LiteRtEnvironment environment,
                                 const LiteRtRankedTensorType& tensor_type, size_t bytes,
                                 LiteRtTensorBuffer* out_buffer) {
  TensorBufferPtr created(
      new LiteRtTensorBufferT(tensor_type, kLiteRtTensorBufferTypeOpenClBufferPacked, bytes, 0));
  LITERT_TRY(created->Check());
  std::shared_ptr<deputy::litert::OpenCl> open_cl;
  LITERT_TRY(FindOpenCl(environment, &open_cl));
  LITERT_TRY(deputy::litert::OpenClBuffer::Create(std::move(open_cl), bytes, &created->opencl));
  *out_buffer = created.release();
  return kLiteRtStatusOk;
}

// Logs the reason for the failure of a type of OpenCL memory, and returns `status`.
LiteRtStatus RefuseLayout(LiteRtTensorBufferType type, LiteRtStatus status) {
  return Fail(status,
              "tensor buffer: memory of type %d has the layout of LiteRT's GPU library; expected "
              "dense OpenCL memory (kLiteRtTensorBufferTypeOpenClBufferPacked, %d)",
              type, kLiteRtTensorBufferTypeOpenClBufferPacked);
}

bool IsOpenCl(LiteRtTensorBufferType type) {
  return type >= kLiteRtTensorBufferTypeOpenClBuffer &&
         type <= kLiteRtTensorBufferTypeOpenClImageBufferFp16;
}

// Creates a buffer with a vendor's functions.
LiteRtStatus CreateVendorBuffer(LiteRtEnvironment environment, LiteRtTensorBufferType type,
                                const LiteRtRankedTensorType& tensor_type, size_t bytes,
                                LiteRtTensorBuffer* out_buffer) {
  const BufferHandlers* const handlers =
      environment == nullptr ? nullptr : environment->FindHandlers(type);
  if (handlers == nullptr || handlers->create == nullptr) {
    if (type == kLiteRtTensorBufferTypeOpenClBufferPacked) {
      return CreateManagedOpenCl(environment, tensor_type, bytes, out_buffer);
    }
    if (IsOpenCl(type)) return RefuseLayout(type, kLiteRtStatusErrorNotFound);
    // Types of vendors and of devices begin at 10.
    return Fail(type >= kLiteRtTensorBufferTypeOpenClBuffer &&
                        type <= kLiteRtTensorBufferTypeUserCustomBufferEnd
                    ? kLiteRtStatusErrorNotFound
                    : kLiteRtStatusErrorInvalidArgument,
                "tensor buffer: no functions are registered for buffers of type %d", type);
  }
  TensorBufferPtr created(new LiteRtTensorBufferT(tensor_type, type, bytes, 0));
  void* const device = environment->PointerOption(handlers->device_tag);
  void* const queue = environment->PointerOption(handlers->queue_tag);
  HwMemoryInfoPtr memory = nullptr;
  const LiteRtStatus status =
      handlers->create(device, queue, &tensor_type, type, bytes, created->packed_bytes, &memory);
  if (status != kLiteRtStatusOk) {
    return Fail(status, "tensor buffer: the vendor's function for buffers of type %d failed: %s",
                type, LiteRtGetStatusString(status));
  }
  if (!deputy::litert::IsMapped(memory, sizeof(*memory))) {
    return Fail(kLiteRtStatusErrorRuntimeFailure,
                "tensor buffer: the vendor's function created no memory");
  }
  created->vendor_memory = memory;
  created->handlers = *handlers;
  *out_buffer = created.release();
  return kLiteRtStatusOk;
}

LiteRtStatus CreateManaged(LiteRtEnvironment environment, LiteRtTensorBufferType type,
                           const LiteRtRankedTensorType& tensor_type, size_t bytes,
                           size_t alignment, LiteRtTensorBuffer* out_buffer) {
  return Guard([&] {
    if (type == kLiteRtTensorBufferTypeHostMemory) {
      return CreateManagedHostMemory(tensor_type, bytes, alignment, out_buffer);
    }
    return CreateVendorBuffer(environment, type, tensor_type, bytes, out_buffer);
  });
}

}  // namespace

LiteRtTensorBufferT::LiteRtTensorBufferT(const LiteRtRankedTensorType& ranked_type,
                                         LiteRtTensorBufferType buffer_type, size_t buffer_bytes,
                                         size_t buffer_offset)
    : tensor_type(ranked_type),
      type(buffer_type),
      bytes(buffer_bytes),
      offset(buffer_offset),
      packed_bytes(DenseBytes(ranked_type, buffer_bytes)) {}

LiteRtTensorBufferT::~LiteRtTensorBufferT() {
  opencl = nullptr;
  if (deallocator != nullptr) deallocator(address);
  if (vendor_memory != nullptr && handlers.destroy != nullptr) handlers.destroy(vendor_memory);
}

void LiteRtTensorBufferT::Release() {
  if (--references_ == 0) delete this;
}

LiteRtStatus LiteRtTensorBufferT::Check() const {
  const LiteRtLayout& layout = tensor_type.layout;
  if (layout.rank > LITERT_TENSOR_MAX_RANK) {
    return Fail(kLiteRtStatusErrorInvalidArgument,
                "tensor buffer: expected a rank of at most %d, found %u", LITERT_TENSOR_MAX_RANK,
                static_cast<unsigned>(layout.rank));
  }
  if (offset > bytes) {
    return Fail(kLiteRtStatusErrorRuntimeFailure,
                "tensor buffer: expected an offset of at most %zu, found %zu", bytes, offset);
  }
  // A vector of length 0 stands for a scalar that is set later.
  if (layout.rank == 1 && layout.dimensions[0] == 0) return kLiteRtStatusOk;
  for (unsigned axis = 0; axis < layout.rank; ++axis) {
    if (layout.dimensions[axis] <= 0) {
      return Fail(kLiteRtStatusErrorRuntimeFailure,
                  "tensor buffer: expected a static shape, found %d in dimension %u",
                  layout.dimensions[axis], axis);
    }
  }
  if (offset >= bytes) {
    return Fail(kLiteRtStatusErrorRuntimeFailure,
                "tensor buffer: expected an offset below %zu, found %zu", bytes, offset);
  }
  const std::optional<size_t> needed = LeastBytes(tensor_type);
  if (!needed) {
    return Fail(kLiteRtStatusErrorInvalidArgument,
                "tensor buffer: element type %d has no known size",
                NumberOf(tensor_type.element_type));
  }
  if (*needed > bytes - offset) {
    return Fail(kLiteRtStatusErrorRuntimeFailure,
                "tensor buffer: expected at least %zu bytes, found %zu", *needed, bytes - offset);
  }
  if (type == kLiteRtTensorBufferTypeHostMemory &&
      reinterpret_cast<uintptr_t>(address) % LITERT_HOST_MEMORY_BUFFER_ALIGNMENT != 0) {
    return Fail(kLiteRtStatusErrorRuntimeFailure,
                "tensor buffer: expected host memory aligned to %d bytes, found address %p",
                LITERT_HOST_MEMORY_BUFFER_ALIGNMENT, static_cast<void*>(address));
  }
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtTensorBufferT::LockForDevice() {
  if (is_locked_) {
    return Fail(kLiteRtStatusErrorRuntimeFailure, "tensor buffer: it is locked already");
  }
  if (event != nullptr) LITERT_TRY(event->Wait(-1));
  is_locked_ = is_for_device_ = true;
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtTensorBufferT::Lock(LiteRtTensorBufferLockMode mode, void** out_address) {
  if (is_locked_) {
    return Fail(kLiteRtStatusErrorRuntimeFailure, "tensor buffer: it is locked already");
  }
  if (event != nullptr) LITERT_TRY(event->Wait(-1));
  if (type == kLiteRtTensorBufferTypeDmaBuf) LITERT_TRY(SyncDmaBuf(fd, mode, true));
  void* found = address;
  if (opencl != nullptr) LITERT_TRY(opencl->Lock(mode, &found));
  if (vendor_memory != nullptr) {
    if (handlers.lock == nullptr) {
      return Fail(kLiteRtStatusErrorUnsupported,
                  "tensor buffer: buffers of type %d cannot be locked", type);
    }
    found = nullptr;
    LITERT_TRY(handlers.lock(vendor_memory, mode, &found));
    if (!deputy::litert::IsMapped(found, bytes)) {
      if (handlers.unlock != nullptr) (void)handlers.unlock(vendor_memory);
      return Fail(kLiteRtStatusErrorRuntimeFailure,
                  "tensor buffer: the vendor's function returned no memory of %zu bytes", bytes);
    }
  }
  is_locked_ = true;
  lock_mode_ = mode;
  *out_address = found;
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtTensorBufferT::Unlock() {
  if (!is_locked_) return Fail(kLiteRtStatusErrorRuntimeFailure, "tensor buffer: it is not locked");
  is_locked_ = false;
  if (std::exchange(is_for_device_, false)) return kLiteRtStatusOk;
  if (opencl != nullptr) return opencl->Unlock();
  if (type == kLiteRtTensorBufferTypeDmaBuf) return SyncDmaBuf(fd, lock_mode_, false);
  if (vendor_memory == nullptr || handlers.unlock == nullptr) return kLiteRtStatusOk;
  return handlers.unlock(vendor_memory);
}

LiteRtStatus LiteRtTensorBufferT::Clear() {
  if (vendor_memory != nullptr && handlers.clear != nullptr) return handlers.clear(vendor_memory);
  if (opencl != nullptr) {
    LITERT_TRY(LockForDevice());
    const LiteRtStatus status = opencl->Clear();
    LITERT_TRY(Unlock());
    return status;
  }
  if (type != kLiteRtTensorBufferTypeHostMemory) {
    return Fail(kLiteRtStatusErrorUnsupported, "tensor buffer: type %d cannot be cleared", type);
  }
  void* memory = nullptr;
  LITERT_TRY(Lock(kLiteRtTensorBufferLockModeWrite, &memory));
  std::memset(memory, 0, packed_bytes);
  return Unlock();
}

LiteRtStatus LiteRtCreateTensorBufferFromHostMemory(const LiteRtRankedTensorType* tensor_type,
                                                    void* host_buffer_addr, size_t host_buffer_size,
                                                    LiteRtHostMemoryDeallocator deallocator,
                                                    LiteRtTensorBuffer* buffer) {
  if (tensor_type == nullptr || host_buffer_addr == nullptr || buffer == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  return Guard([&] {
    TensorBufferPtr created(new LiteRtTensorBufferT(*tensor_type, kLiteRtTensorBufferTypeHostMemory,
                                                    host_buffer_size, 0));
    created->address = static_cast<char*>(host_buffer_addr);
    created->deallocator = deallocator;
    LITERT_TRY(created->Check());
    *buffer = created.release();
    return kLiteRtStatusOk;
  });
}

LiteRtStatus LiteRtGetTensorBufferHostMemory(LiteRtTensorBuffer tensor_buffer,
                                             void** host_memory_addr) {
  if (tensor_buffer == nullptr || host_memory_addr == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  if (tensor_buffer->type != kLiteRtTensorBufferTypeHostMemory) {
    return Fail(kLiteRtStatusErrorRuntimeFailure,
                "tensor buffer: expected host memory, found type %d", tensor_buffer->type);
  }
  *host_memory_addr = tensor_buffer->address;
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtCreateTensorBufferFromDmaBufBuffer(
    const LiteRtRankedTensorType* tensor_type, void* dmabuf_buffer_addr, int dmabuf_buffer_fd,
    size_t dmabuf_buffer_size, size_t dmabuf_buffer_offset, LiteRtDmaBufDeallocator deallocator,
    LiteRtTensorBuffer* buffer) {
  if (tensor_type == nullptr || dmabuf_buffer_addr == nullptr || dmabuf_buffer_fd < 0 ||
      buffer == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  return Guard([&] {
    TensorBufferPtr created(new LiteRtTensorBufferT(*tensor_type, kLiteRtTensorBufferTypeDmaBuf,
                                                    dmabuf_buffer_size, dmabuf_buffer_offset));
    created->address = static_cast<char*>(dmabuf_buffer_addr);
    created->fd = dmabuf_buffer_fd;
    created->deallocator = deallocator;
    LITERT_TRY(created->Check());
    *buffer = created.release();
    return kLiteRtStatusOk;
  });
}

LiteRtStatus LiteRtGetTensorBufferDmaBufBuffer(LiteRtTensorBuffer tensor_buffer,
                                               void** dmabuf_buffer_addr, int* dmabuf_buffer_fd) {
  if (tensor_buffer == nullptr || dmabuf_buffer_addr == nullptr || dmabuf_buffer_fd == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  if (tensor_buffer->type != kLiteRtTensorBufferTypeDmaBuf) {
    return Fail(kLiteRtStatusErrorRuntimeFailure,
                "tensor buffer: expected a dma-buf, found type %d", tensor_buffer->type);
  }
  *dmabuf_buffer_addr = tensor_buffer->address;
  *dmabuf_buffer_fd = tensor_buffer->fd;
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtCreateTensorBufferFromOpenClMemory(
    LiteRtEnvironment env, const LiteRtRankedTensorType* tensor_type,
    LiteRtTensorBufferType buffer_type, LiteRtClMem cl_mem_addr, size_t opencl_buffer_size,
    LiteRtOpenClDeallocator deallocator, LiteRtTensorBuffer* buffer) {
  if (tensor_type == nullptr || cl_mem_addr == nullptr || buffer == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  const int number = NumberOf(buffer_type);
  if (number < kLiteRtTensorBufferTypeOpenClBuffer ||
      number > kLiteRtTensorBufferTypeOpenClImageBufferFp16) {
    return Fail(kLiteRtStatusErrorInvalidArgument,
                "tensor buffer: expected a type of OpenCL memory, found %d", number);
  }
  return Guard([&] {
    TensorBufferPtr created(
        new LiteRtTensorBufferT(*tensor_type, buffer_type, opencl_buffer_size, 0));
    const BufferHandlers* const handlers =
        env == nullptr ? nullptr : env->FindHandlers(buffer_type);
    if (handlers != nullptr && handlers->import != nullptr) {
      LITERT_TRY(handlers->import(env->PointerOption(handlers->device_tag),
                                  env->PointerOption(handlers->queue_tag), tensor_type, buffer_type,
                                  cl_mem_addr, opencl_buffer_size, created->packed_bytes,
                                  &created->vendor_memory));
      if (created->vendor_memory == nullptr) {
        return Fail(kLiteRtStatusErrorRuntimeFailure,
                    "tensor buffer: the vendor's function imported no memory");
      }
      created->handlers = *handlers;
      *buffer = created.release();
      return kLiteRtStatusOk;
    }
    if (number != kLiteRtTensorBufferTypeOpenClBufferPacked) {
      return RefuseLayout(buffer_type, kLiteRtStatusErrorUnsupported);
    }
    std::shared_ptr<deputy::litert::OpenCl> open_cl;
    LITERT_TRY(FindOpenCl(env, &open_cl));
    LITERT_TRY(deputy::litert::OpenClBuffer::Wrap(std::move(open_cl), cl_mem_addr,
                                                  opencl_buffer_size, &created->opencl));
    created->address = reinterpret_cast<char*>(cl_mem_addr);
    created->deallocator = deallocator;
    LITERT_TRY(created->Check());
    *buffer = created.release();
    return kLiteRtStatusOk;
  });
}

LiteRtStatus LiteRtGetTensorBufferOpenClMemory(LiteRtTensorBuffer tensor_buffer,
                                               LiteRtClMem* cl_mem_addr) {
  if (tensor_buffer == nullptr || cl_mem_addr == nullptr) return kLiteRtStatusErrorInvalidArgument;
  if (tensor_buffer->opencl != nullptr) {
    *cl_mem_addr = tensor_buffer->opencl->memory();
    return kLiteRtStatusOk;
  }
  if (IsOpenCl(tensor_buffer->type) && tensor_buffer->vendor_memory != nullptr) {
    *cl_mem_addr = static_cast<LiteRtClMem>(tensor_buffer->vendor_memory->raw_handle);
    return kLiteRtStatusOk;
  }
  return Fail(kLiteRtStatusErrorRuntimeFailure,
              "tensor buffer: expected OpenCL memory, found type %d", tensor_buffer->type);
}

LiteRtStatus LiteRtGetTensorBufferCustomTensorBufferHandle(LiteRtTensorBuffer tensor_buffer,
                                                           HwMemoryHandle* hw_memory_handle) {
  if (tensor_buffer == nullptr || hw_memory_handle == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  if (tensor_buffer->vendor_memory == nullptr) {
    return Fail(kLiteRtStatusErrorRuntimeFailure,
                "tensor buffer: expected a vendor's memory, found type %d", tensor_buffer->type);
  }
  *hw_memory_handle = tensor_buffer->vendor_memory->memory_handle;
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtCreateManagedTensorBuffer(LiteRtEnvironment env,
                                             LiteRtTensorBufferType buffer_type,
                                             const LiteRtRankedTensorType* tensor_type,
                                             size_t buffer_size, LiteRtTensorBuffer* buffer) {
  if (tensor_type == nullptr || buffer == nullptr) return kLiteRtStatusErrorInvalidArgument;
  const int number = NumberOf(buffer_type);
  if (number < 0 || number > kLiteRtTensorBufferTypeUserCustomBufferEnd) {
    return Fail(kLiteRtStatusErrorInvalidArgument, "tensor buffer: unknown type %d", number);
  }
  return CreateManaged(env, buffer_type, *tensor_type, buffer_size,
                       LITERT_HOST_MEMORY_BUFFER_ALIGNMENT, buffer);
}

LiteRtStatus LiteRtCreateManagedTensorBufferFromRequirements(
    LiteRtEnvironment env, const LiteRtRankedTensorType* tensor_type,
    LiteRtTensorBufferRequirements requirements, LiteRtTensorBuffer* buffer) {
  if (tensor_type == nullptr || requirements == nullptr || buffer == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  return CreateManaged(
      env, requirements->types.front(), *tensor_type, requirements->bytes,
      std::max<size_t>(requirements->alignment, LITERT_HOST_MEMORY_BUFFER_ALIGNMENT), buffer);
}

LiteRtStatus LiteRtDuplicateTensorBuffer(LiteRtTensorBuffer tensor_buffer) {
  if (tensor_buffer == nullptr) return kLiteRtStatusErrorInvalidArgument;
  tensor_buffer->Retain();
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetTensorBufferType(LiteRtTensorBuffer tensor_buffer,
                                       LiteRtTensorBufferType* buffer_type) {
  if (tensor_buffer == nullptr || buffer_type == nullptr) return kLiteRtStatusErrorInvalidArgument;
  *buffer_type = tensor_buffer->type;
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetTensorBufferTensorType(LiteRtTensorBuffer tensor_buffer,
                                             LiteRtRankedTensorType* tensor_type) {
  if (tensor_buffer == nullptr || tensor_type == nullptr) return kLiteRtStatusErrorInvalidArgument;
  *tensor_type = tensor_buffer->tensor_type;
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetTensorBufferSize(LiteRtTensorBuffer tensor_buffer, size_t* size) {
  if (tensor_buffer == nullptr || size == nullptr) return kLiteRtStatusErrorInvalidArgument;
  *size = tensor_buffer->bytes;
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetTensorBufferPackedSize(LiteRtTensorBuffer tensor_buffer, size_t* size) {
  if (tensor_buffer == nullptr || size == nullptr) return kLiteRtStatusErrorInvalidArgument;
  *size = tensor_buffer->packed_bytes;
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetTensorBufferOffset(LiteRtTensorBuffer tensor_buffer, size_t* offset) {
  if (tensor_buffer == nullptr || offset == nullptr) return kLiteRtStatusErrorInvalidArgument;
  *offset = tensor_buffer->offset;
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtHasTensorBufferEvent(LiteRtTensorBuffer tensor_buffer, bool* has_event) {
  if (tensor_buffer == nullptr || has_event == nullptr) return kLiteRtStatusErrorInvalidArgument;
  *has_event = tensor_buffer->event != nullptr;
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetTensorBufferEvent(LiteRtTensorBuffer tensor_buffer, LiteRtEvent* event) {
  if (tensor_buffer == nullptr || event == nullptr) return kLiteRtStatusErrorInvalidArgument;
  if (tensor_buffer->event == nullptr) {
    return Fail(kLiteRtStatusErrorRuntimeFailure, "tensor buffer: it has no event");
  }
  *event = tensor_buffer->event.get();
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtSetTensorBufferEvent(LiteRtTensorBuffer tensor_buffer, LiteRtEvent event) {
  if (tensor_buffer == nullptr || event == nullptr) return kLiteRtStatusErrorInvalidArgument;
  if (tensor_buffer->event.get() != event) tensor_buffer->event.reset(event);
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtClearTensorBufferEvent(LiteRtTensorBuffer tensor_buffer) {
  if (tensor_buffer == nullptr) return kLiteRtStatusErrorInvalidArgument;
  tensor_buffer->event.reset();
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtLockTensorBuffer(LiteRtTensorBuffer tensor_buffer, void** host_mem_addr,
                                    LiteRtTensorBufferLockMode lock_mode) {
  if (tensor_buffer == nullptr || host_mem_addr == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  // An unknown mode counts as reading and writing.
  const int number = NumberOf(lock_mode);
  LiteRtTensorBufferLockMode mode = kLiteRtTensorBufferLockModeReadWrite;
  if (number == kLiteRtTensorBufferLockModeRead) mode = kLiteRtTensorBufferLockModeRead;
  if (number == kLiteRtTensorBufferLockModeWrite) mode = kLiteRtTensorBufferLockModeWrite;
  return Guard([&] { return tensor_buffer->Lock(mode, host_mem_addr); });
}

LiteRtStatus LiteRtUnlockTensorBuffer(LiteRtTensorBuffer buffer) {
  if (buffer == nullptr) return kLiteRtStatusErrorInvalidArgument;
  return Guard([&] { return buffer->Unlock(); });
}

LiteRtStatus LiteRtClearTensorBuffer(LiteRtTensorBuffer buffer) {
  if (buffer == nullptr) return kLiteRtStatusErrorInvalidArgument;
  return Guard([&] { return buffer->Clear(); });
}

void LiteRtDestroyTensorBuffer(LiteRtTensorBuffer buffer) {
  if (buffer != nullptr) buffer->Release();
}
