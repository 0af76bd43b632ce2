// SPDX-License-Identifier: Apache-2.0
//
// A test double of a vendor's dispatch plug-in. Its byte code has 12 bytes: "DLRT", a number and a
// float. Number 0 multiplies a float32 tensor by the float, number 1 adds two tensors.
//
// The environment variable LITERT_DOUBLE selects a fault or property, `key=value`:
//   fail=FUNCTION   the function returns kLiteRtStatusErrorRuntimeFailure
//   lacks=FUNCTION  the function is NULL: invoke
//   version=N       minor version of the interface
//   padding=N       bytes of a buffer beyond the tensor's
//   type=N          the only supported type of buffers is N, with functions of the double
//   requirements=0  no requirements, although the functions succeed
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "litert/c/internal/litert_runtime_context.h"
#include "litert/vendors/c/litert_dispatch_api.h"

enum { kMaxBuffers = 64, kMaxPorts = 4, kHeader = 12 };

static const LiteRtRuntimeContext* runtime;
static LiteRtTensorBuffer buffers[kMaxBuffers];  // by handle; handle 0 is none
static char calls[8192];                         // names of the calls, in their order
static int live_memories, live_contexts;

typedef struct {
  const char* code;  // of a handle, which Invoke reads; NULL: byte code
  uint32_t number;
  float factor;
  LiteRtTensorBufferHandle inputs[kMaxPorts], output;
} Program;

static const char* Setting(const char* key) {
  const char* text = getenv("LITERT_DOUBLE");
  const size_t length = strlen(key);
  if (text == NULL || strncmp(text, key, length) != 0 || text[length] != '=') return NULL;
  return text + length + 1;
}

// Records a call and returns its status.
static LiteRtStatus Record(const char* name) {
  if (strlen(calls) + strlen(name) + 2 < sizeof(calls)) {
    strcat(calls, name);
    strcat(calls, " ");
  }
  const char* const failing = Setting("fail");
  return failing != NULL && strcmp(failing, name) == 0 ? kLiteRtStatusErrorRuntimeFailure
                                                       : kLiteRtStatusOk;
}

static LiteRtStatus Initialize(const LiteRtRuntimeContext* context, LiteRtEnvironment environment,
                               LiteRtOptions options) {
  (void)environment;
  (void)options;
  runtime = context;
  return Record("initialize");
}

static LiteRtStatus GetVendorId(const char** vendor_id) {
  *vendor_id = "double";
  return kLiteRtStatusOk;
}

static LiteRtStatus GetBuildId(const char** build_id) {
  *build_id = "1";
  return kLiteRtStatusOk;
}

static LiteRtStatus GetCapabilities(int* capabilities) {
  *capabilities = kLiteRtDispatchCapabilitiesBasic;
  return kLiteRtStatusOk;
}

static LiteRtStatus CheckCompatibility(LiteRtApiVersion version, LiteRtEnvironmentOptions env,
                                       LiteRtOptions options) {
  (void)version;
  (void)env;
  (void)options;
  return Record("check_runtime_compatibility");
}

static LiteRtStatus CreateDevice(const LiteRtRuntimeContext* context, LiteRtOptions options,
                                 LiteRtDispatchDeviceContext* device) {
  (void)context;
  (void)options;
  *device = (LiteRtDispatchDeviceContext)&live_contexts;
  return Record("device_context_create");
}

static LiteRtStatus DestroyDevice(LiteRtDispatchDeviceContext device) {
  (void)device;
  return Record("device_context_destroy");
}

static LiteRtStatus CreateRequirements(const char* name, const LiteRtRankedTensorType* type,
                                       LiteRtTensorBufferRequirements* requirements) {
  const LiteRtStatus status = Record(name);
  if (status != kLiteRtStatusOk || Setting("requirements") != NULL) return status;
  size_t bytes = sizeof(float);
  for (unsigned i = 0; i < type->layout.rank; ++i) bytes *= (size_t)type->layout.dimensions[i];
  if (Setting("padding") != NULL) bytes += (size_t)atoi(Setting("padding"));
  const LiteRtTensorBufferType supported = Setting("type") != NULL
                                               ? (LiteRtTensorBufferType)atoi(Setting("type"))
                                               : kLiteRtTensorBufferTypeHostMemory;
  return runtime->create_tensor_buffer_requirements(1, &supported, bytes, 0, NULL, requirements);
}

static LiteRtStatus GetInputRequirements(LiteRtDispatchInvocationContext context, int index,
                                         const LiteRtRankedTensorType* type,
                                         LiteRtTensorBufferRequirements* requirements) {
  (void)context;
  (void)index;
  return CreateRequirements("get_input_requirements", type, requirements);
}

