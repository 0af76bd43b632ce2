/* SPDX-License-Identifier: Apache-2.0 */
#include "npu_stub/compiled.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "npu_stub/layout.h"
#include "npu_stub/support.h"
#include "tensorflow/lite/builtin_ops.h"

static bool Fail(char* error, size_t error_size, const char* text) {
  snprintf(error, error_size, "%s", text);
  return false;
}

static bool IsIn(const TfLiteIntArray* list, int value) {
  for (int i = 0; i < list->size; ++i) {
    if (list->data[i] == value) return true;
  }
  return false;
}

/* ---- Importing ------------------------------------------------------------------------------- */

/* Imports the DEQUANTIZE of a float16 constant. Adds an operation only if the float32 output is
 * used outside of the partition (deputy/delegate_helper.h); inside, the constant is used
 * directly. */
static bool ImportDequantize(NpuImport* import, const TfLiteDelegateParams* params) {
  const int output = import->node->outputs->data[0];
  if (!IsIn(params->output_tensors, output)) return true;
  const int32_t input = NpuInput(import, 0);
  NpuAddNode(import, kNpuReshape, 0, &input, 1, NpuOutput(import, 0));
  return true;
}

static bool ImportNodes(TfLiteContext* context, const TfLiteDelegateParams* params,
                        NpuCompiled* compiled, int32_t* tensors, char* error, size_t error_size) {
  const TfLiteIntArray* nodes = params->nodes_to_replace;
  for (int i = 0; i < nodes->size; ++i) {
    TfLiteNode* node = NULL;
    TfLiteRegistration* registration = NULL;
    if (context->GetNodeAndRegistration(context, nodes->data[i], &node, &registration) !=
        kTfLiteOk) {
      return Fail(error, error_size, "a node does not exist");
    }
    NpuRefusal refusal = {0, "out of memory"};
    NpuImport import = {context, node,  registration, nodes->data[i], &compiled->builder,
                        tensors, false, &refusal};
    const bool is_dequantize = registration->builtin_code == kTfLiteBuiltinDequantize;
    if (!(is_dequantize ? ImportDequantize(&import, params) : NpuImportNode(&import))) {
      snprintf(error, error_size, "node %d: %s", nodes->data[i], refusal.text);
      return false;
    }
  }
  return !compiled->builder.failed || Fail(error, error_size, "out of memory");
}

/* Returns the boundary for a list of the model's tensors: those that are in the graph and not
 * constant. Adds them to the graph's inputs or outputs. */
static NpuBoundaryTensor* BoundaryOf(TfLiteContext* context, const TfLiteIntArray* list,
                                     const int32_t* tensors, NpuCompiled* compiled, bool inputs,
                                     int32_t* out_count) {
  NpuBoundaryTensor* boundary = calloc((size_t)list->size + 1, sizeof *boundary);
  *out_count = 0;
  for (int i = 0; boundary != NULL && i < list->size; ++i) {
    const int32_t index = list->data[i] < 0 ? -1 : tensors[list->data[i]];
    if (index < 0 || compiled->builder.graph.tensors[index].data != NULL) continue;
    const TfLiteTensor* tensor = &context->tensors[list->data[i]];
    NpuBoundaryTensor* at = &boundary[(*out_count)++];
    at->tensor = list->data[i];
    at->type = tensor->type;
    at->device = compiled->builder.graph.tensors[index];
    const size_t size = tensor->type == kTfLiteFloat16 ? 2 : NpuTypeBytes(at->device.type);
    at->bytes = NpuElementCount(&at->device) * size;
    if (inputs) {
      NpuAddInput(&compiled->builder, index);
    } else {
      NpuAddOutput(&compiled->builder, index);
    }
  }
  return boundary;
}

static bool Import(TfLiteContext* context, const TfLiteDelegateParams* params,
                   NpuCompiled* compiled, char* error, size_t error_size) {
  int32_t* tensors = malloc((context->tensors_size + 1) * sizeof *tensors);
  if (tensors == NULL) return Fail(error, error_size, "out of memory");
  for (size_t i = 0; i < context->tensors_size; ++i) tensors[i] = -1;
  const bool good = ImportNodes(context, params, compiled, tensors, error, error_size);
  if (good) {
    compiled->inputs =
        BoundaryOf(context, params->input_tensors, tensors, compiled, true, &compiled->input_count);
    compiled->outputs = BoundaryOf(context, params->output_tensors, tensors, compiled, false,
                                   &compiled->output_count);
  }
  free(tensors);
  if (!good) return false;
  const bool complete =
      compiled->inputs != NULL && compiled->outputs != NULL && !compiled->builder.failed;
  return complete || Fail(error, error_size, "out of memory");
}

