/* SPDX-License-Identifier: Apache-2.0 */
#include "npu_stub/cache.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "npu_stub/blob.h"

static const char kMagic[8] = {'N', 'P', 'U', 'K', 'E', 'P', 'T', '1'};
static const uint64_t kMostBytes = (uint64_t)1 << 31;

typedef struct Header {
  char magic[8];
  NpuCacheKey key;
  uint64_t bytes;
  uint64_t checksum; /* of the blob */
} Header;

bool NpuMakeCacheKey(const NpuGraph* graph, const char* device_version, int32_t frequency,
                     NpuCacheKey* out_key) {
  size_t bytes = 0;
  void* image = NpuWriteBlob(graph, device_version, &bytes);
  if (image == NULL) return false;
  for (uint64_t i = 0; i < 2; ++i) {
    uint64_t hash = NpuHash(NPU_HASH_START ^ (i * 0x9e3779b97f4a7c15u), image, bytes);
    hash = NpuHash(hash, device_version, strlen(device_version));
    out_key->words[i] = NpuHash(hash, &frequency, sizeof frequency);
  }
  free(image);
  return true;
}

enum { kPathBytes = 1200 };

static bool PathOf(const char* folder, const NpuCacheKey* key, const char* ending,
                   char path[kPathBytes]) {
  const int length =
      snprintf(path, kPathBytes, "%s/%016llx%016llx.npu%s", folder,
               (unsigned long long)key->words[0], (unsigned long long)key->words[1], ending);
  return length > 0 && length < kPathBytes;
}

static Header HeaderOf(const NpuCacheKey* key, const void* blob, size_t bytes) {
  Header header;
  memset(&header, 0, sizeof header);
  memcpy(header.magic, kMagic, sizeof kMagic);
  header.key = *key;
  header.bytes = bytes;
  header.checksum = NpuHash(NPU_HASH_START, blob, bytes);
  return header;
}

/* The blob behind a header, if all is as it should be. */
static void* ReadFrom(FILE* file, const NpuCacheKey* key, size_t* out_bytes) {
  Header header;
  if (fread(&header, sizeof header, 1, file) != 1 || header.bytes > kMostBytes) return NULL;
  /* What a damaged header asks for is not allocated before the file is known to be as long. */
  if (fseek(file, 0, SEEK_END) != 0 || ftell(file) != (long)(sizeof header + header.bytes) ||
      fseek(file, (long)sizeof header, SEEK_SET) != 0) {
    return NULL;
  }
  const size_t bytes = (size_t)header.bytes;
  void* blob = malloc(bytes == 0 ? 1 : bytes);
  if (blob == NULL) return NULL;
  const bool whole = bytes > 0 && fread(blob, bytes, 1, file) == 1;
  const Header expected = whole ? HeaderOf(key, blob, bytes) : header;
  if (whole && memcmp(&header, &expected, sizeof header) == 0) {
    *out_bytes = bytes;
    return blob;
  }
  free(blob);
  return NULL;
}

void* NpuReadCache(const char* folder, const NpuCacheKey* key, size_t* out_bytes) {
  char path[kPathBytes];
  FILE* file = PathOf(folder, key, "", path) ? fopen(path, "rb") : NULL;
  if (file == NULL) return NULL;
  void* blob = ReadFrom(file, key, out_bytes);
  fclose(file);
  return blob;
}

/* Into a file of its own first, so that nobody reads half of one. */
bool NpuWriteCache(const char* folder, const NpuCacheKey* key, const void* blob, size_t bytes) {
  char path[kPathBytes], draft[kPathBytes];
  if (!PathOf(folder, key, "", path) || !PathOf(folder, key, ".XXXXXX", draft)) return false;
  mkdir(folder, 0700);
  const int descriptor = mkstemp(draft);
  FILE* file = descriptor < 0 ? NULL : fdopen(descriptor, "wb");
  if (file == NULL) {
    if (descriptor >= 0) close(descriptor);
    return false;
  }
  const Header header = HeaderOf(key, blob, bytes);
  bool good = fwrite(&header, sizeof header, 1, file) == 1 && fwrite(blob, bytes, 1, file) == 1;
  good = fclose(file) == 0 && good;
  if (good && rename(draft, path) == 0) return true;
  remove(draft);
  return false;
}
