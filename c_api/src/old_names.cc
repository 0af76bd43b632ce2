// SPDX-License-Identifier: Apache-2.0
//
// Functions of c_api.h under the names that programs compiled with older headers import. (Those of
// operator objects are in operator.cc.)
#include "c_api/include/c_api.h"

// In new sources this is a macro for the new name.
#undef TfLiteInterpreterOptionsAddRegistrationExternal

extern "C" {

// TensorFlow 2.10 to 2.16.
TFL_CAPI_EXPORT void TfLiteInterpreterOptionsAddRegistrationExternal(
    TfLiteInterpreterOptions* options, TfLiteOperator* registration) {
  TfLiteInterpreterOptionsAddOperator(options, registration);
}

// TensorFlow 2.11 only.
TFL_CAPI_EXPORT void TfLiteInterpreterOptionsAddOpaqueDelegate(
    TfLiteInterpreterOptions* options, TfLiteOpaqueDelegateStruct* opaque_delegate) {
  TfLiteInterpreterOptionsAddDelegate(options,
                                      reinterpret_cast<TfLiteOpaqueDelegate*>(opaque_delegate));
}

// Up to TensorFlow 2.9.
TFL_CAPI_EXPORT const char* TfLiteInterpreterGetSignatureName(const TfLiteInterpreter* interpreter,
                                                              int32_t signature_index) {
  return TfLiteInterpreterGetSignatureKey(interpreter, signature_index);
}

}  // extern "C"
