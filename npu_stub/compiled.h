/* SPDX-License-Identifier: Apache-2.0
 *
 * A partition of a model as a blob of the device: imported, processed by the layout passes, and
 * compiled or read from the cache.
 */
#ifndef DEPUTY_NPU_STUB_COMPILED_H_
#define DEPUTY_NPU_STUB_COMPILED_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "npu_stub/cache.h"
#include "npu_stub/graph.h"
#include "npu_stub/state.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A tensor on the boundary of a partition. */
typedef struct NpuBoundaryTensor {
  int32_t tensor;  /* index in the model */
  TfLiteType type; /* type in the model; the device has float32 for float16 */
  NpuTensor device;
  size_t bytes; /* size in the model */
} NpuBoundaryTensor;

/* Source node of an operation of the compiled graph. */
typedef struct NpuSource {
  int32_t node; /* index in the model; -1 for changes of layout */
  int32_t kind; /* NpuKind */
} NpuSource;

typedef struct NpuCompiled {
  NpuBuilder builder; /* valid until the blob is loaded */
  NpuBoundaryTensor* inputs;
  NpuBoundaryTensor* outputs;
  int32_t input_count, output_count;
  void* blob;
  size_t blob_bytes;
  bool from_cache;
  NpuSource* sources; /* by operation */
  int32_t source_count;
  /* The graph after the import and after the layout passes; NULL unless texts are enabled. */
  char* texts[2];
} NpuCompiled;

/* Compiles the nodes of a partition. Returns false with a message in `error` on failure. The
 * caller calls NpuFreeCompiled in every case. */
bool NpuCompilePartition(TfLiteContext* context, const TfLiteDelegateParams* params,
                         NpuState* state, NpuCompiled* out_compiled, char* error,
                         size_t error_size);

/* Compiles the graph again, if the device has rejected a blob from the cache. */
bool NpuRecompile(NpuState* state, NpuCompiled* compiled, char* error, size_t error_size);

/* Frees the blob and the graph, which are not needed once the blob is loaded. */
void NpuReleaseBlob(NpuState* state, NpuCompiled* compiled);
void NpuFreeCompiled(NpuState* state, NpuCompiled* compiled);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DEPUTY_NPU_STUB_COMPILED_H_ */
