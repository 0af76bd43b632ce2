// SPDX-License-Identifier: Apache-2.0
//
// A custom operator in plain C, in every form that the ABI has: plain functions, opaque functions,
// and opaque functions with user data. It adds its options' first byte to each float of its input,
// and records the calls of its functions.
#ifndef DEPUTY_TESTS_SUPPORT_RECORDING_KERNELS_H_
#define DEPUTY_TESTS_SUPPORT_RECORDING_KERNELS_H_

#include "c_api/include/c_api_opaque.h"
#include "c_api/include/common.h"
#include "c_api/include/operator.h"

#ifdef __cplusplus
extern "C" {
#endif

// Returns the calls since the last reset, in order: "init prepare invoke free ".
const char* RecordedCalls(void);
void ResetRecordedCalls(void);

void* RecordInit(TfLiteContext* context, const char* buffer, size_t length);
void RecordFree(TfLiteContext* context, void* user_data);
TfLiteStatus RecordPrepare(TfLiteContext* context, TfLiteNode* node);
TfLiteStatus RecordInvoke(TfLiteContext* context, TfLiteNode* node);

void* RecordOpaqueInit(TfLiteOpaqueContext* context, const char* buffer, size_t length);
void RecordOpaqueFree(TfLiteOpaqueContext* context, void* user_data);
TfLiteStatus RecordOpaquePrepare(TfLiteOpaqueContext* context, TfLiteOpaqueNode* node);
TfLiteStatus RecordOpaqueInvoke(TfLiteOpaqueContext* context, TfLiteOpaqueNode* node);

// The user data of the opaque functions with user data, which record it as "data ".
extern char kRecordUserData;
void* RecordDataInit(void* data, TfLiteOpaqueContext* context, const char* buffer, size_t length);
void RecordDataFree(void* data, TfLiteOpaqueContext* context, void* user_data);
TfLiteStatus RecordDataPrepare(void* data, TfLiteOpaqueContext* context, TfLiteOpaqueNode* node);
TfLiteStatus RecordDataInvoke(void* data, TfLiteOpaqueContext* context, TfLiteOpaqueNode* node);

// These functions return the plain functions as a registration, in the current layout and in the
// older, shorter ones.
TfLiteRegistration RecordRegistration(void);
const TfLiteRegistration_V1* RecordRegistrationV1(void);
const TfLiteRegistration_V2* RecordRegistrationV2(void);
const TfLiteRegistration_V3* RecordRegistrationV3(void);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_TESTS_SUPPORT_RECORDING_KERNELS_H_
