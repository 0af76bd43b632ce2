/* SPDX-License-Identifier: Apache-2.0
 *
 * The nodes that the delegate puts into a graph, one for each partition. A partition is compiled
 * when it is made, loaded together with the others of its build, and runs as: copy in, run, copy
 * out.
 */
#ifndef DEPUTY_NPU_STUB_PARTITION_H_
#define DEPUTY_NPU_STUB_PARTITION_H_

#include <stdbool.h>

#include "npu_stub/state.h"
#include "tensorflow/lite/c/common.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The partitions of one Prepare of the delegate. */
typedef struct NpuBuild {
  NpuPartition** partitions;
  int32_t count;
  bool failed; /* memory is short */
} NpuBuild;

/* Between the two, partitions that are made on this thread belong to the build. */
void NpuBeginBuild(NpuBuild* build);
void NpuEndBuild(NpuBuild* build);

/* Loads all models of a build, in batches; the status is what the delegate's Prepare returns. What
 * fails has been reported. */
TfLiteStatus NpuLoadBuild(TfLiteContext* context, NpuState* state, NpuBuild* build);

/* The functions of such nodes, under a name that outlives them. */
TfLiteRegistration NpuPartitionRegistration(const char* name);

/* Calls back with the texts of the partitions that live, the oldest first. */
void NpuDescribe(NpuState* state,
                 void (*callback)(void* user_data, int32_t first_node, const char* stage,
                                  const char* text),
                 void* user_data);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DEPUTY_NPU_STUB_PARTITION_H_ */
