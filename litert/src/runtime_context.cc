// SPDX-License-Identifier: Apache-2.0
#include "litert/src/runtime_context.h"

#include "litert/c/internal/litert_delegate_wrapper.h"
#include "litert/c/internal/litert_external_litert_buffer_context.h"
#include "litert/c/litert_environment.h"
#include "litert/c/litert_event.h"
#include "litert/c/litert_metrics.h"
#include "litert/c/litert_opaque_options.h"
#include "litert/c/litert_options.h"
#include "litert/c/litert_tensor_buffer.h"
#include "litert/c/litert_tensor_buffer_requirements.h"

namespace deputy::litert {

LiteRtRuntimeContext* RuntimeContext() {
  static LiteRtRuntimeContext context = {
      .abi_header = {.struct_size = sizeof(LiteRtRuntimeContext),
                     .major_version = 1,
                     .minor_version = 2,
                     .reserved = 0},
      .create_tensor_buffer_requirements = &LiteRtCreateTensorBufferRequirements,
      .get_external_litert_buffer_context_tensor_buffer =
          &LiteRtGetExternalLiteRtBufferContextTensorBuffer,
      .external_litert_buffer_context_create_tensor_buffer =
          &LiteRtExternalLiteRtBufferContextCreateBufferForTensor,
      .external_litert_buffer_context_register_tensor_buffer =
          &LiteRtExternalLiteRtBufferContextRegisterTensorBuffer,
      .external_litert_buffer_context_unregister_tensor_buffer =
          &LiteRtExternalLiteRtBufferContextUnregisterTensorBuffer,
      .external_litert_buffer_context_register_buffer_requirements =
          &LiteRtExternalLiteRtBufferContextRegisterBufferRequirements,
      .external_litert_buffer_context_get_environment =
          &LiteRtExternalLiteRtBufferContextGetEnvironment,
      .external_litert_buffer_context_is_async_execution_mode =
          &LiteRtExternalLiteRtBufferContextIsAsyncExecutionMode,
      .external_litert_buffer_context_destroy = &LiteRtDestroyExternalLiteRtBufferContext,
      .get_opaque_options = &LiteRtGetOpaqueOptions,
      .find_opaque_options_data = &LiteRtFindOpaqueOptionsData,
      .destroy_options = &LiteRtDestroyOptions,
      .get_environment_options = &LiteRtGetEnvironmentOptions,
      .get_environment_options_value = &LiteRtGetEnvironmentOptionsValue,
      .environment_has_gpu_environment = &LiteRtEnvironmentHasGpuEnvironment,
      .add_environment_options = &LiteRtAddEnvironmentOptions,
      .gpu_environment_create = &LiteRtGpuEnvironmentCreate,
      .wrap_delegate = &LiteRtWrapDelegate,
      .unwrap_delegate = &LiteRtUnwrapDelegate,
      .create_tensor_buffer_from_host_memory = &LiteRtCreateTensorBufferFromHostMemory,
      .create_managed_tensor_buffer = &LiteRtCreateManagedTensorBuffer,
      .destroy_tensor_buffer = &LiteRtDestroyTensorBuffer,
      .get_tensor_buffer_type = &LiteRtGetTensorBufferType,
      .get_tensor_buffer_tensor_type = &LiteRtGetTensorBufferTensorType,
      .get_tensor_buffer_size = &LiteRtGetTensorBufferSize,
      .get_tensor_buffer_packed_size = &LiteRtGetTensorBufferPackedSize,
      .get_tensor_buffer_offset = &LiteRtGetTensorBufferOffset,
      .lock_tensor_buffer = &LiteRtLockTensorBuffer,
      .unlock_tensor_buffer = &LiteRtUnlockTensorBuffer,
      .get_tensor_buffer_host_memory = &LiteRtGetTensorBufferHostMemory,
      .get_tensor_buffer_opencl_memory = &LiteRtGetTensorBufferOpenClMemory,
      .get_tensor_buffer_gl_buffer = &LiteRtGetTensorBufferGlBuffer,
      .get_tensor_buffer_custom_tensor_buffer_handle =
          &LiteRtGetTensorBufferCustomTensorBufferHandle,
      .get_tensor_buffer_ahwb = &LiteRtGetTensorBufferAhwb,
      .get_tensor_buffer_dma_buf_buffer = &LiteRtGetTensorBufferDmaBufBuffer,
      .get_tensor_buffer_fast_rpc_buffer = &LiteRtGetTensorBufferFastRpcBuffer,
      .has_tensor_buffer_event = &LiteRtHasTensorBufferEvent,
      .get_tensor_buffer_event = &LiteRtGetTensorBufferEvent,
      .set_tensor_buffer_event = &LiteRtSetTensorBufferEvent,
      .create_managed_event = &LiteRtCreateManagedEvent,
      .create_event_from_sync_fence_fd = &LiteRtCreateEventFromSyncFenceFd,
      .get_event_event_type = &LiteRtGetEventEventType,
      .get_event_sync_fence_fd = &LiteRtGetEventSyncFenceFd,
      .create_event_from_opencl_event = &LiteRtCreateEventFromOpenClEvent,
      .get_event_opencl_event = &LiteRtGetEventOpenClEvent,
      .set_custom_event = &LiteRtSetCustomEvent,
      .get_custom_event = &LiteRtGetCustomEvent,
      .wait_event = &LiteRtWaitEvent,
      .external_litert_buffer_context_get_run_options =
          &LiteRtExternalLiteRtBufferContextGetRunOptions,
      .get_options_hardware_accelerators = &LiteRtGetOptionsHardwareAccelerators,
      .append_metric = &LiteRtAppendMetric,

  };
  return &context;
}

}  // namespace deputy::litert
