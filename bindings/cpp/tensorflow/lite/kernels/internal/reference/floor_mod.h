// SPDX-License-Identifier: Apache-2.0
//
// FLOOR_MOD.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_FLOOR_MOD_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_FLOOR_MOD_H_

#include <cmath>
#include <type_traits>

namespace tflite {
namespace reference_ops {

// Returns the remainder, with the sign of the divisor.
template <typename T>
inline T FloorMod(T input1, T input2) {
  T remainder;
  if constexpr (std::is_integral<T>::value) {
    remainder = static_cast<T>(input1 % input2);
  } else {
    remainder = static_cast<T>(std::fmod(static_cast<float>(input1), static_cast<float>(input2)));
  }
  const bool differ = (input2 < 0) != (remainder < 0);
  return remainder != 0 && differ ? static_cast<T>(remainder + input2) : remainder;
}

}  // namespace reference_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_FLOOR_MOD_H_
