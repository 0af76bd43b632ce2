/* SPDX-License-Identifier: Apache-2.0 */
#include "npu_stub/partition.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "npu_stub/async.h"
#include "npu_stub/compiled.h"
#include "npu_stub/half.h"
#include "npu_stub/watchdog.h"

enum { kErrorBytes = 256 };

/* Data of a delegate node. It is created even if compiling fails, so that the delegate's Prepare
 * can report the reason. */
struct NpuPartition {
  NpuState* owner;
  NpuPartition *newer, *older;    /* list of the owner */
  const char* name;               /* name of the node: "NpuGraph0" */
  char model[kNpuModelNameBytes]; /* name of the device's model */
  int32_t first_node;
  NpuCompiled compiled;
  NpuBatch* batch;           /* NULL: not loaded */
  float* wide;               /* buffer for the largest float16 tensor of the boundary, as float32 */
  pthread_mutex_t run_mutex; /* held during a run, which uses the model's buffers and `wide` */
  void** memory;             /* addresses of inputs, then outputs; used by Invoke */
  struct NpuAsyncKernels* asyncs; /* asynchronous kernels */
  char failure[kErrorBytes];
};

/* List of asynchronous kernels. */
typedef struct NpuAsyncKernels {
  NpuAsync* async;
  struct NpuAsyncKernels* next;
} NpuAsyncKernels;

/* ---- Builds ---------------------------------------------------------------------------------- */

/* Build and node name of the calling thread, for Init, which receives no other data from the
 * runtime. */
static _Thread_local NpuBuild* current_build = NULL;
static _Thread_local const char* current_name = "NpuGraph";

void NpuBeginBuild(NpuBuild* build) {
  memset(build, 0, sizeof *build);
  current_build = build;
}

void NpuEndBuild(NpuBuild* build) {
  current_build = NULL;
  free(build->partitions);
}

static void AddToBuild(NpuPartition* partition) {
  NpuBuild* build = current_build;
  if (build == NULL) return;
  NpuPartition** grown =
      realloc(build->partitions, ((size_t)build->count + 1) * sizeof(NpuPartition*));
  if (grown == NULL) {
    build->failed = true;
    return;
  }
  build->partitions = grown;
  grown[build->count++] = partition;
}

static void RemoveFromBuild(const NpuPartition* partition) {
  NpuBuild* build = current_build;
  for (int32_t i = 0; build != NULL && i < build->count; ++i) {
    if (build->partitions[i] == partition) build->partitions[i] = build->partitions[--build->count];
  }
}

static TfLiteStatus Report(TfLiteContext* context, const char* name, const char* problem) {
  context->ReportError(context, "NPU delegate: %s: %s", name, problem);
  return kTfLiteError;
}

/* Loads the compiled models of a build. */
static NpuStatus Load(NpuState* state, const NpuBuild* build, char* error) {
  const size_t count = (size_t)build->count;
  NpuModelDescription* models = calloc(count, sizeof *models);
  NpuBatch** batches = calloc(count, sizeof(NpuBatch*));
  NpuStatus status = kNpuNoMemory;
  snprintf(error, kErrorBytes, "out of memory");
  if (models != NULL && batches != NULL) {
    for (size_t i = 0; i < count; ++i) {
      const NpuPartition* partition = build->partitions[i];
      models[i].name = partition->model;
      models[i].blob = partition->compiled.blob;
      models[i].blob_bytes = partition->compiled.blob_bytes;
      models[i].frequency = state->options.frequency;
    }
    status = NpuLoadModels(&state->device, models, count, batches, error, kErrorBytes);
  }
  for (size_t i = 0; status == kNpuOk && i < count; ++i) build->partitions[i]->batch = batches[i];
  free(models);
  free(batches);
  return status;
}

/* Compiles the models that came from the cache again. Returns false if there are none or
 * compiling fails. */
static bool RecompileCached(NpuState* state, const NpuBuild* build, char* error) {
  bool any = false;
  for (int32_t i = 0; i < build->count; ++i) {
    NpuCompiled* compiled = &build->partitions[i]->compiled;
    if (!compiled->from_cache) continue;
    if (!NpuRecompile(state, compiled, error, kErrorBytes)) return false;
    any = true;
  }
  return any;
}

