/* SPDX-License-Identifier: Apache-2.0 */
#include "npu_stub/loader.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Loads a library and returns its table. The library stays loaded for the lifetime of the
 * process. */
static const NpuDeviceApi* ApiOf(const char* path, char* error, size_t error_size) {
  if (path[0] == '\0') return npu_device_api();
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void* symbol = library == NULL ? NULL : dlsym(library, "npu_device_api");
  if (symbol == NULL) {
    const char* problem = dlerror();
    snprintf(error, error_size, "device_library: %s", problem == NULL ? path : problem);
    return NULL;
  }
  NpuDeviceApiFunction function;
  memcpy(&function, &symbol, sizeof function); /* C cannot cast between them */
  const NpuDeviceApi* api = function();
  if (api == NULL || api->abi_version >> 16 != NPU_DEVICE_ABI_VERSION >> 16 ||
      api->struct_size < offsetof(NpuDeviceApi, op_times)) {
    snprintf(error, error_size, "device_library: %s is of another version of npu_device.h", path);
    return NULL;
  }
  return api;
}

bool NpuOpenDevice(const NpuOptions* options, NpuDeviceHandle* out_handle, char* error,
                   size_t error_size) {
  memset(out_handle, 0, sizeof *out_handle);
  out_handle->api = ApiOf(options->device_library, error, error_size);
  if (out_handle->api == NULL) return false;
  const NpuDeviceConfig config = {sizeof config, options->faults};
  const NpuStatus status = out_handle->api->open(&config, &out_handle->device, out_handle->absence,
                                                 sizeof out_handle->absence);
  if (status == kNpuOk) return true;
  out_handle->device = NULL;
  if (status == kNpuAbsent) return true;
  snprintf(error, error_size, "%s", out_handle->absence);
  return false;
}

const NpuOpTime* NpuOpTimes(const NpuDeviceHandle* handle, NpuClient* client, const char* model,
                            int32_t* out_count) {
  *out_count = 0;
  const NpuDeviceApi* api = handle->api;
  if (api->struct_size < sizeof *api || api->op_times == NULL) return NULL;
  return api->op_times(client, model, out_count);
}

void NpuCloseDevice(NpuDeviceHandle* handle) {
  if (handle->device != NULL) handle->api->close(handle->device);
  handle->device = NULL;
}

/* Loads at most 20 models into a new client. */
static NpuStatus LoadBatch(const NpuDeviceHandle* handle, const NpuModelDescription* models,
                           size_t count, NpuBatch** out_batch, char* error, size_t error_size) {
  NpuBatch* batch = calloc(1, sizeof *batch);
  if (batch == NULL) return kNpuNoMemory;
  NpuStatus status = handle->api->create_client(handle->device, &batch->client);
  if (status == kNpuOk) {
    status = handle->api->load(batch->client, models, count, error, error_size);
    if (status != kNpuOk) handle->api->destroy_client(batch->client);
  }
  if (status != kNpuOk) {
    free(batch);
    return status;
  }
  batch->models = (int32_t)count;
  *out_batch = batch;
  return kNpuOk;
}

NpuStatus NpuLoadModels(const NpuDeviceHandle* handle, const NpuModelDescription* models,
                        size_t count, NpuBatch** out_batches, char* error, size_t error_size) {
  NpuStatus status = kNpuOk;
  size_t loaded = 0;
  snprintf(error, error_size, "out of memory");
  while (status == kNpuOk && loaded < count) {
    const size_t left = count - loaded;
    const size_t now = left < NPU_MAX_MODELS ? left : NPU_MAX_MODELS;
    NpuBatch* batch = NULL;
    status = LoadBatch(handle, models + loaded, now, &batch, error, error_size);
    if (status != kNpuOk) break;
    for (size_t i = 0; i < now; ++i) out_batches[loaded++] = batch;
  }
  if (status == kNpuOk) return kNpuOk;
  for (size_t i = 0; i < loaded; ++i) NpuUnloadModel(handle, out_batches[i], models[i].name);
  return status;
}

void NpuUnloadModel(const NpuDeviceHandle* handle, NpuBatch* batch, const char* name) {
  handle->api->unload(batch->client, name);
  if (--batch->models > 0) return;
  handle->api->destroy_client(batch->client);
  free(batch);
}
