/* SPDX-License-Identifier: Apache-2.0 */
#include "npu_stub/delegate.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "deputy/delegate_helper.h"
#include "npu_stub/partition.h"
#include "npu_stub/state.h"
#include "npu_stub/support.h"
#include "npu_stub/texts.h"
#include "npu_stub/watchdog.h"

/* ---- Choosing nodes -------------------------------------------------------------------------- */

/* A node that is not supported, and the reason. */
typedef struct Refused {
  const TfLiteNode* node;
  NpuRefusal refusal;
} Refused;

typedef struct Choice {
  DeputyHalfPartitionHelper helper;
  int32_t* tensors; /* used by NpuCheckNode */
  Refused* refused; /* in plan order */
  int32_t refused_count;
  bool after_dynamic; /* an earlier node has an output with unknown shape */
  bool failed;
} Choice;

static void AddRefused(Choice* choice, const TfLiteNode* node, const NpuRefusal* refusal) {
  const int32_t count = choice->refused_count;
  if ((count & (count - 1)) == 0) {
    const size_t capacity = count == 0 ? 1 : 2 * (size_t)count;
    Refused* grown = realloc(choice->refused, capacity * sizeof *grown);
    if (grown == NULL) {
      choice->failed = true;
      return;
    }
    choice->refused = grown;
  }
  choice->refused[count].node = node;
  choice->refused[count].refusal = *refusal;
  ++choice->refused_count;
}

static bool HasDynamicOutput(const TfLiteContext* context, const TfLiteNode* node) {
  for (int i = 0; i < node->outputs->size; ++i) {
    const int tensor = node->outputs->data[i];
    if (tensor >= 0 && context->tensors[tensor].allocation_type == kTfLiteDynamic) return true;
  }
  return false;
}

/* Implements DeputyNodePredicate. The runtime propagates shapes up to the first unknown one;
 * after it, the shapes in tensors are those of the file and may be wrong. */
static bool IsSupported(TfLiteContext* context, TfLiteNode* node,
                        const TfLiteRegistration* registration, void* user_data, char* reason,
                        size_t reason_size) {
  Choice* choice = user_data;
  NpuRefusal refusal = {kDeputyReasonDynamicShape,
                        "shapes after a tensor with dynamic shape are not known"};
  const bool unknown = choice->after_dynamic;
  if (HasDynamicOutput(context, node)) choice->after_dynamic = true;
  if (!unknown && NpuCheckNode(context, node, registration, choice->tensors, &refusal)) return true;
  AddRefused(choice, node, &refusal);
  snprintf(reason, reason_size, "%s", refusal.text);
  return false;
}

static TfLiteStatus Fail(TfLiteContext* context, const char* problem) {
  context->ReportError(context, "NPU delegate: %s", problem);
  return kTfLiteError;
}

static TfLiteStatus Choose(TfLiteContext* context, Choice* choice) {
  memset(choice, 0, sizeof *choice);
  DeputyHalfPartitionHelperInit(&choice->helper, context);
  choice->tensors = malloc((context->tensors_size + 1) * sizeof *choice->tensors);
  if (choice->tensors == NULL) return Fail(context, "out of memory");
  for (size_t i = 0; i < context->tensors_size; ++i) choice->tensors[i] = -1;
  const TfLiteStatus status =
      DeputyHalfPartitionHelperPartition(&choice->helper, IsSupported, choice, 0, INT_MAX);
  return choice->failed ? Fail(context, "out of memory") : status;
}

static void EndChoice(Choice* choice) {
  DeputyHalfPartitionHelperFree(&choice->helper);
  free(choice->tensors);
  free(choice->refused);
}

/* ---- Building -------------------------------------------------------------------------------- */

/* Returns "NpuGraph<k>", which is valid for the lifetime of the delegate; NULL if out of memory. */
static const char* NameOf(NpuState* state, int32_t k) {
  enum { kNameBytes = 24 };
  pthread_mutex_lock(&state->mutex);
  while (state->name_count <= k) {
    char** grown = realloc(state->names, ((size_t)state->name_count + 1) * sizeof *grown);
    char* name = grown == NULL ? NULL : malloc(kNameBytes);
    if (grown != NULL) state->names = grown;
    if (name == NULL) break;
    snprintf(name, kNameBytes, "NpuGraph%d", state->name_count);
    state->names[state->name_count++] = name;
  }
  const char* name = state->name_count > k ? state->names[k] : NULL;
  pthread_mutex_unlock(&state->mutex);
  return name;
}

/* Replaces the nodes of each partition. The partitions are replaced one by one, to give each a
 * name. A partition is closed under dependence, so that replacing it alone yields the same
 * partition. */
