// SPDX-License-Identifier: Apache-2.0
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_MIN_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_MIN_H_

#include <cmath>

namespace tflite {

// If one argument is NaN, returns the other.
template <class T>
inline T TfLiteMin(const T& x, const T& y) {
  return std::fmin(x, y);
}

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_MIN_H_
