// SPDX-License-Identifier: Apache-2.0
//
// Table of the functions that create stable delegates. A plug-in defines it.
#ifndef DEPUTY_C_API_INCLUDE_DELEGATE_PLUGIN_H_
#define DEPUTY_C_API_INCLUDE_DELEGATE_PLUGIN_H_

#include "common.h"

#ifdef __cplusplus
extern "C" {
#endif

// Creates a delegate from a FlatBuffer table of settings, which is valid during the call only. The
// caller passes the result to the destroy function. NULL on failure.
typedef TfLiteOpaqueDelegate* TfLiteDelegatePluginCreateFunc(const void* tflite_settings);

// Deletes a delegate.
typedef void TfLiteDelegatePluginDestroyFunc(TfLiteOpaqueDelegate* delegate);

// Returns the number of the delegate's last error; 0 for none.
typedef int TfLiteDelegatePluginGetDelegateErrnoFunc(TfLiteOpaqueDelegate* delegate);

// The table of functions. Valid as long as the plug-in is loaded.
typedef struct TfLiteOpaqueDelegatePlugin {
  // Creates a delegate.
  TfLiteDelegatePluginCreateFunc* create;
  // Deletes a delegate.
  TfLiteDelegatePluginDestroyFunc* destroy;
  // Returns the number of a delegate's last error.
  TfLiteDelegatePluginGetDelegateErrnoFunc* get_delegate_errno;
} TfLiteOpaqueDelegatePlugin;

// Name of the table in code that uses delegates with public fields.
typedef TfLiteOpaqueDelegatePlugin TfLiteDelegatePlugin;

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_DELEGATE_PLUGIN_H_
