// SPDX-License-Identifier: Apache-2.0
//
// A plug-in that claims no nodes but implements buffer handles: the contents of handle 7 are
// sevens. Its delegate struct has the size of old headers, 48 bytes: the runtime must not read
// beyond it.
#include <stdlib.h>
#include <string.h>

#include "tensorflow/lite/c/common.h"
#include "tensorflow/lite/delegates/external/external_delegate_interface.h"

static int data;  // its address identifies this delegate in callbacks

static TfLiteStatus Prepare(TfLiteContext* context, TfLiteDelegate* delegate) {
  (void)context;
  return delegate->data_ == &data ? kTfLiteOk : kTfLiteError;
}

static TfLiteStatus CopyFrom(TfLiteContext* context, TfLiteDelegate* delegate,
                             TfLiteBufferHandle handle, TfLiteTensor* tensor) {
  (void)context;
  if (delegate->data_ != &data || handle != 7) return kTfLiteError;
  for (size_t i = 0; i < tensor->bytes / sizeof(float); ++i) tensor->data.f[i] = 7;
  return kTfLiteOk;
}

static TfLiteStatus CopyTo(TfLiteContext* context, TfLiteDelegate* delegate,
                           TfLiteBufferHandle handle, TfLiteTensor* tensor) {
  (void)context;
  (void)tensor;
  return delegate->data_ == &data && handle == 7 ? kTfLiteOk : kTfLiteError;
}

static void FreeHandle(TfLiteContext* context, TfLiteDelegate* delegate,
                       TfLiteBufferHandle* handle) {
  (void)context;
  if (delegate->data_ == &data) *handle = kTfLiteNullBufferHandle;
}

TfLiteDelegate* tflite_plugin_create_delegate(const char* const* options_keys,
                                              const char* const* options_values, size_t num_options,
                                              void (*report_error)(const char* message)) {
  (void)options_keys;
  (void)options_values;
  (void)num_options;
  (void)report_error;
  TfLiteDelegate full;
  memset(&full, 0, sizeof full);
  full.data_ = &data;
  full.Prepare = Prepare;
  full.CopyFromBufferHandle = CopyFrom;
  full.CopyToBufferHandle = CopyTo;
  full.FreeBufferHandle = FreeHandle;
  full.flags = kTfLiteDelegateFlagsAllowDynamicTensors;
  const size_t old_size = offsetof(TfLiteDelegate, opaque_delegate_builder);
  void* delegate = malloc(old_size);
  if (delegate != NULL) memcpy(delegate, &full, old_size);
  return (TfLiteDelegate*)delegate;
}

void tflite_plugin_destroy_delegate(TfLiteDelegate* delegate) { free(delegate); }
