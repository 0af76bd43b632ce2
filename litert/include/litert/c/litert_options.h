// SPDX-License-Identifier: Apache-2.0
//
// Options of compiled models.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_OPTIONS_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_OPTIONS_H_

#include "litert/c/litert_common.h"
#include "litert/c/litert_custom_op_kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

// Creates options, without an accelerator.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCreateOptions(LiteRtOptions* options);

// Destroys options; NULL is allowed. Compiled models that use them must be destroyed before.
LITERT_CAPI_EXPORT void LiteRtDestroyOptions(LiteRtOptions options);

// Accelerators that may run the model, bits of LiteRtHwAccelerators.
// kLiteRtStatusErrorInvalidArgument for unknown bits.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtSetOptionsHardwareAccelerators(
    LiteRtOptions options, LiteRtHwAcceleratorSet hardware_accelerators);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetOptionsHardwareAccelerators(
    LiteRtOptions options, LiteRtHwAcceleratorSet* hardware_accelerators);

// Appends option objects of accelerators and plug-ins, of which it takes ownership.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtAddOpaqueOptions(LiteRtOptions options,
                                                       LiteRtOpaqueOptions opaque_options);

// Returns the first option object, which belongs to the options; NULL if there is none.
// LiteRtGetNextOpaqueOptions yields the others.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetOpaqueOptions(LiteRtOptions options,
                                                       LiteRtOpaqueOptions* opaque_options);

// Registers the kernel of a custom operator. The struct is copied; the client keeps
// `custom_op_kernel_user_data` as long as compiled models use it.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtAddCustomOpKernelOption(
    LiteRtOptions options, const char* custom_op_name, int custom_op_version,
    const LiteRtCustomOpKernel* custom_op_kernel, void* custom_op_kernel_user_data);

// Binds a tensor of a signature to memory of the client, which the client keeps as long as the
// compiled model. `size_bytes` is the size of the tensor.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtAddExternalTensorBinding(LiteRtOptions options,
                                                               const char* signature_name,
                                                               const char* tensor_name, void* data,
                                                               int size_bytes);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_OPTIONS_H_
