// SPDX-License-Identifier: Apache-2.0
//
// The GPU delegate, which lives in a library of its own, libdeputy_gpu.so.
#ifndef DEPUTY_C_API_INCLUDE_GPU_DELEGATE_H_
#define DEPUTY_C_API_INCLUDE_GPU_DELEGATE_H_

#include "common.h"
#include "gpu_delegate_options.h"

#ifdef __cplusplus
extern "C" {
#endif

// Makes a delegate; the caller owns it and deletes it after the interpreter. Options and their
// strings are copied; NULL options are the defaults. NULL if memory is short. A device that is
// missing shows only when the delegate is applied.
TFL_CAPI_EXPORT TfLiteDelegate* TfLiteGpuDelegateV2Create(
    const TfLiteGpuDelegateOptionsV2* options);

// Frees a delegate made here. NULL is fine.
TFL_CAPI_EXPORT void TfLiteGpuDelegateV2Delete(TfLiteDelegate* delegate);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_GPU_DELEGATE_H_
