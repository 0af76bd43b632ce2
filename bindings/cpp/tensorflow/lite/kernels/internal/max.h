// SPDX-License-Identifier: Apache-2.0
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_MAX_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_MAX_H_

#include <cmath>

namespace tflite {

// If one argument is NaN, returns the other.
template <class T>
inline T TfLiteMax(const T& x, const T& y) {
  return std::fmax(x, y);
}

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_MAX_H_
