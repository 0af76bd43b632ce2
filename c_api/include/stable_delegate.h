// SPDX-License-Identifier: Apache-2.0
//
// What a stable delegate exports: one constant object. A plug-in defines it; this library does not
// have it.
#ifndef DEPUTY_C_API_INCLUDE_STABLE_DELEGATE_H_
#define DEPUTY_C_API_INCLUDE_STABLE_DELEGATE_H_

#include "delegate_plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

// The version that belongs into delegate_abi_version.
#define TFL_STABLE_DELEGATE_ABI_VERSION "1.0.0"

// Who the delegate is, and how to make one. Strings and table live as long as the plug-in is
// loaded.
typedef struct TfLiteStableDelegate {
  // TFL_STABLE_DELEGATE_ABI_VERSION.
  const char* delegate_abi_version;
  // Vendor and delegate, as "vendor_delegate".
  const char* delegate_name;
  // The delegate's own version.
  const char* delegate_version;
  // How to make one.
  const TfLiteOpaqueDelegatePlugin* delegate_plugin;
} TfLiteStableDelegate;

// The object, under the name that loaders look for.
extern TFL_CAPI_EXPORT const TfLiteStableDelegate TFL_TheStableDelegate;

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_STABLE_DELEGATE_H_