static TfLiteStatus Replace(TfLiteContext* context, NpuState* state, const TfLiteIntArray* nodes) {
  TfLiteDelegateParams* previewed = NULL;
  int count = 0;
  if (nodes->size == 0) return kTfLiteOk;
  TfLiteStatus status = context->PreviewDelegatePartitioning(context, nodes, &previewed, &count);
  if (status != kTfLiteOk) return status;
  /* The lists of nodes are copied, because the runtime's lists are invalid once the graph
   * changes. */
  TfLiteIntArray** lists = calloc((size_t)count + 1, sizeof(TfLiteIntArray*));
  for (int i = 0; lists != NULL && i < count; ++i) {
    lists[i] = DeputyIntArrayCopy(previewed[i].nodes_to_replace);
  }
  if (lists == NULL) return Fail(context, "out of memory");
  for (int32_t i = 0; i < count && status == kTfLiteOk; ++i) {
    const char* name = NameOf(state, i);
    status = lists[i] == NULL || name == NULL
                 ? Fail(context, "out of memory")
                 : context->ReplaceNodeSubsetsWithDelegateKernels(
                       context, NpuPartitionRegistration(name), lists[i], &state->base);
  }
  for (int i = 0; i < count; ++i) DeputyIntArrayFree(lists[i]);
  free(lists);
  return status;
}

static TfLiteStatus Build(TfLiteContext* context, NpuState* state, Choice* choice) {
  const int max = state->options.max_partitions;
  TfLiteIntArray* nodes = DeputyHalfPartitionHelperTake(&choice->helper, max == 0 ? INT_MAX : max,
                                                        state->options.min_nodes);
  if (nodes == NULL) return kTfLiteError;
  NpuBuild build;
  NpuBeginBuild(&build);
  TfLiteStatus status = Replace(context, state, nodes);
  /* All models are loaded together, once all are compiled. */
  if (status == kTfLiteOk) status = NpuLoadBuild(context, state, &build);
  NpuEndBuild(&build);
  DeputyIntArrayFree(nodes);
  return status;
}

static TfLiteStatus Prepare(TfLiteContext* context, TfLiteDelegate* delegate) {
  NpuState* state = NpuStateOf(delegate);
  if (state->device.device == NULL) return kTfLiteOk; /* all nodes run on the CPU */
  if (NpuIsLost(state)) {
    char problem[160];
    NpuLostText(state, problem, sizeof problem);
    return Fail(context, problem);
  }
  Choice choice;
  TfLiteStatus status = Choose(context, &choice);
  if (status == kTfLiteOk) status = Build(context, state, &choice);
  EndChoice(&choice);
  return status;
}

/* ---- Creation and destruction ---------------------------------------------------------------- */

static TfLiteDelegate* FailCreate(NpuState* state, void (*report_error)(const char* text),
                                  const char* problem) {
  if (report_error != NULL) report_error(problem);
  free(state);
  return NULL;
}

TfLiteDelegate* NpuCreateDelegate(const char* const* keys, const char* const* values, size_t count,
                                  void (*report_error)(const char* text)) {
  char error[512] = "out of memory";
  NpuState* state = calloc(1, sizeof *state);
  if (state == NULL) return FailCreate(NULL, report_error, error);
  NpuOptionsInit(&state->options);
  if (!NpuParseOptions(keys, values, count, &state->options, error, sizeof error) ||
      !NpuOpenDevice(&state->options, &state->device, error, sizeof error)) {
    return FailCreate(state, report_error, error);
  }
  if (pthread_mutex_init(&state->mutex, NULL) != 0) {
    NpuCloseDevice(&state->device);
    return FailCreate(state, report_error, "no mutex");
  }
  state->users = 1;
  state->watched = NpuIsWatched(&state->options);
  state->base.data_ = state;
  state->base.Prepare = Prepare;
  /* With AllowDynamicTensors a new input shape only prepares the nodes again, and a prepare may
   * refuse the shape; without it, the runtime undoes the delegate and builds again. In both cases
   * the compiled shapes are the interpreter's, because those of the file may be placeholders or
   * older than a resize. */
  const bool redelegate = strcmp(state->options.resize, "redelegate") == 0;
  state->base.flags = redelegate ? kTfLiteDelegateFlagsNone
                                 : kTfLiteDelegateFlagsAllowDynamicTensors |
                                       kTfLiteDelegateFlagsRequirePropagatedShapes;
  if (state->options.profiling) state->base.flags |= kTfLiteDelegateFlagsPerOperatorProfiling;
  return &state->base;
}

void NpuDestroyDelegate(TfLiteDelegate* delegate) {
  if (delegate != NULL) NpuReleaseState(NpuStateOf(delegate));
}

