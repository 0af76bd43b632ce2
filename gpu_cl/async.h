// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous kernels of partitions: the start of a task enqueues copies and kernels on the
// partition's queue and returns. Tasks of one asynchronous kernel are computed in the order of
// their start.
//
// Buffers have the type "host_memory", or "cl_mem": an OpenCL buffer of the delegate's context.
// Synchronisation objects have one of these types:
//   cl_event  The pointer is an event. The kernel releases an input's, the client an output's.
//   eventfd   The pointer is a descriptor, cast to intptr_t and then to a pointer. The kernel waits
//             until an input's is readable, and closes it; the client closes an output's. An
//             output's becomes readable also if the task fails.
#ifndef DEPUTY_GPU_CL_ASYNC_H_
#define DEPUTY_GPU_CL_ASYNC_H_

#include "deputy/deputy_plugin_async.h"
#include "tensorflow/lite/c/common.h"

namespace deputy::gpu_cl {

// Implementation of DeputyDelegatePlugin's async_kernel.
TfLiteAsyncKernel* NewAsyncKernel(TfLiteDelegate* delegate, TfLiteContext* context,
                                  TfLiteNode* node, const DeputyAsyncRuntime* runtime);

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_ASYNC_H_
