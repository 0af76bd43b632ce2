// SPDX-License-Identifier: Apache-2.0
//
// A delegate that claims every ADD and fails in each invoke.
#include <stdlib.h>

#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/c/common.h"
#include "tensorflow/lite/delegates/external/external_delegate_interface.h"

static TfLiteStatus PrepareKernel(TfLiteContext* context, TfLiteNode* node) {
  return context == NULL || node == NULL ? kTfLiteError : kTfLiteOk;
}

static TfLiteStatus InvokeKernel(TfLiteContext* context, TfLiteNode* node) {
  (void)context;
  (void)node;
  return kTfLiteError;
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
    if (registration->builtin_code == kTfLiteBuiltinAdd) {
      claimed->data[claimed->size++] = plan->data[i];
    }
  }
  TfLiteRegistration kernel = {0};
  kernel.prepare = PrepareKernel;
  kernel.invoke = InvokeKernel;
  kernel.custom_name = "Failing";
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
  (void)options_values;
  (void)num_options;
  (void)report_error;
  TfLiteDelegate* delegate = (TfLiteDelegate*)calloc(1, sizeof(TfLiteDelegate));
  if (delegate != NULL) delegate->Prepare = Prepare;
  return delegate;
}

void tflite_plugin_destroy_delegate(TfLiteDelegate* delegate) { free(delegate); }
