// SPDX-License-Identifier: Apache-2.0
//
// The two functions that a delegate in a shared object exports. This library does not define them;
// a plug-in does, with C linkage and default visibility.
#ifndef DEPUTY_C_API_INCLUDE_EXTERNAL_DELEGATE_INTERFACE_H_
#define DEPUTY_C_API_INCLUDE_EXTERNAL_DELEGATE_INTERFACE_H_

#include <stddef.h>

#include "common.h"

#ifdef __cplusplus
extern "C" {
#endif

// Marks the functions that a plug-in exports.
#ifndef TFL_EXTERNAL_DELEGATE_EXPORT
#if defined(_WIN32)
#define TFL_EXTERNAL_DELEGATE_EXPORT
#else
#define TFL_EXTERNAL_DELEGATE_EXPORT __attribute__((visibility("default")))
#endif
#endif

// Creates a delegate from `num_options` keys and values, which are valid during the call only; both
// arrays may be NULL if there are none. `report_error` may be NULL and is valid during the call
// only, too. The caller passes the result to tflite_plugin_destroy_delegate. NULL on failure.
TFL_EXTERNAL_DELEGATE_EXPORT TfLiteDelegate* tflite_plugin_create_delegate(
    const char* const* options_keys, const char* const* options_values, size_t num_options,
    void (*report_error)(const char* message));

// Deletes a delegate, after every interpreter that it was applied to has been deleted.
TFL_EXTERNAL_DELEGATE_EXPORT void tflite_plugin_destroy_delegate(TfLiteDelegate* delegate);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_EXTERNAL_DELEGATE_INTERFACE_H_
