// SPDX-License-Identifier: Apache-2.0
//
// Types of WebGPU, compatible with those of the header webgpu.h.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_WEBGPU_TYPES_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_WEBGPU_TYPES_H_

#include "litert/c/litert_common.h"

#ifdef __cplusplus
extern "C" {
#endif

// A WGPUBuffer.
#if LITERT_HAS_WEBGPU_SUPPORT
typedef struct WGPUBufferImpl LiteRtWGPUBufferImpl;
#else
typedef struct LiteRtWGPUBufferImpl LiteRtWGPUBufferImpl;
#endif
typedef LiteRtWGPUBufferImpl* LiteRtWGPUBuffer;

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_WEBGPU_TYPES_H_
