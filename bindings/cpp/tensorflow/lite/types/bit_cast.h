// SPDX-License-Identifier: Apache-2.0
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_TYPES_BIT_CAST_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_TYPES_BIT_CAST_H_

#include <cstring>
#include <type_traits>

namespace tflite {

// Returns the value of type `To` that has the bytes of `from`.
template <typename To, typename From>
inline To bit_cast(const From& from) {
  static_assert(sizeof(To) == sizeof(From), "bit_cast requires types of equal size");
  static_assert(std::is_trivially_copyable<To>::value && std::is_trivially_copyable<From>::value,
                "bit_cast requires trivially copyable types");
  To to;
  std::memcpy(&to, &from, sizeof(To));
  return to;
}

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_TYPES_BIT_CAST_H_
