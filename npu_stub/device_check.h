/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a graph is one that the built-in device can run. Graphs come from callers and from blobs,
 * and neither is trusted: what passes here can be computed without looking at indices again, but
 * for the contents of kNpuGather's second input.
 */
#ifndef DEPUTY_NPU_STUB_DEVICE_CHECK_H_
#define DEPUTY_NPU_STUB_DEVICE_CHECK_H_

#include <stdbool.h>
#include <stddef.h>

#include "npu_stub/npu_device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Writes what is wrong into `error`, which may be NULL. */
bool NpuCheckGraph(const NpuGraph* graph, char* error, size_t error_size);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DEPUTY_NPU_STUB_DEVICE_CHECK_H_ */
