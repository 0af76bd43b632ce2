// SPDX-License-Identifier: Apache-2.0
//
// A delegate that claims every node, each in a partition of its own, and computes it with the
// runtime's own kernel: results must be those of the CPU, so it tests the delegate interface for
// every operator. It links nothing.
//
// The option "wrong" names a node, in any subgraph, whose first output is then wrong.
//
// A kernel has a copy of the replaced node with its own temporaries and user data; the other
// members belong to the node.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tensorflow/lite/c/common.h"
#include "tensorflow/lite/delegates/external/external_delegate_interface.h"

typedef struct Relay {
  TfLiteDelegate base;
  int wrong;  // index of a node; -1: none
} Relay;

typedef struct Kernel {
  TfLiteNode node;
  TfLiteRegistration registration;
  TfLiteIntArray* unread;  // outputs of `node` that the delegate node does not have
  int is_wrong;
} Kernel;

// Allocates a copy with malloc instead of TfLiteIntArrayCreate, because the delegate links nothing;
// the runtime frees arrays with free.
static TfLiteIntArray* Copy(const TfLiteIntArray* array) {
  const int size = array == NULL ? 0 : array->size;
  TfLiteIntArray* copy =
      (TfLiteIntArray*)malloc(offsetof(TfLiteIntArray, data) + sizeof(int) * (size_t)(size + 1));
  if (copy == NULL) return NULL;
  copy->size = size;
  if (size > 0) memcpy(copy->data, array->data, sizeof(int) * (size_t)size);
  return copy;
}

static bool Contains(const TfLiteIntArray* array, int value) {
  for (int i = 0; i < array->size; ++i) {
    if (array->data[i] == value) return true;
  }
  return false;
}

// Copies `array` without the elements of `others` and absent optional tensors. Returns NULL if out
// of memory.
static TfLiteIntArray* Without(const TfLiteIntArray* array, const TfLiteIntArray* others) {
  TfLiteIntArray* copy = Copy(array);
  if (copy == NULL) return NULL;
  copy->size = 0;
  for (int i = 0; i < array->size; ++i) {
    const int value = array->data[i];
    if (value >= 0 && !Contains(others, value)) copy->data[copy->size++] = value;
  }
  return copy;
}

static TfLiteIntArray* Joined(const TfLiteIntArray* first, const TfLiteIntArray* second) {
  const size_t size = (size_t)first->size + (size_t)second->size;
  TfLiteIntArray* all =
      (TfLiteIntArray*)malloc(offsetof(TfLiteIntArray, data) + sizeof(int) * (size + 1));
  if (all == NULL) return NULL;
  all->size = first->size + second->size;
  memcpy(all->data, first->data, sizeof(int) * (size_t)first->size);
  memcpy(all->data + first->size, second->data, sizeof(int) * (size_t)second->size);
  return all;
}

static void* InitNode(TfLiteContext* context, const Kernel* kernel) {
  const TfLiteNode* node = &kernel->node;
  if (kernel->registration.init == NULL) return NULL;
  if (node->custom_initial_data != NULL || node->builtin_data == NULL) {
    return kernel->registration.init(context, (const char*)node->custom_initial_data,
                                     (size_t)node->custom_initial_data_size);
  }
  return kernel->registration.init(context, (const char*)node->builtin_data, 0);
}

static void FreeKernel(TfLiteContext* context, void* data) {
  Kernel* kernel = (Kernel*)data;
  if (kernel == NULL) return;
  if (kernel->registration.free != NULL && kernel->node.user_data != NULL) {
    kernel->registration.free(context, kernel->node.user_data);
  }
  free(kernel->node.temporaries);
  free(kernel->unread);
  free(kernel);
}

