// SPDX-License-Identifier: Apache-2.0
//
// Names of kinds of synchronisation objects.
#ifndef DEPUTY_C_API_INCLUDE_INTEROP_CONSTANTS_H_
#define DEPUTY_C_API_INCLUDE_INTEROP_CONSTANTS_H_

#ifdef __cplusplus
extern "C" {
#endif

// The kind "no object at all": the data is ready when the call returns. A C string.
static const char kTfLiteSyncTypeNoSyncObj[] = "no_sync_obj";

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_INTEROP_CONSTANTS_H_
