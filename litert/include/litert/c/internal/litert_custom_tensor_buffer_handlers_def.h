// SPDX-License-Identifier: Apache-2.0
//
// Callbacks of a plug-in or accelerator for memory of its own kind.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_CUSTOM_TENSOR_BUFFER_HANDLERS_DEF_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_CUSTOM_TENSOR_BUFFER_HANDLERS_DEF_H_

#include <stddef.h>

#include "litert/c/internal/litert_abi_header.h"
#include "litert/c/litert_custom_tensor_buffer.h"
#include "litert/c/litert_environment_options.h"
#include "litert/c/litert_tensor_buffer_types.h"

#ifdef __cplusplus
extern "C" {
#endif

// Largest number of buffer types that one set of callbacks supports.
#define LITERT_CUSTOM_BUFFER_HANDLERS_DEF_MAX_SUPPORTED_BUFFER_TYPES 16

// Callbacks, and the buffer types that they support. The layout is frozen (136 bytes).
typedef struct LiteRtCustomTensorBufferHandlersDef {
  LiteRtAbiHeader abi_header;
  CreateCustomTensorBuffer create_func;
  DestroyCustomTensorBuffer destroy_func;
  LockCustomTensorBuffer lock_func;
  UnlockCustomTensorBuffer unlock_func;
  // May be NULL.
  ClearCustomTensorBuffer clear_func;
  // May be NULL.
  ImportCustomTensorBuffer import_func;
  // Options of the environment whose values are passed as device and queue;
  // kLiteRtEnvOptionTagNull: none.
  LiteRtEnvOptionTag device_tag;
  LiteRtEnvOptionTag queue_tag;
  // Number of elements of `supported_buffer_types` that are used.
  size_t num_supported_buffer_types;
  LiteRtTensorBufferType
      supported_buffer_types[LITERT_CUSTOM_BUFFER_HANDLERS_DEF_MAX_SUPPORTED_BUFFER_TYPES];
} LiteRtCustomTensorBufferHandlersDef;

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_CUSTOM_TENSOR_BUFFER_HANDLERS_DEF_H_
