// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic of buffer sizes.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_DELEGATES_UTILS_UTILS_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_DELEGATES_UTILS_UTILS_H_

#include <cstddef>
#include <cstdint>

#include "tensorflow/lite/delegates/utils/ret_macros.h"

namespace tflite {
namespace delegates {
namespace utils {

inline bool IsPowerOfTwo(std::size_t x) { return x != 0 && (x & (x - 1)) == 0; }

// Next multiple of a power of two; aborts if `multiple` is not one.
inline std::uint32_t RoundUp(std::uint32_t size, std::uint32_t multiple) {
  TFLITE_ABORT_CHECK(IsPowerOfTwo(multiple), "multiple must be a power of two");
  return (size + (multiple - 1)) & ~(multiple - 1);
}

}  // namespace utils
}  // namespace delegates
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_DELEGATES_UTILS_UTILS_H_
