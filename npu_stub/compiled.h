/* SPDX-License-Identifier: Apache-2.0
 *
 * A partition of a model as a blob of the device: imported, laid out, compiled, or found in the
 * cache.
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

/* A tensor on the border of a partition. */
typedef struct NpuBorder {
  int32_t tensor;  /* the model's */
  TfLiteType type; /* the model's; the device's is float32 where this is float16 */
  NpuTensor device;
  size_t bytes; /* the model's */
} NpuBorder;

typedef struct NpuCompiled {
  NpuBuilder builder; /* until the blob is loaded */
  NpuBorder* inputs;
  NpuBorder* outputs;
  int32_t input_count, output_count;
  void* blob;
  size_t blob_bytes;
  bool from_cache;
  char* texts[2]; /* imported, and behind the layout passes; NULL if they are not kept */
} NpuCompiled;

/* False with what is wrong in `error`; NpuFreeCompiled is due in any case. */
bool NpuCompilePartition(TfLiteContext* context, const TfLiteDelegateParams* params,
                         NpuState* state, NpuCompiled* out_compiled, char* error,
                         size_t error_size);

/* Compiles the graph anew, where the device did not take a blob of the cache. */
bool NpuRecompile(NpuState* state, NpuCompiled* compiled, char* error, size_t error_size);

/* What is not needed once the blob is loaded. */
void NpuForgetBlob(NpuState* state, NpuCompiled* compiled);
void NpuFreeCompiled(NpuState* state, NpuCompiled* compiled);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DEPUTY_NPU_STUB_COMPILED_H_ */
