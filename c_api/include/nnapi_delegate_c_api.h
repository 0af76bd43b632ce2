// SPDX-License-Identifier: Apache-2.0
//
// Functions of the NNAPI delegate, for programs that link them. If the environment variable
// DEPUTY_NNAPI_LIBRARY names the NNAPI library, the delegate is that of the plug-in
// libdeputy_nnapi.so (docs/nnapi.md). Without the variable, or if the plug-in fails, which is
// reported, the delegate claims no node.
#ifndef DEPUTY_C_API_INCLUDE_NNAPI_DELEGATE_C_API_H_
#define DEPUTY_C_API_INCLUDE_NNAPI_DELEGATE_C_API_H_

#include "common.h"

#ifdef __cplusplus
extern "C" {
#endif

// Options of the delegate; strings are copied.
typedef struct TfLiteNnapiDelegateOptions {
  // Optimisation goal of the accelerator.
  enum ExecutionPreference {
    // No preference.
    kUndefined = -1,
    // Low power consumption.
    kLowPower = 0,
    // Low latency of a single inference.
    kFastSingleAnswer = 1,
    // High throughput of many inferences.
    kSustainedSpeed = 2,
  } execution_preference;
  // Name of the accelerator; NULL for any.
  const char* accelerator_name;
  // Directory of the cache of compiled models, which needs a model_token; NULL for no cache.
  const char* cache_dir;
  // Key of the model in the cache.
  const char* model_token;
  // Not 0: the delegate does not use NNAPI's own CPU implementation.
  int disallow_nnapi_cpu;
  // Not 0: the delegate may compute in half precision.
  int allow_fp16;
  // Maximum number of partitions; 0 or less for unlimited.
  int max_number_delegated_partitions;
  // Handle of an NNAPI support library; ignored.
  void* nnapi_support_library_handle;
} TfLiteNnapiDelegateOptions;

// Creates a delegate; the caller owns it and deletes it after the interpreter. NULL options mean
// the defaults. NULL if out of memory.
TFL_CAPI_EXPORT TfLiteDelegate* TfLiteNnapiDelegateCreate(
    const TfLiteNnapiDelegateOptions* options);

// Returns the defaults. Any thread.
TFL_CAPI_EXPORT TfLiteNnapiDelegateOptions TfLiteNnapiDelegateOptionsDefault(void);

// Deletes a delegate of this header. NULL is ignored.
TFL_CAPI_EXPORT void TfLiteNnapiDelegateDelete(TfLiteDelegate* delegate);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_NNAPI_DELEGATE_C_API_H_
