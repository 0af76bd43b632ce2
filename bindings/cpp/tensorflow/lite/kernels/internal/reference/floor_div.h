// SPDX-License-Identifier: Apache-2.0
//
// FLOOR_DIV.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_FLOOR_DIV_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_FLOOR_DIV_H_

#include <cmath>

namespace tflite {
namespace reference_ops {

// Returns the quotient, computed in float64 and rounded down.
template <typename T>
inline T FloorDiv(T input1, T input2) {
  return static_cast<T>(std::floor(static_cast<double>(input1) / static_cast<double>(input2)));
}

}  // namespace reference_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_FLOOR_DIV_H_
