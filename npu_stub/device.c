/* SPDX-License-Identifier: Apache-2.0
 *
 * The built-in device. It uses the host's memory and computes synchronously, so that the time limit
 * affects only simulated faults: with `slow`, a run waits until the time limit; with `hang`, it
 * returns only after NpuSetHangEnabled(0).
 *
 * DEPUTY_NPU=absent hides the device; DEPUTY_NPU_FAULTS adds faults to those of its configuration.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "npu_stub/blob.h"
#include "npu_stub/device_check.h"
#include "npu_stub/device_ops.h"
#include "npu_stub/graph.h"
#include "npu_stub/npu_device.h"

static const char kVersion[] = "stub-1.0";
/* Memory limit of the device in bytes, for all models together. */
static const uint64_t kMemoryBytes = (uint64_t)2 << 30;

/* ---- Faults ---------------------------------------------------------------------------------- */

enum {
  kFaultAbsent = 1,
  kFaultCompile = 2,
  kFaultLoad = 4,
  kFaultSwapped = 8,
  kFaultRun = 16,
  kFaultSlow = 32,
  kFaultWrong = 64,
  kFaultCrash = 128,
  kFaultHang = 256,
};

static const struct {
  const char* name;
  unsigned fault;
} kFaults[] = {{"absent", kFaultAbsent},   {"compile", kFaultCompile}, {"load", kFaultLoad},
               {"swapped", kFaultSwapped}, {"run", kFaultRun},         {"slow", kFaultSlow},
               {"wrong", kFaultWrong},     {"crash", kFaultCrash},     {"hang", kFaultHang}};

/* Returns false if the text contains an unknown fault. */
static bool ParseFaults(const char* text, unsigned* faults) {
  while (text != NULL && *text != '\0') {
    const size_t length = strcspn(text, "+");
    unsigned found = 0;
    for (size_t i = 0; i < sizeof kFaults / sizeof kFaults[0]; ++i) {
      const bool same =
          strlen(kFaults[i].name) == length && strncmp(kFaults[i].name, text, length) == 0;
      if (same) found = kFaults[i].fault;
    }
    if (found == 0) return false;
    *faults |= found;
    text += length;
    if (*text == '+') ++text;
  }
  return true;
}

/* ---- The device ------------------------------------------------------------------------------ */

struct NpuDevice {
  unsigned faults;
  pthread_mutex_t mutex; /* guards the counters */
  NpuCounters counters;
};

typedef struct Model {
  char* name;
  NpuBuilder builder;
  void** buffers; /* by tensor; the builder owns those of constants */
  uint64_t bytes;
  NpuOpTime* times; /* by operation, of the newest run */
} Model;

struct NpuClient {
  NpuDevice* device;
  Model* models[NPU_MAX_MODELS];
  int32_t model_count;
};

static NpuStatus Fail(NpuStatus status, char* error, size_t error_size, const char* text) {
  if (error != NULL && error_size > 0) snprintf(error, error_size, "%s", text);
  return status;
}

static NpuStatus Open(const NpuDeviceConfig* config, NpuDevice** out_device, char* error,
                      size_t error_size) {
  unsigned faults = 0;
  const char* visibility = getenv("DEPUTY_NPU");
  if (visibility != NULL && strcmp(visibility, "absent") == 0) {
    return Fail(kNpuAbsent, error, error_size, "there is no NPU (DEPUTY_NPU=absent)");
  }
  if (!ParseFaults(config == NULL ? NULL : config->faults, &faults) ||
      !ParseFaults(getenv("DEPUTY_NPU_FAULTS"), &faults)) {
    return Fail(kNpuBadArgument, error, error_size,
                "faults: expected absent, compile, load, swapped, run, slow, hang, wrong or crash, "
                "separated by '+'");
  }
  if ((faults & kFaultAbsent) != 0) {
    return Fail(kNpuAbsent, error, error_size, "there is no NPU (simulated fault)");
  }
  NpuDevice* device = calloc(1, sizeof *device);
  if (device == NULL) return Fail(kNpuNoMemory, error, error_size, "out of memory");
  if (pthread_mutex_init(&device->mutex, NULL) != 0) {
    free(device);
    return Fail(kNpuError, error, error_size, "no mutex");
  }
  device->faults = faults;
  device->counters.struct_size = sizeof device->counters;
  *out_device = device;
  return kNpuOk;
}

static void Close(NpuDevice* device) {
  if (device == NULL) return;
  pthread_mutex_destroy(&device->mutex);
  free(device);
}

static const char* Version(const NpuDevice* device) {
  (void)device;
  return kVersion;
}

