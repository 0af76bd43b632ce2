/* SPDX-License-Identifier: Apache-2.0
 *
 * State of a delegate, shared by the files that implement it.
 */
#ifndef DEPUTY_NPU_STUB_STATE_H_
#define DEPUTY_NPU_STUB_STATE_H_

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "npu_stub/loader.h"
#include "npu_stub/options.h"
#include "tensorflow/lite/c/common.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Size of the name of a model on the device. */
enum { kNpuModelNameBytes = 40 };

typedef struct NpuPartition NpuPartition;
typedef struct NpuWorker NpuWorker;

/* Object to which `data_` of the delegate points. Interpreters on several threads may share it. */
typedef struct NpuState {
  TfLiteDelegate base;
  NpuOptions options;
  NpuDeviceHandle device;
  bool watched; /* runs are on device threads */

  pthread_mutex_t mutex; /* guards the members below */
  /* Number of references: the client's, one per partition, one per abandoned run. */
  int32_t users;
  NpuPartition* partitions; /* existing partitions, newest first */
  /* Names of nodes, "NpuGraph0" and so on. They are valid for the lifetime of the delegate,
   * since nodes point to them. */
  char** names;
  int32_t name_count;
  uint64_t next_model; /* number for the name of the next model */
  uint64_t cache_hits, cache_misses, cache_write_failures;
  int64_t compile_ns;      /* sum over all compilations */
  NpuWorker* idle_workers; /* device threads without a run (watchdog.c) */
  /* Ends the idle device threads; NULL before the first thread. */
  void (*end_workers)(struct NpuState* state);
  int32_t hung_runs;     /* abandoned runs that have not returned; the device is lost */
  NpuPartition* deleted; /* partitions that were deleted while the device was lost */
  /* Unloads the models of `deleted`, unless another abandoned run has not returned. Each abandoned
   * run calls it after it has returned. NULL if no partition was deleted. */
  void (*unload_deleted)(struct NpuState* state);
} NpuState;

/* Removes a reference; the last one frees the state. Therefore a client that deletes the
 * delegate before its interpreters, which is an error, does not invalidate them. */
void NpuReleaseState(NpuState* state);

static inline NpuState* NpuStateOf(TfLiteDelegate* delegate) { return (NpuState*)delegate->data_; }

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DEPUTY_NPU_STUB_STATE_H_ */
