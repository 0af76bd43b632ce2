// SPDX-License-Identifier: Apache-2.0
//
// Functions of c_api.h under old names, for programs compiled with older headers. (Those of
// operator objects are in operator.cc.)
#include "c_api/include/c_api.h"

// The header defines the old name as a macro for the new name, for new sources.
#undef TfLiteInterpreterOptionsAddRegistrationExternal

extern "C" {

// Old name that TensorFlow 2.10 to 2.16 exported.
TFL_CAPI_EXPORT void TfLiteInterpreterOptionsAddRegistrationExternal(
    TfLiteInterpreterOptions* options, TfLiteOperator* registration) {
  TfLiteInterpreterOptionsAddOperator(options, registration);
}

// Old name that only TensorFlow 2.11 exported.
TFL_CAPI_EXPORT void TfLiteInterpreterOptionsAddOpaqueDelegate(
    TfLiteInterpreterOptions* options, TfLiteOpaqueDelegateStruct* opaque_delegate) {
  TfLiteInterpreterOptionsAddDelegate(options,
                                      reinterpret_cast<TfLiteOpaqueDelegate*>(opaque_delegate));
}

// Old name that TensorFlow 2.9 and older export.
TFL_CAPI_EXPORT const char* TfLiteInterpreterGetSignatureName(const TfLiteInterpreter* interpreter,
                                                              int32_t signature_index) {
  return TfLiteInterpreterGetSignatureKey(interpreter, signature_index);
}

}  // extern "C"
