// SPDX-License-Identifier: Apache-2.0
//
// Tensor buffers: memory for the inputs and outputs of compiled models. A buffer has a tensor type,
// one kind of memory and a reference count. It wraps memory of the client, or memory that the
// library has allocated ("managed").
//
// Functions for memory that the platform or the library does not support return
// kLiteRtStatusErrorUnsupported. Getters of memory return an error if the buffer has memory of
// another kind; the memory stays with the buffer. Sizes and offsets are in bytes.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_TENSOR_BUFFER_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_TENSOR_BUFFER_H_

#include <stdbool.h>
#include <stddef.h>

#include "litert/c/litert_common.h"
#include "litert/c/litert_custom_tensor_buffer.h"
#include "litert/c/litert_gl_types.h"
#include "litert/c/litert_model_types.h"
#include "litert/c/litert_opencl_types.h"
#include "litert/c/litert_tensor_buffer_types.h"
#include "litert/c/litert_webgpu_types.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Managed buffers ----------------------------------------------------------------------------

// Allocates a buffer of `buffer_size` bytes.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCreateManagedTensorBuffer(
    LiteRtEnvironment env, LiteRtTensorBufferType buffer_type,
    const LiteRtRankedTensorType* tensor_type, size_t buffer_size, LiteRtTensorBuffer* buffer);

// Allocates a buffer of the first kind of memory that the requirements list, with their size,
// alignment and strides.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCreateManagedTensorBufferFromRequirements(
    LiteRtEnvironment env, const LiteRtRankedTensorType* tensor_type,
    LiteRtTensorBufferRequirements requirements, LiteRtTensorBuffer* buffer);

// Adds a reference. The handle stays the same and is destroyed once more.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtDuplicateTensorBuffer(LiteRtTensorBuffer tensor_buffer);

// Releases a reference; the last one releases the buffer, its event and its memory. NULL is
// allowed.
LITERT_CAPI_EXPORT void LiteRtDestroyTensorBuffer(LiteRtTensorBuffer buffer);

// ---- Properties ---------------------------------------------------------------------------------

// Returns the kind of memory.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetTensorBufferType(LiteRtTensorBuffer tensor_buffer,
                                                          LiteRtTensorBufferType* buffer_type);

// Returns the type and shape of the tensor.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetTensorBufferTensorType(
    LiteRtTensorBuffer tensor_buffer, LiteRtRankedTensorType* tensor_type);

// Returns the size of the memory, including padding.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetTensorBufferSize(LiteRtTensorBuffer tensor_buffer,
                                                          size_t* size);

// Returns the size of the dense content, the number of bytes that a lock makes accessible.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetTensorBufferPackedSize(LiteRtTensorBuffer tensor_buffer,
                                                                size_t* size);

// Returns the offset of the content in its memory.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetTensorBufferOffset(LiteRtTensorBuffer tensor_buffer,
                                                            size_t* offset);

// ---- Content ------------------------------------------------------------------------------------

// Makes the content accessible to the CPU: `host_mem_addr` receives an address with the dense
// content, valid until the buffer is unlocked. Waits for the buffer's event first. An error if the
// buffer is locked.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtLockTensorBuffer(LiteRtTensorBuffer tensor_buffer,
                                                       void** host_mem_addr,
                                                       LiteRtTensorBufferLockMode lock_mode);

// Ends the access that a lock began. Content that was written is copied to the device if necessary.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtUnlockTensorBuffer(LiteRtTensorBuffer buffer);

// Sets the content to zero, perhaps asynchronously; later locks and runs use zeros.
// kLiteRtStatusErrorUnsupported if the memory cannot be cleared efficiently.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtClearTensorBuffer(LiteRtTensorBuffer buffer);

// ---- Events -------------------------------------------------------------------------------------

// A buffer may have one event, which is signalled when its content is complete. The buffer owns it:
// setting transfers the ownership, getting borrows (an error without an event), clearing destroys.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtHasTensorBufferEvent(LiteRtTensorBuffer tensor_buffer,
                                                           bool* has_event);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetTensorBufferEvent(LiteRtTensorBuffer tensor_buffer,
                                                           LiteRtEvent* event);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtSetTensorBufferEvent(LiteRtTensorBuffer tensor_buffer,
                                                           LiteRtEvent event);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtClearTensorBufferEvent(LiteRtTensorBuffer tensor_buffer);

// ---- Host memory --------------------------------------------------------------------------------

// Wraps memory of the client, aligned to LITERT_HOST_MEMORY_BUFFER_ALIGNMENT. A `deallocator` is
// called once: with the last reference, or if the call fails for the size or the alignment. Without
// one the client keeps the memory, which must outlive the buffer. This holds for all functions that
// wrap memory.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCreateTensorBufferFromHostMemory(
    const LiteRtRankedTensorType* tensor_type, void* host_buffer_addr, size_t host_buffer_size,
    LiteRtHostMemoryDeallocator deallocator, LiteRtTensorBuffer* buffer);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetTensorBufferHostMemory(LiteRtTensorBuffer tensor_buffer,
                                                                void** host_memory_addr);

// ---- Memory with file descriptors ---------------------------------------------------------------

// Linux dma-buf. `dmabuf_buffer_addr` is its mapping, `dmabuf_buffer_size` the size of the whole
// dma-buf, `dmabuf_buffer_offset` the position of the tensor in it; several buffers may share
// one dma-buf.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCreateTensorBufferFromDmaBufBuffer(
    const LiteRtRankedTensorType* tensor_type, void* dmabuf_buffer_addr, int dmabuf_buffer_fd,
    size_t dmabuf_buffer_size, size_t dmabuf_buffer_offset, LiteRtDmaBufDeallocator deallocator,
    LiteRtTensorBuffer* buffer);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetTensorBufferDmaBufBuffer(LiteRtTensorBuffer tensor_buffer,
                                                                  void** dmabuf_buffer_addr,
                                                                  int* dmabuf_buffer_fd);