/* ---- Compiling ------------------------------------------------------------------------------- */

static int64_t NowNs(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static bool Compile(NpuState* state, NpuCompiled* compiled, char* error, size_t error_size) {
  const NpuDeviceHandle* device = &state->device;
  void* blob = NULL;
  char problem[160] = "";
  const int64_t start = NowNs();
  const NpuStatus status = device->api->compile(device->device, &compiled->builder.graph, &blob,
                                                &compiled->blob_bytes, problem, sizeof problem);
  pthread_mutex_lock(&state->mutex);
  state->compile_ns += NowNs() - start;
  pthread_mutex_unlock(&state->mutex);
  if (status != kNpuOk) {
    snprintf(error, error_size, "compile: %s (status %d)", problem, (int)status);
    return false;
  }
  compiled->blob = blob;
  compiled->from_cache = false;
  return true;
}

static void CountLookup(NpuState* state, bool hit) {
  pthread_mutex_lock(&state->mutex);
  ++*(hit ? &state->cache_hits : &state->cache_misses);
  pthread_mutex_unlock(&state->mutex);
}

static bool CompileOrLoad(NpuState* state, NpuCompiled* compiled, bool use_cache, char* error,
                          size_t error_size) {
  const char* folder = state->options.cache_dir;
  const char* version = state->device.api->version(state->device.device);
  DeputyFingerprint key;
  const bool has_cache = folder[0] != '\0' && NpuMakeCacheKey(&compiled->builder.graph, version,
                                                              state->options.frequency, &key);
  if (!has_cache) return Compile(state, compiled, error, error_size);
  compiled->blob = use_cache ? NpuReadCache(folder, &key, &compiled->blob_bytes) : NULL;
  compiled->from_cache = compiled->blob != NULL;
  CountLookup(state, compiled->from_cache);
  if (compiled->from_cache) return true;
  if (!Compile(state, compiled, error, error_size)) return false;
  if (NpuWriteCache(folder, &key, compiled->blob, compiled->blob_bytes)) return true;
  pthread_mutex_lock(&state->mutex);
  ++state->cache_write_failures;
  pthread_mutex_unlock(&state->mutex);
  return true;
}

static bool KeepSources(NpuCompiled* compiled) {
  const NpuGraph* graph = &compiled->builder.graph;
  compiled->sources = calloc((size_t)graph->op_count + 1, sizeof *compiled->sources);
  if (compiled->sources == NULL) return false;
  compiled->source_count = graph->op_count;
  for (int32_t i = 0; i < graph->op_count; ++i) {
    compiled->sources[i] = (NpuSource){graph->ops[i].source, graph->ops[i].kind};
  }
  return true;
}

bool NpuCompilePartition(TfLiteContext* context, const TfLiteDelegateParams* params,
                         NpuState* state, NpuCompiled* out_compiled, char* error,
                         size_t error_size) {
  memset(out_compiled, 0, sizeof *out_compiled);
  NpuBuilderInit(&out_compiled->builder);
  if (!Import(context, params, out_compiled, error, error_size)) return false;
  const NpuGraph* graph = &out_compiled->builder.graph;
  if (state->options.describe) out_compiled->texts[0] = NpuGraphText(graph);
  if (!NpuLayoutRun(&out_compiled->builder) || !KeepSources(out_compiled))
    return Fail(error, error_size, "out of memory");
  if (state->options.describe) out_compiled->texts[1] = NpuGraphText(graph);
  return CompileOrLoad(state, out_compiled, true, error, error_size);
}

bool NpuRecompile(NpuState* state, NpuCompiled* compiled, char* error, size_t error_size) {
  free(compiled->blob);
  compiled->blob = NULL;
  return CompileOrLoad(state, compiled, false, error, error_size);
}

void NpuReleaseBlob(NpuState* state, NpuCompiled* compiled) {
  if (compiled->from_cache) {
    free(compiled->blob);
  } else if (compiled->blob != NULL) {
    state->device.api->free_blob(state->device.device, compiled->blob);
  }
  compiled->blob = NULL;
  NpuBuilderFree(&compiled->builder);
}

void NpuFreeCompiled(NpuState* state, NpuCompiled* compiled) {
  NpuReleaseBlob(state, compiled);
  free(compiled->inputs);
  free(compiled->outputs);
  free(compiled->sources);
  free(compiled->texts[0]);
  free(compiled->texts[1]);
}
