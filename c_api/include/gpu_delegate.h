// SPDX-License-Identifier: Apache-2.0
//
// The GPU delegate, which is in the separate library libdeputy_gpu.so.
#ifndef DEPUTY_C_API_INCLUDE_GPU_DELEGATE_H_
#define DEPUTY_C_API_INCLUDE_GPU_DELEGATE_H_

#include "common.h"
#include "gpu_delegate_options.h"

#ifdef __cplusplus
extern "C" {
#endif

// Creates a delegate; the caller owns it and deletes it after the interpreter. Options and their
// strings are copied; NULL options mean the defaults. NULL if out of memory. A missing device is
// reported only when the delegate is applied.
TFL_CAPI_EXPORT TfLiteDelegate* TfLiteGpuDelegateV2Create(
    const TfLiteGpuDelegateOptionsV2* options);

// Deletes a delegate of this header. NULL is ignored.
TFL_CAPI_EXPORT void TfLiteGpuDelegateV2Delete(TfLiteDelegate* delegate);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_GPU_DELEGATE_H_