static void Count(NpuDevice* device, uint64_t* counter, uint64_t amount) {
  pthread_mutex_lock(&device->mutex);
  *counter += amount;
  pthread_mutex_unlock(&device->mutex);
}

static void GetCounters(NpuDevice* device, NpuCounters* out_counters) {
  pthread_mutex_lock(&device->mutex);
  *out_counters = device->counters;
  pthread_mutex_unlock(&device->mutex);
}

static NpuStatus Compile(NpuDevice* device, const NpuGraph* graph, void** out_blob,
                         size_t* out_bytes, char* error, size_t error_size) {
  if ((device->faults & kFaultCompile) != 0) {
    return Fail(kNpuError, error, error_size, "compiling failed (simulated fault)");
  }
  if (!NpuCheckGraph(graph, error, error_size)) return kNpuBadGraph;
  Count(device, &device->counters.compiles, 1);
  *out_blob = NpuWriteBlob(graph, kVersion, out_bytes);
  return *out_blob == NULL ? Fail(kNpuNoMemory, error, error_size, "out of memory") : kNpuOk;
}

static void FreeBlob(NpuDevice* device, void* blob) {
  (void)device;
  free(blob);
}

/* ---- Models ---------------------------------------------------------------------------------- */

static void DestroyModel(NpuDevice* device, Model* model) {
  if (model == NULL) return;
  const NpuGraph* graph = &model->builder.graph;
  for (int32_t i = 0; model->buffers != NULL && i < graph->tensor_count; ++i) {
    if (graph->tensors[i].data == NULL) free(model->buffers[i]);
  }
  pthread_mutex_lock(&device->mutex);
  device->counters.bytes -= model->bytes;
  pthread_mutex_unlock(&device->mutex);
  free(model->buffers);
  free(model->times);
  NpuBuilderFree(&model->builder);
  free(model->name);
  free(model);
}

/* Reserves bytes of the device's memory; returns false if too few are left. */
static bool Reserve(NpuDevice* device, Model* model, uint64_t bytes) {
  pthread_mutex_lock(&device->mutex);
  const bool fits = bytes <= kMemoryBytes - device->counters.bytes;
  if (fits) device->counters.bytes += bytes;
  pthread_mutex_unlock(&device->mutex);
  if (fits) model->bytes += bytes;
  return fits;
}

static bool AllocateBuffers(NpuDevice* device, Model* model) {
  const NpuGraph* graph = &model->builder.graph;
  model->buffers = calloc((size_t)graph->tensor_count, sizeof *model->buffers);
  model->times = calloc((size_t)graph->op_count + 1, sizeof *model->times);
  if (model->buffers == NULL || model->times == NULL) return false;
  for (int32_t i = 0; i < graph->tensor_count; ++i) {
    const NpuTensor* tensor = &graph->tensors[i];
    const size_t bytes = NpuTensorBytes(tensor);
    if (!Reserve(device, model, bytes)) return false;
    if (tensor->data != NULL) {
      /* Drops the const qualifier: no operation writes to a constant. */
      memcpy(&model->buffers[i], &tensor->data, sizeof model->buffers[i]);
    } else {
      model->buffers[i] = calloc(1, bytes);
      if (model->buffers[i] == NULL) return false;
    }
  }
  return true;
}

static NpuStatus MakeModel(NpuDevice* device, const NpuModelDescription* description,
                           Model** out_model, char* error, size_t error_size) {
  Model* model = calloc(1, sizeof *model);
  const size_t length = strlen(description->name) + 1;
  if (model == NULL) return Fail(kNpuNoMemory, error, error_size, "out of memory");
  model->name = malloc(length);
  NpuStatus status = kNpuNoMemory;
  if (model->name != NULL) {
    memcpy(model->name, description->name, length);
    status = NpuReadBlob(description->blob, description->blob_bytes, kVersion, &model->builder,
                         error, error_size);
  }
  if (status == kNpuOk && !AllocateBuffers(device, model)) {
    status = Fail(kNpuNoMemory, error, error_size, "the device is out of memory");
  }
  if (status == kNpuOk) {
    *out_model = model;
  } else {
    DestroyModel(device, model);
  }
  return status;
}

static Model* Find(const NpuClient* client, const char* name) {
  for (int32_t i = 0; name != NULL && i < client->model_count; ++i) {
    if (strcmp(client->models[i]->name, name) == 0) return client->models[i];
  }
  return NULL;
}

/* ---- Clients --------------------------------------------------------------------------------- */

static NpuStatus CreateClient(NpuDevice* device, NpuClient** out_client) {
  NpuClient* client = calloc(1, sizeof *client);
  if (client == NULL) return kNpuNoMemory;
  client->device = device;
  Count(device, &device->counters.clients, 1);
  *out_client = client;
  return kNpuOk;
}

