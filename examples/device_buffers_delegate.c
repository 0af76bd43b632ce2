/* SPDX-License-Identifier: Apache-2.0
 *
 * A delegate that keeps tensors in the memory of its device (docs/device-buffers.md): it runs RELU,
 * ABS, NEG and SQUARE of float32, each in a partition of its own, and the tensors between them
 * never reach the host. The device is simulated by memory of the process. The file links no library
 * and loads into Deputy and into TensorFlow Lite:
 *
 *     cc -shared -fPIC -I<prefix>/include device_buffers_delegate.c -o libbuffers.so
 *
 * The option `statistics=FILE` writes the numbers of copies and buffers to FILE when the delegate
 * is destroyed.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "deputy/delegate_helper.h"
#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/c/common.h"
#include "tensorflow/lite/delegates/external/external_delegate_interface.h"

/* ---- The device ---- */

typedef struct Buffer {
  float* memory; /* NULL: the handle is free */
  size_t bytes;
} Buffer;

typedef struct Device {
  TfLiteDelegate delegate;
  Buffer* buffers; /* by handle */
  int buffer_count;
  int uploads, downloads, created, freed;
  char statistics[256];
} Device;

static Device* DeviceOf(TfLiteDelegate* delegate) { return (Device*)delegate->data_; }

/* Returns the handle of a new buffer without memory; kTfLiteNullBufferHandle if out of memory. */
static TfLiteBufferHandle CreateBuffer(Device* device) {
  Buffer* buffers =
      (Buffer*)realloc(device->buffers, (size_t)(device->buffer_count + 1) * sizeof *buffers);
  if (buffers == NULL) return kTfLiteNullBufferHandle;
  memset(&buffers[device->buffer_count], 0, sizeof *buffers);
  device->buffers = buffers;
  ++device->created;
  return device->buffer_count++;
}

/* Gives the buffer memory of that size, whose contents are undefined. Returns NULL if out of
 * memory. */
static float* ReserveBuffer(Device* device, TfLiteBufferHandle handle, size_t bytes) {
  Buffer* buffer = &device->buffers[handle];
  if (buffer->memory != NULL && buffer->bytes == bytes) return buffer->memory;
  free(buffer->memory);
  buffer->memory = (float*)malloc(bytes > 0 ? bytes : 1);
  buffer->bytes = bytes;
  return buffer->memory;
}

/* ---- Callbacks of the runtime ---- */

/* The runtime calls this when a node on the CPU, another delegate or the client reads a stale
 * tensor. It clears data_is_stale afterwards. */
static TfLiteStatus CopyFromBuffer(TfLiteContext* context, TfLiteDelegate* delegate,
                                   TfLiteBufferHandle handle, TfLiteTensor* tensor) {
  Device* device = DeviceOf(delegate);
  if (handle < 0 || handle >= device->buffer_count || device->buffers[handle].memory == NULL ||
      device->buffers[handle].bytes != tensor->bytes) {
    context->ReportError(context, "device_buffers: handle %d has no data of %zu bytes", handle,
                         tensor->bytes);
    return kTfLiteError;
  }
  memcpy(tensor->data.raw, device->buffers[handle].memory, tensor->bytes);
  ++device->downloads;
  return kTfLiteOk;
}

/* The runtime calls this once for each handle: when the tensor gets another one, when the delegate
 * is removed and when the interpreter is deleted. */
static void FreeBuffer(TfLiteContext* context, TfLiteDelegate* delegate,
                       TfLiteBufferHandle* handle) {
  Device* device = DeviceOf(delegate);
  (void)context;
  if (*handle < 0 || *handle >= device->buffer_count) return;
  free(device->buffers[*handle].memory);
  memset(&device->buffers[*handle], 0, sizeof(Buffer));
  ++device->freed;
  *handle = kTfLiteNullBufferHandle;
}

/* ---- The kernel, one for every node ---- */

typedef struct Kernel {
  TfLiteDelegate* delegate;
  int builtin_code;
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
  if (kernel == NULL) return NULL;
  kernel->delegate = params->delegate;
  kernel->builtin_code = registration->builtin_code;
  return kernel;
}

static void FreeKernel(TfLiteContext* context, void* kernel) {
  (void)context;
  free(kernel);
}

