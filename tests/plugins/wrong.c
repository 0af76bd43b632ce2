// SPDX-License-Identifier: Apache-2.0
//
// A delegate that claims every ADD and silently computes a wrong result: NaN if the value of its
// first option is "nan" (how=nan), otherwise 1.1 times the sum. It checks neither types nor shapes:
// models must add float32 tensors of one shape.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/c/common.h"
#include "tensorflow/lite/delegates/external/external_delegate_interface.h"

typedef struct {
  TfLiteDelegate base;
  int computes_nan;
} Delegate;

// The replaced nodes, as pairs of inputs and an output.
typedef struct {
  int computes_nan;
  int count;
  int tensors[][3];
} Partition;

static void* Init(TfLiteContext* context, const char* buffer, size_t length) {
  (void)length;
  const TfLiteDelegateParams* params = (const TfLiteDelegateParams*)(const void*)buffer;
  const int count = params->nodes_to_replace->size;
  Partition* self = (Partition*)malloc(sizeof(Partition) + (size_t)count * sizeof(int[3]));
  if (self == NULL) return NULL;
  self->computes_nan = ((const Delegate*)params->delegate->data_)->computes_nan;
  self->count = count;
  for (int i = 0; i < count; ++i) {
    TfLiteNode* node = NULL;
    TfLiteRegistration* registration = NULL;
    context->GetNodeAndRegistration(context, params->nodes_to_replace->data[i], &node,
                                    &registration);
    self->tensors[i][0] = node->inputs->data[0];
    self->tensors[i][1] = node->inputs->data[1];
    self->tensors[i][2] = node->outputs->data[0];
  }
  return self;
}

static void Free(TfLiteContext* context, void* data) {
  (void)context;
  free(data);
}

static TfLiteStatus Invoke(TfLiteContext* context, TfLiteNode* node) {
  const Partition* self = (const Partition*)node->user_data;
  if (self == NULL) return kTfLiteError;
  for (int i = 0; i < self->count; ++i) {
    const TfLiteTensor* a = &context->tensors[self->tensors[i][0]];
    const TfLiteTensor* b = &context->tensors[self->tensors[i][1]];
    const TfLiteTensor* sum = &context->tensors[self->tensors[i][2]];
    for (size_t k = 0; k < sum->bytes / sizeof(float); ++k) {
      sum->data.f[k] = self->computes_nan ? NAN : 1.1f * (a->data.f[k] + b->data.f[k]);
    }
  }
  return kTfLiteOk;
}

static TfLiteStatus Prepare(TfLiteContext* context, TfLiteDelegate* delegate) {
  TfLiteIntArray* plan = NULL;
  if (context->GetExecutionPlan(context, &plan) != kTfLiteOk) return kTfLiteError;
  TfLiteIntArray* claimed =
      (TfLiteIntArray*)malloc(sizeof(TfLiteIntArray) + (size_t)plan->size * sizeof(int));
  if (claimed == NULL) return kTfLiteError;
  claimed->size = 0;
  for (int i = 0; i < plan->size; ++i) {
    TfLiteNode* node = NULL;
    TfLiteRegistration* registration = NULL;
    if (context->GetNodeAndRegistration(context, plan->data[i], &node, &registration) !=
        kTfLiteOk) {
      break;
    }
    if (registration->builtin_code != kTfLiteBuiltinAdd) continue;
    claimed->data[claimed->size++] = plan->data[i];
  }
  TfLiteRegistration kernel = {0};
  kernel.init = Init;
  kernel.free = Free;
  kernel.invoke = Invoke;
  kernel.custom_name = "Wrong";
  kernel.version = 1;
  const TfLiteStatus status =
      context->ReplaceNodeSubsetsWithDelegateKernels(context, kernel, claimed, delegate);
  free(claimed);
  return status;
}

TfLiteDelegate* tflite_plugin_create_delegate(const char* const* options_keys,
                                              const char* const* options_values, size_t num_options,
                                              void (*report_error)(const char* message)) {
  (void)options_keys;
  (void)report_error;
  Delegate* delegate = (Delegate*)calloc(1, sizeof(Delegate));
  if (delegate == NULL) return NULL;
  delegate->base.data_ = delegate;
  delegate->base.Prepare = Prepare;
  delegate->computes_nan = num_options > 0 && strcmp(options_values[0], "nan") == 0;
  return &delegate->base;
}

void tflite_plugin_destroy_delegate(TfLiteDelegate* delegate) { free(delegate); }
