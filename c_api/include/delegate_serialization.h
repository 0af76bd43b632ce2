// SPDX-License-Identifier: Apache-2.0
//
// Results of slow work kept from one start to the next, for authors of delegates: compiled graphs,
// packed weights, tuning results, each a block of bytes under a folder, a token and a fingerprint.
//
// Everything here is static inline and needs POSIX files alone, so a delegate that uses it links
// neither libdeputy nor libtensorflowlite, and the same file loads into both. C99 or C++11. A
// delegate that is built with TensorFlow Lite's own headers includes its common.h first and defines
// DEPUTY_DELEGATE_SERIALIZATION_NO_INCLUDES.
//
//     DeputyFingerprint fingerprint;
//     DeputyFingerprintInit(&fingerprint);
//     DeputyFingerprintAddText(&fingerprint, driver_version);
//     DeputyFingerprintAddNodes(&fingerprint, context, params->nodes_to_replace);
//     const DeputySerialization store = {cache_dir, model_token};
//     void* blob = NULL;
//     size_t bytes = 0;
//     if (DeputySerializationRead(&store, &fingerprint, &blob, &bytes) != kTfLiteOk) {
//       blob = Compile(&bytes);  // with malloc
//       DeputySerializationWrite(&store, &fingerprint, blob, bytes);
//     }
//     ...
//     free(blob);
//
// An entry is one file, <token>_<fingerprint>.bin. It is written under another name, synchronised
// and then renamed, so that it is there as a whole or not at all, whenever the process or the
// machine stops; what a killed process leaves ends in .tmp, is never read and may be deleted.
// Entries are not trusted: one that is cut off, damaged, or of another token or fingerprint is not
// found, and writing replaces it. The check finds damage, not forgery: keep the folder to the user.
//
// Threads and processes may share a folder; the last one that writes an entry wins.
#ifndef DEPUTY_C_API_INCLUDE_DELEGATE_SERIALIZATION_H_
#define DEPUTY_C_API_INCLUDE_DELEGATE_SERIALIZATION_H_

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef DEPUTY_DELEGATE_SERIALIZATION_NO_INCLUDES
#include "common.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

// POSIX has it; compilers that are told C99 and nothing else do not see it.
// NOLINTNEXTLINE(readability-redundant-declaration)
extern int fsync(int file);

// ------------------------------------------------------------------------------------------------
// Fingerprints
// ------------------------------------------------------------------------------------------------

// A number of 128 bits for all that an entry depends on. Equal calls in equal order make equal
// numbers, on one machine and with one version of this header.
typedef struct DeputyFingerprint {
  uint64_t words[2];
} DeputyFingerprint;

// Starts one, of nothing.
static inline void DeputyFingerprintInit(DeputyFingerprint* fingerprint) {
  fingerprint->words[0] = UINT64_C(0x9e3779b97f4a7c15);
  fingerprint->words[1] = UINT64_C(0xc2b2ae3d27d4eb4f);
}

// Adds one word. Each step can be undone, so that contents that differ in one word never meet. For
// the functions here.
static inline void DeputyFingerprintStep(DeputyFingerprint* fingerprint, uint64_t word) {
  uint64_t a = (fingerprint->words[0] ^ word) * UINT64_C(0x9fb21c651e98df25);
  uint64_t b = (fingerprint->words[1] + word) * UINT64_C(0xa0761d6478bd642f);
  fingerprint->words[0] = (a << 29) | (a >> 35);
  fingerprint->words[1] = b ^ (b >> 32);
}

// Adds `bytes` bytes at `data`, and how many they are, so that parts do not run into each other.
static inline void DeputyFingerprintAdd(DeputyFingerprint* fingerprint, const void* data,
                                        size_t bytes) {
  const unsigned char* at = (const unsigned char*)data;
  size_t done = 0;
  DeputyFingerprintStep(fingerprint, (uint64_t)bytes);
  while (done < bytes) {
    uint64_t word = 0;
    const size_t part = bytes - done < sizeof word ? bytes - done : sizeof word;
    memcpy(&word, at + done, part);
    DeputyFingerprintStep(fingerprint, word);
    done += part;
  }
}

