// SPDX-License-Identifier: Apache-2.0
//
// Names of operator objects before TensorFlow 2.17, for source code that still uses them. The type
// TfLiteRegistrationExternal is in c_api_types.h.
//
// In C++ they are constants that contain the addresses of the new functions, in C they are macros;
// in both cases a program compiled with this header needs only the new names from the library. The
// new Create has a fourth parameter. (The library also exports the old names, for programs compiled
// with the old headers.)
#ifndef DEPUTY_C_API_INCLUDE_REGISTRATION_EXTERNAL_H_
#define DEPUTY_C_API_INCLUDE_REGISTRATION_EXTERNAL_H_

#include "operator.h"

#ifdef __cplusplus

// Old name of TfLiteOperatorCreate.
static constexpr auto TfLiteRegistrationExternalCreate = &TfLiteOperatorCreate;
// Old name of TfLiteOperatorDelete.
static constexpr auto TfLiteRegistrationExternalDelete = &TfLiteOperatorDelete;
// Old name of TfLiteOperatorGetBuiltInCode.
static constexpr auto TfLiteRegistrationExternalGetBuiltInCode = &TfLiteOperatorGetBuiltInCode;
// Old name of TfLiteOperatorGetVersion.
static constexpr auto TfLiteRegistrationExternalGetVersion = &TfLiteOperatorGetVersion;
// Old name of TfLiteOperatorGetCustomName.
static constexpr auto TfLiteRegistrationExternalGetCustomName = &TfLiteOperatorGetCustomName;
// Old name of TfLiteOperatorSetInit.
static constexpr auto TfLiteRegistrationExternalSetInit = &TfLiteOperatorSetInit;
// Old name of TfLiteOperatorSetFree.
static constexpr auto TfLiteRegistrationExternalSetFree = &TfLiteOperatorSetFree;
// Old name of TfLiteOperatorSetPrepare.
static constexpr auto TfLiteRegistrationExternalSetPrepare = &TfLiteOperatorSetPrepare;
// Old name of TfLiteOperatorSetInvoke.
static constexpr auto TfLiteRegistrationExternalSetInvoke = &TfLiteOperatorSetInvoke;

#else  // __cplusplus

// Old name of TfLiteOperatorCreate.
#define TfLiteRegistrationExternalCreate TfLiteOperatorCreate
// Old name of TfLiteOperatorDelete.
#define TfLiteRegistrationExternalDelete TfLiteOperatorDelete
// Old name of TfLiteOperatorGetBuiltInCode.
#define TfLiteRegistrationExternalGetBuiltInCode TfLiteOperatorGetBuiltInCode
// Old name of TfLiteOperatorGetVersion.
#define TfLiteRegistrationExternalGetVersion TfLiteOperatorGetVersion
// Old name of TfLiteOperatorGetCustomName.
#define TfLiteRegistrationExternalGetCustomName TfLiteOperatorGetCustomName
// Old name of TfLiteOperatorSetInit.
#define TfLiteRegistrationExternalSetInit TfLiteOperatorSetInit
// Old name of TfLiteOperatorSetFree.
#define TfLiteRegistrationExternalSetFree TfLiteOperatorSetFree
// Old name of TfLiteOperatorSetPrepare.
#define TfLiteRegistrationExternalSetPrepare TfLiteOperatorSetPrepare
// Old name of TfLiteOperatorSetInvoke.
#define TfLiteRegistrationExternalSetInvoke TfLiteOperatorSetInvoke

#endif  // __cplusplus

#endif  // DEPUTY_C_API_INCLUDE_REGISTRATION_EXTERNAL_H_
