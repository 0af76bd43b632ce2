// SPDX-License-Identifier: Apache-2.0
//
// SOFTMAX over the last dimension.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_SOFTMAX_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_SOFTMAX_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "tensorflow/lite/kernels/internal/common.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace reference_ops {

// Computes float32 and float16 elements.
template <typename T, typename std::enable_if<!std::is_integral<T>::value, int>::type = 0>
inline void Softmax(const SoftmaxParams& params, const RuntimeShape& input_shape,
                    const T* input_data, const RuntimeShape& output_shape, T* output_data) {
  const int last = input_shape.DimensionsCount() - 1;
  const int rows = MatchingFlatSizeSkipDim(input_shape, last, output_shape);
  const int depth = MatchingDim(input_shape, last, output_shape, last);
  const auto beta = static_cast<float>(params.beta);
  for (int row = 0; row < rows; ++row) {
    const T* in = input_data + row * depth;
    T* out = output_data + row * depth;
    T max = std::numeric_limits<T>::lowest();
    for (int i = 0; i < depth; ++i) max = std::max(max, in[i]);
    float sum = 0;
    for (int i = 0; i < depth; ++i) {
      const float value = std::exp((static_cast<float>(in[i]) - static_cast<float>(max)) * beta);
      out[i] = static_cast<T>(value);
      sum += value;
    }
    for (int i = 0; i < depth; ++i) out[i] = static_cast<T>(static_cast<float>(out[i]) / sum);
  }
}

// Takes int8 and uint8 inputs. Outputs of 8 or 16 bits have the scale 2^-bits and the lowest value
// as zero point. Exponentials have 31 fraction bits, their sum has 19.
template <typename InputT, typename OutputT,
          typename std::enable_if<std::is_integral<InputT>::value, int>::type = 0>
inline void Softmax(const SoftmaxParams& params, const RuntimeShape& input_shape,
                    const InputT* input_data, const RuntimeShape& output_shape,
                    OutputT* output_data) {
  constexpr int kSumBits = 12;
  constexpr int32_t kMin = std::numeric_limits<OutputT>::min();
  constexpr int32_t kMax = std::numeric_limits<OutputT>::max();
  const int last = input_shape.DimensionsCount() - 1;
  const int rows = MatchingFlatSizeSkipDim(input_shape, last, output_shape);
  const int depth = MatchingDim(input_shape, last, output_shape, last);
  const auto exp_of = [&](int32_t difference) {
    return fixed_point::ExpOfNegative<5>(MultiplyByQuantizedMultiplierGreaterThanOne(
        difference, params.input_multiplier, params.input_left_shift));
  };
  for (int row = 0; row < rows; ++row) {
    const InputT* in = input_data + row * depth;
    OutputT* out = output_data + row * depth;
    const int32_t max = *std::max_element(in, in + depth);
    int32_t sum = 0;
    for (int i = 0; i < depth; ++i) {
      if (in[i] - max < params.diff_min) continue;
      sum = WrappingAdd(sum, fixed_point::RoundingDivideByPOT(exp_of(in[i] - max), kSumBits));
    }
    int excess_bits = 0;
    const int32_t reciprocal = GetReciprocal(sum, kSumBits, &excess_bits);
    const int shift = excess_bits + 31 - static_cast<int>(sizeof(OutputT)) * 8;
    TFLITE_CHECK(shift >= 0 && shift <= 31);
    for (int i = 0; i < depth; ++i) {
      out[i] = static_cast<OutputT>(kMin);
      if (in[i] - max < params.diff_min) continue;
      const int32_t quotient =
          fixed_point::SaturatingRoundingDoublingHighMul(reciprocal, exp_of(in[i] - max));
      const int32_t value = fixed_point::RoundingDivideByPOT(quotient, shift) + kMin;
      out[i] = static_cast<OutputT>(std::min(std::max(value, kMin), kMax));
    }
  }
}

// Returns exp(input - maximum) with 15 fraction bits, from a table over [-10, 0].
inline int16_t SoftMaxCalculateExp(const SoftmaxParams& params, const int16_t* input_data,
                                   const int depth, int16_t max_in_row, int i, int c) {
  const int32_t scaled =
      MultiplyByQuantizedMultiplier(int32_t{input_data[i * depth + c]} - max_in_row,
                                    params.input_multiplier, params.input_left_shift);
  return LUTLookup(fixed_point::Saturate<int16_t>(int64_t{scaled} + 32767), params.exp_lut);
}

// Computes int16 elements. The tables contain exp(x) over [-10, 0] and 1 / (1 + x) over [0, 1].
inline void SoftmaxInt16(const SoftmaxParams& params, const RuntimeShape& input_shape,
                         const int16_t* input_data, const RuntimeShape& output_shape,
                         int16_t* output_data) {
  const int last = input_shape.DimensionsCount() - 1;
  const int rows = MatchingFlatSizeSkipDim(input_shape, last, output_shape);
  const int depth = MatchingDim(input_shape, last, output_shape, last);
  for (int row = 0; row < rows; ++row) {
    const int16_t* in = input_data + row * depth;
    int16_t* out = output_data + row * depth;
    const int16_t max = *std::max_element(in, in + depth);
    int32_t sum = 0;
    for (int i = 0; i < depth; ++i) {
      out[i] = SoftMaxCalculateExp(params, input_data, depth, max, row, i);
      sum += out[i];
    }
    // The sum is normalised to [1, 2) with 16 fraction bits; the table is indexed by the fraction.
    const int headroom = CountLeadingZeros(static_cast<uint32_t>(sum));
    const int64_t normalized = ((int64_t{sum} << (headroom - 1)) + (1 << 13)) >> 14;
    const int16_t fraction = fixed_point::Saturate<int16_t>(normalized - (1 << 16) - (1 << 15));
    const int16_t reciprocal = LUTLookup(fraction, params.one_over_one_plus_x_lut);
    const int shift = 31 - headroom;
    for (int i = 0; i < depth; ++i) {
      const int64_t product = int64_t{out[i]} * reciprocal + (int64_t{1} << (shift - 1));
      out[i] =
          static_cast<int16_t>(std::min<int64_t>(std::max<int64_t>(product >> shift, 0), 32767));
    }
  }
}

}  // namespace reference_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_SOFTMAX_H_
