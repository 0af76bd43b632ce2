// SPDX-License-Identifier: Apache-2.0
//
// The table of functions by which a stable delegate is made from settings. A plug-in defines it.
#ifndef DEPUTY_C_API_INCLUDE_DELEGATE_PLUGIN_H_
#define DEPUTY_C_API_INCLUDE_DELEGATE_PLUGIN_H_

#include "common.h"

#ifdef __cplusplus
extern "C" {
#endif

// Makes a delegate from a FlatBuffer table of settings, which holds only during the call. The
// caller hands the result to the destroy function. NULL is failure.
typedef TfLiteOpaqueDelegate* TfLiteDelegatePluginCreateFunc(const void* tflite_settings);

// Frees a delegate.
typedef void TfLiteDelegatePluginDestroyFunc(TfLiteOpaqueDelegate* delegate);

// The delegate's own number of its last error; 0 for none.
typedef int TfLiteDelegatePluginGetDelegateErrnoFunc(TfLiteOpaqueDelegate* delegate);

// The table. It lives as long as the plug-in is loaded.
typedef struct TfLiteOpaqueDelegatePlugin {
  // Makes a delegate.
  TfLiteDelegatePluginCreateFunc* create;
  // Frees it.
  TfLiteDelegatePluginDestroyFunc* destroy;
  // Asks for its last error.
  TfLiteDelegatePluginGetDelegateErrnoFunc* get_delegate_errno;
} TfLiteOpaqueDelegatePlugin;

// The same table under the name it has in code that uses delegates with public fields.
typedef TfLiteOpaqueDelegatePlugin TfLiteDelegatePlugin;

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_DELEGATE_PLUGIN_H_
