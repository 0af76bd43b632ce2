// SPDX-License-Identifier: Apache-2.0
//
// Hooks of vendors' profilers.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_PROFILER_TYPES_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_PROFILER_TYPES_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// Point of time at which a hook is called.
typedef enum {
  kLiteRtHookTypeRuntimeStart = 0,
  kLiteRtHookTypeRuntimeStop = 1,
  kLiteRtHookTypeCompilerStart = 2,
  kLiteRtHookTypeCompilerStop = 3,
  kLiteRtHookTypeStopAndProcess = 4,
} LiteRtHookType;

// Receives `size` bytes of trace data, valid during the call, and the pointer that was returned
// with the hook.
typedef void (*LiteRtHook)(LiteRtHookType type, const void* data, size_t size, void* user_data);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_PROFILER_TYPES_H_
