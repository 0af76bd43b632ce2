// SPDX-License-Identifier: Apache-2.0
//
// Callbacks through which a plug-in manages memory of its own kind. They are registered for a range
// of buffer types with LiteRtCustomTensorBufferHandlersDef or LiteRtRegisterTensorBufferHandlers,
// and may be called on any thread.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_CUSTOM_TENSOR_BUFFER_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_CUSTOM_TENSOR_BUFFER_H_

#include <stddef.h>

#include "litert/c/litert_common.h"
#include "litert/c/litert_model_types.h"
#include "litert/c/litert_tensor_buffer_types.h"

#ifdef __cplusplus
extern "C" {
#endif

// Device on which memory is allocated, such as a WGPUDevice; the value of an option of the
// environment.
typedef void* LiteRtGpuDeviceId;

// Queue through which memory is accessed, such as a WGPUQueue; the value of an option of the
// environment.
typedef void* LiteRtGpuQueueId;

// Memory object of an API, such as a WGPUBuffer.
typedef void* HwMemoryHandle;

// Memory of a tensor buffer. Plug-ins begin their own struct with these members.
struct HwMemoryInfo {
  // Memory object that LiteRtGetTensorBufferCustomTensorBufferHandle returns.
  HwMemoryHandle memory_handle;
  // Pointer of the plug-in.
  void* raw_handle;
};
typedef struct HwMemoryInfo* HwMemoryInfoPtr;

// Allocates memory of `bytes` bytes for a tensor whose dense content has `packed_bytes`. The
// plug-in owns the struct until DestroyCustomTensorBuffer.
typedef LiteRtStatus (*CreateCustomTensorBuffer)(LiteRtGpuDeviceId device_id,
                                                 LiteRtGpuQueueId queue_id,
                                                 const LiteRtRankedTensorType* tensor_type,
                                                 LiteRtTensorBufferType buffer_type, size_t bytes,
                                                 size_t packed_bytes,
                                                 HwMemoryInfoPtr* hw_memory_info);

// Makes a struct for an existing memory object, which the client keeps and
// DestroyCustomTensorBuffer must not release.
typedef LiteRtStatus (*ImportCustomTensorBuffer)(LiteRtGpuDeviceId device_id,
                                                 LiteRtGpuQueueId queue_id,
                                                 const LiteRtRankedTensorType* tensor_type,
                                                 LiteRtTensorBufferType buffer_type,
                                                 HwMemoryHandle hw_buffer_handle, size_t bytes,
                                                 size_t packed_bytes,
                                                 HwMemoryInfoPtr* hw_memory_info);

// Releases a struct, and its memory unless it was imported.
typedef LiteRtStatus (*DestroyCustomTensorBuffer)(HwMemoryInfoPtr hw_memory_info);

// Makes the content accessible to the CPU: `host_memory_ptr` receives an address with the dense
// content, valid until the buffer is unlocked.
typedef LiteRtStatus (*LockCustomTensorBuffer)(HwMemoryInfoPtr hw_memory_info,
                                               LiteRtTensorBufferLockMode mode,
                                               void** host_memory_ptr);

// Ends the CPU's access. After a lock for writing, the memory has the new content.
typedef LiteRtStatus (*UnlockCustomTensorBuffer)(HwMemoryInfoPtr hw_memory_info);

// Sets the whole content to zero.
typedef LiteRtStatus (*ClearCustomTensorBuffer)(HwMemoryInfoPtr hw_memory_info);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_CUSTOM_TENSOR_BUFFER_H_