TfLiteStatus NpuLoadBuild(TfLiteContext* context, NpuState* state, NpuBuild* build) {
  char error[kErrorBytes] = "out of memory";
  if (build->failed) return Report(context, "load", error);
  if (build->count == 0) return kTfLiteOk;
  for (int32_t i = 0; i < build->count; ++i) {
    const NpuPartition* partition = build->partitions[i];
    if (partition->failure[0] != '\0') {
      return Report(context, partition->name, partition->failure);
    }
  }
  NpuStatus status = Load(state, build, error);
  if (status == kNpuBadBlob && RecompileCached(state, build, error)) {
    status = Load(state, build, error);
  }
  for (int32_t i = 0; i < build->count; ++i) NpuReleaseBlob(state, &build->partitions[i]->compiled);
  return status == kNpuOk ? kTfLiteOk : Report(context, "load", error);
}

/* ---- Creation and destruction ---------------------------------------------------------------- */

/* Allocates the buffer for float16 tensors of the boundary, and the list of addresses. */
static bool AllocateBuffers(NpuPartition* partition) {
  size_t max = 0;
  const NpuCompiled* compiled = &partition->compiled;
  partition->memory =
      calloc((size_t)(compiled->input_count + compiled->output_count) + 1, sizeof(void*));
  if (partition->memory == NULL) return false;
  for (int32_t i = 0; i < compiled->input_count + compiled->output_count; ++i) {
    const NpuBoundaryTensor* boundary = i < compiled->input_count
                                            ? &compiled->inputs[i]
                                            : &compiled->outputs[i - compiled->input_count];
    const size_t bytes = NpuTensorBytes(&boundary->device);
    if (boundary->type == kTfLiteFloat16 && bytes > max) max = bytes;
  }
  if (max == 0) return true;
  partition->wide = malloc(max);
  return partition->wide != NULL;
}

static void* Init(TfLiteContext* context, const char* buffer, size_t length) {
  const TfLiteDelegateParams* params = (const TfLiteDelegateParams*)(const void*)buffer;
  NpuState* state = NpuStateOf(params->delegate);
  NpuPartition* partition = calloc(1, sizeof *partition);
  (void)length;
  if (partition == NULL) {
    if (current_build != NULL) current_build->failed = true;
    return NULL;
  }
  pthread_mutex_init(&partition->run_mutex, NULL);
  partition->owner = state;
  partition->name = current_name;
  partition->first_node =
      params->nodes_to_replace->size > 0 ? params->nodes_to_replace->data[0] : -1;
  if (NpuCompilePartition(context, params, state, &partition->compiled, partition->failure,
                          sizeof partition->failure) &&
      !AllocateBuffers(partition)) {
    snprintf(partition->failure, sizeof partition->failure, "out of memory");
  }
  pthread_mutex_lock(&state->mutex);
  ++state->users;
  snprintf(partition->model, sizeof partition->model, "model%llu",
           (unsigned long long)state->next_model++);
  partition->older = state->partitions;
  if (partition->older != NULL) partition->older->newer = partition;
  state->partitions = partition;
  pthread_mutex_unlock(&state->mutex);
  AddToBuild(partition);
  return partition;
}

static void UnloadDeleted(NpuState* state) {
  while (state->deleted != NULL && state->hung_runs == 1) {
    NpuPartition* partition = state->deleted;
    state->deleted = partition->older;
    pthread_mutex_unlock(&state->mutex);
    NpuUnloadModel(&state->device, partition->batch, partition->model);
    free(partition);
    pthread_mutex_lock(&state->mutex);
  }
}

/* Unloads and frees a partition that is not in the list. While the device is lost this is deferred
 * until the abandoned run has returned. */
static void UnloadOrDefer(NpuState* state, NpuPartition* partition) {
  pthread_mutex_lock(&state->mutex);
  const bool is_deferred = partition->batch != NULL && state->hung_runs > 0;
  if (is_deferred) {
    partition->older = state->deleted;
    state->deleted = partition;
    state->unload_deleted = UnloadDeleted;
  }
  pthread_mutex_unlock(&state->mutex);
  if (is_deferred) return;
  if (partition->batch != NULL) {
    NpuUnloadModel(&state->device, partition->batch, partition->model);
  }
  free(partition);
}

