/* SPDX-License-Identifier: Apache-2.0
 *
 * What a delegate of ours is made of, for the files that make up the delegate.
 */
#ifndef DEPUTY_NPU_STUB_STATE_H_
#define DEPUTY_NPU_STUB_STATE_H_

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "npu_stub/loader.h"
#include "npu_stub/options.h"
#include "tensorflow/lite/c/common.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct NpuPartition NpuPartition;

/* What `data_` of the delegate points to. Interpreters on several threads may use one delegate. */
typedef struct NpuState {
  TfLiteDelegate base;
  NpuOptions options;
  NpuDeviceHandle device;

  pthread_mutex_t mutex;    /* for what follows */
  int32_t users;            /* the client, and each partition that lives */
  NpuPartition* partitions; /* those that live, the newest first */
  char** names; /* "NpuGraph0", …: as long as the delegate, since nodes point to them */
  int32_t name_count;
  uint64_t models_made; /* names models of the device */
  uint64_t cache_hits, cache_misses, cache_write_failures;
  int64_t compile_ns; /* all compilations so far */
} NpuState;

/* One user less; the last one frees it. So a client that deletes the delegate before its
 * interpreters, which is an error, finds them at work until they go. */
void NpuReleaseState(NpuState* state);

static inline NpuState* NpuStateOf(TfLiteDelegate* delegate) { return (NpuState*)delegate->data_; }

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DEPUTY_NPU_STUB_STATE_H_ */
