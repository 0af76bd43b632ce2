/* SPDX-License-Identifier: Apache-2.0
 *
 * A compiled graph as bytes, but for NpuOp.source: what the built-in device hands out and loads
 * again. A header with the device's version and a checksum, then the graph with its constants.
 * Bytes are not trusted: every count is bounded by what is left of them, and the graph is checked
 * like any other.
 */
#ifndef DEPUTY_NPU_STUB_BLOB_H_
#define DEPUTY_NPU_STUB_BLOB_H_

#include <stddef.h>
#include <stdint.h>

#include "npu_stub/graph.h"
#include "npu_stub/npu_device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The bytes, which the caller frees; NULL if memory is short. */
void* NpuWriteBlob(const NpuGraph* graph, const char* version, size_t* out_bytes);

/* Reads a blob into an empty builder, which is the caller's in any case. */
NpuStatus NpuReadBlob(const void* blob, size_t bytes, const char* version, NpuBuilder* builder,
                      char* error, size_t error_size);

/* FNV-1a of 64 bits, continued from `hash`. */
#define NPU_HASH_START 0xcbf29ce484222325u
uint64_t NpuHash(uint64_t hash, const void* data, size_t bytes);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DEPUTY_NPU_STUB_BLOB_H_ */