/* The next run of a partition reads the options. */
TfLiteStatus NpuSetOptions(TfLiteDelegate* delegate, const char* const* keys,
                           const char* const* values, size_t count,
                           void (*report_error)(const char* text)) {
  NpuState* state = NpuStateOf(delegate);
  NpuOptions changed = state->options;
  char error[512];
  if (!NpuParseOptions(keys, values, count, &changed, error, sizeof error)) {
    if (report_error != NULL) report_error(error);
    return kTfLiteError;
  }
  state->options = changed;
  state->watched = NpuIsWatched(&changed);
  return kTfLiteOk;
}

/* ---- Reports --------------------------------------------------------------------------------- */

static void SetUnsupported(DeputySupportResult* result, size_t i, int32_t reason,
                           const char* text) {
  result->supported[i] = 0;
  result->reason_of_node[i] = reason;
  result->text_of_node[i] = NpuCopyText(i, text);
}

/* Fills in the support status of each node. The nodes are in plan order, and so are the refused
 * ones. */
static void FillSupport(TfLiteContext* context, const Choice* choice, DeputySupportResult* result) {
  int32_t next = 0;
  for (size_t i = 0; i < result->node_count; ++i) {
    TfLiteNode* node = NULL;
    TfLiteRegistration* registration = NULL;
    if (context->GetNodeAndRegistration(context, result->nodes[i], &node, &registration) !=
        kTfLiteOk) {
      continue;
    }
    const bool is_dequantize = node->outputs->size > 0 &&
                               DeputyHalfConstantOf(&choice->helper, node->outputs->data[0]) >= 0;
    if (next < choice->refused_count && choice->refused[next].node == node) {
      const NpuRefusal* refusal = &choice->refused[next++].refusal;
      SetUnsupported(result, i, refusal->reason, refusal->text);
    } else if (is_dequantize) {
      SetUnsupported(result, i, kDeputyReasonOther,
                     "converts a float16 constant that the NPU reads directly");
    } else {
      result->supported[i] = 1;
    }
  }
}

TfLiteStatus NpuGetSupport(TfLiteDelegate* delegate, TfLiteContext* context,
                           DeputySupportResult* result) {
  const NpuState* state = NpuStateOf(delegate);
  if (!NpuBeginTexts(result->node_count)) return kTfLiteError;
  if (state->device.device == NULL) {
    for (size_t i = 0; i < result->node_count; ++i) {
      SetUnsupported(result, i, kDeputyReasonOther, state->device.absence);
    }
    return kTfLiteOk;
  }
  Choice choice;
  const TfLiteStatus status = Choose(context, &choice);
  if (status == kTfLiteOk) FillSupport(context, &choice, result);
  EndChoice(&choice);
  return status;
}

void NpuGetCounters(TfLiteDelegate* delegate, NpuCounters* out_counters) {
  NpuState* state = NpuStateOf(delegate);
  memset(out_counters, 0, sizeof *out_counters);
  if (state->device.device == NULL || NpuIsLost(state)) return;
  state->device.api->get_counters(state->device.device, out_counters);
}

size_t NpuDeviceBytes(TfLiteDelegate* delegate) {
  NpuCounters counters;
  NpuGetCounters(delegate, &counters);
  return (size_t)counters.bytes;
}

void NpuGetCacheCounters(TfLiteDelegate* delegate, uint64_t* out_hits, uint64_t* out_misses) {
  NpuState* state = NpuStateOf(delegate);
  pthread_mutex_lock(&state->mutex);
  *out_hits = state->cache_hits;
  *out_misses = state->cache_misses;
  pthread_mutex_unlock(&state->mutex);
}

static void ReportIgnored(const char* name, const char* why, DeputyOptionUseCallback callback,
                          void* user_data) {
  const DeputyOptionUse use = {sizeof use, name, NULL, kDeputyOptionIgnored, 0, why};
  callback(user_data, &use);
}

TfLiteStatus NpuReport(TfLiteDelegate* delegate, DeputyDelegateReport* report,
                       DeputyOptionUseCallback callback, void* user_data) {
  NpuState* state = NpuStateOf(delegate);
  pthread_mutex_lock(&state->mutex);
  const uint64_t hits = state->cache_hits, misses = state->cache_misses;
  const bool unwritable = state->cache_write_failures > 0;
  const bool is_lost = state->hung_runs > 0;
  report->compile_ns = state->compile_ns;
  pthread_mutex_unlock(&state->mutex);
  report->device = state->device.device == NULL ? "absent"
                   : is_lost                    ? "pretended NPU, lost: a run has not returned"
                                                : "pretended NPU";
  report->precision = "as in the model; float16 as fp32";
  if (state->options.cache_dir[0] != '\0') {
    report->cache_hits = (int64_t)hits;
    report->cache_misses = (int64_t)misses;
  }
  if (unwritable) ReportIgnored("cache_dir", "it cannot be written", callback, user_data);
  return kTfLiteOk;
}