static LiteRtStatus GetOutputRequirements(LiteRtDispatchInvocationContext context, int index,
                                          const LiteRtRankedTensorType* type,
                                          LiteRtTensorBufferRequirements* requirements) {
  (void)context;
  (void)index;
  return CreateRequirements("get_output_requirements", type, requirements);
}

static LiteRtStatus RegisterBuffer(LiteRtDispatchDeviceContext device, LiteRtTensorBuffer buffer,
                                   LiteRtTensorBufferHandle* handle) {
  (void)device;
  const LiteRtStatus status = Record("register_tensor_buffer");
  if (status != kLiteRtStatusOk) return status;
  size_t bytes = 0, packed_bytes = 0;
  runtime->get_tensor_buffer_size(buffer, &bytes);
  runtime->get_tensor_buffer_packed_size(buffer, &packed_bytes);
  if (Setting("padding") != NULL && bytes < packed_bytes + (size_t)atoi(Setting("padding"))) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  for (LiteRtTensorBufferHandle i = 1; i < kMaxBuffers; ++i) {
    if (buffers[i] != NULL) continue;
    buffers[i] = buffer;
    *handle = i;
    return kLiteRtStatusOk;
  }
  return kLiteRtStatusErrorRuntimeFailure;
}

static LiteRtStatus UnregisterBuffer(LiteRtDispatchDeviceContext device,
                                     LiteRtTensorBufferHandle handle) {
  (void)device;
  if (handle < kMaxBuffers) buffers[handle] = NULL;
  return Record("unregister_tensor_buffer");
}

static LiteRtStatus CreateContext(const LiteRtRuntimeContext* context,
                                  LiteRtDispatchDeviceContext device,
                                  LiteRtDispatchExecutableType type, const LiteRtMemBuffer* memory,
                                  const char* function_name, int num_inputs, int num_outputs,
                                  LiteRtDispatchInvocationContext* created) {
  (void)context;
  (void)device;
  (void)num_outputs;
  const LiteRtStatus status = Record("invocation_context_create");
  if (status != kLiteRtStatusOk) return status;
  const char* const code = (const char*)memory->base_addr + memory->offset;
  const bool is_handle = type == kLiteRtDispatchExecutableTypeJitHandle;
  if ((!is_handle && type != kLiteRtDispatchExecutableTypeMlModel) ||
      memory->size != (is_handle ? 0 : kHeader) || memcmp(code, "DLRT", 4) != 0 ||
      strncmp(function_name, "entr", 4) != 0 || num_inputs > kMaxPorts) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  Program* const program = calloc(1, sizeof(Program));
  memcpy(&program->number, code + 4, sizeof(program->number));
  memcpy(&program->factor, code + 8, sizeof(program->factor));
  if (is_handle) program->code = code;
  ++live_contexts;
  *created = (LiteRtDispatchInvocationContext)program;
  return kLiteRtStatusOk;
}

static LiteRtStatus DestroyContext(LiteRtDispatchInvocationContext context) {
  --live_contexts;
  free(context);
  return Record("invocation_context_destroy");
}

static LiteRtStatus AttachInput(LiteRtDispatchInvocationContext context, int index,
                                LiteRtTensorBufferHandle handle) {
  ((Program*)context)->inputs[index] = handle;
  return Record("attach_input");
}

static LiteRtStatus AttachOutput(LiteRtDispatchInvocationContext context, int index,
                                 LiteRtTensorBufferHandle handle) {
  (void)index;
  ((Program*)context)->output = handle;
  return Record("attach_output");
}

static LiteRtStatus DetachInput(LiteRtDispatchInvocationContext context, int index,
                                LiteRtTensorBufferHandle handle) {
  (void)handle;
  ((Program*)context)->inputs[index] = 0;
  return Record("detach_input");
}

static LiteRtStatus DetachOutput(LiteRtDispatchInvocationContext context, int index,
                                 LiteRtTensorBufferHandle handle) {
  (void)index;
  (void)handle;
  ((Program*)context)->output = 0;
  return Record("detach_output");
}

static float* Lock(LiteRtTensorBufferHandle handle, LiteRtTensorBufferLockMode mode) {
  void* memory = NULL;
  if (handle == 0 || handle >= kMaxBuffers || buffers[handle] == NULL) return NULL;
  return runtime->lock_tensor_buffer(buffers[handle], &memory, mode) == kLiteRtStatusOk ? memory
                                                                                        : NULL;
}

