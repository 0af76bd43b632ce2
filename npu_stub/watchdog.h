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

/* Runs a model on a device thread. Returns at the latest 10 % of the time limit, but at least
 * 100 ms, after the limit: a device that keeps the limit needs time to return. */
NpuStatus NpuRunWatched(NpuState* state, NpuClient* client, const char* model,
                        uint32_t time_limit_ms, char* error, size_t error_size);

/* Returns whether an abandoned run has not returned. */
bool NpuIsLost(NpuState* state);

/* Writes why a lost device is not used. */
void NpuLostText(const NpuState* state, char* text, size_t size);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DEPUTY_NPU_STUB_WATCHDOG_H_ */