/* Removes the models from index `first` on. */
static void RemoveModels(NpuClient* client, int32_t first) {
  while (client->model_count > first) {
    DestroyModel(client->device, client->models[--client->model_count]);
    Count(client->device, &client->device->counters.models, UINT64_MAX);
  }
}

static void DestroyClient(NpuClient* client) {
  if (client == NULL) return;
  RemoveModels(client, 0);
  Count(client->device, &client->device->counters.clients, UINT64_MAX);
  free(client);
}

static NpuStatus CheckDescription(const NpuClient* client, const NpuModelDescription* description,
                                  char* error, size_t error_size) {
  if (description->name == NULL || Find(client, description->name) != NULL) {
    return Fail(kNpuBadArgument, error, error_size, "expected a unique name for each model");
  }
  if (description->frequency < 1 || description->frequency > 4) {
    return Fail(kNpuBadArgument, error, error_size, "frequency: expected 1 to 4");
  }
  return kNpuOk;
}

static NpuStatus Load(NpuClient* client, const NpuModelDescription* models, size_t count,
                      char* error, size_t error_size) {
  NpuDevice* device = client->device;
  const int32_t before = client->model_count;
  if (count > (size_t)(NPU_MAX_MODELS - before)) {
    return Fail(kNpuLimit, error, error_size, "a client holds at most 20 models");
  }
  if ((device->faults & kFaultLoad) != 0) {
    return Fail(kNpuError, error, error_size, "loading failed (simulated fault)");
  }
  Count(device, &device->counters.loads, 1);
  for (size_t i = 0; i < count; ++i) {
    NpuStatus status = CheckDescription(client, &models[i], error, error_size);
    Model* model = NULL;
    if (status == kNpuOk) status = MakeModel(device, &models[i], &model, error, error_size);
    if (status != kNpuOk) {
      RemoveModels(client, before);
      return status;
    }
    client->models[client->model_count++] = model;
    pthread_mutex_lock(&device->mutex);
    ++device->counters.models;
    device->counters.frequency = models[i].frequency;
    pthread_mutex_unlock(&device->mutex);
  }
  return kNpuOk;
}

static NpuStatus Unload(NpuClient* client, const char* name) {
  for (int32_t i = 0; name != NULL && i < client->model_count; ++i) {
    if (strcmp(client->models[i]->name, name) != 0) continue;
    Model* model = client->models[i];
    client->models[i] = client->models[client->model_count - 1];
    client->models[client->model_count - 1] = model;
    RemoveModels(client, client->model_count - 1);
    return kNpuOk;
  }
  return kNpuBadArgument;
}

/* ---- Running --------------------------------------------------------------------------------- */

/* Returns the tensor at an index of a list of the model; -1 if out of range. */
static int32_t TensorAt(const Model* model, const int32_t* list, int32_t count, int32_t index) {
  return model == NULL || index < 0 || index >= count ? -1 : list[index];
}

static int32_t InputAt(const NpuClient* client, const Model* model, int32_t index) {
  if (model == NULL) return -1;
  const NpuGraph* graph = &model->builder.graph;
  const bool swapped = (client->device->faults & kFaultSwapped) != 0;
  const int32_t position = swapped ? graph->input_count - 1 - index : index;
  return TensorAt(model, graph->inputs, graph->input_count, position);
}

static int32_t OutputAt(const Model* model, int32_t index) {
  if (model == NULL) return -1;
  return TensorAt(model, model->builder.graph.outputs, model->builder.graph.output_count, index);
}

static NpuStatus Describe(const Model* model, int32_t tensor, NpuTensor* out_tensor) {
  if (tensor < 0) return kNpuBadArgument;
  *out_tensor = model->builder.graph.tensors[tensor];
  out_tensor->data = NULL;
  return kNpuOk;
}

static NpuStatus GetInput(NpuClient* client, const char* name, int32_t index,
                          NpuTensor* out_tensor) {
  const Model* model = Find(client, name);
  return Describe(model, InputAt(client, model, index), out_tensor);
}

static NpuStatus GetOutput(NpuClient* client, const char* name, int32_t index,
                           NpuTensor* out_tensor) {
  const Model* model = Find(client, name);
  return Describe(model, OutputAt(model, index), out_tensor);
}

static NpuStatus Write(NpuClient* client, const char* name, int32_t input, const void* data,
                       size_t bytes) {
  Model* model = Find(client, name);
  const int32_t tensor = InputAt(client, model, input);
  if (tensor < 0 || data == NULL) return kNpuBadArgument;
  if (bytes != NpuTensorBytes(&model->builder.graph.tensors[tensor])) return kNpuBadArgument;
  memcpy(model->buffers[tensor], data, bytes);
  Count(client->device, &client->device->counters.bytes_in, bytes);
  return kNpuOk;
}

