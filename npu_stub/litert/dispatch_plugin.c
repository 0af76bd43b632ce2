/* SPDX-License-Identifier: Apache-2.0
 *
 * Dispatch plug-in for LiteRT: runs the byte code of compiler_plugin.c on the NPU stub's device. It
 * reads and writes buffers of the host, whose contents are copied to and from the device.
 * Asynchronous runs are tasks of a thread; their events are fences.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "litert/c/internal/litert_runtime_context.h"
#include "litert/vendors/c/litert_dispatch_api.h"
#include "npu_stub/graph.h"
#include "npu_stub/litert/tasks.h"
#include "npu_stub/npu_device.h"

enum { kErrorBytes = 160, kBalanced = 2, kTimeLimitMs = 60000 };

struct LiteRtDispatchDeviceContextT {
  const LiteRtRuntimeContext* runtime;
  const NpuDeviceApi* api;
  NpuDevice* device;
  LiteRtTensorBuffer* buffers; /* by handle - 1; NULL: the handle is free */
  size_t buffer_count;
  NpuTasks* tasks; /* NULL before the first asynchronous run */
};

struct LiteRtDispatchInvocationContextT {
  LiteRtDispatchDeviceContext device;
  NpuClient* client;
  char* name;
  int input_count, output_count;
  int* fences;                      /* of inputs, for the next asynchronous run; -1: none */
  LiteRtTensorBufferHandle ports[]; /* of inputs, then of outputs; 0: not attached */
};

static LiteRtEnvironment host_environment;

static LiteRtStatus Fail(const char* what, const char* error) {
  fprintf(stderr, "NPU stub: %s: %s\n", what, error);
  return kLiteRtStatusErrorRuntimeFailure;
}

/* ---- Device ---------------------------------------------------------------------------------- */

static LiteRtStatus Initialize(const LiteRtRuntimeContext* runtime_context,
                               LiteRtEnvironment environment, LiteRtOptions options) {
  (void)options;
  host_environment = environment;
  return LITERT_ABI_IS_COMPATIBLE(runtime_context, 1, 0)
             ? kLiteRtStatusOk
             : kLiteRtStatusErrorUnsupportedRuntimeVersion;
}

static LiteRtStatus GetVendorId(const char** vendor_id) {
  *vendor_id = "DeputyNpuStub";
  return kLiteRtStatusOk;
}

static LiteRtStatus GetBuildId(const char** build_id) {
  *build_id = "1";
  return kLiteRtStatusOk;
}

static LiteRtStatus GetCapabilities(int* capabilities) {
  *capabilities = kLiteRtDispatchCapabilitiesBasic | kLiteRtDispatchCapabilitiesAsync;
  return kLiteRtStatusOk;
}

static LiteRtStatus CheckRuntimeCompatibility(LiteRtApiVersion api_version,
                                              LiteRtEnvironmentOptions env, LiteRtOptions options) {
  (void)env;
  (void)options;
  return api_version.major == LITERT_API_VERSION_MAJOR
             ? kLiteRtStatusOk
             : kLiteRtStatusErrorUnsupportedRuntimeVersion;
}

static LiteRtStatus CreateDevice(const LiteRtRuntimeContext* runtime_context, LiteRtOptions options,
                                 LiteRtDispatchDeviceContext* device_context) {
  (void)options;
  LiteRtDispatchDeviceContext created = calloc(1, sizeof *created);
  if (created == NULL) return kLiteRtStatusErrorMemoryAllocationFailure;
  const NpuDeviceConfig config = {.struct_size = sizeof config};
  char error[kErrorBytes] = "";
  created->runtime = runtime_context;
  created->api = npu_device_api();
  if (created->api->open(&config, &created->device, error, sizeof error) != kNpuOk) {
    free(created);
    return Fail("the device cannot be opened", error);
  }
  *device_context = created;
  return kLiteRtStatusOk;
}

static LiteRtStatus DestroyDevice(LiteRtDispatchDeviceContext device) {
  NpuDestroyTasks(device->tasks);
  device->api->close(device->device);
  free(device->buffers);
  free(device);
  return kLiteRtStatusOk;
}

/* ---- Buffers --------------------------------------------------------------------------------- */

