/* SPDX-License-Identifier: Apache-2.0
 *
 * Asynchronous kernels of a partition: tasks wait in a queue for a thread, which runs them on
 * buffers of the client, one at a time and in the order of their start. Buffers have the type
 * "host_memory". Synchronisation objects have the type "eventfd": their pointer is a descriptor,
 * cast to intptr_t and a pointer, which becomes readable when the data is ready.
 */
#ifndef DEPUTY_NPU_STUB_ASYNC_H_
#define DEPUTY_NPU_STUB_ASYNC_H_

#include "deputy/deputy_plugin_async.h"
#include "npu_stub/compiled.h"
#include "npu_stub/npu_device.h"
#include "npu_stub/state.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct NpuAsync NpuAsync;

/* Runs the model of a partition on memory: one address per input and per output. */
typedef NpuStatus (*NpuRunFunction)(NpuPartition* partition, void* const* inputs,
                                    void* const* outputs, char* error, size_t error_size);

/* Creates a kernel of the partition, which must outlive it, and starts its thread. NULL if out of
 * memory, descriptors or threads. */
NpuAsync* NpuCreateAsync(NpuPartition* partition, const NpuCompiled* compiled, NpuRunFunction run,
                         const DeputyAsyncRuntime* runtime);

TfLiteAsyncKernel* NpuKernelOf(NpuAsync* async);

/* Ends the thread, without running the tasks that wait, and frees kernel and executions. */
void NpuDestroyAsync(NpuAsync* async);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DEPUTY_NPU_STUB_ASYNC_H_ */