/* Gives the output a handle. The tensor may have one already, from an earlier prepare. */
static TfLiteStatus PrepareKernel(TfLiteContext* context, TfLiteNode* node) {
  const Kernel* kernel = (const Kernel*)node->user_data;
  if (kernel == NULL) return kTfLiteError;
  TfLiteTensor* output = &context->tensors[node->outputs->data[0]];
  if (output->delegate != kernel->delegate || output->buffer_handle == kTfLiteNullBufferHandle) {
    const TfLiteBufferHandle handle = CreateBuffer(DeviceOf(kernel->delegate));
    if (handle == kTfLiteNullBufferHandle) return kTfLiteError;
    output->delegate = kernel->delegate;
    output->buffer_handle = handle;
  }
  const TfLiteIntArray* dims = context->tensors[node->inputs->data[0]].dims;
  return context->ResizeTensor(context, output, DeputyIntArrayCopy(dims));
}

/* Returns the values of an input: those of the device if the host's are older, else those of the
 * host, which the device would receive by a copy. */
static const float* ReadInput(Device* device, const TfLiteTensor* input) {
  if (input->data_is_stale && input->delegate == &device->delegate) {
    return device->buffers[input->buffer_handle].memory;
  }
  ++device->uploads;
  return input->data.f;
}

static float Compute(int builtin_code, float value) {
  switch (builtin_code) {
    case kTfLiteBuiltinRelu:
      return value > 0 ? value : 0;
    case kTfLiteBuiltinAbs:
      return value < 0 ? -value : value;
    case kTfLiteBuiltinNeg:
      return -value;
    default:
      return value * value;
  }
}

static TfLiteStatus Invoke(TfLiteContext* context, TfLiteNode* node) {
  const Kernel* kernel = (const Kernel*)node->user_data;
  Device* device = DeviceOf(kernel->delegate);
  const TfLiteTensor* input = &context->tensors[node->inputs->data[0]];
  TfLiteTensor* output = &context->tensors[node->outputs->data[0]];
  float* out = ReserveBuffer(device, output->buffer_handle, output->bytes);
  if (out == NULL) return kTfLiteError;
  const float* in = ReadInput(device, input);
  for (size_t i = 0; i < output->bytes / sizeof(float); ++i) {
    out[i] = Compute(kernel->builtin_code, in[i]);
  }
  output->data_is_stale = true; /* only the device has the values */
  return kTfLiteOk;
}

/* ---- The delegate ---- */

static bool IsSupported(TfLiteContext* context, TfLiteNode* node,
                        const TfLiteRegistration* registration, void* user_data, char* reason,
                        size_t reason_size) {
  const int code = registration->builtin_code;
  (void)user_data;
  if (code != kTfLiteBuiltinRelu && code != kTfLiteBuiltinAbs && code != kTfLiteBuiltinNeg &&
      code != kTfLiteBuiltinSquare) {
    snprintf(reason, reason_size, "expected RELU, ABS, NEG or SQUARE");
    return false;
  }
  if (context->tensors[node->inputs->data[0]].type == kTfLiteFloat32) return true;
  snprintf(reason, reason_size, "expected float32");
  return false;
}

static TfLiteStatus Prepare(TfLiteContext* context, TfLiteDelegate* delegate) {
  TfLiteRegistration kernel;
  memset(&kernel, 0, sizeof kernel);
  kernel.init = Init;
  kernel.free = FreeKernel;
  kernel.prepare = PrepareKernel;
  kernel.invoke = Invoke;
  kernel.custom_name = "DeviceBuffers";
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

/* ---- Exported functions ---- */

TfLiteDelegate* tflite_plugin_create_delegate(const char* const* options_keys,
                                              const char* const* options_values, size_t num_options,
                                              void (*report_error)(const char* message)) {
  Device* device = (Device*)calloc(1, sizeof *device);
  if (device == NULL) return NULL;
  for (size_t i = 0; i < num_options; ++i) {
    if (strcmp(options_keys[i], "statistics") == 0 &&
        strlen(options_values[i]) < sizeof device->statistics) {
      strcpy(device->statistics, options_values[i]);
      continue;
    }
    if (report_error != NULL) report_error("expected the option statistics=FILE");
    free(device);
    return NULL;
  }
  device->delegate.data_ = device;
  device->delegate.flags = kTfLiteDelegateFlagsNone;
  device->delegate.Prepare = Prepare;
  device->delegate.CopyFromBufferHandle = CopyFromBuffer;
  device->delegate.FreeBufferHandle = FreeBuffer;
  return &device->delegate;
}

/* No interpreter uses the delegate any more, so that all handles are free. */
void tflite_plugin_destroy_delegate(TfLiteDelegate* delegate) {
  Device* device = DeviceOf(delegate);
  FILE* file = device->statistics[0] == '\0' ? NULL : fopen(device->statistics, "w");
  if (file != NULL) {
    fprintf(file, "uploads %d, downloads %d, buffers %d, freed %d\n", device->uploads,
            device->downloads, device->created, device->freed);
    fclose(file);
  }
  free(device->buffers);
  free(device);
}
