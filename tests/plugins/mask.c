// SPDX-License-Identifier: Apache-2.0
//
// A delegate that claims the nodes of the option "nodes" ("0,4,2", in this order) and appends the
// resulting partitions to the file of the option "log", as lines of a word and numbers: "before"
// with the plan, for each partition "nodes", "inputs" and "outputs", "after" with the plan. It
// computes nothing. tests/golden/partitions.py loads it into TensorFlow Lite.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensorflow/lite/c/common.h"
#include "tensorflow/lite/delegates/external/external_delegate_interface.h"

enum { kMaxNodes = 1024 };

typedef struct Mask {
  TfLiteDelegate base;
  char log[1024];
  int nodes[kMaxNodes + 1];  // laid out as a TfLiteIntArray
} Mask;

static void Log(const Mask* mask, const char* word, const TfLiteIntArray* numbers) {
  FILE* file = fopen(mask->log, "a");
  if (file == NULL) return;
  fprintf(file, "%s", word);
  for (int i = 0; i < numbers->size; ++i) fprintf(file, " %d", numbers->data[i]);
  fprintf(file, "\n");
  fclose(file);
}

static void* Init(TfLiteContext* context, const char* buffer, size_t length) {
  (void)context;
  (void)length;
  const TfLiteDelegateParams* params = (const TfLiteDelegateParams*)(const void*)buffer;
  const Mask* mask = (const Mask*)params->delegate->data_;
  Log(mask, "nodes", params->nodes_to_replace);
  Log(mask, "inputs", params->input_tensors);
  Log(mask, "outputs", params->output_tensors);
  return NULL;
}

static TfLiteStatus Nothing(TfLiteContext* context, TfLiteNode* node) {
  (void)context;
  (void)node;
  return kTfLiteOk;
}

static TfLiteStatus Prepare(TfLiteContext* context, TfLiteDelegate* delegate) {
  const Mask* mask = (const Mask*)delegate->data_;
  TfLiteIntArray* plan = NULL;
  if (context->GetExecutionPlan(context, &plan) != kTfLiteOk) return kTfLiteError;
  Log(mask, "before", plan);
  TfLiteRegistration registration;
  memset(&registration, 0, sizeof registration);
  registration.init = Init;
  registration.prepare = Nothing;
  registration.invoke = Nothing;
  registration.custom_name = "Mask";
  registration.version = 1;
  const TfLiteStatus status = context->ReplaceNodeSubsetsWithDelegateKernels(
      context, registration, (const TfLiteIntArray*)(const void*)mask->nodes, delegate);
  if (context->GetExecutionPlan(context, &plan) != kTfLiteOk) return kTfLiteError;
  Log(mask, "after", plan);
  return status;
}

static void ReadNodes(const char* text, int* nodes) {
  char* end = NULL;
  for (nodes[0] = 0; nodes[0] < kMaxNodes && *text != '\0'; text = *end == ',' ? end + 1 : end) {
    nodes[++nodes[0]] = (int)strtol(text, &end, 10);
    if (end == text) break;
  }
}

TfLiteDelegate* tflite_plugin_create_delegate(const char* const* keys, const char* const* values,
                                              size_t count,
                                              void (*report_error)(const char* message)) {
  (void)report_error;
  Mask* mask = (Mask*)calloc(1, sizeof *mask);
  if (mask == NULL) return NULL;
  for (size_t i = 0; i < count; ++i) {
    if (strcmp(keys[i], "log") == 0) snprintf(mask->log, sizeof mask->log, "%s", values[i]);
    if (strcmp(keys[i], "nodes") == 0) ReadNodes(values[i], mask->nodes);
  }
  mask->base.data_ = mask;
  mask->base.Prepare = Prepare;
  return &mask->base;
}

void tflite_plugin_destroy_delegate(TfLiteDelegate* delegate) { free(delegate); }
