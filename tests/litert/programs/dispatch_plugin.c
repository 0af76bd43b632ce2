// SPDX-License-Identifier: Apache-2.0
//
// Skeleton of a dispatch plug-in, for the test of the headers, which compiles it only. Its
// "bytecode" is one byte that is added to each byte of the only input.
#include <stdbool.h>
#include <stdlib.h>

#include "litert/c/internal/litert_runtime_context.h"
#include "litert/vendors/c/litert_dispatch.h"
#include "litert/vendors/c/litert_dispatch_api.h"

_Static_assert(sizeof(LiteRtDispatchApi) == 56 && offsetof(LiteRtDispatchApi, interface) == 24,
               "LiteRtDispatchApi");
_Static_assert(sizeof(LiteRtDispatchInterface) == 26 * sizeof(void*), "LiteRtDispatchInterface");
_Static_assert(sizeof(LiteRtDispatchGraphInterface) == 16 * sizeof(void*),
               "LiteRtDispatchGraphInterface");
_Static_assert(sizeof(LiteRtRuntimeContext) == 416, "LiteRtRuntimeContext");
_Static_assert(sizeof(LiteRtCustomTensorBufferHandlersDef) == 136,
               "LiteRtCustomTensorBufferHandlersDef");

struct LiteRtDispatchDeviceContextT {
  const LiteRtRuntimeContext* runtime;
};

struct LiteRtDispatchInvocationContextT {
  const LiteRtRuntimeContext* runtime;
  unsigned char addend;
  LiteRtTensorBuffer input;
  LiteRtTensorBuffer output;
};

static LiteRtStatus Initialize(const LiteRtRuntimeContext* runtime_context,
                               LiteRtEnvironment environment, LiteRtOptions options) {
  (void)environment;
  LiteRtHwAcceleratorSet accelerators = kLiteRtHwAcceleratorNone;
  if (runtime_context == NULL || !LITERT_ABI_IS_COMPATIBLE(runtime_context, 1, 0)) {
    return kLiteRtStatusErrorUnsupportedRuntimeVersion;
  }
  if (LITERT_ABI_HAS_API(runtime_context, 1, get_options_hardware_accelerators)) {
    return runtime_context->get_options_hardware_accelerators(options, &accelerators);
  }
  return kLiteRtStatusOk;
}

static LiteRtStatus GetVendorId(const char** vendor_id) {
  *vendor_id = "Deputy";
  return kLiteRtStatusOk;
}

static LiteRtStatus GetCapabilities(int* capabilities) {
  *capabilities = kLiteRtDispatchCapabilitiesBasic;
  return kLiteRtStatusOk;
}

static LiteRtStatus DeviceContextCreate(const LiteRtRuntimeContext* runtime_context,
                                        LiteRtOptions options,
                                        LiteRtDispatchDeviceContext* device_context) {
  (void)options;
  LiteRtDispatchDeviceContext context = malloc(sizeof(*context));
  if (context == NULL) return kLiteRtStatusErrorMemoryAllocationFailure;
  context->runtime = runtime_context;
  *device_context = context;
  return kLiteRtStatusOk;
}

static LiteRtStatus DeviceContextDestroy(LiteRtDispatchDeviceContext device_context) {
  free(device_context);
  return kLiteRtStatusOk;
}

static LiteRtStatus Requirements(LiteRtDispatchInvocationContext context, int index,
                                 const LiteRtRankedTensorType* type,
                                 LiteRtTensorBufferRequirements* requirements) {
  const LiteRtTensorBufferType host = kLiteRtTensorBufferTypeHostMemory;
  size_t size = 1;
  if (index != 0 || type->element_type != kLiteRtElementTypeUInt8) {
    return kLiteRtStatusErrorUnsupported;
  }
  for (unsigned i = 0; i < type->layout.rank; ++i) size *= (size_t)type->layout.dimensions[i];
  return context->runtime->create_tensor_buffer_requirements(1, &host, size, 0, NULL, requirements);
}

// The handle of a buffer is its address.
static LiteRtStatus RegisterTensorBuffer(LiteRtDispatchDeviceContext device_context,
                                         LiteRtTensorBuffer buffer,
                                         LiteRtTensorBufferHandle* handle) {
  (void)device_context;
  *handle = (LiteRtTensorBufferHandle)(uintptr_t)buffer;
  return kLiteRtStatusOk;
}

static LiteRtStatus UnregisterTensorBuffer(LiteRtDispatchDeviceContext device_context,
                                           LiteRtTensorBufferHandle handle) {
  (void)device_context;
  return handle != 0 ? kLiteRtStatusOk : kLiteRtStatusErrorNotFound;
}

