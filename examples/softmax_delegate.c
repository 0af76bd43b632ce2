/* SPDX-License-Identifier: Apache-2.0
 *
 * A minimal useful delegate as a plug-in: it runs SOFTMAX of float32 and leaves all other nodes to
 * other delegates and the CPU. It links no library, so the same file loads into Deputy and into
 * TensorFlow Lite:
 *
 *     cc -shared -fPIC -I<prefix>/include softmax_delegate.c -lm -o libsoftmax_delegate.so
 *     deputy explain model.tflite --delegate ./libsoftmax_delegate.so
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "deputy/delegate_helper.h"
#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/c/builtin_op_data.h"
#include "tensorflow/lite/c/common.h"
#include "tensorflow/lite/delegates/external/external_delegate_interface.h"

/* ---- The kernel, one for every node ---------------------------------------------------------- */

typedef struct Kernel {
  float beta;
} Kernel;

static void* Init(TfLiteContext* context, const char* buffer, size_t length) {
  const TfLiteDelegateParams* params = (const TfLiteDelegateParams*)buffer;
  TfLiteNode* node = NULL;
  TfLiteRegistration* registration = NULL;
  (void)length;
  if (params->nodes_to_replace->size != 1 ||
      context->GetNodeAndRegistration(context, params->nodes_to_replace->data[0], &node,
                                      &registration) != kTfLiteOk) {
    return NULL; /* PrepareKernel then fails */
  }
  Kernel* kernel = (Kernel*)malloc(sizeof *kernel);
  if (kernel != NULL) kernel->beta = ((const TfLiteSoftmaxParams*)node->builtin_data)->beta;
  return kernel;
}

static void Free(TfLiteContext* context, void* kernel) {
  (void)context;
  free(kernel);
}

static TfLiteStatus PrepareKernel(TfLiteContext* context, TfLiteNode* node) {
  if (node->user_data == NULL) return kTfLiteError;
  const TfLiteIntArray* dims = context->tensors[node->inputs->data[0]].dims;
  return context->ResizeTensor(context, &context->tensors[node->outputs->data[0]],
                               DeputyIntArrayCopy(dims));
}

static TfLiteStatus Invoke(TfLiteContext* context, TfLiteNode* node) {
  const Kernel* kernel = (const Kernel*)node->user_data;
  const TfLiteTensor* input = &context->tensors[node->inputs->data[0]];
  const int depth = input->dims->data[input->dims->size - 1];
  const float* in = input->data.f;
  float* out = context->tensors[node->outputs->data[0]].data.f;
  for (size_t left = input->bytes / sizeof(float); left > 0; left -= (size_t)depth) {
    float largest = in[0], sum = 0;
    for (int i = 1; i < depth; ++i) largest = in[i] > largest ? in[i] : largest;
    for (int i = 0; i < depth; ++i) sum += out[i] = expf((in[i] - largest) * kernel->beta);
    for (int i = 0; i < depth; ++i) out[i] /= sum;
    in += depth;
    out += depth;
  }
  return kTfLiteOk;
}

/* ---- The delegate ------------------------------------------------------------------------------
 */

static bool IsSupported(TfLiteContext* context, TfLiteNode* node,
                        const TfLiteRegistration* registration, void* user_data, char* reason,
                        size_t reason_size) {
  (void)user_data;
  if (registration->builtin_code != kTfLiteBuiltinSoftmax) {
    snprintf(reason, reason_size, "only SOFTMAX");
    return false;
  }
  const TfLiteTensor* input = &context->tensors[node->inputs->data[0]];
  if (input->type == kTfLiteFloat32 && input->dims->size > 0) return true;
  snprintf(reason, reason_size, "only float32 of at least one dimension");
  return false;
}

static TfLiteStatus Prepare(TfLiteContext* context, TfLiteDelegate* delegate) {
  TfLiteRegistration kernel;
  memset(&kernel, 0, sizeof kernel);
  kernel.init = Init;
  kernel.free = Free;
  kernel.prepare = PrepareKernel;
  kernel.invoke = Invoke;
  kernel.custom_name = "SoftmaxDelegate";
  kernel.version = 1;
  DeputyPartitionHelper helper;
  DeputyPartitionHelperInit(&helper, context);
  TfLiteStatus status = DeputyPartitionHelperPartition(&helper, IsSupported, NULL, 0, INT_MAX);
  /* One call per node creates one kernel per node, even for nodes that could share one. */
  TfLiteIntArray* one = DeputyIntArrayCreate(1);
  if (one == NULL) status = kTfLiteError;
  for (int i = 0; status == kTfLiteOk && i < helper.supported->size; ++i) {
    one->data[0] = helper.supported->data[i];
    status = context->ReplaceNodeSubsetsWithDelegateKernels(context, kernel, one, delegate);
  }
  DeputyIntArrayFree(one);
  DeputyPartitionHelperFree(&helper);
  return status;
}

/* ---- Exported functions ------------------------------------------------------------------------
 */

TfLiteDelegate* tflite_plugin_create_delegate(const char* const* options_keys,
                                              const char* const* options_values, size_t num_options,
                                              void (*report_error)(const char* message)) {
  (void)options_values;
  if (num_options > 0) {
    if (report_error != NULL) report_error(options_keys[0]);
    return NULL; /* there are no options */
  }
  TfLiteDelegate* delegate = (TfLiteDelegate*)calloc(1, sizeof *delegate);
  if (delegate == NULL) return NULL;
  delegate->Prepare = Prepare;
  delegate->flags = kTfLiteDelegateFlagsNone;
  return delegate;
}

void tflite_plugin_destroy_delegate(TfLiteDelegate* delegate) { free(delegate); }
