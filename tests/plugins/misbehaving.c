// SPDX-License-Identifier: Apache-2.0
//
// A delegate that claims ADD of float32 tensors of one size, without activation, and does one thing
// that a delegate must not do, chosen at compile time: WRONG is one of the enumerators below.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "deputy/delegate_helper.h"
#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/c/builtin_op_data.h"
#include "tensorflow/lite/c/common.h"
#include "tensorflow/lite/delegates/external/external_delegate_interface.h"

enum {
  kNothing,      // behaves correctly
  kNan,          // computes a NaN
  kInfinity,     // computes an infinity
  kOverwrite,    // writes one float beyond the end of its output
  kLeak,         // leaks 40 bytes in every inference
  kLeakKernel,   // leaks 40 bytes per kernel
  kHang,         // never returns from the third inference
  kCrashResize,  // crashes when it is prepared for the 7th shape
  kSlow,         // takes at least 30 ms
  kExit,         // exits the process in the second inference
  kEmptyHanded,  // creates no delegate and reports no reason
};

enum { kOperands = 2 };

typedef struct Kernel {
  int tensors[3];  // two operands and the output of the node
  int inferences;
} Kernel;

static void* volatile forgotten;

static void* Init(TfLiteContext* context, const char* buffer, size_t length) {
  (void)length;
  const TfLiteDelegateParams* params = (const TfLiteDelegateParams*)(const void*)buffer;
  TfLiteNode* node = NULL;
  TfLiteRegistration* registration = NULL;
  Kernel* kernel = (Kernel*)calloc(1, sizeof(Kernel));
  if (kernel == NULL) return NULL;
  if (context->GetNodeAndRegistration(context, params->nodes_to_replace->data[0], &node,
                                      &registration) != kTfLiteOk) {
    free(kernel);
    return NULL;
  }
  kernel->tensors[0] = node->inputs->data[0];
  kernel->tensors[1] = node->inputs->data[1];
  kernel->tensors[2] = node->outputs->data[0];
  if (WRONG == kLeakKernel) forgotten = malloc(40);
  return kernel;
}

static void Free(TfLiteContext* context, void* kernel) {
  (void)context;
  free(kernel);
}

// Number of shapes for which kernels were prepared. It is counted in the whole process, because a
// resize creates a new kernel.
static int shapes;
static size_t last_bytes;

static TfLiteStatus PrepareKernel(TfLiteContext* context, TfLiteNode* node) {
  Kernel* kernel = (Kernel*)node->user_data;
  if (kernel == NULL) return kTfLiteError;
  TfLiteTensor* input = &context->tensors[kernel->tensors[0]];
  if (input->bytes != last_bytes) ++shapes;
  last_bytes = input->bytes;
  if (WRONG == kCrashResize && shapes == 7) abort();
  return context->ResizeTensor(context, &context->tensors[kernel->tensors[2]],
                               DeputyIntArrayCopy(input->dims));
}

static TfLiteStatus Invoke(TfLiteContext* context, TfLiteNode* node) {
  Kernel* kernel = (Kernel*)node->user_data;
  const float* a = context->tensors[kernel->tensors[0]].data.f;
  const float* b = context->tensors[kernel->tensors[1]].data.f;
  const TfLiteTensor* output = &context->tensors[kernel->tensors[2]];
  const size_t count = output->bytes / sizeof(float);
  ++kernel->inferences;
  for (size_t i = 0; i < count; ++i) output->data.f[i] = a[i] + b[i];
  if (WRONG == kNan && count > 2) output->data.f[2] = NAN;
  if (WRONG == kInfinity && count > 2) output->data.f[2] = INFINITY;
  if (WRONG == kOverwrite) *(volatile float*)(output->data.f + count) = 7;
  if (WRONG == kLeak) forgotten = malloc(40);
  while (WRONG == kHang && kernel->inferences == 3) sleep(1);
  if (WRONG == kSlow) usleep(30000);
  if (WRONG == kExit && kernel->inferences == 2) exit(0);
  return kTfLiteOk;
}

static bool IsSupported(TfLiteContext* context, TfLiteNode* node,
                        const TfLiteRegistration* registration, void* user_data, char* reason,
                        size_t reason_size) {
  (void)user_data, (void)reason, (void)reason_size;
  if (registration->builtin_code != kTfLiteBuiltinAdd || node->inputs->size != kOperands) {
    return false;
  }
  const TfLiteAddParams* params = (const TfLiteAddParams*)node->builtin_data;
  if (params != NULL && params->activation != kTfLiteActNone) return false;
  const TfLiteTensor* output = &context->tensors[node->outputs->data[0]];
  for (int i = 0; i < kOperands; ++i) {
    const TfLiteTensor* input = &context->tensors[node->inputs->data[i]];
    if (input->type != kTfLiteFloat32 || input->bytes != output->bytes) return false;
  }
  return output->type == kTfLiteFloat32;
}

static TfLiteStatus Prepare(TfLiteContext* context, TfLiteDelegate* delegate) {
  TfLiteRegistration kernel;
  memset(&kernel, 0, sizeof kernel);
  kernel.init = Init;
  kernel.free = Free;
  kernel.prepare = PrepareKernel;
  kernel.invoke = Invoke;
  kernel.custom_name = "Misbehaving";
  kernel.version = 1;
  DeputyPartitionHelper helper;
  DeputyPartitionHelperInit(&helper, context);
  TfLiteStatus status = DeputyPartitionHelperPartition(&helper, IsSupported, NULL, 0, INT_MAX);
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

TfLiteDelegate* tflite_plugin_create_delegate(const char* const* options_keys,
                                              const char* const* options_values, size_t num_options,
                                              void (*report_error)(const char* message)) {
  (void)options_values;
  if (num_options > 0) {
    if (report_error != NULL) report_error(options_keys[0]);
    return NULL;
  }
  TfLiteDelegate* delegate =
      WRONG == kEmptyHanded ? NULL : (TfLiteDelegate*)calloc(1, sizeof(TfLiteDelegate));
  if (delegate != NULL) delegate->Prepare = Prepare;
  return delegate;
}

void tflite_plugin_destroy_delegate(TfLiteDelegate* delegate) { free(delegate); }
