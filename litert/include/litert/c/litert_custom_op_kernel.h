// SPDX-License-Identifier: Apache-2.0
//
// Custom operators that a client implements.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_CUSTOM_OP_KERNEL_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_CUSTOM_OP_KERNEL_H_

#include <stddef.h>
#include <stdint.h>

#include "litert/c/litert_common.h"
#include "litert/c/litert_layout.h"

#ifdef __cplusplus
extern "C" {
#endif

// Callbacks of a custom operator, which is registered with LiteRtAddCustomOpKernelOption. All
// receive the client's `user_data` and are called on the thread that uses the compiled model.
// Arrays are valid during the call.
typedef struct {
  // Called once per node, with the node's custom options.
  LiteRtStatus (*Init)(void* user_data, const void* init_data, size_t init_data_size);
  // Computes the layouts of the outputs; called when a layout of an input has changed.
  LiteRtStatus (*GetOutputLayouts)(void* user_data, size_t num_inputs,
                                   const LiteRtLayout* input_layouts, size_t num_outputs,
                                   LiteRtLayout* output_layouts);
  // Computes the outputs. The buffers are borrowed; the callback locks those that it uses.
  LiteRtStatus (*Run)(void* user_data, size_t num_inputs, const LiteRtTensorBuffer* inputs,
                      size_t num_outputs, LiteRtTensorBuffer* outputs);
  // Called when the compiled model is destroyed.
  LiteRtStatus (*Destroy)(void* user_data);
} LiteRtCustomOpKernel;

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_CUSTOM_OP_KERNEL_H_
