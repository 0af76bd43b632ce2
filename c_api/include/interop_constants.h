// SPDX-License-Identifier: Apache-2.0
//
// Names of types of synchronisation objects.
#ifndef DEPUTY_C_API_INCLUDE_INTEROP_CONSTANTS_H_
#define DEPUTY_C_API_INCLUDE_INTEROP_CONSTANTS_H_

#ifdef __cplusplus
extern "C" {
#endif

// Type "no object": the data is ready when the call returns. A C string.
static const char kTfLiteSyncTypeNoSyncObj[] = "no_sync_obj";

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_INTEROP_CONSTANTS_H_
