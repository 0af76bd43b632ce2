// SPDX-License-Identifier: Apache-2.0
//
// The functions of libLiteRt.so as one table, for programs that open the library at run time.
//
// Each member is the function of the same name in camel case with the prefix LiteRt, and behaves as
// described in the header that the comment names.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_RUNTIME_C_API_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_RUNTIME_C_API_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "litert/c/internal/litert_scheduling_info.h"
#include "litert/c/litert_any.h"
#include "litert/c/litert_common.h"
#include "litert/c/litert_custom_op_kernel.h"
#include "litert/c/litert_custom_tensor_buffer.h"
#include "litert/c/litert_environment_options.h"
#include "litert/c/litert_event_type.h"
#include "litert/c/litert_gl_types.h"
#include "litert/c/litert_layout.h"
#include "litert/c/litert_metrics.h"
#include "litert/c/litert_model_types.h"
#include "litert/c/litert_opaque_options.h"
#include "litert/c/litert_opencl_types.h"
#include "litert/c/litert_tensor_buffer_types.h"
#include "litert/c/litert_webgpu_types.h"

#ifdef __cplusplus
extern "C" {
#endif

// Version of the table. Members are added at its end only, and none is removed.
#define LITERT_RUNTIME_ABI_VERSION "1.1.0"

// Table of functions; none is NULL. The library owns it; it is constant and valid for the whole
// process.
typedef struct LiteRtRuntimeCApiStruct {
  // litert_environment.h and litert_environment_options.h.
  LiteRtStatus (*litert_create_environment)(int num_options, const LiteRtEnvOption* options,
                                            LiteRtEnvironment* environment);
  void (*litert_destroy_environment)(LiteRtEnvironment environment);
  LiteRtStatus (*litert_get_environment_options)(LiteRtEnvironment environment,
                                                 LiteRtEnvironmentOptions* options);
  LiteRtStatus (*litert_add_environment_options)(LiteRtEnvironment environment, int num_options,
                                                 const LiteRtEnvOption* options, bool overwrite);
  LiteRtStatus (*litert_gpu_environment_create)(LiteRtEnvironment environment, int num_options,
                                                const LiteRtEnvOption* options);
  LiteRtStatus (*litert_environment_supports_cl_gl_interop)(LiteRtEnvironment environment,
                                                            bool* is_supported);
  LiteRtStatus (*litert_environment_supports_ahwb_cl_interop)(LiteRtEnvironment environment,
                                                              bool* is_supported);
  LiteRtStatus (*litert_environment_supports_ahwb_gl_interop)(LiteRtEnvironment environment,
                                                              bool* is_supported);
  void (*litert_environment_has_gpu_environment)(LiteRtEnvironment environment,
                                                 bool* has_gpu_environment);
  LiteRtStatus (*litert_get_environment_options_value)(LiteRtEnvironmentOptions options,
                                                       LiteRtEnvOptionTag tag, LiteRtAny* value);

  // litert_model.h: tensors.
  LiteRtStatus (*litert_get_tensor_name)(LiteRtTensor tensor, const char** name);
  LiteRtStatus (*litert_get_tensor_index)(LiteRtTensor tensor, uint32_t* tensor_index);
  LiteRtStatus (*litert_get_tensor_type_id)(LiteRtTensor tensor, LiteRtTensorTypeId* type_id);
  LiteRtStatus (*litert_get_unranked_tensor_type)(LiteRtTensor tensor,
                                                  LiteRtUnrankedTensorType* unranked_tensor_type);
  LiteRtStatus (*litert_get_ranked_tensor_type)(LiteRtTensor tensor,
                                                LiteRtRankedTensorType* ranked_tensor_type);
  LiteRtStatus (*litert_get_quantization_type_id)(LiteRtTensor tensor,
                                                  LiteRtQuantizationTypeId* q_type_id);
  LiteRtStatus (*litert_get_per_tensor_quantization)(
      LiteRtTensor tensor, LiteRtQuantizationPerTensor* per_tensor_quantization);
  LiteRtStatus (*litert_get_per_channel_quantization)(
      LiteRtTensor tensor, LiteRtQuantizationPerChannel* per_channel_quantization);
  LiteRtStatus (*litert_get_num_tensor_uses)(LiteRtTensor tensor, LiteRtParamIndex* num_uses);
  LiteRtStatus (*litert_get_tensor_use)(LiteRtTensor tensor, LiteRtParamIndex use_index,
                                        LiteRtOp* user, LiteRtParamIndex* user_arg_index);
  LiteRtStatus (*litert_get_tensor_defining_op)(LiteRtTensor tensor, bool* has_defining_op,
                                                LiteRtTensorDefiningOp* defining_op);
  LiteRtStatus (*litert_get_tensor_weights)(LiteRtTensor tensor, LiteRtWeights* weights);

  // litert_model.h: subgraphs.
  LiteRtStatus (*litert_get_num_subgraph_inputs)(LiteRtSubgraph subgraph,
                                                 LiteRtParamIndex* num_inputs);
  LiteRtStatus (*litert_get_subgraph_input)(LiteRtSubgraph subgraph, LiteRtParamIndex input_index,
                                            LiteRtTensor* input);
  LiteRtStatus (*litert_get_num_subgraph_outputs)(LiteRtSubgraph subgraph,
                                                  LiteRtParamIndex* num_outputs);
  LiteRtStatus (*litert_get_subgraph_output)(LiteRtSubgraph subgraph, LiteRtParamIndex output_index,
                                             LiteRtTensor* output);
  LiteRtStatus (*litert_get_num_subgraph_ops)(LiteRtSubgraph subgraph, LiteRtParamIndex* num_ops);
  LiteRtStatus (*litert_get_subgraph_op)(LiteRtSubgraph subgraph, LiteRtParamIndex op_index,
                                         LiteRtOp* op);

  // litert_model.h: signatures.
  LiteRtStatus (*litert_get_signature_key)(LiteRtSignature signature, const char** signature_key);
  LiteRtStatus (*litert_get_signature_subgraph)(LiteRtSignature signature,
                                                LiteRtSubgraph* subgraph);
  LiteRtStatus (*litert_get_num_signature_inputs)(LiteRtSignature signature,
                                                  LiteRtParamIndex* num_inputs);
  LiteRtStatus (*litert_get_signature_input_name)(LiteRtSignature signature,
                                                  LiteRtParamIndex input_idx,
                                                  const char** input_name);
  LiteRtStatus (*litert_get_signature_input_tensor_by_index)(LiteRtSignature signature,
                                                             LiteRtParamIndex input_idx,
                                                             LiteRtTensor* tensor);
  LiteRtStatus (*litert_get_num_signature_outputs)(LiteRtSignature signature,
                                                   LiteRtParamIndex* num_outputs);
  LiteRtStatus (*litert_get_signature_output_name)(LiteRtSignature signature,
                                                   LiteRtParamIndex output_idx,
                                                   const char** output_name);
  LiteRtStatus (*litert_get_signature_output_tensor_by_index)(LiteRtSignature signature,
                                                              LiteRtParamIndex output_idx,
                                                              LiteRtTensor* tensor);

  // litert_model.h: models.
  LiteRtStatus (*litert_create_model_from_file)(LiteRtEnvironment environment, const char* filename,
                                                LiteRtModel* model);
  LiteRtStatus (*litert_create_model_from_buffer)(LiteRtEnvironment environment,
                                                  const void* buffer_addr, size_t buffer_size,
                                                  LiteRtModel* model);
  LiteRtStatus (*litert_get_model_metadata)(LiteRtModel model, const char* metadata_key,
                                            const void** metadata_buffer,
                                            size_t* metadata_buffer_size);
  LiteRtStatus (*litert_add_model_metadata)(LiteRtModel model, const char* metadata_key,
                                            const void* metadata_buffer,
                                            size_t metadata_buffer_size);
  LiteRtStatus (*litert_get_main_model_subgraph_index)(LiteRtModel model,
                                                       LiteRtParamIndex* main_subgraph_index);
  LiteRtStatus (*litert_get_num_model_subgraphs)(LiteRtModel model,
                                                 LiteRtParamIndex* num_subgraphs);
  LiteRtStatus (*litert_get_model_subgraph)(LiteRtModel model, LiteRtParamIndex subgraph_index,
                                            LiteRtSubgraph* subgraph);
  LiteRtStatus (*litert_get_num_model_signatures)(LiteRtModel model,
                                                  LiteRtParamIndex* num_signatures);
  LiteRtStatus (*litert_get_model_signature)(LiteRtModel model, LiteRtParamIndex signature_index,
                                             LiteRtSignature* signature);
  void (*litert_destroy_model)(LiteRtModel model);
  LiteRtStatus (*litert_push_op)(LiteRtOpList op_list, LiteRtOp op,
                                 LiteRtParamIndex partition_index);
  LiteRtStatus (*litert_serialize_model_with_signatures)(LiteRtModel model, uint8_t** buf,
                                                         size_t* size, size_t* offset,
                                                         bool destroy_model, char** signatures,
                                                         LiteRtParamIndex num_signatures,
                                                         LiteRtModelSerializationOptions options);
  LiteRtStatus (*litert_serialize_model)(LiteRtModel model, uint8_t** buf, size_t* size,
                                         size_t* offset, bool destroy_model,
                                         LiteRtModelSerializationOptions options);

  // litert_compiled_model.h.
  LiteRtStatus (*litert_create_compiled_model)(LiteRtEnvironment environment, LiteRtModel model,
                                               LiteRtOptions compilation_options,
                                               LiteRtCompiledModel* compiled_model);
  LiteRtStatus (*litert_get_compiled_model_input_buffer_requirements)(
      LiteRtCompiledModel compiled_model, LiteRtParamIndex signature_index,
      LiteRtParamIndex input_index, LiteRtTensorBufferRequirements* buffer_requirements);
  LiteRtStatus (*litert_get_compiled_model_output_buffer_requirements)(
      LiteRtCompiledModel compiled_model, LiteRtParamIndex signature_index,
      LiteRtParamIndex output_index, LiteRtTensorBufferRequirements* buffer_requirements);
  LiteRtStatus (*litert_get_compiled_model_input_tensor_layout)(LiteRtCompiledModel compiled_model,
                                                                LiteRtParamIndex signature_index,
                                                                LiteRtParamIndex input_index,
                                                                LiteRtLayout* layout);
  LiteRtStatus (*litert_get_compiled_model_output_tensor_layouts)(
      LiteRtCompiledModel compiled_model, LiteRtParamIndex signature_index, size_t num_layouts,
      LiteRtLayout* layouts, bool update_allocation);
  LiteRtStatus (*litert_run_compiled_model)(LiteRtCompiledModel compiled_model,
                                            LiteRtParamIndex signature_index,
                                            size_t num_input_buffers,
                                            LiteRtTensorBuffer* input_buffers,
                                            size_t num_output_buffers,
                                            LiteRtTensorBuffer* output_buffers);
  LiteRtStatus (*litert_run_compiled_model_with_options)(
      LiteRtCompiledModel compiled_model, LiteRtParamIndex signature_index,
      size_t num_input_buffers, LiteRtTensorBuffer* input_buffers, size_t num_output_buffers,
      LiteRtTensorBuffer* output_buffers, LiteRtOptions options);
  LiteRtStatus (*litert_run_compiled_model_async)(LiteRtCompiledModel compiled_model,
                                                  LiteRtParamIndex signature_index,
                                                  size_t num_input_buffers,
                                                  LiteRtTensorBuffer* input_buffers,
                                                  size_t num_output_buffers,
                                                  LiteRtTensorBuffer* output_buffers, bool* async);
  LiteRtStatus (*litert_run_compiled_model_async_with_options)(
      LiteRtCompiledModel compiled_model, LiteRtParamIndex signature_index,
      size_t num_input_buffers, LiteRtTensorBuffer* input_buffers, size_t num_output_buffers,
      LiteRtTensorBuffer* output_buffers, bool* async, LiteRtOptions options);
  LiteRtStatus (*litert_set_compiled_model_cancellation_function)(
      LiteRtCompiledModel compiled_model, void* data, bool (*check_cancelled_func)(void*));
  void (*litert_destroy_compiled_model)(LiteRtCompiledModel compiled_model);
  LiteRtStatus (*litert_compiled_model_start_metrics_collection)(LiteRtCompiledModel compiled_model,
                                                                 int detail_level);
  LiteRtStatus (*litert_compiled_model_stop_metrics_collection)(LiteRtCompiledModel compiled_model,
                                                                LiteRtMetrics metrics);
  LiteRtStatus (*litert_compiled_model_is_fully_accelerated)(LiteRtCompiledModel compiled_model,
                                                             bool* fully_accelerated);
  LiteRtStatus (*litert_compiled_model_get_profiler)(LiteRtCompiledModel compiled_model,
                                                     LiteRtProfiler* profiler);
  LiteRtStatus (*litert_compiled_model_resize_input_tensor)(LiteRtCompiledModel compiled_model,
                                                            LiteRtParamIndex signature_index,
                                                            LiteRtParamIndex input_index,
                                                            const int* dims, size_t dims_size);
  LiteRtStatus (*litert_compiled_model_resize_input_tensor_non_strict)(
      LiteRtCompiledModel compiled_model, LiteRtParamIndex signature_index,
      LiteRtParamIndex input_index, const int* dims, size_t dims_size);
  LiteRtStatus (*litert_compiled_model_set_dispatch_annotation)(LiteRtCompiledModel compiled_model,
                                                                LiteRtParamIndex signature_index,
                                                                const char* key, const char* value);
  LiteRtStatus (*litert_compiled_model_get_dispatch_annotation)(LiteRtCompiledModel compiled_model,
                                                                LiteRtParamIndex signature_index,
                                                                const char* key,
                                                                const char** value);
  LiteRtStatus (*litert_compiled_model_remove_dispatch_annotation)(
      LiteRtCompiledModel compiled_model, LiteRtParamIndex signature_index, const char* key);
  LiteRtStatus (*litert_compiled_model_report_error)(LiteRtCompiledModel compiled_model,
                                                     const char* format, ...);
  LiteRtStatus (*litert_compiled_model_clear_errors)(LiteRtCompiledModel compiled_model);
  LiteRtStatus (*litert_compiled_model_get_error_messages)(LiteRtCompiledModel compiled_model,
                                                           char** error_messages);

  // litert_tensor_buffer_requirements.h.
  LiteRtStatus (*litert_create_tensor_buffer_requirements)(
      int num_supported_tensor_buffer_types,
      const LiteRtTensorBufferType* supported_tensor_buffer_types, size_t buffer_size,
      int num_strides, const uint32_t* strides, LiteRtTensorBufferRequirements* requirements);
  LiteRtStatus (*litert_create_tensor_buffer_requirements_with_alignment)(
      int num_supported_tensor_buffer_types,
      const LiteRtTensorBufferType* supported_tensor_buffer_types, size_t buffer_size,
      int num_strides, const uint32_t* strides, size_t alignment,
      LiteRtTensorBufferRequirements* requirements);
  LiteRtStatus (*litert_get_num_tensor_buffer_requirements_supported_buffer_types)(
      LiteRtTensorBufferRequirements requirements, int* num_types);
  LiteRtStatus (*litert_get_tensor_buffer_requirements_supported_tensor_buffer_type)(
      LiteRtTensorBufferRequirements requirements, int type_index, LiteRtTensorBufferType* type);
  LiteRtStatus (*litert_get_tensor_buffer_requirements_buffer_size)(
      LiteRtTensorBufferRequirements requirements, size_t* buffer_size);
  LiteRtStatus (*litert_get_tensor_buffer_requirements_strides)(
      LiteRtTensorBufferRequirements requirements, int* num_strides, const uint32_t** strides);
  LiteRtStatus (*litert_get_tensor_buffer_requirements_alignment)(
      LiteRtTensorBufferRequirements requirements, size_t* alignment);
  LiteRtStatus (*litert_join_tensor_buffer_requirements)(
      LiteRtTensorBufferRequirements src_requirements_1,
      LiteRtTensorBufferRequirements src_requirements_2,
      LiteRtTensorBufferRequirements* joined_requirements);
  void (*litert_destroy_tensor_buffer_requirements)(LiteRtTensorBufferRequirements requirements);

  // litert_tensor_buffer.h.
  LiteRtStatus (*litert_create_tensor_buffer_from_host_memory)(
      const LiteRtRankedTensorType* tensor_type, void* host_buffer_addr, size_t host_buffer_size,
      LiteRtHostMemoryDeallocator deallocator, LiteRtTensorBuffer* buffer);
  LiteRtStatus (*litert_get_tensor_buffer_host_memory)(LiteRtTensorBuffer tensor_buffer,
                                                       void** host_memory_addr);
  LiteRtStatus (*litert_create_tensor_buffer_from_ahwb)(LiteRtEnvironment env,
                                                        const LiteRtRankedTensorType* tensor_type,
                                                        AHardwareBuffer* ahwb, size_t ahwb_offset,
                                                        LiteRtAhwbDeallocator deallocator,
                                                        LiteRtTensorBuffer* buffer);
  LiteRtStatus (*litert_get_tensor_buffer_ahwb)(LiteRtTensorBuffer tensor_buffer,
                                                AHardwareBuffer** ahwb);
  LiteRtStatus (*litert_create_tensor_buffer_from_ion_buffer)(
      const LiteRtRankedTensorType* tensor_type, void* ion_buffer_addr, int ion_buffer_fd,
      size_t ion_buffer_size, size_t ion_buffer_offset, LiteRtIonDeallocator deallocator,
      LiteRtTensorBuffer* buffer);
  LiteRtStatus (*litert_get_tensor_buffer_ion_buffer)(LiteRtTensorBuffer buffer,
                                                      void** ion_buffer_addr, int* ion_buffer_fd);
  LiteRtStatus (*litert_create_tensor_buffer_from_dma_buf_buffer)(
      const LiteRtRankedTensorType* tensor_type, void* dmabuf_buffer_addr, int dmabuf_buffer_fd,
      size_t dmabuf_buffer_size, size_t dmabuf_buffer_offset, LiteRtDmaBufDeallocator deallocator,
      LiteRtTensorBuffer* buffer);
  LiteRtStatus (*litert_get_tensor_buffer_dma_buf_buffer)(LiteRtTensorBuffer tensor_buffer,
                                                          void** dmabuf_buffer_addr,
                                                          int* dmabuf_buffer_fd);
  LiteRtStatus (*litert_create_tensor_buffer_from_fast_rpc_buffer)(
      const LiteRtRankedTensorType* tensor_type, void* fastrpc_buffer_addr, int fastrpc_fd,
      size_t fastrpc_buffer_size, size_t fastrpc_buffer_offset,
      LiteRtFastRpcDeallocator deallocator, LiteRtTensorBuffer* buffer);
  LiteRtStatus (*litert_get_tensor_buffer_fast_rpc_buffer)(LiteRtTensorBuffer tensor_buffer,
                                                           void** fastrpc_buffer_addr,
                                                           int* fastrpc_buffer_fd);
  LiteRtStatus (*litert_create_tensor_buffer_from_opencl_memory)(
      LiteRtEnvironment env, const LiteRtRankedTensorType* tensor_type,
      LiteRtTensorBufferType buffer_type, LiteRtClMem cl_mem_addr, size_t opencl_buffer_size,
      LiteRtOpenClDeallocator deallocator, LiteRtTensorBuffer* buffer);
  LiteRtStatus (*litert_get_tensor_buffer_opencl_memory)(LiteRtTensorBuffer tensor_buffer,
                                                         LiteRtClMem* cl_mem_addr);
  LiteRtStatus (*litert_get_tensor_buffer_custom_tensor_buffer_handle)(
      LiteRtTensorBuffer tensor_buffer, HwMemoryHandle* hw_memory_handle);
  LiteRtStatus (*litert_create_tensor_buffer_from_gl_buffer)(
      LiteRtEnvironment env, const LiteRtRankedTensorType* tensor_type, LiteRtGLenum target,
      LiteRtGLuint id, size_t size_bytes, size_t offset, LiteRtGlBufferDeallocator deallocator,
      LiteRtTensorBuffer* buffer);
  LiteRtStatus (*litert_get_tensor_buffer_gl_buffer)(LiteRtTensorBuffer tensor_buffer,
                                                     LiteRtGLenum* target, LiteRtGLuint* id,
                                                     size_t* size_bytes, size_t* offset);
  LiteRtStatus (*litert_create_tensor_buffer_from_gl_texture)(
      LiteRtEnvironment env, const LiteRtRankedTensorType* tensor_type, LiteRtGLenum target,
      LiteRtGLuint id, LiteRtGLenum format, size_t size_bytes, LiteRtGLint layer,
      LiteRtGlTextureDeallocator deallocator, LiteRtTensorBuffer* buffer);
  LiteRtStatus (*litert_get_tensor_buffer_gl_texture)(LiteRtTensorBuffer tensor_buffer,
                                                      LiteRtGLenum* target, LiteRtGLuint* id,
                                                      LiteRtGLenum* format, size_t* size_bytes,
                                                      LiteRtGLint* layer);
  LiteRtStatus (*litert_create_tensor_buffer_from_web_gpu_buffer)(
      LiteRtEnvironment env, const LiteRtRankedTensorType* tensor_type,
      LiteRtTensorBufferType buffer_type, LiteRtWGPUBuffer wgpu_buffer, size_t wgpu_buffer_size,
      LiteRtWebGpuBufferDeallocator deallocator, LiteRtTensorBuffer* tensor_buffer);
  LiteRtStatus (*litert_get_tensor_buffer_web_gpu_buffer)(LiteRtTensorBuffer tensor_buffer,
                                                          HwMemoryHandle* hw_memory_handle);
  LiteRtStatus (*litert_create_tensor_buffer_from_web_gpu_texture)(
      LiteRtEnvironment env, const LiteRtRankedTensorType* tensor_type, void* webgpu_texture,
      size_t webgpu_texture_size, LiteRtWebGpuTextureDeallocator deallocator,
      LiteRtTensorBuffer* tensor_buffer);
  LiteRtStatus (*litert_create_tensor_buffer_from_metal_memory)(
      LiteRtEnvironment env, const LiteRtRankedTensorType* tensor_type,
      LiteRtTensorBufferType buffer_type, void* metal_buffer, size_t metal_buffer_size,
      LiteRtMetalDeallocator deallocator, LiteRtTensorBuffer* tensor_buffer);
  LiteRtStatus (*litert_get_tensor_buffer_metal_memory)(LiteRtTensorBuffer tensor_buffer,
                                                        HwMemoryHandle* hw_memory_handle);
  LiteRtStatus (*litert_get_tensor_buffer_vulkan_memory)(LiteRtTensorBuffer tensor_buffer,
                                                         HwMemoryHandle* hw_memory_handle);
  LiteRtStatus (*litert_create_managed_tensor_buffer)(LiteRtEnvironment env,
                                                      LiteRtTensorBufferType buffer_type,
                                                      const LiteRtRankedTensorType* tensor_type,
                                                      size_t buffer_size,
                                                      LiteRtTensorBuffer* buffer);
  LiteRtStatus (*litert_create_managed_tensor_buffer_from_requirements)(
      LiteRtEnvironment env, const LiteRtRankedTensorType* tensor_type,
      LiteRtTensorBufferRequirements requirements, LiteRtTensorBuffer* buffer);
  LiteRtStatus (*litert_duplicate_tensor_buffer)(LiteRtTensorBuffer tensor_buffer);
  LiteRtStatus (*litert_get_tensor_buffer_type)(LiteRtTensorBuffer tensor_buffer,
                                                LiteRtTensorBufferType* buffer_type);
  LiteRtStatus (*litert_get_tensor_buffer_tensor_type)(LiteRtTensorBuffer tensor_buffer,
                                                       LiteRtRankedTensorType* tensor_type);
  LiteRtStatus (*litert_get_tensor_buffer_size)(LiteRtTensorBuffer tensor_buffer, size_t* size);
  LiteRtStatus (*litert_get_tensor_buffer_packed_size)(LiteRtTensorBuffer tensor_buffer,
                                                       size_t* size);
  LiteRtStatus (*litert_get_tensor_buffer_offset)(LiteRtTensorBuffer tensor_buffer, size_t* offset);
  LiteRtStatus (*litert_has_tensor_buffer_event)(LiteRtTensorBuffer tensor_buffer, bool* has_event);
  LiteRtStatus (*litert_get_tensor_buffer_event)(LiteRtTensorBuffer tensor_buffer,
                                                 LiteRtEvent* event);
  LiteRtStatus (*litert_set_tensor_buffer_event)(LiteRtTensorBuffer tensor_buffer,
                                                 LiteRtEvent event);
  LiteRtStatus (*litert_clear_tensor_buffer_event)(LiteRtTensorBuffer tensor_buffer);
  LiteRtStatus (*litert_lock_tensor_buffer)(LiteRtTensorBuffer tensor_buffer, void** host_mem_addr,
                                            LiteRtTensorBufferLockMode lock_mode);
  LiteRtStatus (*litert_unlock_tensor_buffer)(LiteRtTensorBuffer buffer);
  LiteRtStatus (*litert_clear_tensor_buffer)(LiteRtTensorBuffer buffer);
  void (*litert_destroy_tensor_buffer)(LiteRtTensorBuffer buffer);

  // litert_event.h.
  LiteRtStatus (*litert_create_event_from_sync_fence_fd)(LiteRtEnvironment env, int sync_fence_fd,
                                                         bool owns_fd, LiteRtEvent* event);
  LiteRtStatus (*litert_create_event_from_opencl_event)(LiteRtEnvironment env,
                                                        LiteRtClEvent cl_event, LiteRtEvent* event);
  LiteRtStatus (*litert_create_event_from_egl_sync_fence)(LiteRtEnvironment env,
                                                          LiteRtEglSyncKhr egl_sync,
                                                          LiteRtEvent* event);
  LiteRtStatus (*litert_create_managed_event)(LiteRtEnvironment env, LiteRtEventType type,
                                              LiteRtEvent* event);
  LiteRtStatus (*litert_set_custom_event)(LiteRtEvent event, LiteRtCustomEvent custom_event);
  LiteRtStatus (*litert_get_event_event_type)(LiteRtEvent event, LiteRtEventType* type);
  LiteRtStatus (*litert_get_event_sync_fence_fd)(LiteRtEvent event, int* sync_fence_fd);
  LiteRtStatus (*litert_get_event_opencl_event)(LiteRtEvent event, LiteRtClEvent* cl_event);
  LiteRtStatus (*litert_get_event_egl_sync)(LiteRtEvent event, LiteRtEglSyncKhr* egl_sync);
  LiteRtStatus (*litert_get_event_custom_native_event)(LiteRtEvent event, void** native);
  LiteRtStatus (*litert_wait_event)(LiteRtEvent event, int64_t timeout_in_ms);
  LiteRtStatus (*litert_signal_event)(LiteRtEvent event);
  LiteRtStatus (*litert_is_event_signaled)(LiteRtEvent event, bool* is_signaled);
  LiteRtStatus (*litert_dup_fd_event)(LiteRtEvent event, int* dup_fd);
  void (*litert_destroy_event)(LiteRtEvent event);

  // litert_layout.h.
  LiteRtStatus (*litert_get_num_layout_elements)(const LiteRtLayout* layout, size_t* num_elements);
  LiteRtStatus (*litert_is_same_layout)(const LiteRtLayout* layout1, const LiteRtLayout* layout2,
                                        bool* result);

  // litert_metrics.h.
  LiteRtStatus (*litert_create_metrics)(LiteRtMetrics* metrics);
  LiteRtStatus (*litert_get_num_metrics)(LiteRtMetrics metrics, int* num_metrics);
  LiteRtStatus (*litert_get_metric)(LiteRtMetrics metrics, int metric_index, LiteRtMetric* metric);
  void (*litert_destroy_metrics)(LiteRtMetrics metrics);

  // litert_opaque_options.h.
  LiteRtStatus (*litert_create_opaque_options)(const char* payload_identifier, void* payload_data,
                                               void (*payload_destructor)(void* payload_data),
                                               LiteRtOpaqueOptions* options);
  void (*litert_destroy_opaque_options)(LiteRtOpaqueOptions options);
  LiteRtStatus (*litert_get_opaque_options_identifier)(LiteRtOpaqueOptions options,
                                                       const char** payload_identifier);
  LiteRtStatus (*litert_get_opaque_options_data)(LiteRtOpaqueOptions options, void** payload_data);
  LiteRtStatus (*litert_find_opaque_options_data)(LiteRtOpaqueOptions options,
                                                  const char* payload_identifier,
                                                  void** payload_data);
  LiteRtStatus (*litert_get_next_opaque_options)(LiteRtOpaqueOptions* options);
  LiteRtStatus (*litert_append_opaque_options)(LiteRtOpaqueOptions* options,
                                               LiteRtOpaqueOptions appended_options);
  LiteRtStatus (*litert_pop_opaque_options)(LiteRtOpaqueOptions* options);
  LiteRtStatus (*litert_set_opaque_options_hash)(LiteRtOpaqueOptions options,
                                                 LiteRtOpaqueOptionsHashFunc payload_hash_func);
  LiteRtStatus (*litert_get_opaque_options_hash)(LiteRtOpaqueOptions options, uint64_t* hash);

  // litert_options.h.
  LiteRtStatus (*litert_create_options)(LiteRtOptions* options);
  void (*litert_destroy_options)(LiteRtOptions options);
  LiteRtStatus (*litert_set_options_hardware_accelerators)(
      LiteRtOptions options, LiteRtHwAcceleratorSet hardware_accelerators);
  LiteRtStatus (*litert_get_options_hardware_accelerators)(
      LiteRtOptions options, LiteRtHwAcceleratorSet* hardware_accelerators);
  LiteRtStatus (*litert_add_opaque_options)(LiteRtOptions options,
                                            LiteRtOpaqueOptions opaque_options);
  LiteRtStatus (*litert_get_opaque_options)(LiteRtOptions options,
                                            LiteRtOpaqueOptions* opaque_options);
  LiteRtStatus (*litert_add_custom_op_kernel_option)(LiteRtOptions options,
                                                     const char* custom_op_name,
                                                     int custom_op_version,
                                                     const LiteRtCustomOpKernel* custom_op_kernel,
                                                     void* custom_op_kernel_user_data);
  LiteRtStatus (*litert_add_external_tensor_binding)(LiteRtOptions options,
                                                     const char* signature_name,
                                                     const char* tensor_name, void* data,
                                                     int size_bytes);

  // litert_compiled_model.h: scheduling.
  LiteRtStatus (*litert_compiled_model_set_scheduling_info)(
      LiteRtCompiledModel compiled_model, const LiteRtSchedulingInfo* scheduling_info);
  LiteRtStatus (*litert_run_compiled_model_with_scheduling_info)(
      LiteRtCompiledModel compiled_model, LiteRtParamIndex signature_index,
      size_t num_input_buffers, LiteRtTensorBuffer* input_buffers, size_t num_output_buffers,
      LiteRtTensorBuffer* output_buffers, const LiteRtSchedulingInfo* scheduling_info);
  LiteRtStatus (*litert_run_compiled_model_async_with_scheduling_info)(
      LiteRtCompiledModel compiled_model, LiteRtParamIndex signature_index,
      size_t num_input_buffers, LiteRtTensorBuffer* input_buffers, size_t num_output_buffers,
      LiteRtTensorBuffer* output_buffers, bool* async, const LiteRtSchedulingInfo* scheduling_info);

  // litert_environment.h.
  LiteRtStatus (*litert_environment_supports_fp16)(LiteRtEnvironment environment,
                                                   bool* is_supported);

  // litert_model.h.
  LiteRtStatus (*litert_create_model_from_fd)(LiteRtEnvironment environment, int fd, size_t offset,
                                              size_t size, LiteRtModel* model);
  LiteRtStatus (*litert_get_block_wise_quantization)(
      LiteRtTensor tensor, LiteRtQuantizationBlockWise* block_wise_quantization);

  // litert_accelerator.h.
  LiteRtStatus (*litert_get_num_accelerators)(LiteRtEnvironment environment,
                                              LiteRtParamIndex* num_accelerators);
  LiteRtStatus (*litert_get_accelerator)(LiteRtEnvironment environment, LiteRtParamIndex index,
                                         LiteRtAccelerator* accelerator);
  LiteRtStatus (*litert_get_accelerator_hardware_support)(
      LiteRtAcceleratorConst accelerator, LiteRtHwAcceleratorSet* supported_hardware);

  // litert_compiled_model.h; since version 1.1.0.
  LiteRtStatus (*litert_compiled_model_is_non_cpu_fully_accelerated)(
      LiteRtCompiledModel compiled_model, bool* non_cpu_fully_accelerated);
} LiteRtRuntimeCApiStruct;

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_RUNTIME_C_API_H_
