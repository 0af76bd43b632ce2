/* SPDX-License-Identifier: Apache-2.0
 *
 * The device of a delegate and the models that are loaded into it. A client holds 20 models, so
 * that models are loaded in batches with one client each. A client is destroyed with its last
 * model.
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
  NpuDevice* device; /* NULL: absent, for the reason in `absence` */
  char absence[160];
} NpuDeviceHandle;

/* Opens the device that the options select. An absent device is not an error. */
bool NpuOpenDevice(const NpuOptions* options, NpuDeviceHandle* out_handle, char* error,
                   size_t error_size);
void NpuCloseDevice(NpuDeviceHandle* handle);

/* A client and the number of its models in use. */
typedef struct NpuBatch {
  NpuClient* client;
  int32_t models;
} NpuBatch;

/* Loads all models or none. `out_batches[i]` receives the batch of model i. */
NpuStatus NpuLoadModels(const NpuDeviceHandle* handle, const NpuModelDescription* models,
                        size_t count, NpuBatch** out_batches, char* error, size_t error_size);

/* Returns the times of the model's newest run by operation, or NULL and a count of 0 where the
 * device has none. */
const NpuOpTime* NpuOpTimes(const NpuDeviceHandle* handle, NpuClient* client, const char* model,
                            int32_t* out_count);

/* Unloads a model, and destroys its client if it was the last one. */
void NpuUnloadModel(const NpuDeviceHandle* handle, NpuBatch* batch, const char* name);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DEPUTY_NPU_STUB_LOADER_H_ */
