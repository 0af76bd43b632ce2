// SPDX-License-Identifier: Apache-2.0
//
// Functions of <cmath> under the names that kernels use.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_CPPMATH_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_CPPMATH_H_

#include <cmath>

#define TF_LITE_GLOBAL_STD_PREFIX std

namespace tflite {

// Rounds to the nearest integer, halves away from zero.
template <class T>
inline T TfLiteRound(const T x) {
  return std::round(x);
}

template <class T>
inline T TfLiteExpm1(const T x) {
  return std::expm1(x);
}

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_CPPMATH_H_