static void Free(TfLiteContext* context, void* user_data) {
  NpuPartition* partition = user_data;
  (void)context;
  if (partition == NULL) return;
  NpuState* state = partition->owner;
  RemoveFromBuild(partition);
  while (partition->asyncs != NULL) {
    NpuAsyncKernels* first = partition->asyncs;
    partition->asyncs = first->next;
    NpuDestroyAsync(first->async);
    free(first);
  }
  pthread_mutex_destroy(&partition->run_mutex);
  pthread_mutex_lock(&state->mutex);
  if (partition->newer != NULL) partition->newer->older = partition->older;
  if (partition->older != NULL) partition->older->newer = partition->newer;
  if (state->partitions == partition) state->partitions = partition->older;
  pthread_mutex_unlock(&state->mutex);
  NpuFreeCompiled(state, &partition->compiled);
  free(partition->wide);
  free(partition->memory);
  UnloadOrDefer(state, partition);
  NpuReleaseState(state);
}

/* ---- Prepare --------------------------------------------------------------------------------- */

static void PrintDims(int rank, const int* dims, char* text, size_t size) {
  size_t length = (size_t)snprintf(text, size, "[");
  for (int i = 0; i < rank && length < size; ++i) {
    length += (size_t)snprintf(text + length, size - length, i == 0 ? "%d" : ",%d", dims[i]);
  }
  if (length < size) snprintf(text + length, size - length, "]");
}

static bool HasDims(const TfLiteTensor* tensor, const NpuTensor* like) {
  if (tensor->dims == NULL || tensor->dims->size != like->rank) return false;
  for (int i = 0; i < like->rank; ++i) {
    if (tensor->dims->data[i] != like->dims[i]) return false;
  }
  return true;
}

static TfLiteStatus Mismatch(TfLiteContext* context, const NpuPartition* partition,
                             const char* what, int32_t i, const NpuTensor* expected, int rank,
                             const int* dims, const char* ending) {
  char problem[kErrorBytes], expected_text[64], found_text[64];
  PrintDims(expected->rank, expected->dims, expected_text, sizeof expected_text);
  PrintDims(rank, dims, found_text, sizeof found_text);
  snprintf(problem, sizeof problem, "%s %d: expected %s, found %s%s", what, i, expected_text,
           found_text, ending);
  return Report(context, partition->name, problem);
}

/* Checks that the device's input or output `i` has the type and shape of the model's tensor,
 * because they are matched by index. */
static TfLiteStatus CheckMapping(TfLiteContext* context, const NpuPartition* partition,
                                 const char* what, int32_t i, const NpuBoundaryTensor* boundary,
                                 NpuStatus (*get)(NpuClient*, const char*, int32_t, NpuTensor*)) {
  NpuTensor device;
  if (get(partition->batch->client, partition->model, i, &device) != kNpuOk) {
    return Report(context, partition->name, "the device cannot describe the inputs and outputs");
  }
  if (device.type == boundary->device.type && NpuSameDims(&device, &boundary->device))
    return kTfLiteOk;
  return Mismatch(context, partition, what, i, &boundary->device, device.rank, device.dims,
                  " on the device");
}

static TfLiteStatus PrepareInput(TfLiteContext* context, const NpuPartition* partition, int32_t i) {
  const NpuBoundaryTensor* boundary = &partition->compiled.inputs[i];
  const TfLiteTensor* tensor = &context->tensors[boundary->tensor];
  if (!HasDims(tensor, &boundary->device)) {
    return Mismatch(context, partition, "input", i, &boundary->device,
                    tensor->dims == NULL ? 0 : tensor->dims->size,
                    tensor->dims == NULL ? NULL : tensor->dims->data,
                    "; the NPU's models cannot be resized (see its option resize)");
  }
  return CheckMapping(context, partition, "input", i, boundary,
                      partition->owner->device.api->get_input);
}

