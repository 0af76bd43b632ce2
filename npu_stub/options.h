/* SPDX-License-Identifier: Apache-2.0
 *
 * Options of the delegate. One table (options.c) has key, type, range, default and help of each.
 */
#ifndef DEPUTY_NPU_STUB_OPTIONS_H_
#define DEPUTY_NPU_STUB_OPTIONS_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "deputy/deputy_plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { kNpuTextBytes = 1024, kNpuOptionCount = 11 };

typedef struct NpuOptions {
  char device_library[kNpuTextBytes]; /* "": the built-in device */
  char faults[kNpuTextBytes];
  char cache_dir[kNpuTextBytes]; /* "": no cache */
  char resize[kNpuTextBytes];    /* redelegate or refuse */
  char watchdog[kNpuTextBytes];  /* auto, true or false */
  int32_t frequency;
  int32_t time_limit_ms;
  int32_t max_partitions; /* 0: no limit */
  int32_t min_nodes;
  bool describe;
  bool profiling;
} NpuOptions;

/* Sets all options to the defaults of the table. */
void NpuOptionsInit(NpuOptions* options);

/* Parses options; those without a key keep their value. Returns false and a message in `error`
 * if one is invalid. */
bool NpuParseOptions(const char* const* keys, const char* const* values, size_t count,
                     NpuOptions* options, char* error, size_t error_size);

/* Returns true if models run on device threads, so that a hanging device can be abandoned. The
 * built-in device computes on the host and always returns, unless it simulates a fault. */
bool NpuIsWatched(const NpuOptions* options);

/* The options as deputy_plugin describes them. */
extern const DeputyPluginOption kNpuOptions[kNpuOptionCount];

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DEPUTY_NPU_STUB_OPTIONS_H_ */
