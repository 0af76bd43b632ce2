// SPDX-License-Identifier: Apache-2.0
//
// Custom operators and a delegate for tests of Python's InterpreterWithCustomOps. Operators that
// fail report a reason.
#include "tensorflow/lite/c/c_api_experimental.h"
#include "tensorflow/lite/c/common.h"

#define EXPORT __attribute__((visibility("default")))

static void (*during_invoke)(void) = NULL;

static TfLiteStatus Double(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = &context->tensors[node->inputs->data[0]];
  TfLiteTensor* output = &context->tensors[node->outputs->data[0]];
  const float* from = (const float*)input->data.raw;
  for (size_t i = 0; i < input->bytes / sizeof(float); ++i) {
    ((float*)output->data.raw)[i] = 2 * from[i];
  }
  return kTfLiteOk;
}

static TfLiteStatus DoubleAfterCallback(TfLiteContext* context, TfLiteNode* node) {
  if (during_invoke != NULL) during_invoke();
  return Double(context, node);
}

static TfLiteStatus FailInPrepare(TfLiteContext* context, TfLiteNode* node) {
  (void)node;
  context->ReportError(context, "the licence is 100%% missing: %s", "a.lic");
  return kTfLiteError;
}

static TfLiteStatus FailInInvoke(TfLiteContext* context, TfLiteNode* node) {
  (void)node;
  context->ReportError(context, "camera %d is unplugged", 3);
  context->ReportError(context, "no other camera");
  return kTfLiteError;
}

// Sets the function that each invoke of the operator "Callback" calls; NULL for none.
EXPORT void SetDuringInvoke(void (*function)(void)) { during_invoke = function; }

EXPORT void RegisterDouble(TfLiteInterpreterOptions* options) {
  static const TfLiteRegistration kDouble = {.invoke = Double};
  TfLiteInterpreterOptionsAddCustomOp(options, "Double", &kDouble, 1, 1);
}

EXPORT void RegisterCallback(TfLiteInterpreterOptions* options) {
  static const TfLiteRegistration kCallback = {.invoke = DoubleAfterCallback};
  TfLiteInterpreterOptionsAddCustomOp(options, "Callback", &kCallback, 1, 1);
}

EXPORT void RegisterFailing(TfLiteInterpreterOptions* options) {
  static const TfLiteRegistration kNoLicence = {.prepare = FailInPrepare, .invoke = Double};
  static const TfLiteRegistration kUnplugged = {.invoke = FailInInvoke};
  TfLiteInterpreterOptionsAddCustomOp(options, "NoLicence", &kNoLicence, 1, 1);
  TfLiteInterpreterOptionsAddCustomOp(options, "Unplugged", &kUnplugged, 1, 1);
}

static TfLiteStatus FailToApply(TfLiteContext* context, TfLiteDelegate* delegate) {
  (void)delegate;
  context->ReportError(context, "device %d is busy", 7);
  return kTfLiteError;
}

// Returns a delegate that refuses every graph.
EXPORT TfLiteDelegate* BusyDelegate(void) {
  static TfLiteDelegate delegate = {.Prepare = FailToApply};
  return &delegate;
}
