// SPDX-License-Identifier: Apache-2.0
//
// An opaque delegate: it claims ADD nodes of two float32 tensors of one size without activation,
// and accesses graph and tensors only through the functions that the runtime's library exports. It
// is an external delegate, or with STABLE_VERSION a stable one.
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/c/builtin_op_data.h"
#include "tensorflow/lite/c/c_api_opaque.h"
#include "tensorflow/lite/c/common.h"
#include "tensorflow/lite/core/acceleration/configuration/c/stable_delegate.h"
#include "tensorflow/lite/core/c/operator.h"
#include "tensorflow/lite/delegates/external/external_delegate_interface.h"

// The delegate's node has the inputs and output of the replaced node, because each partition is one
// node.
static TfLiteStatus PrepareKernel(TfLiteOpaqueContext* context, TfLiteOpaqueNode* node) {
  const TfLiteOpaqueTensor* a = TfLiteOpaqueNodeGetInput(context, node, 0);
  TfLiteOpaqueTensor* out = TfLiteOpaqueNodeGetOutput(context, node, 0);
  return a == NULL || out == NULL ? kTfLiteError : kTfLiteOk;
}

static TfLiteStatus InvokeKernel(TfLiteOpaqueContext* context, TfLiteOpaqueNode* node) {
  const int last = TfLiteOpaqueNodeNumberOfInputs(node) - 1;
  const TfLiteOpaqueTensor* a = TfLiteOpaqueNodeGetInput(context, node, 0);
  const TfLiteOpaqueTensor* b = TfLiteOpaqueNodeGetInput(context, node, last);
  TfLiteOpaqueTensor* out = TfLiteOpaqueNodeGetOutput(context, node, 0);
  const float* a_data = (const float*)TfLiteOpaqueTensorData(a);
  const float* b_data = (const float*)TfLiteOpaqueTensorData(b);
  float* out_data = (float*)TfLiteOpaqueTensorData(out);
  const size_t count = TfLiteOpaqueTensorByteSize(out) / sizeof(float);
  for (size_t i = 0; i < count; ++i) out_data[i] = a_data[i] + b_data[i];
  return kTfLiteOk;
}

static int IsClaimed(const TfLiteOpaqueContext* context, const TfLiteOpaqueNode* node,
                     const TfLiteOperator* op) {
  if (TfLiteOperatorGetBuiltInCode(op) != kTfLiteBuiltinAdd) return 0;
  const TfLiteAddParams* params = (const TfLiteAddParams*)TfLiteOpaqueNodeGetBuiltinData(node);
  if (params == NULL || params->activation != kTfLiteActNone) return 0;
  const size_t bytes = TfLiteOpaqueTensorByteSize(
      TfLiteOpaqueNodeGetOutput((TfLiteOpaqueContext*)context, (TfLiteOpaqueNode*)node, 0));
  for (int i = 0; i < 2; ++i) {
    const TfLiteOpaqueTensor* in = TfLiteOpaqueNodeGetInput(context, node, i);
    if (TfLiteOpaqueTensorType(in) != kTfLiteFloat32 || TfLiteOpaqueTensorByteSize(in) != bytes) {
      return 0;
    }
  }
  return 1;
}

static TfLiteStatus Replace(TfLiteOpaqueContext* context, TfLiteOpaqueDelegate* delegate,
                            int node_index) {
  TfLiteOperator* op = TfLiteOperatorCreate(kTfLiteBuiltinDelegate, "OpaqueAdd", 1, NULL);
  if (op == NULL) return kTfLiteError;
  TfLiteOperatorSetPrepare(op, PrepareKernel);
  TfLiteOperatorSetInvoke(op, InvokeKernel);
  int array[2] = {1, node_index};  // laid out as a TfLiteIntArray
  return TfLiteOpaqueContextReplaceNodeSubsetsWithDelegateKernels(
      context, op, (const TfLiteIntArray*)(const void*)array, delegate);
}

