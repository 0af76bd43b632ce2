// SPDX-License-Identifier: Apache-2.0
#include "tests/support/recording_kernels.h"

#include <stdlib.h>
#include <string.h>

static char calls[4096];

char kRecordUserData;

static void Record(const char* call) {
  if (strlen(calls) + strlen(call) + 1 < sizeof calls) strcat(calls, call);
}

const char* RecordedCalls(void) { return calls; }
void ResetRecordedCalls(void) { calls[0] = '\0'; }

// ---- Plain functions ----------------------------------------------------------------------------

static void* KeepOption(const char* buffer, size_t length) {
  int* option = (int*)malloc(sizeof(int));
  if (option != NULL) *option = length > 0 ? buffer[0] : 0;
  return option;
}

void* RecordInit(TfLiteContext* context, const char* buffer, size_t length) {
  (void)context;
  Record("init ");
  return KeepOption(buffer, length);
}

void RecordFree(TfLiteContext* context, void* user_data) {
  (void)context;
  Record("free ");
  free(user_data);
}

TfLiteStatus RecordPrepare(TfLiteContext* context, TfLiteNode* node) {
  Record("prepare ");
  const TfLiteTensor* input = &context->tensors[node->inputs->data[0]];
  TfLiteTensor* output = &context->tensors[node->outputs->data[0]];
  return context->ResizeTensor(context, output, TfLiteIntArrayCopy(input->dims));
}

TfLiteStatus RecordInvoke(TfLiteContext* context, TfLiteNode* node) {
  Record("invoke ");
  const TfLiteTensor* input = &context->tensors[node->inputs->data[0]];
  TfLiteTensor* output = &context->tensors[node->outputs->data[0]];
  const int option = *(const int*)node->user_data;
  for (size_t i = 0; i < input->bytes / sizeof(float); ++i) {
    output->data.f[i] = input->data.f[i] + (float)option;
  }
  return kTfLiteOk;
}

// ---- Opaque functions ---------------------------------------------------------------------------

void* RecordOpaqueInit(TfLiteOpaqueContext* context, const char* buffer, size_t length) {
  (void)context;
  Record("init ");
  return KeepOption(buffer, length);
}

void RecordOpaqueFree(TfLiteOpaqueContext* context, void* user_data) {
  (void)context;
  Record("free ");
  free(user_data);
}

TfLiteStatus RecordOpaquePrepare(TfLiteOpaqueContext* context, TfLiteOpaqueNode* node) {
  Record("prepare ");
  const TfLiteOpaqueTensor* input = TfLiteOpaqueNodeGetInput(context, node, 0);
  TfLiteOpaqueTensor* output = TfLiteOpaqueNodeGetOutput(context, node, 0);
  const int rank = TfLiteOpaqueTensorNumDims(input);
  TfLiteIntArray* dims = TfLiteIntArrayCreate(rank);
  if (dims == NULL) return kTfLiteError;
  for (int i = 0; i < rank; ++i) dims->data[i] = TfLiteOpaqueTensorDim(input, i);
  return TfLiteOpaqueContextResizeTensor(context, output, dims);
}

TfLiteStatus RecordOpaqueInvoke(TfLiteOpaqueContext* context, TfLiteOpaqueNode* node) {
  Record("invoke ");
  const TfLiteOpaqueTensor* input = TfLiteOpaqueNodeGetInput(context, node, 0);
  TfLiteOpaqueTensor* output = TfLiteOpaqueNodeGetOutput(context, node, 0);
  const int option = *(const int*)TfLiteOpaqueNodeGetUserData(node);
  const float* from = (const float*)TfLiteOpaqueTensorData(input);
  float* to = (float*)TfLiteOpaqueTensorData(output);
  for (size_t i = 0; i < TfLiteOpaqueTensorByteSize(input) / sizeof(float); ++i) {
    to[i] = from[i] + (float)option;
  }
  return kTfLiteOk;
}

// ---- Opaque functions with user data ------------------------------------------------------------

static void RecordData(const void* data) {
  Record(data == &kRecordUserData ? "data " : "wrong-data ");
}

void* RecordDataInit(void* data, TfLiteOpaqueContext* context, const char* buffer, size_t length) {
  RecordData(data);
  return RecordOpaqueInit(context, buffer, length);
}

void RecordDataFree(void* data, TfLiteOpaqueContext* context, void* user_data) {
  RecordData(data);
  RecordOpaqueFree(context, user_data);
}

TfLiteStatus RecordDataPrepare(void* data, TfLiteOpaqueContext* context, TfLiteOpaqueNode* node) {
  RecordData(data);
  return RecordOpaquePrepare(context, node);
}

TfLiteStatus RecordDataInvoke(void* data, TfLiteOpaqueContext* context, TfLiteOpaqueNode* node) {
  RecordData(data);
  return RecordOpaqueInvoke(context, node);
}

// ---- Registrations ------------------------------------------------------------------------------

TfLiteRegistration RecordRegistration(void) {
  TfLiteRegistration registration;
  memset(&registration, 0, sizeof registration);
  registration.init = RecordInit;
  registration.free = RecordFree;
  registration.prepare = RecordPrepare;
  registration.invoke = RecordInvoke;
  return registration;
}

// Returns a registration of an older, shorter type. Garbage follows it, so that a read beyond its
// end is detected.
#define SHORT_REGISTRATION(type)                                   \
  static struct {                                                  \
    type registration;                                             \
    unsigned char rubbish[sizeof(TfLiteRegistration)];             \
  } holder;                                                        \
  const TfLiteRegistration full = RecordRegistration();            \
  memset(&holder, 0xdb, sizeof holder);                            \
  memcpy(&holder.registration, &full, sizeof holder.registration); \
  return &holder.registration

const TfLiteRegistration_V1* RecordRegistrationV1(void) {
  SHORT_REGISTRATION(TfLiteRegistration_V1);
}
const TfLiteRegistration_V2* RecordRegistrationV2(void) {
  SHORT_REGISTRATION(TfLiteRegistration_V2);
}
const TfLiteRegistration_V3* RecordRegistrationV3(void) {
  SHORT_REGISTRATION(TfLiteRegistration_V3);
}