static LiteRtStatus RegisterBuffer(LiteRtDispatchDeviceContext device, LiteRtTensorBuffer buffer,
                                   LiteRtTensorBufferHandle* handle) {
  size_t i = 0;
  while (i < device->buffer_count && device->buffers[i] != NULL) ++i;
  if (i == device->buffer_count) {
    LiteRtTensorBuffer* grown = realloc(device->buffers, (i + 1) * sizeof *grown);
    if (grown == NULL) return kLiteRtStatusErrorMemoryAllocationFailure;
    device->buffers = grown;
    device->buffer_count = i + 1;
  }
  device->buffers[i] = buffer;
  *handle = i + 1;
  return kLiteRtStatusOk;
}

static LiteRtStatus UnregisterBuffer(LiteRtDispatchDeviceContext device,
                                     LiteRtTensorBufferHandle handle) {
  if (handle == 0 || handle > device->buffer_count) return kLiteRtStatusErrorInvalidArgument;
  device->buffers[handle - 1] = NULL;
  return kLiteRtStatusOk;
}

/* The device's tensors are packed, and the host's memory can have any alignment. */
static LiteRtStatus CreateRequirements(LiteRtDispatchInvocationContext context,
                                       const NpuTensor* tensor,
                                       LiteRtTensorBufferRequirements* requirements) {
  const LiteRtTensorBufferType type = kLiteRtTensorBufferTypeHostMemory;
  return context->device->runtime->create_tensor_buffer_requirements(
      1, &type, NpuTensorBytes(tensor), 0, NULL, requirements);
}

static LiteRtStatus GetInputRequirements(LiteRtDispatchInvocationContext context, int input_index,
                                         const LiteRtRankedTensorType* tensor_type,
                                         LiteRtTensorBufferRequirements* requirements) {
  NpuTensor tensor;
  (void)tensor_type;
  if (context->device->api->get_input(context->client, context->name, input_index, &tensor) !=
      kNpuOk) {
    return kLiteRtStatusErrorIndexOOB;
  }
  return CreateRequirements(context, &tensor, requirements);
}

static LiteRtStatus GetOutputRequirements(LiteRtDispatchInvocationContext context, int output_index,
                                          const LiteRtRankedTensorType* tensor_type,
                                          LiteRtTensorBufferRequirements* requirements) {
  NpuTensor tensor;
  (void)tensor_type;
  if (context->device->api->get_output(context->client, context->name, output_index, &tensor) !=
      kNpuOk) {
    return kLiteRtStatusErrorIndexOOB;
  }
  return CreateRequirements(context, &tensor, requirements);
}

/* ---- Programs -------------------------------------------------------------------------------- */

static void CloseFences(LiteRtDispatchInvocationContext context) {
  for (int i = 0; i < context->input_count; ++i) {
    if (context->fences[i] >= 0) close(context->fences[i]);
    context->fences[i] = -1;
  }
}

static LiteRtStatus DestroyContext(LiteRtDispatchInvocationContext context) {
  NpuFinishTasks(context->device->tasks);
  CloseFences(context);
  free(context->fences);
  context->device->api->unload(context->client, context->name);
  context->device->api->destroy_client(context->client);
  free(context->name);
  free(context);
  return kLiteRtStatusOk;
}

/* Loads a blob into a client of its own. */
static LiteRtStatus Load(LiteRtDispatchInvocationContext context, const LiteRtMemBuffer* code) {
  const NpuDeviceApi* api = context->device->api;
  char error[kErrorBytes] = "no client can be created";
  if (api->create_client(context->device->device, &context->client) != kNpuOk) {
    return Fail(context->name, error);
  }
  const NpuModelDescription model = {.name = context->name,
                                     .blob = (const char*)code->base_addr + code->offset,
                                     .blob_bytes = code->size,
                                     .frequency = kBalanced};
  if (api->load(context->client, &model, 1, error, sizeof error) != kNpuOk) {
    api->destroy_client(context->client);
    return Fail(context->name, error);
  }
  /* The numbers of inputs and outputs must be those of the operator. */
  NpuTensor tensor;
  const int inputs = context->input_count, outputs = context->output_count;
  const bool is_too_short = (inputs > 0 && api->get_input(context->client, context->name,
                                                          inputs - 1, &tensor) != kNpuOk) ||
                            (outputs > 0 && api->get_output(context->client, context->name,
                                                            outputs - 1, &tensor) != kNpuOk);
  const bool is_too_long =
      api->get_input(context->client, context->name, inputs, &tensor) == kNpuOk ||
      api->get_output(context->client, context->name, outputs, &tensor) == kNpuOk;
  if (!is_too_short && !is_too_long) return kLiteRtStatusOk;
  api->unload(context->client, context->name);
  api->destroy_client(context->client);
  return Fail(context->name, "the operator has other numbers of inputs or outputs");
}

