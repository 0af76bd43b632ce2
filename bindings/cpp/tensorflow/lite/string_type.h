// SPDX-License-Identifier: Apache-2.0
//
// The name tflite::string.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_STRING_TYPE_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_STRING_TYPE_H_

#include <string>

namespace tflite {

using std::string;

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_STRING_TYPE_H_