// Adds a text; NULL counts as an empty one.
static inline void DeputyFingerprintAddText(DeputyFingerprint* fingerprint, const char* text) {
  DeputyFingerprintAdd(fingerprint, text, text == NULL ? 0 : strlen(text));
}

// Adds an array of ints; NULL counts as an empty one.
static inline void DeputyFingerprintAddInts(DeputyFingerprint* fingerprint,
                                            const TfLiteIntArray* ints) {
  const size_t count = ints == NULL || ints->size < 0 ? 0 : (size_t)ints->size;
  DeputyFingerprintAdd(fingerprint, count == 0 ? NULL : ints->data, count * sizeof(int));
}

// Adds a tensor: type, shape, quantisation, and the contents of a constant.
static inline void DeputyFingerprintAddTensor(DeputyFingerprint* fingerprint,
                                              const TfLiteTensor* tensor) {
  DeputyFingerprintStep(fingerprint, (uint64_t)tensor->type);
  DeputyFingerprintAddInts(fingerprint, tensor->dims);
  if (tensor->quantization.type == kTfLiteAffineQuantization &&
      tensor->quantization.params != NULL) {
    const TfLiteAffineQuantization* affine =
        (const TfLiteAffineQuantization*)tensor->quantization.params;
    if (affine->scale != NULL) {
      DeputyFingerprintAdd(fingerprint, affine->scale->data,
                           (size_t)affine->scale->size * sizeof(float));
    }
    DeputyFingerprintAddInts(fingerprint, affine->zero_point);
    DeputyFingerprintStep(fingerprint, (uint64_t)affine->quantized_dimension);
  }
  if (tensor->allocation_type == kTfLiteMmapRo && tensor->data.raw != NULL) {
    DeputyFingerprintAdd(fingerprint, tensor->data.raw, tensor->bytes);
  }
}

// Adds the tensors of a node's list. For the functions here.
static inline void DeputyFingerprintAddTensors(DeputyFingerprint* fingerprint,
                                               const TfLiteContext* context,
                                               const TfLiteIntArray* tensors) {
  DeputyFingerprintAddInts(fingerprint, tensors);
  for (int i = 0; tensors != NULL && i < tensors->size; ++i) {
    const int index = tensors->data[i];
    if (index < 0 || (size_t)index >= context->tensors_size) continue;
    DeputyFingerprintAddTensor(fingerprint, &context->tensors[index]);
  }
}

// Adds nodes, such as a partition's `nodes_to_replace` in the init of its kernel: operators with
// their versions, which tensors they read and write, and those tensors. Of an operator's options
// only a custom operator's are added, since the others are structs of many kinds: add those that
// matter, or have the token tell models apart. An error if a node is not available.
static inline TfLiteStatus DeputyFingerprintAddNodes(DeputyFingerprint* fingerprint,
                                                     TfLiteContext* context,
                                                     const TfLiteIntArray* nodes) {
  DeputyFingerprintAddInts(fingerprint, nodes);
  for (int i = 0; nodes != NULL && i < nodes->size; ++i) {
    TfLiteNode* node = NULL;
    TfLiteRegistration* registration = NULL;
    if (context->GetNodeAndRegistration(context, nodes->data[i], &node, &registration) !=
        kTfLiteOk) {
      return kTfLiteError;
    }
    DeputyFingerprintStep(fingerprint, (uint64_t)registration->builtin_code);
    DeputyFingerprintStep(fingerprint, (uint64_t)registration->version);
    DeputyFingerprintAddText(fingerprint, registration->custom_name);
    if (registration->custom_name != NULL && node->custom_initial_data_size > 0) {
      DeputyFingerprintAdd(fingerprint, node->custom_initial_data,
                           (size_t)node->custom_initial_data_size);
    }
    DeputyFingerprintAddTensors(fingerprint, context, node->inputs);
    DeputyFingerprintAddTensors(fingerprint, context, node->outputs);
  }
  return kTfLiteOk;
}

// ------------------------------------------------------------------------------------------------
// Entries
// ------------------------------------------------------------------------------------------------

// Where entries are. Both texts are the caller's and are read during each call alone.
typedef struct DeputySerialization {
  // The folder; writing makes the last part of its path, for the user alone. NULL or "" keeps
  // nothing.
  const char* folder;
  // What tells a model's entries from those of other models, as the user or the vendor names it. It
  // starts the name of each file, with '_' for what is no letter, digit, '.' or '-', up to 64
  // bytes, and counts as a whole. NULL is "".
  const char* model_token;
} DeputySerialization;

