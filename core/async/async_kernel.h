// SPDX-License-Identifier: Apache-2.0
//
// Definition of the opaque TfLiteAsyncKernel. Delegates that contain upstream's C++ helper for
// asynchronous kernels access its fields, so their order is upstream's.
#ifndef DEPUTY_CORE_ASYNC_ASYNC_KERNEL_H_
#define DEPUTY_CORE_ASYNC_ASYNC_KERNEL_H_

#include <cstddef>

#include "c_api/include/async_types.h"
#include "c_api/include/common.h"
#include "c_api/include/interop_types.h"

struct TfLiteAsyncKernel {
  void* kernel_data = nullptr;  // borrowed
  TfLiteStatus (*register_buffer)(TfLiteAsyncKernel*, TfLiteOpaqueContext*, TfLiteIoType,
                                  const TfLiteBackendBuffer*, const TfLiteAttributeMap*,
                                  TfLiteBufferHandle) = nullptr;
  TfLiteStatus (*register_buffer_slice)(TfLiteAsyncKernel*, TfLiteOpaqueContext*,
                                        TfLiteBufferHandle, const TfLiteAttributeMap*,
                                        TfLiteBufferHandle) = nullptr;
  TfLiteStatus (*unregister_buffer)(TfLiteAsyncKernel*, TfLiteOpaqueContext*,
                                    TfLiteBufferHandle) = nullptr;
  void (*supported_buffer_types)(const TfLiteAsyncKernel*, TfLiteIoType, const char* const**,
                                 size_t*) = nullptr;
  void (*supported_synchronizations)(const TfLiteAsyncKernel*, TfLiteIoType, const char* const**,
                                     size_t*) = nullptr;
  bool (*reconcile_restrictions)(const TfLiteAsyncKernel*, const TfLiteOpaqueContext*,
                                 const TfLiteOpaqueNode*, int, const TfLiteAttributeMap*,
                                 TfLiteAttributeMap*, TfLiteAttributeMap*) = nullptr;
  TfLiteStatus (*set_attributes)(TfLiteAsyncKernel*, TfLiteOpaqueContext*, TfLiteOpaqueNode*, int,
                                 const TfLiteAttributeMap*) = nullptr;
  TfLiteStatus (*set_buffer_attributes)(TfLiteAsyncKernel*, const TfLiteBackendBuffer*,
                                        const TfLiteAttributeMap*) = nullptr;
  TfLiteStatus (*get_buffer_attributes)(TfLiteAsyncKernel*, const TfLiteBackendBuffer*,
                                        TfLiteAttributeMap*) = nullptr;
  TfLiteStatus (*prepare)(TfLiteAsyncKernel*, TfLiteOpaqueContext*, TfLiteOpaqueNode*) = nullptr;
  TfLiteStatus (*eval)(TfLiteAsyncKernel*, TfLiteOpaqueContext*, TfLiteOpaqueNode*,
                       TfLiteExecutionTask*) = nullptr;
  TfLiteStatus (*wait)(TfLiteAsyncKernel*, TfLiteOpaqueContext*, TfLiteExecutionTask*) = nullptr;
  TfLiteStatus (*finish)(TfLiteAsyncKernel*, TfLiteOpaqueContext*, TfLiteExecutionTask*) = nullptr;
};

#endif  // DEPUTY_CORE_ASYNC_ASYNC_KERNEL_H_
