// SPDX-License-Identifier: Apache-2.0
//
// Types of tensor buffers that the library does not support: those of other operating systems, of
// graphics interfaces and of devices that it cannot access.
#include "litert/c/litert_tensor_buffer.h"
#include "litert/src/log.h"

namespace {

LiteRtStatus Refuse(const char* kind, LiteRtStatus status = kLiteRtStatusErrorUnsupported) {
  return deputy::litert::Fail(status, "tensor buffer: %s are not supported", kind);
}

}  // namespace

LiteRtStatus LiteRtCreateTensorBufferFromIonBuffer(const LiteRtRankedTensorType*, void*, int,
                                                   size_t, size_t, LiteRtIonDeallocator,
                                                   LiteRtTensorBuffer*) {
  return Refuse("ION buffers");
}

LiteRtStatus LiteRtGetTensorBufferIonBuffer(LiteRtTensorBuffer, void**, int*) {
  return Refuse("ION buffers");
}

LiteRtStatus LiteRtCreateTensorBufferFromFastRpcBuffer(const LiteRtRankedTensorType*, void*, int,
                                                       size_t, size_t, LiteRtFastRpcDeallocator,
                                                       LiteRtTensorBuffer*) {
  return Refuse("FastRPC buffers");
}

LiteRtStatus LiteRtGetTensorBufferFastRpcBuffer(LiteRtTensorBuffer, void**, int*) {
  return Refuse("FastRPC buffers");
}

LiteRtStatus LiteRtCreateTensorBufferFromAhwb(LiteRtEnvironment, const LiteRtRankedTensorType*,
                                              AHardwareBuffer*, size_t, LiteRtAhwbDeallocator,
                                              LiteRtTensorBuffer*) {
  return Refuse("Android hardware buffers");
}

LiteRtStatus LiteRtGetTensorBufferAhwb(LiteRtTensorBuffer, AHardwareBuffer**) {
  return Refuse("Android hardware buffers");
}

LiteRtStatus LiteRtCreateTensorBufferFromGlBuffer(LiteRtEnvironment, const LiteRtRankedTensorType*,
                                                  LiteRtGLenum, LiteRtGLuint, size_t, size_t,
                                                  LiteRtGlBufferDeallocator, LiteRtTensorBuffer*) {
  return Refuse("OpenGL buffers");
}

LiteRtStatus LiteRtGetTensorBufferGlBuffer(LiteRtTensorBuffer, LiteRtGLenum*, LiteRtGLuint*,
                                           size_t*, size_t*) {
  return Refuse("OpenGL buffers");
}

LiteRtStatus LiteRtCreateTensorBufferFromGlTexture(LiteRtEnvironment, const LiteRtRankedTensorType*,
                                                   LiteRtGLenum, LiteRtGLuint, LiteRtGLenum, size_t,
                                                   LiteRtGLint, LiteRtGlTextureDeallocator,
                                                   LiteRtTensorBuffer*) {
  return Refuse("OpenGL textures");
}

LiteRtStatus LiteRtGetTensorBufferGlTexture(LiteRtTensorBuffer, LiteRtGLenum*, LiteRtGLuint*,
                                            LiteRtGLenum*, size_t*, LiteRtGLint*) {
  return Refuse("OpenGL textures");
}

LiteRtStatus LiteRtCreateTensorBufferFromWebGpuBuffer(LiteRtEnvironment,
                                                      const LiteRtRankedTensorType*,
                                                      LiteRtTensorBufferType, LiteRtWGPUBuffer,
                                                      size_t, LiteRtWebGpuBufferDeallocator,
                                                      LiteRtTensorBuffer*) {
  return Refuse("WebGPU buffers");
}

LiteRtStatus LiteRtCreateTensorBufferFromWebGpuTexture(LiteRtEnvironment,
                                                       const LiteRtRankedTensorType*, void*, size_t,
                                                       LiteRtWebGpuTextureDeallocator,
                                                       LiteRtTensorBuffer*) {
  return Refuse("WebGPU textures");
}

LiteRtStatus LiteRtGetTensorBufferWebGpuBuffer(LiteRtTensorBuffer, HwMemoryHandle*) {
  return Refuse("WebGPU buffers", kLiteRtStatusErrorRuntimeFailure);
}

LiteRtStatus LiteRtCreateTensorBufferFromMetalMemory(LiteRtEnvironment,
                                                     const LiteRtRankedTensorType*,
                                                     LiteRtTensorBufferType, void*, size_t,
                                                     LiteRtMetalDeallocator, LiteRtTensorBuffer*) {
  return Refuse("Metal buffers");
}

LiteRtStatus LiteRtGetTensorBufferMetalMemory(LiteRtTensorBuffer, HwMemoryHandle*) {
  return Refuse("Metal buffers");
}

LiteRtStatus LiteRtGetTensorBufferVulkanMemory(LiteRtTensorBuffer, HwMemoryHandle*) {
  return Refuse("Vulkan buffers", kLiteRtStatusErrorRuntimeFailure);
}
