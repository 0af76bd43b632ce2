/* SPDX-License-Identifier: Apache-2.0
 *
 * Validates graphs for the built-in device. Graphs come from callers and blobs, which are
 * untrusted. A valid graph can be computed without further index checks, except the contents of the
 * second input of kNpuGather.
 */
#ifndef DEPUTY_NPU_STUB_DEVICE_CHECK_H_
#define DEPUTY_NPU_STUB_DEVICE_CHECK_H_

#include <stdbool.h>
#include <stddef.h>

#include "npu_stub/npu_device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Validates a graph. If it is invalid, returns false and writes a message to `error`, which may
 * be NULL. */
bool NpuCheckGraph(const NpuGraph* graph, char* error, size_t error_size);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DEPUTY_NPU_STUB_DEVICE_CHECK_H_ */
