// SPDX-License-Identifier: Apache-2.0
//
// Loads a delegate from a shared object that exports the two functions of
// external_delegate_interface.h.
//
// These functions are in libdeputy.so.1 only; the original has them in a separate library, so the
// drop-in library does not export them.
#ifndef DEPUTY_C_API_INCLUDE_EXTERNAL_DELEGATE_H_
#define DEPUTY_C_API_INCLUDE_EXTERNAL_DELEGATE_H_

#include "common.h"

#ifdef __cplusplus
extern "C" {
#endif

// Maximum number of options.
#define kExternalDelegateMaxOptions 256

// Path and options of a plug-in. Strings are borrowed.
typedef struct TfLiteExternalDelegateOptions {
  // Path of the shared object.
  const char* lib_path;
  // Number of options: valid entries of `keys` and `values`.
  int count;
  // Keys of the options.
  const char* keys[kExternalDelegateMaxOptions];
  // Values of the options.
  const char* values[kExternalDelegateMaxOptions];
  // Function pointer to TfLiteExternalDelegateOptionsInsert.
  TfLiteStatus (*insert)(struct TfLiteExternalDelegateOptions* options, const char* key,
                         const char* value);
} TfLiteExternalDelegateOptions;

// Appends a key and a value, both borrowed. kTfLiteError if the arrays are full or an argument is
// NULL.
TFL_CAPI_EXPORT TfLiteStatus TfLiteExternalDelegateOptionsInsert(
    TfLiteExternalDelegateOptions* options, const char* key, const char* value);

// Returns options for a plug-in, without keys and values. The path is borrowed. Any thread.
TFL_CAPI_EXPORT TfLiteExternalDelegateOptions
TfLiteExternalDelegateOptionsDefault(const char* lib_path);

// Loads the plug-in and creates a delegate of it; the caller owns the delegate and deletes it after
// the interpreter. The options are needed only during the call. NULL on any failure;
// DeputyLastError() in deputy.h has the text. The file is checked as in DeputyPluginLoad before it
// is loaded.
TFL_CAPI_EXPORT TfLiteDelegate* TfLiteExternalDelegateCreate(
    const TfLiteExternalDelegateOptions* options);

// Deletes the delegate through the plug-in; call it after every interpreter that the delegate was
// applied to has been deleted. The shared object stays loaded, since its own threads may still run
// its code. NULL is ignored.
TFL_CAPI_EXPORT void TfLiteExternalDelegateDelete(TfLiteDelegate* delegate);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_EXTERNAL_DELEGATE_H_
