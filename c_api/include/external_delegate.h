// SPDX-License-Identifier: Apache-2.0
//
// Loads a delegate from a shared object that exports the two functions of
// external_delegate_interface.h.
//
// These functions are in libdeputy.so.1 only; the original has them in a library of its own, and so
// the drop-in does not export them.
#ifndef DEPUTY_C_API_INCLUDE_EXTERNAL_DELEGATE_H_
#define DEPUTY_C_API_INCLUDE_EXTERNAL_DELEGATE_H_

#include "common.h"

#ifdef __cplusplus
extern "C" {
#endif

// Room for options.
#define kExternalDelegateMaxOptions 256

// Which plug-in, and what to tell it. Strings are borrowed.
typedef struct TfLiteExternalDelegateOptions {
  // Path of the shared object.
  const char* lib_path;
  // Used entries of the two arrays.
  int count;
  // Keys.
  const char* keys[kExternalDelegateMaxOptions];
  // Values.
  const char* values[kExternalDelegateMaxOptions];
  // TfLiteExternalDelegateOptionsInsert.
  TfLiteStatus (*insert)(struct TfLiteExternalDelegateOptions* options, const char* key,
                         const char* value);
} TfLiteExternalDelegateOptions;

// Appends a pair of strings, borrowed. kTfLiteError if there is no room or an argument is NULL.
TFL_CAPI_EXPORT TfLiteStatus TfLiteExternalDelegateOptionsInsert(
    TfLiteExternalDelegateOptions* options, const char* key, const char* value);

// Options for a plug-in, without pairs, by value. The path is borrowed. Any thread.
TFL_CAPI_EXPORT TfLiteExternalDelegateOptions
TfLiteExternalDelegateOptionsDefault(const char* lib_path);

// Loads the plug-in and asks it for a delegate; the caller owns the result and deletes it after the
// interpreter. The options are needed only during the call. NULL on any failure; DeputyLastError()
// in deputy.h has the text. DeputyPluginLoad there says what is checked before the library is
// loaded.
TFL_CAPI_EXPORT TfLiteDelegate* TfLiteExternalDelegateCreate(
    const TfLiteExternalDelegateOptions* options);

// Asks the plug-in to free its delegate, after every interpreter it was applied to is gone. The
// shared object stays loaded, since threads of its own may still run its code. NULL is fine.
TFL_CAPI_EXPORT void TfLiteExternalDelegateDelete(TfLiteDelegate* delegate);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_EXTERNAL_DELEGATE_H_
