// SPDX-License-Identifier: Apache-2.0
//
// The NNAPI delegate's functions, for programs that link them. Where the environment variable
// DEPUTY_NNAPI_LIBRARY names NNAPI's library, the delegate is that of the plug-in
// libdeputy_nnapi.so (docs/nnapi.md); otherwise, and where that cannot be had, which is reported,
// it claims no node.
#ifndef DEPUTY_C_API_INCLUDE_NNAPI_DELEGATE_C_API_H_
#define DEPUTY_C_API_INCLUDE_NNAPI_DELEGATE_C_API_H_

#include "common.h"

#ifdef __cplusplus
extern "C" {
#endif

// Options of the delegate; strings are copied.
typedef struct TfLiteNnapiDelegateOptions {
  // What the accelerator should strive for.
  enum ExecutionPreference {
    // No wish.
    kUndefined = -1,
    // Little energy.
    kLowPower = 0,
    // One answer, soon.
    kFastSingleAnswer = 1,
    // Many answers in a row.
    kSustainedSpeed = 2,
  } execution_preference;
  // The accelerator to use; NULL for any.
  const char* accelerator_name;
  // Where compiled models are kept, with a model_token; NULL for nowhere.
  const char* cache_dir;
  // Names the model in the cache.
  const char* model_token;
  // Not 0: do not use NNAPI's own CPU implementation.
  int disallow_nnapi_cpu;
  // Not 0: half precision will do.
  int allow_fp16;
  // At most this many partitions; 0 or less for any number.
  int max_number_delegated_partitions;
  // Without effect.
  void* nnapi_support_library_handle;
} TfLiteNnapiDelegateOptions;

// Makes a delegate; the caller owns it and deletes it after the interpreter. NULL options are the
// defaults. NULL if memory is short.
TFL_CAPI_EXPORT TfLiteDelegate* TfLiteNnapiDelegateCreate(
    const TfLiteNnapiDelegateOptions* options);

// The defaults by value. Any thread.
TFL_CAPI_EXPORT TfLiteNnapiDelegateOptions TfLiteNnapiDelegateOptionsDefault(void);

// Frees a delegate made here. NULL is fine.
TFL_CAPI_EXPORT void TfLiteNnapiDelegateDelete(TfLiteDelegate* delegate);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_NNAPI_DELEGATE_C_API_H_
