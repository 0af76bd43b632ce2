// SPDX-License-Identifier: Apache-2.0
//
// Correspondence of C++ types and TfLiteType, including strings and complex numbers.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_TYPE_TO_TFLITETYPE_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_TYPE_TO_TFLITETYPE_H_

#include <complex>
#include <string>

#include "tensorflow/lite/core/c/common.h"
#include "tensorflow/lite/portable_type_to_tflitetype.h"  // IWYU pragma: export

namespace tflite {

MATCH_TYPE_AND_TFLITE_TYPE(std::string, kTfLiteString);
MATCH_TYPE_AND_TFLITE_TYPE(std::complex<float>, kTfLiteComplex64);
MATCH_TYPE_AND_TFLITE_TYPE(std::complex<double>, kTfLiteComplex128);

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_TYPE_TO_TFLITETYPE_H_