static LiteRtStatus Invoke(LiteRtDispatchInvocationContext context) {
  const LiteRtStatus status = Record("invoke");
  if (status != kLiteRtStatusOk) return status;
  Program* const program = (Program*)context;
  if (program->code != NULL) memcpy(&program->factor, program->code + 8, sizeof(program->factor));
  const float* const first = Lock(program->inputs[0], kLiteRtTensorBufferLockModeRead);
  const float* const second =
      program->number == 1 ? Lock(program->inputs[1], kLiteRtTensorBufferLockModeRead) : NULL;
  float* const output = Lock(program->output, kLiteRtTensorBufferLockModeWrite);
  size_t bytes = 0;
  if (first == NULL || output == NULL || (program->number == 1 && second == NULL) ||
      runtime->get_tensor_buffer_packed_size(buffers[program->output], &bytes) != kLiteRtStatusOk) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  for (size_t i = 0; i < bytes / sizeof(float); ++i) {
    output[i] = second != NULL ? first[i] + second[i] : first[i] * program->factor;
  }
  runtime->unlock_tensor_buffer(buffers[program->inputs[0]]);
  if (second != NULL) runtime->unlock_tensor_buffer(buffers[program->inputs[1]]);
  runtime->unlock_tensor_buffer(buffers[program->output]);
  return kLiteRtStatusOk;
}

// ---- Buffers of the double ----------------------------------------------------------------------

static LiteRtStatus CreateMemory(LiteRtGpuDeviceId device, LiteRtGpuQueueId queue,
                                 const LiteRtRankedTensorType* type,
                                 LiteRtTensorBufferType buffer_type, size_t bytes,
                                 size_t packed_bytes, HwMemoryInfoPtr* memory) {
  (void)device;
  (void)queue;
  (void)type;
  (void)buffer_type;
  (void)packed_bytes;
  const LiteRtStatus status = Record("create_memory");
  if (status != kLiteRtStatusOk) return status;
  *memory = calloc(1, sizeof(**memory));
  (*memory)->memory_handle = calloc(1, bytes);
  ++live_memories;
  return kLiteRtStatusOk;
}

static LiteRtStatus DestroyMemory(HwMemoryInfoPtr memory) {
  free(memory->memory_handle);
  free(memory);
  --live_memories;
  return kLiteRtStatusOk;
}

static LiteRtStatus LockMemory(HwMemoryInfoPtr memory, LiteRtTensorBufferLockMode mode,
                               void** address) {
  (void)mode;
  *address = memory->memory_handle;
  return Record("lock_memory");
}

static LiteRtStatus UnlockMemory(HwMemoryInfoPtr memory) {
  (void)memory;
  return kLiteRtStatusOk;
}

static LiteRtCustomTensorBufferHandlersDef handlers = {
    .abi_header = {sizeof(LiteRtCustomTensorBufferHandlersDef), 1, 0, 0},
    .create_func = CreateMemory,
    .destroy_func = DestroyMemory,
    .lock_func = LockMemory,
    .unlock_func = UnlockMemory,
    .device_tag = kLiteRtEnvOptionTagNull,
    .queue_tag = kLiteRtEnvOptionTagNull,
    .num_supported_buffer_types = 1,
    .supported_buffer_types = {kLiteRtTensorBufferTypeUserCustomBuffer},
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
    .check_runtime_compatibility = CheckCompatibility,
};

LITERT_CAPI_EXPORT LiteRtStatus LiteRtDispatchGetApi(LiteRtDispatchApi* api) {
  const char* const lacking = Setting("lacks");
  if (lacking != NULL && strcmp(lacking, "invoke") == 0) interface.invoke = NULL;
  api->version.major = LITERT_API_VERSION_MAJOR;
  api->version.minor =
      Setting("version") != NULL ? atoi(Setting("version")) : LITERT_API_VERSION_MINOR;
  api->version.patch = LITERT_API_VERSION_PATCH;
  api->interface = &interface;
  api->async_interface = NULL;
  api->graph_interface = NULL;
  api->tensor_buffer_handlers_def = &handlers;
  return Record("LiteRtDispatchGetApi");
}

// Returns the names of the calls, and the numbers of objects that were not destroyed.
LITERT_CAPI_EXPORT const char* LitertDoubleCalls(int* memories, int* contexts, int* registered);

const char* LitertDoubleCalls(int* memories, int* contexts, int* registered) {
  *memories = live_memories;
  *contexts = live_contexts;
  *registered = 0;
  for (int i = 0; i < kMaxBuffers; ++i) *registered += buffers[i] != NULL;
  return calls;
}
