// SPDX-License-Identifier: Apache-2.0
//
// An external delegate that claims every node of the plan, each in a partition of its own, computes
// nothing, and appends to the file named by the environment variable RECORDER_LOG:
//
//     create <file name of this library> <key>=<value> ...    a delegate was created
//     apply <threads>                                         with the context's recommended number
//     destroy                                                 it was deleted
//     invoke <node> <nanoseconds>                             a node ran, on the monotonic clock
//
// With DECLARES it describes itself and declares the text option of that name. RECORDER_SLEEP_US
// makes node i sleep for (i + 1) times this number of microseconds.
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "deputy/deputy_plugin.h"
#include "tensorflow/lite/c/common.h"
#include "tensorflow/lite/delegates/external/external_delegate_interface.h"

// An address in this library, for dladdr.
static const char kInThisLibrary = 0;

static FILE* OpenLog(void) {
  const char* path = getenv("RECORDER_LOG");
  return path == NULL ? NULL : fopen(path, "a");
}

static void LogCreation(const char* const* keys, const char* const* values, size_t count) {
  FILE* file = OpenLog();
  if (file == NULL) return;
  Dl_info info;
  const char* name = "";
  if (dladdr(&kInThisLibrary, &info) != 0) name = info.dli_fname;
  const char* slash = strrchr(name, '/');
  fprintf(file, "create %s", slash == NULL ? name : slash + 1);
  for (size_t i = 0; i < count; ++i) fprintf(file, " %s=%s", keys[i], values[i]);
  fprintf(file, "\n");
  fclose(file);
}

static void* InitKernel(TfLiteContext* context, const char* buffer, size_t length) {
  (void)context;
  (void)length;
  const TfLiteDelegateParams* params = (const TfLiteDelegateParams*)(const void*)buffer;
  int* node = (int*)malloc(sizeof *node);
  if (node != NULL) *node = params->nodes_to_replace->data[0];
  return node;
}

static void FreeKernel(TfLiteContext* context, void* data) {
  (void)context;
  free(data);
}

static TfLiteStatus PrepareKernel(TfLiteContext* context, TfLiteNode* node) {
  (void)context;
  return node->user_data == NULL ? kTfLiteError : kTfLiteOk;
}

static void Sleep(int64_t microseconds) {
  const struct timespec duration = {(time_t)(microseconds / 1000000),
                                    (long)(microseconds % 1000000) * 1000};
  nanosleep(&duration, NULL);
}

static TfLiteStatus InvokeKernel(TfLiteContext* context, TfLiteNode* node) {
  (void)context;
  const int index = *(const int*)node->user_data;
  FILE* file = OpenLog();
  if (file != NULL) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    fprintf(file, "invoke %d %lld\n", index, (long long)now.tv_sec * 1000000000 + now.tv_nsec);
    fclose(file);
  }
  const char* sleep = getenv("RECORDER_SLEEP_US");
  if (sleep != NULL) Sleep(atoll(sleep) * (index + 1));
  return kTfLiteOk;
}

static TfLiteRegistration Registration(void) {
  TfLiteRegistration registration;
  memset(&registration, 0, sizeof registration);
  registration.init = InitKernel;
  registration.free = FreeKernel;
  registration.prepare = PrepareKernel;
  registration.invoke = InvokeKernel;
  registration.custom_name = "Recorder";
  registration.version = 1;
  return registration;
}

static TfLiteStatus Prepare(TfLiteContext* context, TfLiteDelegate* delegate) {
  FILE* file = OpenLog();
  if (file != NULL) {
    fprintf(file, "apply %d\n", context->recommended_num_threads);
    fclose(file);
  }
  TfLiteIntArray* plan = NULL;
  if (context->GetExecutionPlan(context, &plan) != kTfLiteOk) return kTfLiteError;
  const int count = plan->size;
  int* nodes = (int*)malloc(sizeof(int) * ((size_t)count + 1));
  if (nodes == NULL) return kTfLiteError;
  memcpy(nodes, plan->data, sizeof(int) * (size_t)count);
  TfLiteStatus status = kTfLiteOk;
  for (int i = 0; i < count && status == kTfLiteOk; ++i) {
    int one[2] = {1, nodes[i]};  // laid out as a TfLiteIntArray
    status = context->ReplaceNodeSubsetsWithDelegateKernels(
        context, Registration(), (const TfLiteIntArray*)(const void*)one, delegate);
  }
  free(nodes);
  return status;
}

TfLiteDelegate* tflite_plugin_create_delegate(const char* const* keys, const char* const* values,
                                              size_t count,
                                              void (*report_error)(const char* message)) {
  (void)report_error;
  LogCreation(keys, values, count);
  TfLiteDelegate* delegate = (TfLiteDelegate*)calloc(1, sizeof *delegate);
  if (delegate != NULL) delegate->Prepare = Prepare;
  return delegate;
}

void tflite_plugin_destroy_delegate(TfLiteDelegate* delegate) {
  FILE* file = OpenLog();
  if (file != NULL) {
    fprintf(file, "destroy\n");
    fclose(file);
  }
  free(delegate);
}

#ifdef DECLARES
TFL_EXTERNAL_DELEGATE_EXPORT const DeputyDelegatePlugin* deputy_plugin(void);

const DeputyDelegatePlugin* deputy_plugin(void) {
  static const DeputyPluginOption kOption = {
      .name = DECLARES, .type = kDeputyOptionString, .default_value = "", .help = "Recorded."};
  static const DeputyDelegatePlugin kPlugin = {
      .struct_size = sizeof kPlugin,
      .abi_version = DEPUTY_PLUGIN_ABI_VERSION,
      .name = "recorder",
      .version = "1",
      .vendor = "tests",
      .options = &kOption,
      .option_count = 1,
      .create = tflite_plugin_create_delegate,
      .destroy = tflite_plugin_destroy_delegate,
  };
  return &kPlugin;
}
#endif
