// SPDX-License-Identifier: Apache-2.0
//
// Kinds of memory of tensor buffers, and callbacks that release client memory.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_TENSOR_BUFFER_TYPES_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_TENSOR_BUFFER_TYPES_H_

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// Android's buffer type.
typedef struct AHardwareBuffer AHardwareBuffer;

// Alignment in bytes that host memory of a tensor buffer must have. A frozen constant; accelerators
// state larger alignments in their requirements.
#define LITERT_HOST_MEMORY_BUFFER_ALIGNMENT 64

// Callbacks that release the memory of a tensor buffer. Each receives the memory that the buffer
// was created from, once, when the last reference to the buffer is destroyed, on the thread that
// destroys it.
typedef void (*LiteRtHostMemoryDeallocator)(void* addr);
typedef void (*LiteRtAhwbDeallocator)(AHardwareBuffer* ahwb);
typedef void (*LiteRtIonDeallocator)(void* ion_buffer_addr);
typedef void (*LiteRtDmaBufDeallocator)(void* dmabuf_buffer_addr);
typedef void (*LiteRtFastRpcDeallocator)(void* fastrpc_buffer_addr);
typedef void (*LiteRtOpenClDeallocator)(void* opencl_buffer_addr);
typedef void (*LiteRtGlBufferDeallocator)(void* gl_buffer_addr);
typedef void (*LiteRtGlTextureDeallocator)(void* gl_texture_addr);
typedef void (*LiteRtWebGpuBufferDeallocator)(void* webgpu_buffer_addr);
typedef void (*LiteRtWebGpuTextureDeallocator)(void* webgpu_texture_addr);
typedef void (*LiteRtMetalDeallocator)(void* metal_buffer_addr);
typedef void (*LiteRtVulkanMemoryDeallocator)(void* vulkan_memory_addr);

// Kind of memory. Names with Fp16 store float32 tensors as float16; names with Packed store the
// elements densely, without padding of the channels.
typedef enum {
  kLiteRtTensorBufferTypeUnknown = 0,
  // Memory of the process, aligned to LITERT_HOST_MEMORY_BUFFER_ALIGNMENT.
  kLiteRtTensorBufferTypeHostMemory = 1,
  // AHardwareBuffer of Android.
  kLiteRtTensorBufferTypeAhwb = 2,
  // ION memory, by file descriptor.
  kLiteRtTensorBufferTypeIon = 3,
  // Linux dma-buf, by file descriptor.
  kLiteRtTensorBufferTypeDmaBuf = 4,
  // FastRPC memory of Qualcomm's DSPs.
  kLiteRtTensorBufferTypeFastRpc = 5,
  kLiteRtTensorBufferTypeGlBuffer = 6,
  kLiteRtTensorBufferTypeGlTexture = 7,

  // OpenCL: 10 to 19.
  kLiteRtTensorBufferTypeOpenClBuffer = 10,
  kLiteRtTensorBufferTypeOpenClBufferFp16 = 11,
  kLiteRtTensorBufferTypeOpenClTexture = 12,
  kLiteRtTensorBufferTypeOpenClTextureFp16 = 13,
  kLiteRtTensorBufferTypeOpenClBufferPacked = 14,
  kLiteRtTensorBufferTypeOpenClImageBuffer = 15,
  kLiteRtTensorBufferTypeOpenClImageBufferFp16 = 16,

  // WebGPU: 20 to 29.
  kLiteRtTensorBufferTypeWebGpuBuffer = 20,
  kLiteRtTensorBufferTypeWebGpuBufferFp16 = 21,
  kLiteRtTensorBufferTypeWebGpuTexture = 22,
  kLiteRtTensorBufferTypeWebGpuTextureFp16 = 23,
  kLiteRtTensorBufferTypeWebGpuImageBuffer = 24,
  kLiteRtTensorBufferTypeWebGpuImageBufferFp16 = 25,
  kLiteRtTensorBufferTypeWebGpuBufferPacked = 26,

  // Metal: 30 to 39.
  kLiteRtTensorBufferTypeMetalBuffer = 30,
  kLiteRtTensorBufferTypeMetalBufferFp16 = 31,
  kLiteRtTensorBufferTypeMetalTexture = 32,
  kLiteRtTensorBufferTypeMetalTextureFp16 = 33,
  kLiteRtTensorBufferTypeMetalBufferPacked = 34,

  // Vulkan, experimental: 40 to 49.
  kLiteRtTensorBufferTypeVulkanBuffer = 40,
  kLiteRtTensorBufferTypeVulkanBufferFp16 = 41,
  kLiteRtTensorBufferTypeVulkanTexture = 42,
  kLiteRtTensorBufferTypeVulkanTextureFp16 = 43,
  kLiteRtTensorBufferTypeVulkanImageBuffer = 44,
  kLiteRtTensorBufferTypeVulkanImageBufferFp16 = 45,
  kLiteRtTensorBufferTypeVulkanBufferPacked = 46,

  // Memory of plug-ins (litert_custom_tensor_buffer.h): 100 to 199.
  kLiteRtTensorBufferTypeUserCustomBuffer = 100,
  kLiteRtTensorBufferTypeOpenVINOTensorBuffer = 100,
  kLiteRtTensorBufferTypeUserCustomBufferEnd = 199,
} LiteRtTensorBufferType;

