/* SPDX-License-Identifier: Apache-2.0
 *
 * The delegate's nodes, one per partition. A partition is compiled when its node is created and
 * loaded together with the others of its build. A run copies the inputs to the device, runs the
 * model, and copies the outputs back.
 */
#ifndef DEPUTY_NPU_STUB_PARTITION_H_
#define DEPUTY_NPU_STUB_PARTITION_H_

#include <stdbool.h>

#include "deputy/async_types.h"
#include "deputy/deputy_plugin.h"
#include "npu_stub/state.h"
#include "tensorflow/lite/c/common.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The partitions of one Prepare of the delegate. */
typedef struct NpuBuild {
  NpuPartition** partitions;
  int32_t count;
  bool failed; /* out of memory */
} NpuBuild;

/* Begin and end a build. Partitions that the calling thread creates in between belong to the
 * build. */
void NpuBeginBuild(NpuBuild* build);
void NpuEndBuild(NpuBuild* build);

/* Loads all models of a build, in batches. Returns the status for the delegate's Prepare;
 * failures have been reported. */
TfLiteStatus NpuLoadBuild(TfLiteContext* context, NpuState* state, NpuBuild* build);

/* Returns the functions of a delegate node; `name` must outlive the node. */
TfLiteRegistration NpuPartitionRegistration(const char* name);

/* Implements async_kernel of the plug-in. */
TfLiteAsyncKernel* NpuAsyncKernel(TfLiteDelegate* delegate, TfLiteContext* context,
                                  TfLiteNode* node, const struct DeputyAsyncRuntime* runtime);

/* Calls back with the times of the newest run of a node (node_events in deputy_plugin.h). */
TfLiteStatus NpuNodeEvents(TfLiteDelegate* delegate, TfLiteContext* context, TfLiteNode* node,
                           DeputyNodeEventCallback callback, void* user_data);

/* Calls `callback` with the texts of the existing partitions, oldest first. */
void NpuDescribe(NpuState* state,
                 void (*callback)(void* user_data, int32_t first_node, const char* stage,
                                  const char* text),
                 void* user_data);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DEPUTY_NPU_STUB_PARTITION_H_ */
