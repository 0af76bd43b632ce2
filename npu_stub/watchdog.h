/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs models on threads of the delegate, so that a device that ignores the time limit can be
 * abandoned. Such a run makes the device lost until it returns: nothing else may use the device,
 * and models of deleted partitions stay loaded.
 */
#ifndef DEPUTY_NPU_STUB_WATCHDOG_H_
#define DEPUTY_NPU_STUB_WATCHDOG_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "npu_stub/npu_device.h"
#include "npu_stub/state.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Runs a model on a device thread. Abandons the run if it exceeds the time limit by 10 % and by
 * 100 ms: a device that keeps the limit needs time to return. */
NpuStatus NpuRunWatched(NpuState* state, NpuClient* client, const char* model,
                        uint32_t time_limit_ms, char* error, size_t error_size);

/* Returns true if an abandoned run has not returned. */
bool NpuIsLost(NpuState* state);

/* Writes the error message for the use of a lost device. */
void NpuLostText(const NpuState* state, char* text, size_t size);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DEPUTY_NPU_STUB_WATCHDOG_H_ */
