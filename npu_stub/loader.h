/* SPDX-License-Identifier: Apache-2.0
 *
 * The device of a delegate, and models in it. Clients hold 20 models each, so that models are
 * loaded in batches, a client for each; a client goes with its last model.
 */
#ifndef DEPUTY_NPU_STUB_LOADER_H_
#define DEPUTY_NPU_STUB_LOADER_H_

#include <stdbool.h>
#include <stddef.h>

#include "npu_stub/npu_device.h"
#include "npu_stub/options.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct NpuDeviceHandle {
  const NpuDeviceApi* api;
  NpuDevice* device; /* NULL: it is absent, and `absence` says why */
  char absence[160];
} NpuDeviceHandle;

/* Opens the device that the options name. An absent one is no failure. */
bool NpuOpenDevice(const NpuOptions* options, NpuDeviceHandle* out_handle, char* error,
                   size_t error_size);
void NpuCloseDevice(NpuDeviceHandle* handle);

/* A client with the number of models that are in use. */
typedef struct NpuBatch {
  NpuClient* client;
  int32_t models;
} NpuBatch;

/* Loads all of them or none; `out_batches[i]` is where model i is. */
NpuStatus NpuLoadModels(const NpuDeviceHandle* handle, const NpuModelDescription* models,
                        size_t count, NpuBatch** out_batches, char* error, size_t error_size);

/* Unloads one model, and destroys the client of the last. */
void NpuUnloadModel(const NpuDeviceHandle* handle, NpuBatch* batch, const char* name);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DEPUTY_NPU_STUB_LOADER_H_ */
