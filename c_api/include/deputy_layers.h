// SPDX-License-Identifier: Apache-2.0
//
// C API of layers around the delegates that a program creates itself. The functions are exported by
// libdeputy_layers.so, which links neither libdeputy nor TensorFlow Lite.
//
//     TfLiteDelegate* layered =
//         DeputyLayersCreateDelegate(delegate, "deadline=50ms;fault=invoke:3:fail", NULL);
#ifndef DEPUTY_C_API_INCLUDE_DEPUTY_LAYERS_H_
#define DEPUTY_C_API_INCLUDE_DEPUTY_LAYERS_H_

#include "common.h"

#ifdef __cplusplus
extern "C" {
#endif

// Creates a delegate that passes every call of `delegate`, plain or opaque, through a list of
// layers, the outermost one first (docs/layers.md). `delegate` must outlive it. The caller owns the
// result and deletes it after the interpreters to which it was applied. Returns NULL, and calls
// `report_error` unless it is NULL, if `delegate` or `layers` is NULL or the list is invalid. The
// layer `isolate` is invalid here, because it creates the delegate in another process. The text is
// valid during the call. Any thread.
TFL_CAPI_EXPORT TfLiteDelegate* DeputyLayersCreateDelegate(TfLiteDelegate* delegate,
                                                           const char* layers,
                                                           void (*report_error)(const char* text));

// Deletes a delegate of DeputyLayersCreateDelegate. NULL is ignored.
TFL_CAPI_EXPORT void DeputyLayersDeleteDelegate(TfLiteDelegate* delegate);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_DEPUTY_LAYERS_H_
