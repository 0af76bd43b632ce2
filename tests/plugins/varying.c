// SPDX-License-Identifier: Apache-2.0
//
// A delegate for nodes with state and for nodes with dynamic sizes. It claims SVDF of float32 with
// rank 1, a batch of 1, no bias and no activation, whose state is the variable tensor alone. With
// the option `dynamic` it allows tensors of dynamic size, and claims RANGE of int32, whose output
// is dynamic, and ADD of float32 tensors of one size. The option `die` is the number of an invoke,
// from 1, that ends the process after it has changed the state and the outputs.
#include <stdbool.h>
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
static bool is_dynamic;

typedef struct Kernel {
  int builtin_code, inputs[kSvdfInputs], output;
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
  kernel->builtin_code = registration->builtin_code;
  for (int i = 0; i < node->inputs->size; ++i) kernel->inputs[i] = node->inputs->data[i];
  kernel->output = node->outputs->data[0];
  return kernel;
}

static void Free(TfLiteContext* context, void* kernel) {
  (void)context;
  free(kernel);
}

static TfLiteStatus Resize(TfLiteContext* context, TfLiteTensor* tensor, const int* dims,
                           int rank) {
  TfLiteIntArray* array = DeputyIntArrayCreate(rank);
  if (array == NULL) return kTfLiteError;
  for (int i = 0; i < rank; ++i) array->data[i] = dims[i];
  return context->ResizeTensor(context, tensor, array);
}

static TfLiteStatus PrepareKernel(TfLiteContext* context, TfLiteNode* node) {
  const Kernel* kernel = (const Kernel*)node->user_data;
  if (kernel == NULL) return kTfLiteError;
  TfLiteTensor* output = &context->tensors[kernel->output];
  if (kernel->builtin_code == kTfLiteBuiltinRange) {
    output->allocation_type = kTfLiteDynamic;
    output->data.raw = NULL;
  } else if (kernel->builtin_code == kTfLiteBuiltinAdd) {
    const TfLiteIntArray* dims = context->tensors[kernel->inputs[0]].dims;
    return Resize(context, output, dims->data, dims->size);
  }
  return kTfLiteOk;
}

static TfLiteStatus InvokeRange(TfLiteContext* context, const Kernel* kernel) {
  const int start = context->tensors[kernel->inputs[0]].data.i32[0];
  const int limit = context->tensors[kernel->inputs[1]].data.i32[0];
  const int delta = context->tensors[kernel->inputs[2]].data.i32[0];
  const int size = (limit - start + delta - 1) / delta;
  TfLiteTensor* output = &context->tensors[kernel->output];
  if (Resize(context, output, &size, 1) != kTfLiteOk) return kTfLiteError;
  for (int i = 0; i < size; ++i) output->data.i32[i] = start + i * delta;
  return kTfLiteOk;
}

static TfLiteStatus InvokeAdd(TfLiteContext* context, const Kernel* kernel) {
  const TfLiteTensor* a = &context->tensors[kernel->inputs[0]];
  const TfLiteTensor* b = &context->tensors[kernel->inputs[1]];
  TfLiteTensor* output = &context->tensors[kernel->output];
  if (a->bytes != b->bytes || a->bytes != output->bytes) return kTfLiteError;
  for (size_t i = 0; i < a->bytes / sizeof(float); ++i) {
    output->data.f[i] = a->data.f[i] + b->data.f[i];
  }
  return kTfLiteOk;
}

// Shifts the state of each unit by one, appends the product of the input and the weights, and
// computes the outputs.
static TfLiteStatus InvokeSvdf(TfLiteContext* context, const Kernel* kernel) {
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
  return kTfLiteOk;
}

static TfLiteStatus Invoke(TfLiteContext* context, TfLiteNode* node) {
  const Kernel* kernel = (const Kernel*)node->user_data;
  TfLiteStatus status = kTfLiteOk;
  if (kernel->builtin_code == kTfLiteBuiltinRange) {
    status = InvokeRange(context, kernel);
  } else if (kernel->builtin_code == kTfLiteBuiltinAdd) {
    status = InvokeAdd(context, kernel);
  } else {
    status = InvokeSvdf(context, kernel);
  }
  if (++invokes == die) abort();
  return status;
}

static bool IsSupported(TfLiteContext* context, TfLiteNode* node,
                        const TfLiteRegistration* registration, void* user_data, char* reason,
                        size_t reason_size) {
  (void)user_data, (void)reason, (void)reason_size;
  const TfLiteTensor* output = &context->tensors[node->outputs->data[0]];
  if (is_dynamic && registration->builtin_code == kTfLiteBuiltinRange) {
    return output->type == kTfLiteInt32;
  }
  if (is_dynamic && registration->builtin_code == kTfLiteBuiltinAdd) {
    return output->type == kTfLiteFloat32;
  }
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
  is_dynamic = false;
  for (size_t i = 0; i < count; ++i) {
    if (strcmp(keys[i], "die") == 0) die = atoi(values[i]);
    if (strcmp(keys[i], "dynamic") == 0) is_dynamic = atoi(values[i]) != 0;
  }
  TfLiteDelegate* delegate = (TfLiteDelegate*)calloc(1, sizeof(TfLiteDelegate));
  if (delegate == NULL) return NULL;
  delegate->Prepare = Prepare;
  if (is_dynamic) {
    delegate->flags =
        kTfLiteDelegateFlagsAllowDynamicTensors | kTfLiteDelegateFlagsRequirePropagatedShapes;
  }
  return delegate;
}

void tflite_plugin_destroy_delegate(TfLiteDelegate* delegate) { free(delegate); }
