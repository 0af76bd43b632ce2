// SPDX-License-Identifier: Apache-2.0
//
// Creates a delegate that runs in a process of its own (docs/sandbox.md), without the environment
// variable DEPUTY_ISOLATE.
//
// The functions are static inline and use those of deputy.h. C99 or C++11.
//
//     DeputyDelegateIsolation isolation = {0};
//     isolation.struct_size = sizeof isolation;
//     isolation.profile = "strict";
//     TfLiteDelegate* delegate =
//         DeputyIsolatedDelegateCreate("npu_stub", NULL, NULL, 0, &isolation);
#ifndef DEPUTY_C_API_INCLUDE_DELEGATE_ISOLATION_H_
#define DEPUTY_C_API_INCLUDE_DELEGATE_ISOLATION_H_

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "deputy.h"

#ifdef __cplusplus
extern "C" {
#endif

// Settings of the process. NULL and 0 are the default values.
typedef struct DeputyDelegateIsolation {
  // sizeof(DeputyDelegateIsolation). Fields beyond this size have their default values. Sizes
  // without `profile` or above sizeof(DeputyDelegateIsolation) are errors.
  size_t struct_size;
  // Restrictions of the process: "none", "device" (the default) or "strict". With "+dynamic", as in
  // "device+dynamic", the process accepts tensors of dynamic size, which the delegate must allow.
  const char* profile;
  // Folders that the process may write, separated by colons; default: none.
  const char* writable;
  // Limit of the process's private memory in MiB; default: none.
  int64_t memory_mb;
  // Deadlines in milliseconds: of the start and the preparation (default 30000), of one call of a
  // partition (default 10000), and of the end of a cancelled call (default 100). Negative: none.
  int64_t prepare_ms;
  int64_t invoke_ms;
  int64_t cancel_ms;
  // Number of failed processes after which no new one is started; default: 3.
  int64_t max_deaths;
} DeputyDelegateIsolation;

// Options of the plug-in `sandbox`. Private.
typedef struct DeputyIsolationOptions {
  const char* keys[10];
  const char* values[10];
  char numbers[5][24];
  size_t count;
  size_t number_count;
} DeputyIsolationOptions;

static inline void DeputyIsolationAddText(DeputyIsolationOptions* options, const char* key,
                                          const char* value) {
  if (value == NULL) return;
  options->keys[options->count] = key;
  options->values[options->count++] = value;
}

// Adds a number other than 0; a negative one as `negative`.
static inline void DeputyIsolationAddNumber(DeputyIsolationOptions* options, const char* key,
                                            int64_t value, int64_t negative) {
  if (value == 0) return;
  char* const text = options->numbers[options->number_count++];
  snprintf(text, sizeof options->numbers[0], "%lld", (long long)(value < 0 ? negative : value));
  DeputyIsolationAddText(options, key, text);
}

// Appends a text with a backslash before each ';' and '\'. Returns the new end.
static inline char* DeputyIsolationAppend(char* end, const char* text) {
  for (; *text != '\0'; ++text) {
    if (*text == ';' || *text == '\\') *end++ = '\\';
    *end++ = *text;
  }
  return end;
}

// Returns KEY=VALUE;KEY=VALUE in a malloc block; NULL if out of memory.
static inline char* DeputyIsolationJoin(const char* const* keys, const char* const* values,
                                        size_t count) {
  size_t size = 1;
  for (size_t i = 0; i < count; ++i) size += 2 * (strlen(keys[i]) + strlen(values[i])) + 2;
  char* const joined = (char*)malloc(size);
  if (joined == NULL) return NULL;
  char* end = joined;
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) *end++ = ';';
    end = DeputyIsolationAppend(end, keys[i]);
    *end++ = '=';
    end = DeputyIsolationAppend(end, values[i]);
  }
  *end = '\0';
  return joined;
}

// Creates a delegate of the library at `path`, the path or name of DeputyPluginLoad, with `count`
// options in a process of its own. The library is not loaded in this process: it is loaded, and the
// options are checked, when the delegate is applied. No option may be NULL; both arrays may be if
// `count` is 0. `isolation` may be NULL. DEPUTY_ISOLATE and DEPUTY_LAYERS have no effect on the
// delegate. The caller deletes it with DeputyPluginDeleteDelegate after every interpreter that it
// was applied to. NULL on failure; DeputyLastError() has the text. Any thread.
static inline TfLiteDelegate* DeputyIsolatedDelegateCreate(
    const char* path, const char* const* keys, const char* const* values, size_t count,
    const DeputyDelegateIsolation* isolation) {
  DeputyDelegateIsolation given;
  memset(&given, 0, sizeof given);
  const int is_valid =
      isolation == NULL || (isolation->struct_size >= offsetof(DeputyDelegateIsolation, writable) &&
                            isolation->struct_size <= sizeof given);
  if (isolation != NULL && is_valid) memcpy(&given, isolation, isolation->struct_size);
  char* const joined = DeputyIsolationJoin(keys, values, count);
  DeputyPlugin* const plugin = joined == NULL ? NULL : DeputyPluginLoad("sandbox");
  TfLiteDelegate* delegate = NULL;
  if (plugin != NULL) {
    DeputyIsolationOptions options;
    memset(&options, 0, sizeof options);
    // Refused by the plug-in, which sets the text of DeputyLastError.
    if (!is_valid) DeputyIsolationAddText(&options, "struct_size", "wrong");
    DeputyIsolationAddText(&options, "library", path);
    DeputyIsolationAddText(&options, "options", joined);
    DeputyIsolationAddText(&options, "profile", given.profile);
    DeputyIsolationAddText(&options, "writable", given.writable);
    DeputyIsolationAddNumber(&options, "memory_mb", given.memory_mb, given.memory_mb);
    DeputyIsolationAddNumber(&options, "prepare_ms", given.prepare_ms, 0);
    DeputyIsolationAddNumber(&options, "invoke_ms", given.invoke_ms, 0);
    DeputyIsolationAddNumber(&options, "cancel_ms", given.cancel_ms, 0);
    DeputyIsolationAddNumber(&options, "max_deaths", given.max_deaths, given.max_deaths);
    delegate = DeputyPluginCreateDelegate(plugin, options.keys, options.values, options.count);
    DeputyPluginRelease(plugin);  // the delegate has a reference
  }
  free(joined);
  return delegate;
}

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_DELEGATE_ISOLATION_H_
