/* SPDX-License-Identifier: Apache-2.0
 *
 * The NPU stub's device as a library (option device_library) that appends the calls of its
 * functions to the file named by the environment variable NPU_RECORDER_LOG:
 *
 *     open <faults>     load <frequency>     run <time limit in milliseconds> */
#define npu_device_api built_in_device_api
#include "npu_stub/device.c"
#undef npu_device_api

static void Log(const char* call, const char* text, long number) {
  const char* path = getenv("NPU_RECORDER_LOG");
  FILE* file = path == NULL ? NULL : fopen(path, "a");
  if (file == NULL) return;
  if (text != NULL) {
    fprintf(file, "%s %s\n", call, text);
  } else {
    fprintf(file, "%s %ld\n", call, number);
  }
  fclose(file);
}

static NpuStatus OpenAndLog(const NpuDeviceConfig* config, NpuDevice** out_device, char* error,
                            size_t error_size) {
  Log("open", config->faults == NULL ? "" : config->faults, 0);
  return built_in_device_api()->open(config, out_device, error, error_size);
}

static NpuStatus LoadAndLog(NpuClient* client, const NpuModelDescription* models, size_t count,
                            char* error, size_t error_size) {
  for (size_t i = 0; i < count; ++i) Log("load", NULL, models[i].frequency);
  return built_in_device_api()->load(client, models, count, error, error_size);
}

static NpuStatus RunAndLog(NpuClient* client, const char* name, uint32_t time_limit_ms, char* error,
                           size_t error_size) {
  Log("run", NULL, (long)time_limit_ms);
  return built_in_device_api()->run(client, name, time_limit_ms, error, error_size);
}

__attribute__((visibility("default"))) const NpuDeviceApi* npu_device_api(void);
const NpuDeviceApi* npu_device_api(void) {
  static NpuDeviceApi recording;
  recording = *built_in_device_api();
  recording.open = OpenAndLog;
  recording.load = LoadAndLog;
  recording.run = RunAndLog;
  return &recording;
}
