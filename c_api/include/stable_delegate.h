// SPDX-License-Identifier: Apache-2.0
//
// The constant object that a stable delegate exports. A plug-in defines it; this library does not.
#ifndef DEPUTY_C_API_INCLUDE_STABLE_DELEGATE_H_
#define DEPUTY_C_API_INCLUDE_STABLE_DELEGATE_H_

#include "delegate_plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

// Value of TfLiteStableDelegate.delegate_abi_version.
#define TFL_STABLE_DELEGATE_ABI_VERSION "1.0.0"

// Identification of a delegate, and the functions that create it. Strings and table are valid as
// long as the plug-in is loaded.
typedef struct TfLiteStableDelegate {
  // Version of the struct: TFL_STABLE_DELEGATE_ABI_VERSION.
  const char* delegate_abi_version;
  // Vendor and delegate, as "vendor_delegate".
  const char* delegate_name;
  // Version of the delegate.
  const char* delegate_version;
  // Functions that create and delete the delegate.
  const TfLiteOpaqueDelegatePlugin* delegate_plugin;
} TfLiteStableDelegate;

// The object that describes the delegate, under the name that loaders expect.
extern TFL_CAPI_EXPORT const TfLiteStableDelegate TFL_TheStableDelegate;

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_STABLE_DELEGATE_H_