// Returns NULL on failure, which the kernel's prepare reports.
static void* InitKernel(TfLiteContext* context, const char* buffer, size_t length) {
  (void)length;
  const TfLiteDelegateParams* params = (const TfLiteDelegateParams*)(const void*)buffer;
  TfLiteNode* node = NULL;
  TfLiteRegistration* registration = NULL;
  if (params->nodes_to_replace->size != 1 ||
      context->GetNodeAndRegistration(context, params->nodes_to_replace->data[0], &node,
                                      &registration) != kTfLiteOk) {
    return NULL;
  }
  Kernel* kernel = (Kernel*)calloc(1, sizeof *kernel);
  if (kernel == NULL) return NULL;
  kernel->node = *node;
  kernel->registration = *registration;
  const Relay* relay = (const Relay*)params->delegate->data_;
  kernel->is_wrong = params->nodes_to_replace->data[0] == relay->wrong;
  kernel->node.delegate = NULL;
  kernel->node.user_data = NULL;
  kernel->node.temporaries = Copy(NULL);
  kernel->unread = Without(node->outputs, params->output_tensors);
  kernel->node.user_data = InitNode(context, kernel);
  // -1 is the value of TfLiteKernelInitFailed.
  const bool failed = (intptr_t)kernel->node.user_data == -1;
  if (failed) kernel->node.user_data = NULL;
  if (!failed && kernel->node.temporaries != NULL && kernel->unread != NULL) return kernel;
  FreeKernel(context, kernel);
  return NULL;
}

// The runtime allocates the outputs and temporaries of the delegate's node only. An output that no
// node reads is not among these outputs (abi.md 4.9), so it becomes a temporary.
static TfLiteStatus PrepareKernel(TfLiteContext* context, TfLiteNode* own) {
  Kernel* kernel = (Kernel*)own->user_data;
  if (kernel == NULL) return kTfLiteError;
  TfLiteStatus status = kTfLiteOk;
  if (kernel->registration.prepare != NULL) {
    status = kernel->registration.prepare(context, &kernel->node);
  }
  free(own->temporaries);
  own->temporaries = Joined(kernel->node.temporaries, kernel->unread);
  return own->temporaries == NULL ? kTfLiteError : status;
}

static TfLiteStatus InvokeKernel(TfLiteContext* context, TfLiteNode* own) {
  Kernel* kernel = (Kernel*)own->user_data;
  const TfLiteStatus status = kernel->registration.invoke(context, &kernel->node);
  if (!kernel->is_wrong || own->outputs->size == 0) return status;
  TfLiteTensor* output = &context->tensors[own->outputs->data[0]];
  if (output->bytes == 0 || output->data.raw == NULL) return status;
  if (output->type == kTfLiteFloat32) {
    output->data.f[0] = 2 * output->data.f[0] + 1;
  } else {
    output->data.raw[0] ^= 0x40;
  }
  return status;
}

static TfLiteStatus Prepare(TfLiteContext* context, TfLiteDelegate* delegate) {
  TfLiteRegistration registration;
  memset(&registration, 0, sizeof registration);
  registration.init = InitKernel;
  registration.free = FreeKernel;
  registration.prepare = PrepareKernel;
  registration.invoke = InvokeKernel;
  registration.custom_name = "Relay";
  registration.version = 1;
  TfLiteIntArray* plan = NULL;
  TfLiteStatus status = context->GetExecutionPlan(context, &plan);
  if (status != kTfLiteOk) return status;
  TfLiteIntArray* nodes = Copy(plan);  // a copy, because the plan changes during the loop
  if (nodes == NULL) return kTfLiteError;
  for (int i = 0; i < nodes->size && status == kTfLiteOk; ++i) {
    int one[2] = {1, nodes->data[i]};  // laid out as a TfLiteIntArray
    status = context->ReplaceNodeSubsetsWithDelegateKernels(
        context, registration, (const TfLiteIntArray*)(const void*)one, delegate);
  }
  free(nodes);
  return status;
}

TfLiteDelegate* tflite_plugin_create_delegate(const char* const* options_keys,
                                              const char* const* options_values, size_t num_options,
                                              void (*report_error)(const char* message)) {
  int wrong = -1;
  for (size_t i = 0; i < num_options; ++i) {
    if (strcmp(options_keys[i], "wrong") != 0) {
      if (report_error != NULL) report_error(options_keys[i]);
      return NULL;
    }
    wrong = atoi(options_values[i]);
  }
  Relay* relay = (Relay*)calloc(1, sizeof *relay);
  if (relay == NULL) return NULL;
  relay->wrong = wrong;
  relay->base.data_ = relay;
  relay->base.Prepare = Prepare;
  relay->base.flags = kTfLiteDelegateFlagsAllowDynamicTensors;
  return &relay->base;
}

void tflite_plugin_destroy_delegate(TfLiteDelegate* delegate) { free(delegate); }