static LiteRtStatus CreateContext(const LiteRtRuntimeContext* runtime_context,
                                  LiteRtDispatchDeviceContext device,
                                  LiteRtDispatchExecutableType exec_type,
                                  const LiteRtMemBuffer* exec_bytecode_buffer,
                                  const char* function_name, int num_inputs, int num_outputs,
                                  LiteRtDispatchInvocationContext* invocation_context) {
  (void)runtime_context;
  if (exec_type != kLiteRtDispatchExecutableTypeMlModel || exec_bytecode_buffer == NULL ||
      num_inputs < 0 || num_outputs < 0) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  const size_t ports = (size_t)num_inputs + (size_t)num_outputs;
  const char* name = function_name == NULL || *function_name == '\0' ? "main" : function_name;
  LiteRtDispatchInvocationContext created =
      calloc(1, sizeof *created + ports * sizeof(LiteRtTensorBufferHandle));
  if (created == NULL) return kLiteRtStatusErrorMemoryAllocationFailure;
  created->device = device;
  created->input_count = num_inputs;
  created->output_count = num_outputs;
  created->name = malloc(strlen(name) + 1);
  created->fences = malloc(((size_t)num_inputs + 1) * sizeof *created->fences);
  LiteRtStatus status = kLiteRtStatusErrorMemoryAllocationFailure;
  if (created->name != NULL && created->fences != NULL) {
    for (int i = 0; i < num_inputs; ++i) created->fences[i] = -1;
    strcpy(created->name, name);
    status = Load(created, exec_bytecode_buffer);
  }
  if (status != kLiteRtStatusOk) {
    free(created->fences);
    free(created->name);
    free(created);
    return status;
  }
  *invocation_context = created;
  return kLiteRtStatusOk;
}

/* Sets the buffer of an input or output; handle 0 removes it. */
static LiteRtStatus SetPort(LiteRtDispatchInvocationContext context, int first, int count,
                            int index, LiteRtTensorBufferHandle handle) {
  if (index < 0 || index >= count || handle > context->device->buffer_count) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  context->ports[first + index] = handle;
  return kLiteRtStatusOk;
}

static LiteRtStatus AttachInput(LiteRtDispatchInvocationContext context, int index,
                                LiteRtTensorBufferHandle handle) {
  return SetPort(context, 0, context->input_count, index, handle);
}

static LiteRtStatus AttachOutput(LiteRtDispatchInvocationContext context, int index,
                                 LiteRtTensorBufferHandle handle) {
  return SetPort(context, context->input_count, context->output_count, index, handle);
}

static LiteRtStatus DetachInput(LiteRtDispatchInvocationContext context, int index,
                                LiteRtTensorBufferHandle handle) {
  (void)handle;
  return SetPort(context, 0, context->input_count, index, 0);
}

static LiteRtStatus DetachOutput(LiteRtDispatchInvocationContext context, int index,
                                 LiteRtTensorBufferHandle handle) {
  (void)handle;
  return SetPort(context, context->input_count, context->output_count, index, 0);
}