enum {
  // Room for the path of an entry, with its NUL; longer ones are errors.
  kDeputySerializationPathBytes = 4096,
  // Tries to find a name for a draft that nobody uses.
  kDeputySerializationDrafts = 1000,
};

// What an entry's file starts with, in the machine's order of bytes.
typedef struct DeputySerializationHeader {
  char magic[8];
  // Of the fingerprint and the token.
  DeputyFingerprint key;
  // How many bytes follow, and their fingerprint.
  uint64_t bytes;
  DeputyFingerprint checksum;
} DeputySerializationHeader;

// The header of an entry with these contents. For the functions here, and for tests of delegates.
static inline DeputySerializationHeader DeputySerializationHeaderOf(
    const DeputySerialization* store, const DeputyFingerprint* fingerprint, const void* data,
    size_t bytes) {
  static const char kMagic[8] = {'D', 'P', 'T', 'Y', 'S', 'E', 'R', '1'};
  DeputySerializationHeader header;
  memset(&header, 0, sizeof header);
  memcpy(header.magic, kMagic, sizeof kMagic);
  header.key = *fingerprint;
  DeputyFingerprintAddText(&header.key, store->model_token);
  header.bytes = (uint64_t)bytes;
  DeputyFingerprintInit(&header.checksum);
  DeputyFingerprintAdd(&header.checksum, data, bytes);
  return header;
}

// Writes the path of an entry into `path`, of kDeputySerializationPathBytes. False if it is too
// long or there is no folder.
static inline bool DeputySerializationPath(const DeputySerialization* store,
                                           const DeputyFingerprint* fingerprint, char* path) {
  char token[65];
  size_t length = 0;
  const DeputySerializationHeader header = DeputySerializationHeaderOf(store, fingerprint, NULL, 0);
  const char* from = store->model_token == NULL ? "" : store->model_token;
  if (store->folder == NULL || store->folder[0] == '\0') return false;
  for (; from[length] != '\0' && length + 1 < sizeof token; ++length) {
    const char c = from[length];
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '.' || c == '-';
    token[length] = '_';
    if (plain && (c != '.' || length > 0)) token[length] = c;
  }
  token[length] = '\0';
  const int written = snprintf(path, kDeputySerializationPathBytes, "%s/%s_%016llx%016llx.bin",
                               store->folder, token, (unsigned long long)header.key.words[0],
                               (unsigned long long)header.key.words[1]);
  return written > 0 && written < kDeputySerializationPathBytes;
}

// Opens a file that programs which are started meanwhile do not inherit. For the functions here.
static inline int DeputySerializationOpen(const char* path, int flags) {
#ifdef O_CLOEXEC
  flags |= O_CLOEXEC;
#endif
  return open(path, flags, 0600);
}