static TfLiteStatus PrepareOutput(TfLiteContext* context, const NpuPartition* partition,
                                  int32_t i) {
  const NpuBoundaryTensor* boundary = &partition->compiled.outputs[i];
  const TfLiteStatus status = CheckMapping(context, partition, "output", i, boundary,
                                           partition->owner->device.api->get_output);
  if (status != kTfLiteOk) return status;
  TfLiteIntArray* dims =
      malloc(sizeof *dims + (size_t)boundary->device.rank * sizeof *boundary->device.dims);
  if (dims == NULL) return Report(context, partition->name, "out of memory");
  dims->size = boundary->device.rank;
  for (int d = 0; d < dims->size; ++d) dims->data[d] = boundary->device.dims[d];
  return context->ResizeTensor(context, &context->tensors[boundary->tensor], dims);
}

static TfLiteStatus ReportLost(TfLiteContext* context, const NpuPartition* partition) {
  char problem[kErrorBytes];
  NpuLostText(partition->owner, problem, sizeof problem);
  return Report(context, partition->name, problem);
}

static TfLiteStatus Prepare(TfLiteContext* context, TfLiteNode* node) {
  const NpuPartition* partition = node->user_data;
  if (partition == NULL || partition->batch == NULL) {
    return Report(context, "prepare", "the model is not loaded on the device");
  }
  if (NpuIsLost(partition->owner)) return ReportLost(context, partition);
  for (int32_t i = 0; i < partition->compiled.input_count; ++i) {
    const TfLiteStatus status = PrepareInput(context, partition, i);
    if (status != kTfLiteOk) return status;
  }
  for (int32_t i = 0; i < partition->compiled.output_count; ++i) {
    const TfLiteStatus status = PrepareOutput(context, partition, i);
    if (status != kTfLiteOk) return status;
  }
  return kTfLiteOk;
}

/* ---- Running --------------------------------------------------------------------------------- */

static bool HasExpectedData(const TfLiteTensor* tensor, const NpuBoundaryTensor* boundary) {
  return tensor->data.raw != NULL && tensor->bytes == boundary->bytes;
}

static NpuStatus CopyIn(const NpuPartition* partition, int32_t i, const void* data) {
  const NpuBoundaryTensor* boundary = &partition->compiled.inputs[i];
  if (boundary->type == kTfLiteFloat16) {
    NpuFromHalf(data, partition->wide, NpuElementCount(&boundary->device));
    data = partition->wide;
  }
  return partition->owner->device.api->write(partition->batch->client, partition->model, i, data,
                                             NpuTensorBytes(&boundary->device));
}

static NpuStatus CopyOut(const NpuPartition* partition, int32_t i, void* data) {
  const NpuBoundaryTensor* boundary = &partition->compiled.outputs[i];
  const bool narrow = boundary->type == kTfLiteFloat16;
  const NpuStatus status = partition->owner->device.api->read(
      partition->batch->client, partition->model, i, narrow ? partition->wide : data,
      NpuTensorBytes(&boundary->device));
  if (status == kNpuOk && narrow) {
    NpuToHalf(partition->wide, data, NpuElementCount(&boundary->device));
  }
  return status;
}

static NpuStatus Run(const NpuPartition* partition, char* error, size_t error_size) {
  NpuState* state = partition->owner;
  NpuClient* client = partition->batch->client;
  const uint32_t limit = (uint32_t)state->options.time_limit_ms;
  if (state->watched) {
    return NpuRunWatched(state, client, partition->model, limit, error, error_size);
  }
  return state->device.api->run(client, partition->model, limit, error, error_size);
}

/* Runs of a partition wait for each other. */
static NpuStatus RunOnMemory(NpuPartition* partition, void* const* inputs, void* const* outputs,
                             char* error, size_t error_size) {
  const NpuCompiled* compiled = &partition->compiled;
  NpuStatus status = kNpuOk;
  snprintf(error, error_size, "an input or output cannot be copied");
  pthread_mutex_lock(&partition->run_mutex);
  if (NpuIsLost(partition->owner)) {
    NpuLostText(partition->owner, error, error_size);
    status = kNpuTimeout;
  }
  for (int32_t i = 0; i < compiled->input_count && status == kNpuOk; ++i) {
    status = CopyIn(partition, i, inputs[i]);
  }
  if (status == kNpuOk) status = Run(partition, error, error_size);
  for (int32_t i = 0; i < compiled->output_count && status == kNpuOk; ++i) {
    status = CopyOut(partition, i, outputs[i]);
  }
  pthread_mutex_unlock(&partition->run_mutex);
  return status;
}