// ION memory, with the same arguments.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCreateTensorBufferFromIonBuffer(
    const LiteRtRankedTensorType* tensor_type, void* ion_buffer_addr, int ion_buffer_fd,
    size_t ion_buffer_size, size_t ion_buffer_offset, LiteRtIonDeallocator deallocator,
    LiteRtTensorBuffer* buffer);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetTensorBufferIonBuffer(LiteRtTensorBuffer buffer,
                                                               void** ion_buffer_addr,
                                                               int* ion_buffer_fd);

// FastRPC memory, with the same arguments.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCreateTensorBufferFromFastRpcBuffer(
    const LiteRtRankedTensorType* tensor_type, void* fastrpc_buffer_addr, int fastrpc_buffer_fd,
    size_t fastrpc_buffer_size, size_t fastrpc_buffer_offset, LiteRtFastRpcDeallocator deallocator,
    LiteRtTensorBuffer* tensor_buffer);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetTensorBufferFastRpcBuffer(LiteRtTensorBuffer tensor_buffer,
                                                                   void** fastrpc_buffer_addr,
                                                                   int* fastrpc_buffer_fd);

// Android's AHardwareBuffer; several buffers may share one, at different offsets.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCreateTensorBufferFromAhwb(
    LiteRtEnvironment env, const LiteRtRankedTensorType* tensor_type, AHardwareBuffer* ahwb,
    size_t ahwb_offset, LiteRtAhwbDeallocator deallocator, LiteRtTensorBuffer* buffer);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetTensorBufferAhwb(LiteRtTensorBuffer tensor_buffer,
                                                          AHardwareBuffer** ahwb);

// ---- Memory of GPUs -----------------------------------------------------------------------------

// OpenCL memory. `buffer_type` is an OpenCL type; the memory belongs to the context of the
// environment.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCreateTensorBufferFromOpenClMemory(
    LiteRtEnvironment env, const LiteRtRankedTensorType* tensor_type,
    LiteRtTensorBufferType buffer_type, LiteRtClMem cl_mem_addr, size_t opencl_buffer_size,
    LiteRtOpenClDeallocator deallocator, LiteRtTensorBuffer* buffer);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetTensorBufferOpenClMemory(LiteRtTensorBuffer tensor_buffer,
                                                                  LiteRtClMem* cl_mem_addr);

// OpenGL buffer, by target and name.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCreateTensorBufferFromGlBuffer(
    LiteRtEnvironment env, const LiteRtRankedTensorType* tensor_type, LiteRtGLenum target,
    LiteRtGLuint id, size_t size_bytes, size_t offset, LiteRtGlBufferDeallocator deallocator,
    LiteRtTensorBuffer* buffer);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetTensorBufferGlBuffer(LiteRtTensorBuffer tensor_buffer,
                                                              LiteRtGLenum* target,
                                                              LiteRtGLuint* id, size_t* size_bytes,
                                                              size_t* offset);

// OpenGL texture, by target and name; `format` is its internal format.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCreateTensorBufferFromGlTexture(
    LiteRtEnvironment env, const LiteRtRankedTensorType* tensor_type, LiteRtGLenum target,
    LiteRtGLuint id, LiteRtGLenum format, size_t size_bytes, LiteRtGLint layer,
    LiteRtGlTextureDeallocator deallocator, LiteRtTensorBuffer* buffer);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetTensorBufferGlTexture(
    LiteRtTensorBuffer tensor_buffer, LiteRtGLenum* target, LiteRtGLuint* id, LiteRtGLenum* format,
    size_t* size_bytes, LiteRtGLint* layer);

// WebGPU buffer or texture.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCreateTensorBufferFromWebGpuBuffer(
    LiteRtEnvironment env, const LiteRtRankedTensorType* tensor_type,
    LiteRtTensorBufferType buffer_type, LiteRtWGPUBuffer wgpu_buffer, size_t wgpu_buffer_size,
    LiteRtWebGpuBufferDeallocator deallocator, LiteRtTensorBuffer* tensor_buffer);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCreateTensorBufferFromWebGpuTexture(
    LiteRtEnvironment env, const LiteRtRankedTensorType* tensor_type, void* webgpu_texture,
    size_t webgpu_texture_size, LiteRtWebGpuTextureDeallocator deallocator,
    LiteRtTensorBuffer* tensor_buffer);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetTensorBufferWebGpuBuffer(LiteRtTensorBuffer tensor_buffer,
                                                                  HwMemoryHandle* hw_memory_handle);

// Metal memory.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCreateTensorBufferFromMetalMemory(
    LiteRtEnvironment env, const LiteRtRankedTensorType* tensor_type,
    LiteRtTensorBufferType buffer_type, void* metal_buffer, size_t metal_buffer_size,
    LiteRtMetalDeallocator deallocator, LiteRtTensorBuffer* tensor_buffer);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetTensorBufferMetalMemory(LiteRtTensorBuffer tensor_buffer,
                                                                 HwMemoryHandle* hw_memory_handle);

// Vulkan memory.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetTensorBufferVulkanMemory(LiteRtTensorBuffer tensor_buffer,
                                                                  HwMemoryHandle* hw_memory_handle);

// ---- Memory of plug-ins -------------------------------------------------------------------------

// Returns the memory object of a buffer that a plug-in manages. The caller knows from the buffer's
// type what it points to.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetTensorBufferCustomTensorBufferHandle(
    LiteRtTensorBuffer tensor_buffer, HwMemoryHandle* hw_memory_handle);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_TENSOR_BUFFER_H_