// Reads exactly `bytes` bytes. For the functions here.
static inline bool DeputySerializationReadAll(int file, void* to, size_t bytes) {
  char* at = (char*)to;
  while (bytes > 0) {
    const ssize_t count = read(file, at, bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    at += count;
    bytes -= (size_t)count;
  }
  return true;
}

// Writes all of them. For the functions here.
static inline bool DeputySerializationWriteAll(int file, const void* from, size_t bytes) {
  const char* at = (const char*)from;
  while (bytes > 0) {
    const ssize_t count = write(file, at, bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    at += count;
    bytes -= (size_t)count;
  }
  return true;
}

// The contents of an open file, if it is the entry that is looked for. For the functions here.
static inline TfLiteStatus DeputySerializationReadFrom(int file, const DeputySerialization* store,
                                                       const DeputyFingerprint* fingerprint,
                                                       void** out_data, size_t* out_bytes) {
  DeputySerializationHeader header, expected;
  struct stat status;
  if (fstat(file, &status) != 0) return kTfLiteDelegateDataReadError;
  // What a damaged header asks for is not allocated before the file is known to be as long.
  if (!S_ISREG(status.st_mode) || status.st_size < (off_t)sizeof header ||
      !DeputySerializationReadAll(file, &header, sizeof header) ||
      header.bytes != (uint64_t)status.st_size - sizeof header || header.bytes >= SIZE_MAX) {
    return kTfLiteDelegateDataNotFound;
  }
  const size_t bytes = (size_t)header.bytes;
  void* data = malloc(bytes + 1);
  if (data == NULL) return kTfLiteDelegateDataReadError;
  if (DeputySerializationReadAll(file, data, bytes)) {
    expected = DeputySerializationHeaderOf(store, fingerprint, data, bytes);
    if (memcmp(&header, &expected, sizeof header) == 0) {
      *out_data = data;
      *out_bytes = bytes;
      return kTfLiteOk;
    }
  }
  free(data);
  return kTfLiteDelegateDataNotFound;
}

// Reads an entry into a block that the caller frees with free(). kTfLiteDelegateDataNotFound if
// there is none: never written, cut off, damaged, or of another token or fingerprint.
// kTfLiteDelegateDataReadError if there may be one: it cannot be opened, or memory is short.
// `out_data` and `out_bytes` are untouched then. Compile in either case.
static inline TfLiteStatus DeputySerializationRead(const DeputySerialization* store,
                                                   const DeputyFingerprint* fingerprint,
                                                   void** out_data, size_t* out_bytes) {
  char path[kDeputySerializationPathBytes];
  if (!DeputySerializationPath(store, fingerprint, path)) return kTfLiteDelegateDataNotFound;
  const int file = DeputySerializationOpen(path, O_RDONLY | O_NONBLOCK);
  if (file < 0) {
    return errno == ENOENT || errno == ENOTDIR ? kTfLiteDelegateDataNotFound
                                               : kTfLiteDelegateDataReadError;
  }
  const TfLiteStatus status =
      DeputySerializationReadFrom(file, store, fingerprint, out_data, out_bytes);
  close(file);
  return status;
}

// Makes a file beside `path` that nobody else has, and writes its name into `draft`. Negative on
// failure. For the functions here.
static inline int DeputySerializationMakeDraft(const char* path, char* draft) {
  for (int i = 0; i < kDeputySerializationDrafts; ++i) {
    const int length =
        snprintf(draft, kDeputySerializationPathBytes, "%s.%ld.%d.tmp", path, (long)getpid(), i);
    if (length <= 0 || length >= kDeputySerializationPathBytes) return -1;
    const int file = DeputySerializationOpen(draft, O_WRONLY | O_CREAT | O_EXCL);
    if (file >= 0 || errno != EEXIST) return file;
  }
  return -1;
}

// Keeps a copy of the `bytes` bytes at `data`, in the place of an entry of the same key.
// kTfLiteDelegateDataWriteError if that fails; an older entry is then as it was. That is no reason
// for a delegate to fail: the next start compiles again.
static inline TfLiteStatus DeputySerializationWrite(const DeputySerialization* store,
                                                    const DeputyFingerprint* fingerprint,
                                                    const void* data, size_t bytes) {
  char path[kDeputySerializationPathBytes], draft[kDeputySerializationPathBytes];
  if (!DeputySerializationPath(store, fingerprint, path)) return kTfLiteDelegateDataWriteError;
  (void)mkdir(store->folder, 0700);  // what is wrong shows when the draft is made
  const int file = DeputySerializationMakeDraft(path, draft);
  if (file < 0) return kTfLiteDelegateDataWriteError;
  const DeputySerializationHeader header =
      DeputySerializationHeaderOf(store, fingerprint, data, bytes);
  bool good = DeputySerializationWriteAll(file, &header, sizeof header) &&
              DeputySerializationWriteAll(file, data, bytes) && fsync(file) == 0;
  good = close(file) == 0 && good;
  if (good && rename(draft, path) == 0) return kTfLiteOk;
  (void)unlink(draft);
  return kTfLiteDelegateDataWriteError;
}

// Deletes an entry, which a driver has refused. One that is not there is fine.
static inline void DeputySerializationRemove(const DeputySerialization* store,
                                             const DeputyFingerprint* fingerprint) {
  char path[kDeputySerializationPathBytes];
  if (DeputySerializationPath(store, fingerprint, path)) (void)unlink(path);
}

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_DELEGATE_SERIALIZATION_H_