static TfLiteStatus Prepare(TfLiteOpaqueContext* context, TfLiteOpaqueDelegate* delegate,
                            void* data) {
  ++*(int*)data;
  TfLiteIntArray* plan = NULL;
  if (TfLiteOpaqueContextGetExecutionPlan(context, &plan) != kTfLiteOk) return kTfLiteError;
  const int count = plan->size;
  int* nodes = (int*)malloc(sizeof(int) * (size_t)(count + 1));
  if (nodes == NULL) return kTfLiteError;
  memcpy(nodes, plan->data, sizeof(int) * (size_t)count);
  TfLiteStatus status = kTfLiteOk;
  for (int i = 0; i < count && status == kTfLiteOk; ++i) {
    TfLiteOpaqueNode* node = NULL;
    TfLiteOperator* op = NULL;
    status = TfLiteOpaqueContextGetNodeAndRegistration(context, nodes[i], &node, &op);
    if (status == kTfLiteOk && IsClaimed(context, node, op)) {
      status = Replace(context, delegate, nodes[i]);
    }
  }
  free(nodes);
  return status;
}

static TfLiteOpaqueDelegate* Create(void) {
  TfLiteOpaqueDelegateBuilder builder;
  memset(&builder, 0, sizeof builder);
  static int prepares;
  builder.data = &prepares;
  builder.Prepare = Prepare;
  return TfLiteOpaqueDelegateCreate(&builder);
}

#ifdef STABLE_VERSION

// Returns a field of a FlatBuffer table by its byte offset in the vtable; NULL if it is absent.
static const char* Field(const char* table, int place) {
  int32_t back;
  memcpy(&back, table, sizeof back);
  const char* vtable = table - back;
  uint16_t size, offset = 0;
  memcpy(&size, vtable, sizeof size);
  if (place < size) memcpy(&offset, vtable + place, sizeof offset);
  return offset == 0 ? NULL : table + offset;
}

// Returns the object to which a field of a table refers.
static const char* Referred(const char* field) {
  uint32_t offset;
  memcpy(&offset, field, sizeof offset);
  return field + offset;
}

// Writes the fields of TensorFlow Lite's TFLiteSettings to a file: max_delegated_partitions,
// delegate_path and delegate_name.
static void LogSettings(const char* settings, const char* path) {
  FILE* file = fopen(path, "w");
  const char* loader = Referred(Field(settings, 28));
  int32_t partitions = 0;
  const char* field = Field(settings, 18);
  if (field != NULL) memcpy(&partitions, field, sizeof partitions);
  fprintf(file, "%d %s %s\n", partitions, Referred(Field(loader, 4)) + 4,
          Referred(Field(loader, 6)) + 4);
  fclose(file);
}

// Creates a delegate. Settings, if there are any, are a flag: 0 requests a failure. With OPAQUE_LOG
// in the environment they are those that TensorFlow Lite's loader passes, and are written to that
// file.
static TfLiteOpaqueDelegate* CreateFromSettings(const void* settings) {
  const char* log = getenv("OPAQUE_LOG");
  if (log != NULL) LogSettings(settings, log);
  return settings != NULL && *(const char*)settings == 0 ? NULL : Create();
}

static int GetErrno(TfLiteOpaqueDelegate* delegate) { return (void)delegate, 0; }

static const TfLiteOpaqueDelegatePlugin kPlugin = {CreateFromSettings, TfLiteOpaqueDelegateDelete,
                                                   GetErrno};

__attribute__((visibility("default"))) const TfLiteStableDelegate TFL_TheStableDelegate = {
    STABLE_VERSION, "deputy_opaque_add", "0.9", &kPlugin};

#else

TfLiteDelegate* tflite_plugin_create_delegate(const char* const* options_keys,
                                              const char* const* options_values, size_t num_options,
                                              void (*report_error)(const char* message)) {
  (void)options_keys;
  (void)options_values;
  (void)num_options;
  (void)report_error;
  return (TfLiteDelegate*)Create();
}

void tflite_plugin_destroy_delegate(TfLiteDelegate* delegate) {
  TfLiteOpaqueDelegateDelete((TfLiteOpaqueDelegate*)delegate);
}

#endif  // STABLE_VERSION
