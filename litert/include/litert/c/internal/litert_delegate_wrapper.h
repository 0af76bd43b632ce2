// SPDX-License-Identifier: Apache-2.0
//
// Delegates of TensorFlow Lite as delegates of accelerators.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_DELEGATE_WRAPPER_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_DELEGATE_WRAPPER_H_

#include "litert/c/internal/deputy_tflite_types.h"
#include "litert/c/litert_common.h"

#ifdef __cplusplus
extern "C" {
#endif

// Creates a wrapper, which owns the delegate and releases it with `deleter`.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtWrapDelegate(TfLiteOpaqueDelegate* delegate,
                                                   void (*deleter)(TfLiteOpaqueDelegate*),
                                                   LiteRtDelegateWrapper* wrapper);

// Returns the delegate of a wrapper, which keeps it.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtUnwrapDelegate(LiteRtDelegateWrapper wrapper,
                                                     TfLiteOpaqueDelegate** delegate);

// Destroys a wrapper and its delegate; NULL is allowed.
LITERT_CAPI_EXPORT void LiteRtDestroyDelegateWrapper(LiteRtDelegateWrapper wrapper);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_DELEGATE_WRAPPER_H_
