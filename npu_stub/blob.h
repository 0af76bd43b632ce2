/* SPDX-License-Identifier: Apache-2.0
 *
 * Serialisation of a compiled graph, except NpuOp.source: the blob that the built-in device returns
 * from compile and accepts in load. A blob has a header with the device's version and a checksum,
 * followed by the graph with its constants. Blobs are untrusted: all counts are bounded by the
 * remaining bytes, and the graph is checked like any other.
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

/* Serialises a graph. Returns a blob, which the caller frees; NULL if out of memory. */
void* NpuWriteBlob(const NpuGraph* graph, const char* version, size_t* out_bytes);

/* Reads a blob into an empty builder, which the caller frees in every case. */
NpuStatus NpuReadBlob(const void* blob, size_t bytes, const char* version, NpuBuilder* builder,
                      char* error, size_t error_size);

/* 64-bit FNV-1a hash, continued from `hash`. */
#define NPU_HASH_START 0xcbf29ce484222325u
uint64_t NpuHash(uint64_t hash, const void* data, size_t bytes);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DEPUTY_NPU_STUB_BLOB_H_ */
