// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous kernels of plain delegates in plug-ins (async_kernel in deputy_plugin.h). Plug-ins
// link no library of the runtime, which therefore passes the functions that such kernels need.
#ifndef DEPUTY_C_API_INCLUDE_DEPUTY_PLUGIN_ASYNC_H_
#define DEPUTY_C_API_INCLUDE_DEPUTY_PLUGIN_ASYNC_H_

#include <stdbool.h>
#include <stddef.h>

#include "async_types.h"
#include "c_api_types.h"
#include "common.h"
#include "interop_types.h"

#ifdef __cplusplus
extern "C" {
#endif

// Layout of a TfLiteAsyncKernel. A plug-in fills it and returns its address as TfLiteAsyncKernel*.
// async_kernel.h describes the functions; NULL: the kernel lacks the function. The opaque context
// and the opaque node are the TfLiteContext and the TfLiteNode of the delegate's node.
typedef struct DeputyAsyncKernel {
  void* kernel_data;  // not used by the runtime
  TfLiteStatus (*register_buffer)(TfLiteAsyncKernel* kernel, TfLiteOpaqueContext* context,
                                  TfLiteIoType io_type, const TfLiteBackendBuffer* buffer,
                                  const TfLiteAttributeMap* attributes, TfLiteBufferHandle handle);
  TfLiteStatus (*register_buffer_slice)(TfLiteAsyncKernel* kernel, TfLiteOpaqueContext* context,
                                        TfLiteBufferHandle pool,
                                        const TfLiteAttributeMap* attributes,
                                        TfLiteBufferHandle handle);
  TfLiteStatus (*unregister_buffer)(TfLiteAsyncKernel* kernel, TfLiteOpaqueContext* context,
                                    TfLiteBufferHandle handle);
  void (*supported_buffer_types)(const TfLiteAsyncKernel* kernel, TfLiteIoType io_type,
                                 const char* const** types, size_t* count);
  void (*supported_synchronizations)(const TfLiteAsyncKernel* kernel, TfLiteIoType io_type,
                                     const char* const** types, size_t* count);
  bool (*reconcile_restrictions)(const TfLiteAsyncKernel* kernel,
                                 const TfLiteOpaqueContext* context, const TfLiteOpaqueNode* node,
                                 int tensor_index, const TfLiteAttributeMap* user,
                                 TfLiteAttributeMap* merged, TfLiteAttributeMap* conflict);
  TfLiteStatus (*set_attributes)(TfLiteAsyncKernel* kernel, TfLiteOpaqueContext* context,
                                 TfLiteOpaqueNode* node, int tensor_index,
                                 const TfLiteAttributeMap* attributes);
  TfLiteStatus (*set_buffer_attributes)(TfLiteAsyncKernel* kernel,
                                        const TfLiteBackendBuffer* buffer,
                                        const TfLiteAttributeMap* attributes);
  TfLiteStatus (*get_buffer_attributes)(TfLiteAsyncKernel* kernel,
                                        const TfLiteBackendBuffer* buffer,
                                        TfLiteAttributeMap* attributes);
  TfLiteStatus (*prepare)(TfLiteAsyncKernel* kernel, TfLiteOpaqueContext* context,
                          TfLiteOpaqueNode* node);
  TfLiteStatus (*eval)(TfLiteAsyncKernel* kernel, TfLiteOpaqueContext* context,
                       TfLiteOpaqueNode* node, TfLiteExecutionTask* task);
  TfLiteStatus (*wait)(TfLiteAsyncKernel* kernel, TfLiteOpaqueContext* context,
                       TfLiteExecutionTask* task);
  TfLiteStatus (*finish)(TfLiteAsyncKernel* kernel, TfLiteOpaqueContext* context,
                         TfLiteExecutionTask* task);
} DeputyAsyncKernel;

// Functions of the runtime, described in interop_types.h, interop_attribute_map.h and async_task.h
// under the names in the comments. Valid while the runtime is loaded.
typedef struct DeputyAsyncRuntime {
  size_t struct_size;
  // TfLiteBackendBufferGetPtr
  void* (*buffer_ptr)(const TfLiteBackendBuffer* buffer);
  // TfLiteSynchronizationGetPtr, TfLiteSynchronizationSetPtr
  void* (*sync_ptr)(const TfLiteSynchronization* sync);
  void (*set_sync_ptr)(TfLiteSynchronization* sync, void* ptr);
  // TfLiteAttributeMapIsBufferAttributeMap, TfLiteAttributeMapCopy
  bool (*is_buffer_map)(const TfLiteAttributeMap* map);
  void (*copy_map)(const TfLiteAttributeMap* from, TfLiteAttributeMap* to);
  // TfLiteAttributeMapGetSizeTBufferAttr, TfLiteAttributeMapSetSizeTBufferAttr
  bool (*get_size)(const TfLiteAttributeMap* map, TfLiteBufferAttrKey key, size_t* value);
  bool (*set_size)(TfLiteAttributeMap* map, TfLiteBufferAttrKey key, size_t value);
  // TfLiteAttributeMapGetStringBufferAttr, TfLiteAttributeMapSetStringBufferAttr
  bool (*get_string)(const TfLiteAttributeMap* map, TfLiteBufferAttrKey key, const char** value);
  bool (*set_string)(TfLiteAttributeMap* map, TfLiteBufferAttrKey key, const char* value);
  // TfLiteAttributeMapGetStringSyncAttr, TfLiteAttributeMapSetStringSyncAttr
  bool (*get_sync_string)(const TfLiteAttributeMap* map, TfLiteSynchronizationAttrKey key,
                          const char** value);
  bool (*set_sync_string)(TfLiteAttributeMap* map, TfLiteSynchronizationAttrKey key,
                          const char* value);
  // TfLiteExecutionTaskGetBufferByIndex, TfLiteExecutionTaskGetSyncByIndex
  TfLiteBufferHandle (*task_buffer)(const TfLiteExecutionTask* task, int tensor_index);
  TfLiteSynchronization* (*task_sync)(const TfLiteExecutionTask* task, int tensor_index);
  // TfLiteExecutionTaskGetDelegateExecutionData, TfLiteExecutionTaskSetDelegateExecutionData
  void* (*task_data)(const TfLiteExecutionTask* task, TfLiteAsyncKernel* kernel);
  void (*set_task_data)(TfLiteExecutionTask* task, TfLiteAsyncKernel* kernel, void* data);
} DeputyAsyncRuntime;

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_DEPUTY_PLUGIN_ASYNC_H_
