// SPDX-License-Identifier: Apache-2.0
//
// Registration of memory that plug-ins manage.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_TENSOR_BUFFER_REGISTRY_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_TENSOR_BUFFER_REGISTRY_H_

#include <stddef.h>

#include "litert/c/litert_common.h"
#include "litert/c/litert_custom_tensor_buffer.h"
#include "litert/c/litert_environment_options.h"
#include "litert/c/litert_tensor_buffer_types.h"

#ifdef __cplusplus
extern "C" {
#endif

// Registers callbacks for one type of memory. The tags select the options of the environment that
// are passed as device and queue; kLiteRtEnvOptionTagNull: none.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtRegisterTensorBufferHandlers(
    LiteRtEnvironment env, LiteRtTensorBufferType buffer_type, CreateCustomTensorBuffer create_func,
    DestroyCustomTensorBuffer destroy_func, LockCustomTensorBuffer lock_func,
    UnlockCustomTensorBuffer unlock_func, ClearCustomTensorBuffer clear_func,
    ImportCustomTensorBuffer import_func, LiteRtEnvOptionTag device_tag,
    LiteRtEnvOptionTag queue_tag);

// Returns the registry of an environment, an object of the library whose form is private.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetTensorBufferRegistry(LiteRtEnvironment env,
                                                              void** registry);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_TENSOR_BUFFER_REGISTRY_H_