// Memory that a plug-in manages.
static inline bool IsUserCustomBuffer(LiteRtTensorBufferType buffer_type) {
  return buffer_type >= kLiteRtTensorBufferTypeUserCustomBuffer &&
         buffer_type <= kLiteRtTensorBufferTypeUserCustomBufferEnd;
}

// The following functions return whether a kind of memory belongs to one API.
static inline bool IsOpenClMemory(LiteRtTensorBufferType buffer_type) {
  return buffer_type >= kLiteRtTensorBufferTypeOpenClBuffer &&
         buffer_type <= kLiteRtTensorBufferTypeOpenClImageBufferFp16;
}

static inline bool IsWebGpuMemory(LiteRtTensorBufferType buffer_type) {
  return buffer_type >= kLiteRtTensorBufferTypeWebGpuBuffer &&
         buffer_type <= kLiteRtTensorBufferTypeWebGpuBufferPacked;
}

static inline bool IsMetalMemory(LiteRtTensorBufferType buffer_type) {
  return buffer_type >= kLiteRtTensorBufferTypeMetalBuffer &&
         buffer_type <= kLiteRtTensorBufferTypeMetalBufferPacked;
}

static inline bool IsVulkanMemory(LiteRtTensorBufferType buffer_type) {
  return buffer_type >= kLiteRtTensorBufferTypeVulkanBuffer &&
         buffer_type <= kLiteRtTensorBufferTypeVulkanBufferPacked;
}

// Linear memory of a GPU.
static inline bool IsGpuBuffer(LiteRtTensorBufferType buffer_type) {
  switch (buffer_type) {
    case kLiteRtTensorBufferTypeGlBuffer:
    case kLiteRtTensorBufferTypeOpenClBuffer:
    case kLiteRtTensorBufferTypeOpenClBufferFp16:
    case kLiteRtTensorBufferTypeOpenClBufferPacked:
    case kLiteRtTensorBufferTypeWebGpuBuffer:
    case kLiteRtTensorBufferTypeWebGpuBufferFp16:
    case kLiteRtTensorBufferTypeWebGpuBufferPacked:
    case kLiteRtTensorBufferTypeMetalBuffer:
    case kLiteRtTensorBufferTypeMetalBufferFp16:
    case kLiteRtTensorBufferTypeMetalBufferPacked:
    case kLiteRtTensorBufferTypeVulkanBuffer:
    case kLiteRtTensorBufferTypeVulkanBufferFp16:
    case kLiteRtTensorBufferTypeVulkanBufferPacked:
      return true;
    default:
      return false;
  }
}

// Textures and two-dimensional images of a GPU.
static inline bool IsGpuTexture(LiteRtTensorBufferType buffer_type) {
  switch (buffer_type) {
    case kLiteRtTensorBufferTypeGlTexture:
    case kLiteRtTensorBufferTypeOpenClTexture:
    case kLiteRtTensorBufferTypeOpenClTextureFp16:
    case kLiteRtTensorBufferTypeWebGpuTexture:
    case kLiteRtTensorBufferTypeWebGpuTextureFp16:
    case kLiteRtTensorBufferTypeMetalTexture:
    case kLiteRtTensorBufferTypeMetalTextureFp16:
    case kLiteRtTensorBufferTypeVulkanTexture:
    case kLiteRtTensorBufferTypeVulkanTextureFp16:
      return true;
    default:
      return false;
  }
}

// Images over linear memory of a GPU.
static inline bool IsGpuImageBuffer(LiteRtTensorBufferType buffer_type) {
  switch (buffer_type) {
    case kLiteRtTensorBufferTypeOpenClImageBuffer:
    case kLiteRtTensorBufferTypeOpenClImageBufferFp16:
    case kLiteRtTensorBufferTypeWebGpuImageBuffer:
    case kLiteRtTensorBufferTypeWebGpuImageBufferFp16:
    case kLiteRtTensorBufferTypeVulkanImageBuffer:
    case kLiteRtTensorBufferTypeVulkanImageBufferFp16:
      return true;
    default:
      return false;
  }
}

// Memory of a GPU with float16 elements.
static inline bool IsGpuFloat16Memory(LiteRtTensorBufferType buffer_type) {
  switch (buffer_type) {
    case kLiteRtTensorBufferTypeOpenClBufferFp16:
    case kLiteRtTensorBufferTypeOpenClTextureFp16:
    case kLiteRtTensorBufferTypeOpenClImageBufferFp16:
    case kLiteRtTensorBufferTypeWebGpuBufferFp16:
    case kLiteRtTensorBufferTypeWebGpuTextureFp16:
    case kLiteRtTensorBufferTypeWebGpuImageBufferFp16:
    case kLiteRtTensorBufferTypeMetalBufferFp16:
    case kLiteRtTensorBufferTypeMetalTextureFp16:
    case kLiteRtTensorBufferTypeVulkanBufferFp16:
    case kLiteRtTensorBufferTypeVulkanTextureFp16:
    case kLiteRtTensorBufferTypeVulkanImageBufferFp16:
      return true;
    default:
      return false;
  }
}

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_TENSOR_BUFFER_TYPES_H_
