// SPDX-License-Identifier: Apache-2.0
//
// A library with a custom operator, "Double", and the function by which Python's
// InterpreterWithCustomOps adds it.
#include "tensorflow/lite/c/c_api_experimental.h"
#include "tensorflow/lite/c/common.h"

static TfLiteStatus Invoke(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = &context->tensors[node->inputs->data[0]];
  TfLiteTensor* output = &context->tensors[node->outputs->data[0]];
  const float* from = (const float*)input->data.raw;
  for (size_t i = 0; i < input->bytes / sizeof(float); ++i) {
    ((float*)output->data.raw)[i] = 2 * from[i];
  }
  return kTfLiteOk;
}

__attribute__((visibility("default"))) void RegisterDouble(TfLiteInterpreterOptions* options) {
  static const TfLiteRegistration kDouble = {.invoke = Invoke};
  TfLiteInterpreterOptionsAddCustomOp(options, "Double", &kDouble, 1, 1);
}
