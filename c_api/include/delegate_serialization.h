// SPDX-License-Identifier: Apache-2.0
//
// Persistent cache for authors of delegates: compiled graphs, packed weights and tuning results are
// stored from one process start to the next, each as a block of bytes identified by a directory, a
// token and a fingerprint.
//
// All functions are static inline and need nothing but POSIX files: a delegate that uses them links
// neither libdeputy nor libtensorflowlite, and the same file can be loaded by both. C99 or C++11. A
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
// An entry is one file, <token>_<fingerprint>.bin. It is written under a temporary name,
// synchronised and then renamed, so that it is complete or absent even if the process or the
// machine stops. A killed process can leave a file that ends in .tmp; it is never read and may be
// deleted. Entries are not trusted: a truncated or damaged one, or one of another token or
// fingerprint, counts as absent, and writing replaces it. The checksum detects damage, not forgery:
// restrict the directory to the user.
//
// Threads and processes may share a directory; the last one that writes an entry wins.
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

// The functions are C.
// NOLINTBEGIN(modernize-use-nullptr)

#ifdef __cplusplus
extern "C" {
#endif

// Declared by POSIX, but not visible to compilers in strict C99 mode.
// NOLINTNEXTLINE(readability-redundant-declaration)
extern int fsync(int file);

// ------------------------------------------------------------------------------------------------
// Fingerprints
// ------------------------------------------------------------------------------------------------

// 128-bit hash of everything that an entry depends on. Equal sequences of calls produce equal
// values, on one machine and with one version of this header.
typedef struct DeputyFingerprint {
  uint64_t words[2];
} DeputyFingerprint;

// Initialises the hash of an empty sequence.
static inline void DeputyFingerprintInit(DeputyFingerprint* fingerprint) {
  fingerprint->words[0] = UINT64_C(0x9e3779b97f4a7c15);
  fingerprint->words[1] = UINT64_C(0xc2b2ae3d27d4eb4f);
}

// Adds one word. Every step is invertible, so that sequences that differ in one word have different
// hashes. Internal to this header.
static inline void DeputyFingerprintStep(DeputyFingerprint* fingerprint, uint64_t word) {
  uint64_t a = (fingerprint->words[0] ^ word) * UINT64_C(0x9fb21c651e98df25);
  uint64_t b = (fingerprint->words[1] + word) * UINT64_C(0xa0761d6478bd642f);
  fingerprint->words[0] = (a << 29) | (a >> 35);
  fingerprint->words[1] = b ^ (b >> 32);
}

// Adds the size and `bytes` bytes at `data`. The size separates adjacent blocks.
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

// Adds a tensor: type, shape, affine quantisation, and the contents of a constant of the model.
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

// Adds the tensors of a list. Internal to this header.
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

// Adds nodes, e.g. a partition's `nodes_to_replace` in the init of its kernel: operators with their
// versions, the indices of their inputs and outputs, and these tensors. Options of custom operators
// are included, those of builtin operators are not, because each has a struct of its own: add the
// relevant ones, or use a token that identifies the model. Returns an error if a node is not
// available.
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

// Location of the entries. The caller owns both strings; they are read during each call only.
typedef struct DeputySerialization {
  // Directory of the entries. Writing creates the last part of its path, accessible to the user
  // only. NULL or "" disables the cache.
  const char* folder;
  // Name that separates the entries of one model from those of others, chosen by the user or the
  // vendor. Its first 64 bytes are the prefix of the file's name, with '_' instead of a leading '.'
  // and of characters other than letters, digits, '.' and '-'; the complete token is part of the
  // fingerprint. NULL means "".
  const char* model_token;
} DeputySerialization;

enum {
  // Size of the buffer for an entry's path, including the NUL, in bytes. With a longer path,
  // reading finds no entry and writing fails.
  kDeputySerializationPathBytes = 4096,
  // Maximum number of temporary names that are tried.
  kDeputySerializationDrafts = 1000,
};

// Header of an entry's file, in the machine's byte order.
typedef struct DeputySerializationHeader {
  char magic[8];
  // Fingerprint of the entry, with the token added.
  DeputyFingerprint key;
  // Size of the contents that follow, in bytes, and their hash.
  uint64_t bytes;
  DeputyFingerprint checksum;
} DeputySerializationHeader;

// Returns the header of an entry with these contents. Internal to this header, and for tests of
// delegates.
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

// Writes the path of an entry to `path`, a buffer of kDeputySerializationPathBytes. Returns false
// if the path is too long or there is no directory.
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

// Opens a file with close-on-exec, where available. Internal to this header.
static inline int DeputySerializationOpen(const char* path, int flags) {
#ifdef O_CLOEXEC
  flags |= O_CLOEXEC;
#endif
  return open(path, flags, 0600);
}

// Reads exactly `bytes` bytes. Internal to this header.
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

// Writes exactly `bytes` bytes. Internal to this header.
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

// Reads the contents of an open file if its header matches. Internal to this header.
static inline TfLiteStatus DeputySerializationReadFrom(int file, const DeputySerialization* store,
                                                       const DeputyFingerprint* fingerprint,
                                                       void** out_data, size_t* out_bytes) {
  DeputySerializationHeader header, expected;
  struct stat status;
  if (fstat(file, &status) != 0) return kTfLiteDelegateDataReadError;
  // Checks the size in the header against that of the file before it allocates memory of that size.
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
// there is no valid entry: absent, truncated, damaged, or of another token or fingerprint.
// kTfLiteDelegateDataReadError if its file cannot be opened, or if out of memory. On failure
// `out_data` and `out_bytes` are unchanged, and the delegate compiles as without a cache.
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

// Creates a new temporary file in the directory of `path` and writes its name to `draft`. Returns
// its descriptor, negative on failure. Internal to this header.
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

// Stores a copy of the `bytes` bytes at `data` and replaces an entry of the same token and
// fingerprint. kTfLiteDelegateDataWriteError on failure, with an older entry unchanged. A delegate
// should ignore the failure: the next start compiles again.
static inline TfLiteStatus DeputySerializationWrite(const DeputySerialization* store,
                                                    const DeputyFingerprint* fingerprint,
                                                    const void* data, size_t bytes) {
  char path[kDeputySerializationPathBytes], draft[kDeputySerializationPathBytes];
  if (!DeputySerializationPath(store, fingerprint, path)) return kTfLiteDelegateDataWriteError;
  (void)mkdir(store->folder, 0700);  // a failure is detected when the draft is created
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

// Deletes an entry, e.g. one that a driver has rejected. No effect if it does not exist.
static inline void DeputySerializationRemove(const DeputySerialization* store,
                                             const DeputyFingerprint* fingerprint) {
  char path[kDeputySerializationPathBytes];
  if (DeputySerializationPath(store, fingerprint, path)) (void)unlink(path);
}

#ifdef __cplusplus
}  // extern "C"
#endif

// NOLINTEND(modernize-use-nullptr)

#endif  // DEPUTY_C_API_INCLUDE_DELEGATE_SERIALIZATION_H_