/* Copies a buffer to an input of the device, or an output of the device to a buffer. */
static LiteRtStatus Transfer(LiteRtDispatchInvocationContext context, int index, bool is_input) {
  LiteRtDispatchDeviceContext device = context->device;
  const LiteRtTensorBufferHandle handle =
      context->ports[is_input ? index : context->input_count + index];
  if (handle == 0 || device->buffers[handle - 1] == NULL) {
    return Fail(context->name, "a buffer is not attached");
  }
  LiteRtTensorBuffer buffer = device->buffers[handle - 1];
  void* memory = NULL;
  LiteRtStatus status = device->runtime->lock_tensor_buffer(
      buffer, &memory,
      is_input ? kLiteRtTensorBufferLockModeRead : kLiteRtTensorBufferLockModeWrite);
  if (status != kLiteRtStatusOk) return status;
  size_t bytes = 0;
  NpuStatus copied = kNpuBadArgument;
  if (device->runtime->get_tensor_buffer_packed_size(buffer, &bytes) == kLiteRtStatusOk) {
    copied = is_input ? device->api->write(context->client, context->name, index, memory, bytes)
                      : device->api->read(context->client, context->name, index, memory, bytes);
  }
  status = device->runtime->unlock_tensor_buffer(buffer);
  if (copied != kNpuOk) return Fail(context->name, "a buffer does not have the tensor's size");
  return status;
}

static LiteRtStatus Invoke(LiteRtDispatchInvocationContext context) {
  NpuFinishTasks(context->device->tasks);
  for (int i = 0; i < context->input_count; ++i) {
    const LiteRtStatus status = Transfer(context, i, true);
    if (status != kLiteRtStatusOk) return status;
  }
  char error[kErrorBytes] = "";
  if (context->device->api->run(context->client, context->name, kTimeLimitMs, error,
                                sizeof error) != kNpuOk) {
    return Fail(context->name, error);
  }
  for (int i = 0; i < context->output_count; ++i) {
    const LiteRtStatus status = Transfer(context, i, false);
    if (status != kLiteRtStatusOk) return status;
  }
  return kLiteRtStatusOk;
}

/* ---- Asynchronous runs ----------------------------------------------------------------------- */

/* A run, and the memory of its inputs and outputs. */
typedef struct Run {
  LiteRtDispatchInvocationContext context;
  struct {
    char* data;
    size_t bytes;
  } ports[];
} Run;

/* Finds the memory of a port. A lock would wait for the event of an output. */
static bool FindMemory(LiteRtDispatchInvocationContext context, int port, Run* run) {
  const LiteRtDispatchDeviceContext device = context->device;
  const LiteRtTensorBufferHandle handle = context->ports[port];
  void* memory = NULL;
  size_t offset = 0;
  if (handle == 0 || device->buffers[handle - 1] == NULL) return false;
  const LiteRtTensorBuffer buffer = device->buffers[handle - 1];
  if (device->runtime->get_tensor_buffer_host_memory(buffer, &memory) != kLiteRtStatusOk ||
      device->runtime->get_tensor_buffer_offset(buffer, &offset) != kLiteRtStatusOk ||
      device->runtime->get_tensor_buffer_packed_size(buffer, &run->ports[port].bytes) !=
          kLiteRtStatusOk) {
    return false;
  }
  run->ports[port].data = (char*)memory + offset;
  return true;
}

static bool RunOnDevice(void* argument) {
  Run* run = argument;
  const LiteRtDispatchInvocationContext context = run->context;
  const NpuDeviceApi* api = context->device->api;
  char error[kErrorBytes] = "a buffer does not have the tensor's size";
  bool is_done = true;
  for (int i = 0; i < context->input_count; ++i) {
    is_done = is_done && api->write(context->client, context->name, i, run->ports[i].data,
                                    run->ports[i].bytes) == kNpuOk;
  }
  is_done = is_done &&
            api->run(context->client, context->name, kTimeLimitMs, error, sizeof error) == kNpuOk;
  for (int i = 0; i < context->output_count; ++i) {
    const int port = context->input_count + i;
    is_done = is_done && api->read(context->client, context->name, i, run->ports[port].data,
                                   run->ports[port].bytes) == kNpuOk;
  }
  if (!is_done) (void)Fail(context->name, error);
  free(run);
  return is_done;
}

/* The task waits for fences; the host waits for other events. */
static LiteRtStatus AttachInputEvent(LiteRtDispatchInvocationContext context, int index,
                                     LiteRtEvent event) {
  const LiteRtRuntimeContext* runtime = context->device->runtime;
  LiteRtEventType type = LiteRtEventTypeUnknown;
  int fence = -1;
  if (index < 0 || index >= context->input_count ||
      runtime->get_event_event_type(event, &type) != kLiteRtStatusOk) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  if (type != LiteRtEventTypeSyncFenceFd) return runtime->wait_event(event, -1);
  const LiteRtStatus status = runtime->get_event_sync_fence_fd(event, &fence);
  if (status != kLiteRtStatusOk) return status;
  if (context->fences[index] >= 0) close(context->fences[index]);
  context->fences[index] = dup(fence);
  return context->fences[index] >= 0 ? kLiteRtStatusOk : kLiteRtStatusErrorRuntimeFailure;
}

