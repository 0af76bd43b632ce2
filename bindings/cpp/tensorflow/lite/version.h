// SPDX-License-Identifier: Apache-2.0
//
// The release of TensorFlow Lite whose behaviour these headers have.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_VERSION_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_VERSION_H_

#ifndef TF_VERSION_STRING
#ifndef TF_MAJOR_VERSION
#define TF_MAJOR_VERSION 2
#define TF_MINOR_VERSION 19
#define TF_PATCH_VERSION 0
#define TF_VERSION_SUFFIX ""
#endif
#define TF_VERSION_STRING "2.19.0"
#endif

// Version of the model format.
#define TFLITE_SCHEMA_VERSION (3)

// Version of the runtime, and of the interfaces of delegates and custom operators.
#define TFLITE_VERSION_STRING TF_VERSION_STRING
#define TFLITE_EXTENSION_APIS_VERSION_STRING TFLITE_VERSION_STRING

namespace tflite {

// Returns TFLITE_VERSION_STRING; TfLiteVersion() of c_api.h is the version of the loaded library.
inline const char* Version() { return TFLITE_VERSION_STRING; }

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_VERSION_H_
