// SPDX-License-Identifier: Apache-2.0
#include "litert/src/runtime_context.h"

#include "litert/c/internal/litert_delegate_wrapper.h"
#include "litert/c/litert_environment.h"
#include "litert/c/litert_event.h"
#include "litert/c/litert_opaque_options.h"
#include "litert/c/litert_options.h"
#include "litert/c/litert_tensor_buffer.h"
#include "litert/c/litert_tensor_buffer_requirements.h"

namespace deputy::litert {

// Members that are null belong to functions that the library does not have.
LiteRtRuntimeContext* RuntimeContext() {
  static LiteRtRuntimeContext context = [] {
    LiteRtRuntimeContext table = {};
    table.abi_header = {.struct_size = sizeof(LiteRtRuntimeContext),
                        .major_version = 1,
                        .minor_version = 1,
                        .reserved = 0};
    table.create_tensor_buffer_requirements = &LiteRtCreateTensorBufferRequirements;
    table.get_opaque_options = &LiteRtGetOpaqueOptions;
    table.find_opaque_options_data = &LiteRtFindOpaqueOptionsData;
    table.destroy_options = &LiteRtDestroyOptions;
    table.get_environment_options = &LiteRtGetEnvironmentOptions;
    table.get_environment_options_value = &LiteRtGetEnvironmentOptionsValue;
    table.environment_has_gpu_environment = &LiteRtEnvironmentHasGpuEnvironment;
    table.add_environment_options = &LiteRtAddEnvironmentOptions;
    table.gpu_environment_create = &LiteRtGpuEnvironmentCreate;
    table.wrap_delegate = &LiteRtWrapDelegate;
    table.unwrap_delegate = &LiteRtUnwrapDelegate;
    table.create_tensor_buffer_from_host_memory = &LiteRtCreateTensorBufferFromHostMemory;
    table.create_managed_tensor_buffer = &LiteRtCreateManagedTensorBuffer;
    table.destroy_tensor_buffer = &LiteRtDestroyTensorBuffer;
    table.get_tensor_buffer_type = &LiteRtGetTensorBufferType;
    table.get_tensor_buffer_tensor_type = &LiteRtGetTensorBufferTensorType;
    table.get_tensor_buffer_size = &LiteRtGetTensorBufferSize;
    table.get_tensor_buffer_packed_size = &LiteRtGetTensorBufferPackedSize;
    table.get_tensor_buffer_offset = &LiteRtGetTensorBufferOffset;
    table.lock_tensor_buffer = &LiteRtLockTensorBuffer;
    table.unlock_tensor_buffer = &LiteRtUnlockTensorBuffer;
    table.get_tensor_buffer_host_memory = &LiteRtGetTensorBufferHostMemory;
    table.get_tensor_buffer_opencl_memory = &LiteRtGetTensorBufferOpenClMemory;
    table.get_tensor_buffer_gl_buffer = &LiteRtGetTensorBufferGlBuffer;
    table.get_tensor_buffer_custom_tensor_buffer_handle =
        &LiteRtGetTensorBufferCustomTensorBufferHandle;
    table.get_tensor_buffer_ahwb = &LiteRtGetTensorBufferAhwb;
    table.get_tensor_buffer_dma_buf_buffer = &LiteRtGetTensorBufferDmaBufBuffer;
    table.get_tensor_buffer_fast_rpc_buffer = &LiteRtGetTensorBufferFastRpcBuffer;
    table.has_tensor_buffer_event = &LiteRtHasTensorBufferEvent;
    table.get_tensor_buffer_event = &LiteRtGetTensorBufferEvent;
    table.set_tensor_buffer_event = &LiteRtSetTensorBufferEvent;
    table.create_managed_event = &LiteRtCreateManagedEvent;
    table.create_event_from_sync_fence_fd = &LiteRtCreateEventFromSyncFenceFd;
    table.get_event_event_type = &LiteRtGetEventEventType;
    table.get_event_sync_fence_fd = &LiteRtGetEventSyncFenceFd;
    table.create_event_from_opencl_event = &LiteRtCreateEventFromOpenClEvent;
    table.get_event_opencl_event = &LiteRtGetEventOpenClEvent;
    table.set_custom_event = &LiteRtSetCustomEvent;
    table.get_custom_event = &LiteRtGetCustomEvent;
    table.wait_event = &LiteRtWaitEvent;
    table.get_options_hardware_accelerators = &LiteRtGetOptionsHardwareAccelerators;
    return table;
  }();
  return &context;
}

}  // namespace deputy::litert