static NpuStatus Read(NpuClient* client, const char* name, int32_t output, void* data,
                      size_t bytes) {
  const Model* model = Find(client, name);
  const int32_t tensor = OutputAt(model, output);
  if (tensor < 0 || data == NULL) return kNpuBadArgument;
  if (bytes != NpuTensorBytes(&model->builder.graph.tensors[tensor])) return kNpuBadArgument;
  memcpy(data, model->buffers[tensor], bytes);
  Count(client->device, &client->device->counters.bytes_out, bytes);
  return kNpuOk;
}

static void Wait(uint32_t milliseconds) {
  struct timespec left = {(time_t)(milliseconds / 1000), (long)(milliseconds % 1000) * 1000000L};
  while (nanosleep(&left, &left) != 0) {
  }
}

static pthread_mutex_t hang_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t hang_ended = PTHREAD_COND_INITIALIZER;
static bool is_hang_enabled = true; /* guarded by hang_mutex */

void NpuSetHangEnabled(int enabled) {
  pthread_mutex_lock(&hang_mutex);
  is_hang_enabled = enabled != 0;
  pthread_mutex_unlock(&hang_mutex);
  pthread_cond_broadcast(&hang_ended);
}

static void Hang(void) {
  pthread_mutex_lock(&hang_mutex);
  while (is_hang_enabled) pthread_cond_wait(&hang_ended, &hang_mutex);
  pthread_mutex_unlock(&hang_mutex);
}

static void CorruptOutputs(const Model* model) {
  for (int32_t i = 0; i < model->builder.graph.output_count; ++i) {
    const int32_t tensor = model->builder.graph.outputs[i];
    if (model->builder.graph.tensors[tensor].type == kNpuFloat32) {
      *(float*)model->buffers[tensor] += 1.0f;
    } else {
      *(uint8_t*)model->buffers[tensor] ^= 1;
    }
  }
}

static int64_t ClockNs(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static NpuStatus Compute(const Model* model, char* error, size_t error_size) {
  const NpuGraph* graph = &model->builder.graph;
  for (int32_t i = 0; i < graph->op_count; ++i) {
    const NpuWork work = {graph, &graph->ops[i], model->buffers, error, error_size};
    model->times[i].begin_ns = ClockNs();
    const NpuStatus status = NpuCompute(&work);
    if (status != kNpuOk) return status;
    model->times[i].duration_ns = ClockNs() - model->times[i].begin_ns;
  }
  return kNpuOk;
}

static const NpuOpTime* OpTimes(NpuClient* client, const char* name, int32_t* out_count) {
  const Model* model = Find(client, name);
  *out_count = model == NULL ? 0 : model->builder.graph.op_count;
  return model == NULL ? NULL : model->times;
}

static NpuStatus Run(NpuClient* client, const char* name, uint32_t time_limit_ms, char* error,
                     size_t error_size) {
  const unsigned faults = client->device->faults;
  const Model* model = Find(client, name);
  if (model == NULL) return Fail(kNpuBadArgument, error, error_size, "there is no such model");
  if ((faults & kFaultCrash) != 0) abort();
  if ((faults & kFaultRun) != 0) {
    return Fail(kNpuError, error, error_size, "the run failed (simulated fault)");
  }
  if ((faults & kFaultSlow) != 0) {
    Wait(time_limit_ms);
    return Fail(kNpuTimeout, error, error_size, "the run exceeded the time limit");
  }
  if ((faults & kFaultHang) != 0) Hang();
  const NpuStatus status = Compute(model, error, error_size);
  if (status != kNpuOk) return status;
  if ((faults & kFaultWrong) != 0) CorruptOutputs(model);
  Count(client->device, &client->device->counters.runs, 1);
  return kNpuOk;
}

const NpuDeviceApi* npu_device_api(void) {
  static const NpuDeviceApi kApi = {
      .struct_size = sizeof(NpuDeviceApi),
      .abi_version = NPU_DEVICE_ABI_VERSION,
      .open = Open,
      .close = Close,
      .version = Version,
      .compile = Compile,
      .free_blob = FreeBlob,
      .create_client = CreateClient,
      .destroy_client = DestroyClient,
      .load = Load,
      .unload = Unload,
      .get_input = GetInput,
      .get_output = GetOutput,
      .write = Write,
      .read = Read,
      .run = Run,
      .get_counters = GetCounters,
      .op_times = OpTimes,
  };
  return &kApi;
}