/* Creates the events of all outputs, each of which owns a copy of the fence. */
static LiteRtStatus CreateEvents(LiteRtDispatchInvocationContext context, int fence, int count,
                                 LiteRtEvent* events) {
  const LiteRtRuntimeContext* runtime = context->device->runtime;
  LiteRtStatus status = kLiteRtStatusOk;
  for (int i = 0; i < count && status == kLiteRtStatusOk; ++i) {
    const int copy = dup(fence);
    if (copy < 0) return kLiteRtStatusErrorRuntimeFailure;
    status = runtime->create_event_from_sync_fence_fd(host_environment, copy, true, &events[i]);
    if (status != kLiteRtStatusOk) close(copy);
  }
  return status;
}

static LiteRtStatus InvokeAsync(LiteRtDispatchInvocationContext context, int num_output_events,
                                LiteRtEvent* output_events) {
  LiteRtDispatchDeviceContext device = context->device;
  const int ports = context->input_count + context->output_count;
  if (num_output_events != context->output_count) return kLiteRtStatusErrorInvalidArgument;
  if (device->tasks == NULL) device->tasks = NpuCreateTasks();
  Run* run = calloc(1, sizeof *run + (size_t)ports * sizeof run->ports[0]);
  if (device->tasks == NULL || run == NULL) {
    free(run);
    return kLiteRtStatusErrorMemoryAllocationFailure;
  }
  run->context = context;
  for (int i = 0; i < ports; ++i) {
    if (FindMemory(context, i, run)) continue;
    free(run);
    return Fail(context->name, "a buffer is not attached, or is not in host memory");
  }
  const int fence =
      NpuStartTask(device->tasks, context->fences, context->input_count, RunOnDevice, run);
  if (fence < 0) {
    free(run);
    return Fail(context->name, "no task can be started");
  }
  for (int i = 0; i < context->input_count; ++i) context->fences[i] = -1;
  const LiteRtStatus status = CreateEvents(context, fence, num_output_events, output_events);
  /* Without events the host does not know when the task ends. */
  if (status != kLiteRtStatusOk) NpuFinishTasks(device->tasks);
  close(fence);
  return status;
}

static LiteRtDispatchAsyncInterface async_interface = {
    .attach_input_event = AttachInputEvent,
    .invoke_async = InvokeAsync,
};

static LiteRtDispatchInterface interface = {
    .initialize = Initialize,
    .get_vendor_id = GetVendorId,
    .get_build_id = GetBuildId,
    .get_capabilities = GetCapabilities,
    .device_context_create = CreateDevice,
    .device_context_destroy = DestroyDevice,
    .get_input_requirements = GetInputRequirements,
    .get_output_requirements = GetOutputRequirements,
    .register_tensor_buffer = RegisterBuffer,
    .unregister_tensor_buffer = UnregisterBuffer,
    .invocation_context_create = CreateContext,
    .invocation_context_destroy = DestroyContext,
    .attach_input = AttachInput,
    .attach_output = AttachOutput,
    .detach_input = DetachInput,
    .detach_output = DetachOutput,
    .invoke = Invoke,
    .check_runtime_compatibility = CheckRuntimeCompatibility,
};

LITERT_CAPI_EXPORT LiteRtStatus LiteRtDispatchGetApi(LiteRtDispatchApi* api) {
  if (api == NULL) return kLiteRtStatusErrorInvalidArgument;
  api->version.major = LITERT_API_VERSION_MAJOR;
  api->version.minor = LITERT_API_VERSION_MINOR;
  api->version.patch = LITERT_API_VERSION_PATCH;
  api->interface = &interface;
  api->async_interface = &async_interface;
  api->graph_interface = NULL;
  api->tensor_buffer_handlers_def = NULL;
  return kLiteRtStatusOk;
}
