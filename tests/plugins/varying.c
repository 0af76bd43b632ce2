// SPDX-License-Identifier: Apache-2.0
//
// A delegate for nodes with state: it claims SVDF of float32 with rank 1, a batch of 1 and no
// activation. The state is the variable tensor alone. The option `die` is the number of an invoke,
// from 1, that ends the process after it has changed the state and the outputs.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "deputy/delegate_helper.h"
#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/c/builtin_op_data.h"
#include "tensorflow/lite/c/common.h"
#include "tensorflow/lite/delegates/external/external_delegate_interface.h"

enum { kInput, kWeightsFeature, kWeightsTime, kBias, kState, kSvdfInputs };

static int die, invokes;

typedef struct Kernel {
  int inputs[kSvdfInputs], output;
} Kernel;

static void* Init(TfLiteContext* context, const char* buffer, size_t length) {
  (void)length;
  const TfLiteDelegateParams* params = (const TfLiteDelegateParams*)(const void*)buffer;
  Kernel* kernel = (Kernel*)calloc(1, sizeof(Kernel));
  TfLiteNode* node = NULL;
  TfLiteRegistration* registration = NULL;
  if (kernel == NULL || params->nodes_to_replace->size != 1 ||
      context->GetNodeAndRegistration(context, params->nodes_to_replace->data[0], &node,
                                      &registration) != kTfLiteOk) {
    free(kernel);
    return NULL;
  }
  memcpy(kernel->inputs, node->inputs->data, sizeof kernel->inputs);
  kernel->output = node->outputs->data[0];
  return kernel;
}

static void Free(TfLiteContext* context, void* kernel) {
  (void)context;
  free(kernel);
}

static TfLiteStatus PrepareKernel(TfLiteContext* context, TfLiteNode* node) {
  (void)context;
  return node->user_data == NULL ? kTfLiteError : kTfLiteOk;
}

// Shifts the state of each unit by one, and appends the product of the input and the weights.
static TfLiteStatus Invoke(TfLiteContext* context, TfLiteNode* node) {
  const Kernel* kernel = (const Kernel*)node->user_data;
  const TfLiteTensor* input = &context->tensors[kernel->inputs[kInput]];
  const TfLiteTensor* time = &context->tensors[kernel->inputs[kWeightsTime]];
  const float* feature = context->tensors[kernel->inputs[kWeightsFeature]].data.f;
  const int units = time->dims->data[0], memory = time->dims->data[1], size = input->dims->data[1];
  float* output = context->tensors[kernel->output].data.f;
  for (int u = 0; u < units; ++u) {
    float* state = context->tensors[kernel->inputs[kState]].data.f + u * memory;
    memmove(state, state + 1, (size_t)(memory - 1) * sizeof(float));
    state[memory - 1] = 0;
    for (int i = 0; i < size; ++i) state[memory - 1] += feature[u * size + i] * input->data.f[i];
    output[u] = 0;
    for (int m = 0; m < memory; ++m) output[u] += time->data.f[u * memory + m] * state[m];
  }
  if (++invokes == die) abort();
  return kTfLiteOk;
}

static bool IsSupported(TfLiteContext* context, TfLiteNode* node,
                        const TfLiteRegistration* registration, void* user_data, char* reason,
                        size_t reason_size) {
  (void)user_data, (void)reason, (void)reason_size;
  if (registration->builtin_code != kTfLiteBuiltinSvdf || node->inputs->size != kSvdfInputs) {
    return false;
  }
  const TfLiteSVDFParams* params = (const TfLiteSVDFParams*)node->builtin_data;
  const TfLiteTensor* input = &context->tensors[node->inputs->data[kInput]];
  return params->rank == 1 && params->activation == kTfLiteActNone &&
         node->inputs->data[kBias] == kTfLiteOptionalTensor && input->type == kTfLiteFloat32 &&
         input->dims->size == 2 && input->dims->data[0] == 1;
}

static TfLiteStatus Prepare(TfLiteContext* context, TfLiteDelegate* delegate) {
  TfLiteRegistration kernel;
  memset(&kernel, 0, sizeof kernel);
  kernel.init = Init;
  kernel.free = Free;
  kernel.prepare = PrepareKernel;
  kernel.invoke = Invoke;
  kernel.custom_name = "Varying";
  kernel.version = 1;
  DeputyPartitionHelper helper;
  DeputyPartitionHelperInit(&helper, context);
  TfLiteStatus status = DeputyPartitionHelperPartition(&helper, IsSupported, NULL, 0, INT_MAX);
  TfLiteIntArray* nodes = NULL;
  if (status == kTfLiteOk) {
    nodes = DeputyPartitionHelperLargest(&helper, INT_MAX, 1);
    if (nodes == NULL) status = kTfLiteError;
  }
  if (status == kTfLiteOk && nodes->size > 0) {
    status = context->ReplaceNodeSubsetsWithDelegateKernels(context, kernel, nodes, delegate);
  }
  DeputyIntArrayFree(nodes);
  DeputyPartitionHelperFree(&helper);
  return status;
}

TfLiteDelegate* tflite_plugin_create_delegate(const char* const* keys, const char* const* values,
                                              size_t count, void (*report_error)(const char*)) {
  (void)report_error;
  die = invokes = 0;
  for (size_t i = 0; i < count; ++i) {
    if (strcmp(keys[i], "die") == 0) die = atoi(values[i]);
  }
  TfLiteDelegate* delegate = (TfLiteDelegate*)calloc(1, sizeof(TfLiteDelegate));
  if (delegate != NULL) delegate->Prepare = Prepare;
  return delegate;
}

void tflite_plugin_destroy_delegate(TfLiteDelegate* delegate) { free(delegate); }
