/* SPDX-License-Identifier: Apache-2.0
 *
 * Cache of compiled models in a folder (deputy/delegate_serialization.h). The key covers everything
 * on which a blob depends: the graph with its weights, attributes and shapes, the device's version,
 * and the frequency. Files are untrusted: a damaged or truncated file, or one with another key, is
 * a miss and is written again.
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

/* Computes the key of a compiled graph. Returns false if out of memory. */
bool NpuMakeCacheKey(const NpuGraph* graph, const char* device_version, int32_t frequency,
                     DeputyFingerprint* out_key);

/* Reads a blob from the cache. The caller frees it with free(); NULL for a miss. */
void* NpuReadCache(const char* folder, const DeputyFingerprint* key, size_t* out_bytes);

/* Writes a blob to the cache, and creates the folder if necessary. A failure is not an error:
 * the next build has a miss again. */
bool NpuWriteCache(const char* folder, const DeputyFingerprint* key, const void* blob,
                   size_t bytes);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DEPUTY_NPU_STUB_CACHE_H_ */
