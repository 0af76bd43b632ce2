// SPDX-License-Identifier: Apache-2.0
//
// Definition of the opaque TfLiteOperator. Plug-ins that link the accessors statically access its
// fields, so the layout is upstream's (120 bytes on LP64, 72 on ILP32) and may only grow at the
// end.
#ifndef DEPUTY_CORE_BASE_OPERATOR_OBJECT_H_
#define DEPUTY_CORE_BASE_OPERATOR_OBJECT_H_

#include <cstddef>
#include <cstdint>

#include "c_api/include/operator.h"

struct TfLiteOperator {
  const char* custom_name = nullptr;  // name of a custom operator, borrowed
  int version = 0;
  void* (*init)(TfLiteOpaqueContext*, const char*, size_t) = nullptr;
  void (*free)(TfLiteOpaqueContext*, void*) = nullptr;
  TfLiteStatus (*prepare)(TfLiteOpaqueContext*, TfLiteOpaqueNode*) = nullptr;
  TfLiteStatus (*invoke)(TfLiteOpaqueContext*, TfLiteOpaqueNode*) = nullptr;
  struct TfLiteAsyncKernel* (*async_kernel)(TfLiteOpaqueContext*, TfLiteOpaqueNode*) = nullptr;
  int32_t builtin_code = 0;
  // -1: the operator has functions; else it describes the registration of this node.
  int node_index = -1;
  uint64_t inplace_operator = 0;
  void* user_data = nullptr;
  void* (*init_with_data)(void*, TfLiteOpaqueContext*, const char*, size_t) = nullptr;
  void (*free_with_data)(void*, TfLiteOpaqueContext*, void*) = nullptr;
  TfLiteStatus (*prepare_with_data)(void*, TfLiteOpaqueContext*, TfLiteOpaqueNode*) = nullptr;
  TfLiteStatus (*invoke_with_data)(void*, TfLiteOpaqueContext*, TfLiteOpaqueNode*) = nullptr;
  struct TfLiteAsyncKernel* (*async_kernel_with_data)(void*, TfLiteOpaqueContext*,
                                                      TfLiteOpaqueNode*) = nullptr;
};

static_assert(sizeof(TfLiteOperator) == (sizeof(void*) == 8 ? 120 : 72));
static_assert(offsetof(TfLiteOperator, node_index) == (sizeof(void*) == 8 ? 60 : 32));
static_assert(offsetof(TfLiteOperator, user_data) == (sizeof(void*) == 8 ? 72 : 48));
static_assert(offsetof(TfLiteOperator, async_kernel_with_data) == (sizeof(void*) == 8 ? 112 : 68));

#endif  // DEPUTY_CORE_BASE_OPERATOR_OBJECT_H_
