/* SPDX-License-Identifier: Apache-2.0 */
#include "npu_stub/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Properties of an option besides its description: the position of its value, and the valid
 * values. */
typedef struct Target {
  size_t offset;
  long min, max; /* range of a number */
  /* Valid texts, separated by '|'; NULL: any text. */
  const char* choices;
} Target;

const DeputyPluginOption kNpuOptions[kNpuOptionCount] = {
    {"device_library", kDeputyOptionString, 0, "",
     "Library of a device that replaces the built-in one."},
    {"frequency", kDeputyOptionInt, 0, "3",
     "Speed of the device: 1 low power, 2 balanced, 3 high performance, 4 extreme."},
    {"time_limit_ms", kDeputyOptionInt, 1, "1000",
     "Time limit for a run of a partition in milliseconds."},
    {"watchdog", kDeputyOptionString, 0, "auto",
     "Abandoning of a device that ignores the time limit: true (models run on another thread), "
     "false (the caller's thread waits), or auto (true with faults, a device_library, or a "
     "time_limit_ms other than the default)."},
    {"resize", kDeputyOptionString, 0, "redelegate",
     "Reaction to a resized input: redelegate (models are built again for the new shapes; graphs "
     "with dynamic shapes stay on the CPU), or refuse (the next allocation fails; shapes are those "
     "of the file, or of an allocation before the delegate)."},
    {"cache_dir", kDeputyOptionString, 0, "", "Folder for compiled models; empty: no cache."},
    {"max_partitions", kDeputyOptionInt, 0, "0",
     "Maximum number of partitions, largest first; 0: no limit."},
    {"min_nodes", kDeputyOptionInt, 0, "1",
     "Minimum number of nodes per partition; smaller ones stay on the CPU."},
    {"faults", kDeputyOptionString, 0, "",
     "Simulated faults of the device, separated by '+': absent, compile, load, swapped, run, "
     "slow, hang, wrong, crash."},
    {"describe", kDeputyOptionBool, 0, "false",
     "Keep each partition's graph as text, before and after the layout passes, for "
     "deputy explain --ir."},
    {"profiling", kDeputyOptionBool, 0, "false",
     "Report the time of every operation for its node, for deputy bench."},
};

static const Target kTargets[] = {
    {offsetof(NpuOptions, device_library), 0, 0, NULL},
    {offsetof(NpuOptions, frequency), 1, 4, NULL},
    {offsetof(NpuOptions, time_limit_ms), 1, 3600000, NULL},
    {offsetof(NpuOptions, watchdog), 0, 0, "auto|true|false"},
    {offsetof(NpuOptions, resize), 0, 0, "redelegate|refuse"},
    {offsetof(NpuOptions, cache_dir), 0, 0, NULL},
    {offsetof(NpuOptions, max_partitions), 0, 1000000, NULL},
    {offsetof(NpuOptions, min_nodes), 1, 1000000, NULL},
    {offsetof(NpuOptions, faults), 0, 0, NULL},
    {offsetof(NpuOptions, describe), 0, 0, NULL},
    {offsetof(NpuOptions, profiling), 0, 0, NULL},
};

_Static_assert(kNpuOptionCount == sizeof kTargets / sizeof kTargets[0], "a target for each option");

static bool IsChoice(const char* choices, const char* value) {
  const size_t length = strlen(value);
  while (length > 0 && choices != NULL) {
    const size_t here = strcspn(choices, "|");
    if (here == length && strncmp(choices, value, length) == 0) return true;
    choices = choices[here] == '\0' ? NULL : choices + here + 1;
  }
  return false;
}

static bool SetText(const Target* target, const char* value, char* to, char* error,
                    size_t error_size) {
  if (target->choices != NULL && !IsChoice(target->choices, value)) {
    snprintf(error, error_size, "expected one of %s, found '%s'", target->choices, value);
    return false;
  }
  const size_t bytes = strlen(value) + 1;
  if (bytes > kNpuTextBytes) {
    snprintf(error, error_size, "longer than %d bytes", kNpuTextBytes - 1);
    return false;
  }
  memcpy(to, value, bytes);
  return true;
}

static bool SetInt(const Target* target, const char* value, int32_t* to, char* error,
                   size_t error_size) {
  char* end = NULL;
  errno = 0;
  const long number = strtol(value, &end, 10);
  if (end == value || *end != '\0' || errno != 0 || number < target->min || number > target->max) {
    snprintf(error, error_size, "expected a whole number from %ld to %ld, found '%s'", target->min,
             target->max, value);
    return false;
  }
  *to = (int32_t)number;
  return true;
}

static bool SetBool(const char* value, bool* to, char* error, size_t error_size) {
  const bool yes = strcmp(value, "true") == 0 || strcmp(value, "1") == 0;
  if (!yes && strcmp(value, "false") != 0 && strcmp(value, "0") != 0) {
    snprintf(error, error_size, "expected true, false, 1 or 0, found '%s'", value);
    return false;
  }
  *to = yes;
  return true;
}

static bool Set(size_t i, const char* value, NpuOptions* options, char* error, size_t error_size) {
  void* to = (char*)options + kTargets[i].offset;
  switch (kNpuOptions[i].type) {
    case kDeputyOptionInt:
      return SetInt(&kTargets[i], value, to, error, error_size);
    case kDeputyOptionBool:
      return SetBool(value, to, error, error_size);
    default:
      return SetText(&kTargets[i], value, to, error, error_size);
  }
}

void NpuOptionsInit(NpuOptions* options) {
  char ignored[1];
  memset(options, 0, sizeof *options);
  for (size_t i = 0; i < kNpuOptionCount; ++i) {
    Set(i, kNpuOptions[i].default_value, options, ignored, sizeof ignored);
  }
}

bool NpuParseOptions(const char* const* keys, const char* const* values, size_t count,
                     NpuOptions* options, char* error, size_t error_size) {
  for (size_t k = 0; k < count; ++k) {
    size_t i = 0;
    while (i < kNpuOptionCount && strcmp(kNpuOptions[i].name, keys[k]) != 0) ++i;
    if (i == kNpuOptionCount) {
      snprintf(error, error_size, "unknown option '%s'", keys[k]);
      return false;
    }
    char problem[256];
    if (Set(i, values[k], options, problem, sizeof problem)) continue;
    snprintf(error, error_size, "option '%s': %s", keys[k], problem);
    return false;
  }
  return true;
}

bool NpuIsWatched(const NpuOptions* options) {
  if (strcmp(options->watchdog, "auto") != 0) return strcmp(options->watchdog, "true") == 0;
  NpuOptions defaults;
  NpuOptionsInit(&defaults);
  return options->device_library[0] != '\0' || options->faults[0] != '\0' ||
         getenv("DEPUTY_NPU_FAULTS") != NULL || options->time_limit_ms != defaults.time_limit_ms;
}
