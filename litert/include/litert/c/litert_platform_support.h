// SPDX-License-Identifier: Apache-2.0
//
// Kinds of memory and synchronisation that the platform has, as functions. They return the macros
// of litert_common.h; whether the library and the machine support a kind is known only when a
// buffer or an event is created.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_PLATFORM_SUPPORT_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_PLATFORM_SUPPORT_H_

#include <stdbool.h>

#include "litert/c/litert_common.h"

#ifdef __cplusplus
extern "C" {
#endif

static inline bool LiteRtHasOpenClSupport(void) { return LITERT_HAS_OPENCL_SUPPORT != 0; }

static inline bool LiteRtHasOpenGlSupport(void) { return LITERT_HAS_OPENGL_SUPPORT != 0; }

static inline bool LiteRtHasAhwbSupport(void) { return LITERT_HAS_AHWB_SUPPORT != 0; }

static inline bool LiteRtHasIonSupport(void) { return LITERT_HAS_ION_SUPPORT != 0; }

static inline bool LiteRtHasDmaBufSupport(void) { return LITERT_HAS_DMABUF_SUPPORT != 0; }

static inline bool LiteRtHasFastRpcSupport(void) { return LITERT_HAS_FASTRPC_SUPPORT != 0; }

static inline bool LiteRtHasSyncFenceSupport(void) { return LITERT_HAS_SYNC_FENCE_SUPPORT != 0; }

static inline bool LiteRtHasMetalSupport(void) { return LITERT_HAS_METAL_SUPPORT != 0; }

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_PLATFORM_SUPPORT_H_