static TfLiteStatus Invoke(TfLiteContext* context, TfLiteNode* node) {
  NpuPartition* partition = node->user_data;
  const NpuCompiled* compiled = &partition->compiled;
  const int32_t count = compiled->input_count + compiled->output_count;
  for (int32_t i = 0; i < count; ++i) {
    const NpuBoundaryTensor* boundary = i < compiled->input_count
                                            ? &compiled->inputs[i]
                                            : &compiled->outputs[i - compiled->input_count];
    const TfLiteTensor* tensor = &context->tensors[boundary->tensor];
    if (!HasExpectedData(tensor, boundary)) {
      return Report(context, partition->name, "an input or output cannot be copied");
    }
    partition->memory[i] = tensor->data.data;
  }
  char error[kErrorBytes];
  const NpuStatus status = RunOnMemory(
      partition, partition->memory, partition->memory + compiled->input_count, error, sizeof error);
  return status == kNpuOk ? kTfLiteOk : Report(context, partition->name, error);
}

TfLiteAsyncKernel* NpuAsyncKernel(TfLiteDelegate* delegate, TfLiteContext* context,
                                  TfLiteNode* node, const DeputyAsyncRuntime* runtime) {
  NpuPartition* partition = node->user_data;
  (void)delegate, (void)context;
  if (partition == NULL || partition->batch == NULL || runtime->struct_size < sizeof *runtime) {
    return NULL;
  }
  NpuAsyncKernels* added = malloc(sizeof *added);
  if (added == NULL) return NULL;
  added->async = NpuCreateAsync(partition, &partition->compiled, RunOnMemory, runtime);
  if (added->async == NULL) {
    free(added);
    return NULL;
  }
  added->next = partition->asyncs;
  partition->asyncs = added;
  return NpuKernelOf(added->async);
}

TfLiteRegistration NpuPartitionRegistration(const char* name) {
  TfLiteRegistration registration;
  memset(&registration, 0, sizeof registration);
  registration.init = Init;
  registration.free = Free;
  registration.prepare = Prepare;
  registration.invoke = Invoke;
  registration.custom_name = name;
  registration.version = 1;
  current_name = name;
  return registration;
}

TfLiteStatus NpuNodeEvents(TfLiteDelegate* delegate, TfLiteContext* context, TfLiteNode* node,
                           DeputyNodeEventCallback callback, void* user_data) {
  const NpuPartition* partition = node->user_data;
  (void)context;
  if (partition == NULL || partition->batch == NULL) return kTfLiteError;
  if (NpuIsLost(partition->owner)) return kTfLiteError;
  const NpuCompiled* compiled = &partition->compiled;
  int32_t count = 0;
  const NpuOpTime* times =
      NpuOpTimes(&NpuStateOf(delegate)->device, partition->batch->client, partition->model, &count);
  if (times == NULL) return kTfLiteOk; /* a device without times */
  if (count != compiled->source_count) return kTfLiteError;
  for (int32_t i = 0; i < count; ++i) {
    const DeputyNodeEvent event = {
        .struct_size = sizeof event,
        .node = compiled->sources[i].node,
        .name = NpuKindName(compiled->sources[i].kind),
        .begin_ns = times[i].begin_ns,
        .duration_ns = times[i].duration_ns,
    };
    callback(user_data, &event);
  }
  return kTfLiteOk;
}

void NpuDescribe(NpuState* state,
                 void (*callback)(void* user_data, int32_t first_node, const char* stage,
                                  const char* text),
                 void* user_data) {
  static const char* const kStages[] = {"imported", "laid out"};
  pthread_mutex_lock(&state->mutex);
  const NpuPartition* oldest = state->partitions;
  while (oldest != NULL && oldest->older != NULL) oldest = oldest->older;
  for (const NpuPartition* at = oldest; at != NULL; at = at->newer) {
    for (int i = 0; i < 2; ++i) {
      if (at->compiled.texts[i] == NULL) continue;
      callback(user_data, at->first_node, kStages[i], at->compiled.texts[i]);
    }
  }
  pthread_mutex_unlock(&state->mutex);
}
