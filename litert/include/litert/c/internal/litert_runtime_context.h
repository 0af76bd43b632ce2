// SPDX-License-Identifier: Apache-2.0
//
// Functions of the host for accelerators and dispatch plug-ins, which therefore need no symbols of
// libLiteRt.so.
//
// Each member is the function of the same name in camel case with the prefix LiteRt, and behaves as
// described in the header that the comment names. A plug-in checks a member that its host may lack
// with LITERT_ABI_HAS_API.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_RUNTIME_CONTEXT_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_RUNTIME_CONTEXT_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "litert/c/internal/deputy_tflite_types.h"
#include "litert/c/internal/litert_abi_header.h"
#include "litert/c/litert_any.h"
#include "litert/c/litert_common.h"
#include "litert/c/litert_custom_tensor_buffer.h"
#include "litert/c/litert_environment_options.h"
#include "litert/c/litert_event_type.h"
#include "litert/c/litert_gl_types.h"
#include "litert/c/litert_metrics.h"
#include "litert/c/litert_model_types.h"
#include "litert/c/litert_opencl_types.h"
#include "litert/c/litert_tensor_buffer_types.h"

#ifdef __cplusplus
extern "C" {
#endif

// Table of functions. The host owns it; it is constant and valid for the whole process. Members are
// added at its end only: version 1.1 has 408 bytes, version 1.2 416.
typedef struct LiteRtRuntimeContext {
  LiteRtAbiHeader abi_header;

  // litert_tensor_buffer_requirements.h.
  LiteRtStatus (*create_tensor_buffer_requirements)(
      int num_supported_tensor_buffer_types,
      const LiteRtTensorBufferType* supported_tensor_buffer_types, size_t buffer_size,
      int num_strides, const uint32_t* strides, LiteRtTensorBufferRequirements* requirements);

  // litert_external_litert_buffer_context.h; the names there begin with
  // LiteRtExternalLiteRtBufferContext.
  LiteRtStatus (*get_external_litert_buffer_context_tensor_buffer)(
      LiteRtExternalLiteRtBufferContext context, const TfLiteTensor* tensor,
      LiteRtTensorBuffer* tensor_buffer);
  LiteRtStatus (*external_litert_buffer_context_create_tensor_buffer)(
      LiteRtExternalLiteRtBufferContext context, const TfLiteTensor* tensor,
      LiteRtTensorBuffer* buffer);
  LiteRtStatus (*external_litert_buffer_context_register_tensor_buffer)(
      LiteRtExternalLiteRtBufferContext context, const TfLiteTensor* tensor,
      LiteRtTensorBuffer buffer);
  LiteRtStatus (*external_litert_buffer_context_unregister_tensor_buffer)(
      LiteRtExternalLiteRtBufferContext context, const TfLiteTensor* tensor);
  LiteRtStatus (*external_litert_buffer_context_register_buffer_requirements)(
      LiteRtExternalLiteRtBufferContext context, const TfLiteTensor* tensor,
      LiteRtTensorBufferRequirements buffer_requirements);
  LiteRtStatus (*external_litert_buffer_context_get_environment)(
      LiteRtExternalLiteRtBufferContext context, LiteRtEnvironment* env);
  LiteRtStatus (*external_litert_buffer_context_is_async_execution_mode)(
      LiteRtExternalLiteRtBufferContext context, bool* is_async_execution_mode);
  void (*external_litert_buffer_context_destroy)(LiteRtExternalLiteRtBufferContext context);

  // litert_options.h and litert_opaque_options.h.
  LiteRtStatus (*get_opaque_options)(LiteRtOptions options, LiteRtOpaqueOptions* opaque_options);
  LiteRtStatus (*find_opaque_options_data)(LiteRtOpaqueOptions options,
                                           const char* payload_identifier, void** payload_data);
  void (*destroy_options)(LiteRtOptions options);

  // litert_environment.h and litert_environment_options.h.
  LiteRtStatus (*get_environment_options)(LiteRtEnvironment env, LiteRtEnvironmentOptions* options);
  LiteRtStatus (*get_environment_options_value)(LiteRtEnvironmentOptions options,
                                                LiteRtEnvOptionTag tag, LiteRtAny* option_value);
  void (*environment_has_gpu_environment)(LiteRtEnvironment environment, bool* has_gpu_environment);
  LiteRtStatus (*add_environment_options)(LiteRtEnvironment environment, int num_options,
                                          const LiteRtEnvOption* options, bool overwrite);
  LiteRtStatus (*gpu_environment_create)(LiteRtEnvironment environment, int num_options,
                                         const LiteRtEnvOption* options);

  // litert_delegate_wrapper.h.
  LiteRtStatus (*wrap_delegate)(TfLiteOpaqueDelegate* delegate,
                                void (*deleter)(TfLiteOpaqueDelegate*),
                                LiteRtDelegateWrapper* wrapper);
  LiteRtStatus (*unwrap_delegate)(LiteRtDelegateWrapper wrapper, TfLiteOpaqueDelegate** delegate);

  // litert_tensor_buffer.h.
  LiteRtStatus (*create_tensor_buffer_from_host_memory)(const LiteRtRankedTensorType* tensor_type,
                                                        void* host_buffer_addr,
                                                        size_t host_buffer_size,
                                                        LiteRtHostMemoryDeallocator deallocator,
                                                        LiteRtTensorBuffer* buffer);
  LiteRtStatus (*create_managed_tensor_buffer)(LiteRtEnvironment env,
                                               LiteRtTensorBufferType buffer_type,
                                               const LiteRtRankedTensorType* tensor_type,
                                               size_t buffer_size, LiteRtTensorBuffer* buffer);
  void (*destroy_tensor_buffer)(LiteRtTensorBuffer buffer);
  LiteRtStatus (*get_tensor_buffer_type)(LiteRtTensorBuffer tensor_buffer,
                                         LiteRtTensorBufferType* buffer_type);
  LiteRtStatus (*get_tensor_buffer_tensor_type)(LiteRtTensorBuffer tensor_buffer,
                                                LiteRtRankedTensorType* tensor_type);
  LiteRtStatus (*get_tensor_buffer_size)(LiteRtTensorBuffer tensor_buffer, size_t* buffer_size);
  LiteRtStatus (*get_tensor_buffer_packed_size)(LiteRtTensorBuffer tensor_buffer, size_t* size);
  LiteRtStatus (*get_tensor_buffer_offset)(LiteRtTensorBuffer tensor_buffer, size_t* offset);
  LiteRtStatus (*lock_tensor_buffer)(LiteRtTensorBuffer tensor_buffer, void** host_mem_addr,
                                     LiteRtTensorBufferLockMode mode);
  LiteRtStatus (*unlock_tensor_buffer)(LiteRtTensorBuffer tensor_buffer);
  LiteRtStatus (*get_tensor_buffer_host_memory)(LiteRtTensorBuffer tensor_buffer,
                                                void** host_memory_addr);
  LiteRtStatus (*get_tensor_buffer_opencl_memory)(LiteRtTensorBuffer tensor_buffer,
                                                  LiteRtClMem* cl_mem_addr);
  LiteRtStatus (*get_tensor_buffer_gl_buffer)(LiteRtTensorBuffer tensor_buffer,
                                              LiteRtGLenum* target, LiteRtGLuint* id,
                                              size_t* size_bytes, size_t* offset);
  LiteRtStatus (*get_tensor_buffer_custom_tensor_buffer_handle)(LiteRtTensorBuffer tensor_buffer,
                                                                HwMemoryHandle* hw_memory_handle);
  LiteRtStatus (*get_tensor_buffer_ahwb)(LiteRtTensorBuffer tensor_buffer, AHardwareBuffer** ahwb);
  LiteRtStatus (*get_tensor_buffer_dma_buf_buffer)(LiteRtTensorBuffer tensor_buffer,
                                                   void** dmabuf_buffer_addr,
                                                   int* dmabuf_buffer_fd);
  LiteRtStatus (*get_tensor_buffer_fast_rpc_buffer)(LiteRtTensorBuffer tensor_buffer,
                                                    void** host_buffer_addr, int* fd);
  LiteRtStatus (*has_tensor_buffer_event)(LiteRtTensorBuffer tensor_buffer, bool* has_event);
  LiteRtStatus (*get_tensor_buffer_event)(LiteRtTensorBuffer tensor_buffer, LiteRtEvent* event);
  LiteRtStatus (*set_tensor_buffer_event)(LiteRtTensorBuffer tensor_buffer, LiteRtEvent event);

  // litert_event.h.
  LiteRtStatus (*create_managed_event)(LiteRtEnvironment env, LiteRtEventType event_type,
                                       LiteRtEvent* event);
  LiteRtStatus (*create_event_from_sync_fence_fd)(LiteRtEnvironment env, int sync_fence_fd,
                                                  bool owns_fd, LiteRtEvent* event);
  LiteRtStatus (*get_event_event_type)(LiteRtEvent event, LiteRtEventType* type);
  LiteRtStatus (*get_event_sync_fence_fd)(LiteRtEvent event, int* sync_fence_fd);
  LiteRtStatus (*create_event_from_opencl_event)(LiteRtEnvironment env, LiteRtClEvent cl_event,
                                                 LiteRtEvent* event);
  LiteRtStatus (*get_event_opencl_event)(LiteRtEvent event, LiteRtClEvent* cl_event);
  LiteRtStatus (*set_custom_event)(LiteRtEvent event, LiteRtCustomEvent custom_event);
  LiteRtStatus (*get_custom_event)(LiteRtEvent event, LiteRtCustomEvent* custom_event);
  LiteRtStatus (*wait_event)(LiteRtEvent event, int64_t timeout_in_ms);

  // litert_external_litert_buffer_context.h.
  LiteRtStatus (*external_litert_buffer_context_get_run_options)(
      LiteRtExternalLiteRtBufferContext context, LiteRtOptions* run_options);

  // litert_options.h; since version 1.1.
  LiteRtStatus (*get_options_hardware_accelerators)(LiteRtOptions options,
                                                    LiteRtHwAcceleratorSet* hardware_accelerators);

  // litert_metrics.h. Since LiteRT 2.3.0 (version 1.2), whose headers are not published.
  LiteRtStatus (*append_metric)(LiteRtMetrics metrics, const LiteRtMetric* metric);
} LiteRtRuntimeContext;

// Returns the table of this library.
LiteRtRuntimeContext* LrtGetRuntimeContext(void);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_RUNTIME_CONTEXT_H_
