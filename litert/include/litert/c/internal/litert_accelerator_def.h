// SPDX-License-Identifier: Apache-2.0
//
// Definition of an accelerator as one struct, which a library with an accelerator exports.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_ACCELERATOR_DEF_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_ACCELERATOR_DEF_H_

#include <stdbool.h>
#include <stddef.h>

#include "litert/c/internal/litert_abi_header.h"
#include "litert/c/internal/litert_custom_tensor_buffer_handlers_def.h"
#include "litert/c/internal/litert_runtime_context.h"
#include "litert/c/litert_common.h"

#ifdef __cplusplus
extern "C" {
#endif

// Version of the struct, the major version of its header.
#define LITERT_ACCELERATOR_DEF_CURRENT_VERSION 1

// Callbacks of an accelerator. They are described in litert_accelerator_registration.h. The layout
// is frozen (200 bytes).
typedef struct {
  LiteRtAbiHeader abi_header;
  LiteRtStatus (*get_name)(LiteRtAcceleratorConst accelerator, const char** name);
  LiteRtStatus (*get_version)(LiteRtAcceleratorConst accelerator, LiteRtApiVersion* version);
  LiteRtStatus (*get_hardware_support)(LiteRtAcceleratorConst accelerator,
                                       LiteRtHwAcceleratorSet* supported_hardware);
  LiteRtStatus (*is_tflite_delegate_responsible_for_jit_compilation)(
      LiteRtAcceleratorConst accelerator, bool* does_jit_compilation);
  LiteRtStatus (*create_delegate)(LiteRtRuntimeContext* runtime_context, LiteRtEnvironment env,
                                  LiteRtAcceleratorConst accelerator, LiteRtOptions options,
                                  LiteRtDelegateWrapper* delegate_wrapper);
  // Optional: measured values.
  LiteRtStatus (*start_metrics_collection)(LiteRtRuntimeContext* runtime_context,
                                           LiteRtDelegateWrapper delegate, int detail_level);
  LiteRtStatus (*stop_metrics_collection)(LiteRtRuntimeContext* runtime_context,
                                          LiteRtDelegateWrapper delegate, LiteRtMetrics metrics);
  // Memory of the accelerator's own kind; without supported types: none.
  LiteRtCustomTensorBufferHandlersDef buffer_handlers;
} LiteRtAcceleratorDefV1;

typedef LiteRtAcceleratorDefV1 LiteRtAcceleratorDef;

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_ACCELERATOR_DEF_H_
