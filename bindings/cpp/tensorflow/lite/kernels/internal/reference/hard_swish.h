// SPDX-License-Identifier: Apache-2.0
//
// HARD_SWISH: x * relu6(x + 3) / 6.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_HARD_SWISH_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_HARD_SWISH_H_

#include <algorithm>
#include <cstdint>
#include <limits>

#include "tensorflow/lite/kernels/internal/common.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace reference_ops {

inline int16_t SaturatingLeftShift(int16_t value, int amount) {
  return fixed_point::Saturate<int16_t>(int64_t{value} * (int64_t{1} << amount));
}

// Returns a * b / 2^15, rounded towards zero.
inline int16_t SaturatingDoublingHighMul(int16_t a, int16_t b) {
  return fixed_point::Saturate<int16_t>(int64_t{a} * b / (1 << 15));
}

template <typename T>
inline void HardSwish(const RuntimeShape& input_shape, const T* input_data,
                      const RuntimeShape& output_shape, T* output_data) {
  const int count = MatchingFlatSize(input_shape, output_shape);
  for (int i = 0; i < count; ++i) {
    const T x = input_data[i];
    output_data[i] = x * std::min(T{6}, std::max(T{0}, x + T{3})) / T{6};
  }
}

// Computes int8 and uint8 elements. Products are in 16 bits; the order of shifts decides what
// saturates.
template <typename T>
inline void HardSwish(const HardSwishParams& params, const RuntimeShape& input_shape,
                      const T* input_data, const RuntimeShape& output_shape, T* output_data) {
  using fixed_point::SaturatingRoundingDoublingHighMul;
  constexpr int32_t kMin = std::numeric_limits<T>::min();
  constexpr int32_t kMax = std::numeric_limits<T>::max();
  const int exponent = params.reluish_multiplier_exponent;
  const int count = MatchingFlatSize(input_shape, output_shape);
  for (int i = 0; i < count; ++i) {
    const auto input = static_cast<int16_t>((input_data[i] - params.input_zero_point) * (1 << 7));
    const int16_t scaled_input =
        SaturatingRoundingDoublingHighMul(input, params.output_multiplier_fixedpoint_int16);
    int16_t factor = exponent > 0 ? SaturatingLeftShift(input, exponent - 1) : input;
    factor = SaturatingRoundingDoublingHighMul(factor, params.reluish_multiplier_fixedpoint_int16);
    if (exponent > 0) factor = SaturatingLeftShift(factor, 1);
    if (exponent < 0) factor = fixed_point::RoundingDivideByPOT(factor, -exponent);
    factor = static_cast<int16_t>((factor + (1 << 15)) >> 1);  // from [-1, 1] to [0, 1]
    const int16_t product = SaturatingDoublingHighMul(factor, scaled_input);
    const int32_t value =
        fixed_point::RoundingDivideByPOT(product, -params.output_multiplier_exponent) +
        params.output_zero_point;
    output_data[i] = static_cast<T>(std::min(std::max(value, kMin), kMax));
  }
}

}  // namespace reference_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_HARD_SWISH_H_
