// SPDX-License-Identifier: Apache-2.0
//
// Types of the reference kernels: padding, quantisation, shapes, and parameters of the operators.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_TYPES_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_TYPES_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <type_traits>

#include "tensorflow/lite/kernels/internal/compatibility.h"
#include "tensorflow/lite/kernels/internal/matching_sizes.h"  // IWYU pragma: export
#include "tensorflow/lite/kernels/internal/op_params.h"       // IWYU pragma: export
#include "tensorflow/lite/kernels/internal/runtime_shape.h"   // IWYU pragma: export
#include "tensorflow/lite/types/half.h"                       // IWYU pragma: export

namespace std {

template <>
class numeric_limits<tflite::half> {
 public:
  static constexpr bool is_specialized = true;
  static constexpr bool is_signed = true;
  static constexpr tflite::half min() noexcept { return tflite::half::smallest_normal(); }
  static constexpr tflite::half max() noexcept { return tflite::half::max(); }
  static constexpr tflite::half lowest() noexcept { return tflite::half::min(); }
  static constexpr tflite::half epsilon() noexcept { return tflite::half::epsilon(); }
  static constexpr tflite::half quiet_NaN() noexcept { return tflite::half::from_bits(0x7e00); }
};

}  // namespace std

namespace tflite {

// A byte that holds 4-bit elements.
struct Int4 {
  uint8_t val;
};

// Parameters of a quantised tensor: real = scale * (quantised - zero_point).
struct QuantizationParams {
  int32_t zero_point = 0;
  double scale = 0.0;
};

inline bool operator==(const QuantizationParams& a, const QuantizationParams& b) {
  return a.zero_point == b.zero_point && a.scale == b.scale;
}

// One scale and zero point per index of dimension `quantized_dimension`. The arrays are borrowed,
// usually from a TfLiteAffineQuantization.
struct PerChannelQuantizationParams {
  const float* scale;
  const int32_t* zero_point;
  int32_t quantized_dimension;
};

template <typename P>
inline void GetActivationParams(const P& params, half* min, half* max) {
  *min = params.float_activation_min;
  *max = params.float_activation_max;
}

// is_small_integer is true for integer types of 8 and 16 bits, except bool.
template <typename T>
struct is_small_integer
    : public std::bool_constant<std::is_integral<T>::value && !std::is_same<T, bool>::value &&
                                (sizeof(T) < 4)> {};

template <typename T>
struct is_int32_or_int64 : public std::bool_constant<std::is_same<T, int32_t>::value ||
                                                     std::is_same<T, int64_t>::value> {};

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_TYPES_H_
