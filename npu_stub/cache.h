/* SPDX-License-Identifier: Apache-2.0
 *
 * Compiled models in a folder (deputy/delegate_serialization.h). The key stands for everything a
 * blob depends on: the graph with its weights, attributes and shapes, the device's version, and the
 * options. Files are not trusted: one that is damaged, cut off or of another key is a miss, and is
 * written anew.
 */
#ifndef DEPUTY_NPU_STUB_CACHE_H_
#define DEPUTY_NPU_STUB_CACHE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "deputy/delegate_serialization.h"
#include "npu_stub/npu_device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* False if memory is short. */
bool NpuMakeCacheKey(const NpuGraph* graph, const char* device_version, int32_t frequency,
                     DeputyFingerprint* out_key);

/* A blob that the caller frees with free(); NULL for a miss. */
void* NpuReadCache(const char* folder, const DeputyFingerprint* key, size_t* out_bytes);

/* Makes the folder if need be. A failure is no error: the next build misses again. */
bool NpuWriteCache(const char* folder, const DeputyFingerprint* key, const void* blob,
                   size_t bytes);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DEPUTY_NPU_STUB_CACHE_H_ */