static LiteRtStatus InvocationContextCreate(const LiteRtRuntimeContext* runtime_context,
                                            LiteRtDispatchDeviceContext device_context,
                                            LiteRtDispatchExecutableType exec_type,
                                            const LiteRtMemBuffer* bytecode,
                                            const char* function_name, int num_inputs,
                                            int num_outputs,
                                            LiteRtDispatchInvocationContext* invocation_context) {
  (void)device_context;
  (void)function_name;
  if (exec_type != kLiteRtDispatchExecutableTypeMlModel || num_inputs != 1 || num_outputs != 1 ||
      bytecode->size != 1) {
    return kLiteRtStatusErrorIncompatibleByteCodeVersion;
  }
  LiteRtDispatchInvocationContext context = calloc(1, sizeof(*context));
  if (context == NULL) return kLiteRtStatusErrorMemoryAllocationFailure;
  context->runtime = runtime_context;
  context->addend = ((const unsigned char*)bytecode->base_addr)[bytecode->offset];
  *invocation_context = context;
  return kLiteRtStatusOk;
}

static LiteRtStatus InvocationContextDestroy(LiteRtDispatchInvocationContext context) {
  free(context);
  return kLiteRtStatusOk;
}

static LiteRtStatus AttachInput(LiteRtDispatchInvocationContext context, int index,
                                LiteRtTensorBufferHandle handle) {
  if (index != 0) return kLiteRtStatusErrorIndexOOB;
  context->input = (LiteRtTensorBuffer)(uintptr_t)handle;
  return kLiteRtStatusOk;
}

static LiteRtStatus AttachOutput(LiteRtDispatchInvocationContext context, int index,
                                 LiteRtTensorBufferHandle handle) {
  if (index != 0) return kLiteRtStatusErrorIndexOOB;
  context->output = (LiteRtTensorBuffer)(uintptr_t)handle;
  return kLiteRtStatusOk;
}

static LiteRtStatus Detach(LiteRtDispatchInvocationContext context, int index,
                           LiteRtTensorBufferHandle handle) {
  (void)context;
  (void)handle;
  return index == 0 ? kLiteRtStatusOk : kLiteRtStatusErrorIndexOOB;
}

static LiteRtStatus Invoke(LiteRtDispatchInvocationContext context) {
  const LiteRtRuntimeContext* runtime = context->runtime;
  void *from = NULL, *to = NULL;
  size_t size = 0;
  if (context->input == NULL || context->output == NULL) {
    return kLiteRtStatusErrorMissingInputTensor;
  }
  LiteRtStatus status = runtime->get_tensor_buffer_packed_size(context->input, &size);
  if (status != kLiteRtStatusOk) return status;
  status = runtime->lock_tensor_buffer(context->input, &from, kLiteRtTensorBufferLockModeRead);
  if (status != kLiteRtStatusOk) return status;
  status = runtime->lock_tensor_buffer(context->output, &to, kLiteRtTensorBufferLockModeWrite);
  if (status == kLiteRtStatusOk) {
    for (size_t i = 0; i < size; ++i) {
      ((unsigned char*)to)[i] = (unsigned char)(((unsigned char*)from)[i] + context->addend);
    }
    status = runtime->unlock_tensor_buffer(context->output);
  }
  const LiteRtStatus unlocked = runtime->unlock_tensor_buffer(context->input);
  return status != kLiteRtStatusOk ? status : unlocked;
}

static LiteRtStatus CheckRuntimeCompatibility(LiteRtApiVersion version,
                                              LiteRtEnvironmentOptions env, LiteRtOptions options) {
  (void)env;
  (void)options;
  return version.major == LITERT_API_VERSION_MAJOR ? kLiteRtStatusOk
                                                   : kLiteRtStatusErrorUnsupportedRuntimeVersion;
}

static LiteRtDispatchInterface interface_table = {
    .initialize = Initialize,
    .get_vendor_id = GetVendorId,
    .get_build_id = GetVendorId,
    .get_capabilities = GetCapabilities,
    .device_context_create = DeviceContextCreate,
    .device_context_destroy = DeviceContextDestroy,
    .get_input_requirements = Requirements,
    .get_output_requirements = Requirements,
    .register_tensor_buffer = RegisterTensorBuffer,
    .unregister_tensor_buffer = UnregisterTensorBuffer,
    .invocation_context_create = InvocationContextCreate,
    .invocation_context_destroy = InvocationContextDestroy,
    .attach_input = AttachInput,
    .attach_output = AttachOutput,
    .detach_input = Detach,
    .detach_output = Detach,
    .invoke = Invoke,
    .check_runtime_compatibility = CheckRuntimeCompatibility,
};

LiteRtStatus LiteRtDispatchGetApi(LiteRtDispatchApi* api) {
  const LiteRtApiVersion version = {LITERT_API_VERSION_MAJOR, LITERT_API_VERSION_MINOR,
                                    LITERT_API_VERSION_PATCH};
  if (api == NULL) return kLiteRtStatusErrorInvalidArgument;
  if (!LITERT_ABI_IS_COMPATIBLE(api, 1, 0)) return kLiteRtStatusErrorWrongVersion;
  api->version = version;
  api->interface = &interface_table;
  api->async_interface = NULL;
  api->graph_interface = NULL;
  api->tensor_buffer_handlers_def = NULL;
  return kLiteRtStatusOk;
}
