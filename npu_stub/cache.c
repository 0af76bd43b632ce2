/* SPDX-License-Identifier: Apache-2.0 */
#include "npu_stub/cache.h"

#include <stdlib.h>

#include "npu_stub/blob.h"

/* Returns the store of a folder. Its token is the same for all models, because the key
 * identifies a model completely. */
static DeputySerialization StoreOf(const char* folder) {
  const DeputySerialization store = {folder, "npu"};
  return store;
}

bool NpuMakeCacheKey(const NpuGraph* graph, const char* device_version, int32_t frequency,
                     DeputyFingerprint* out_key) {
  size_t bytes = 0;
  void* image = NpuWriteBlob(graph, device_version, &bytes);
  if (image == NULL) return false;
  DeputyFingerprintInit(out_key);
  DeputyFingerprintAdd(out_key, image, bytes);
  DeputyFingerprintAddText(out_key, device_version);
  DeputyFingerprintAdd(out_key, &frequency, sizeof frequency);
  free(image);
  return true;
}

void* NpuReadCache(const char* folder, const DeputyFingerprint* key, size_t* out_bytes) {
  const DeputySerialization store = StoreOf(folder);
  void* blob = NULL;
  size_t bytes = 0;
  if (DeputySerializationRead(&store, key, &blob, &bytes) != kTfLiteOk) return NULL;
  *out_bytes = bytes;
  return blob;
}

bool NpuWriteCache(const char* folder, const DeputyFingerprint* key, const void* blob,
                   size_t bytes) {
  const DeputySerialization store = StoreOf(folder);
  return DeputySerializationWrite(&store, key, blob, bytes) == kTfLiteOk;
}
