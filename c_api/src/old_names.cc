// SPDX-License-Identifier: Apache-2.0
//
// Functions of c_api.h under old names, for programs compiled with older headers. (Those of
// operator objects are in operator.cc.)
#include "c_api/include/c_api.h"

// A macro for the new name in the header, for new sources.
#undef TfLiteInterpreterOptionsAddRegistrationExternal

extern "C" {

// Exported by TensorFlow 2.10 to 2.16.
TFL_CAPI_EXPORT void TfLiteInterpreterOptionsAddRegistrationExternal(
    TfLiteInterpreterOptions* options, TfLiteOperator* registration) {
  TfLiteInterpreterOptionsAddOperator(options, registration);
}

// Exported by TensorFlow 2.11 only.
TFL_CAPI_EXPORT void TfLiteInterpreterOptionsAddOpaqueDelegate(
    TfLiteInterpreterOptions* options, TfLiteOpaqueDelegateStruct* opaque_delegate) {
  TfLiteInterpreterOptionsAddDelegate(options,
                                      reinterpret_cast<TfLiteOpaqueDelegate*>(opaque_delegate));
}

// Exported by TensorFlow 2.9 and older.
TFL_CAPI_EXPORT const char* TfLiteInterpreterGetSignatureName(const TfLiteInterpreter* interpreter,
                                                              int32_t signature_index) {
  return TfLiteInterpreterGetSignatureKey(interpreter, signature_index);
}

}  // extern "C"
