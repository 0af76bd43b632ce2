// SPDX-License-Identifier: Apache-2.0
//
// LOG_SOFTMAX over the last dimension.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_LOG_SOFTMAX_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_LOG_SOFTMAX_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "tensorflow/lite/kernels/internal/common.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace reference_ops {

inline void LogSoftmax(const SoftmaxParams&, const RuntimeShape& input_shape,
                       const float* input_data, const RuntimeShape& output_shape,
                       float* output_data) {
  const int last = input_shape.DimensionsCount() - 1;
  const int rows = MatchingFlatSizeSkipDim(input_shape, last, output_shape);
  const int depth = MatchingDim(input_shape, last, output_shape, last);
  for (int row = 0; row < rows; ++row) {
    const float* in = input_data + row * depth;
    float max = std::numeric_limits<float>::lowest();
    for (int i = 0; i < depth; ++i) max = std::max(max, in[i]);
    float sum = 0;
    for (int i = 0; i < depth; ++i) sum += std::exp(in[i] - max);
    const float log_sum = std::log(sum);
    for (int i = 0; i < depth; ++i) output_data[row * depth + i] = in[i] - max - log_sum;
  }
}

// Computes int8 and uint8 elements. Outputs have the scale 1/16 and the highest value of T as zero
// point.
template <typename T>
inline void LogSoftmaxQuantized(const SoftmaxParams& params, const size_t outer_size,
                                const size_t depth, const RuntimeShape&, const T* input_data,
                                const RuntimeShape&, T* output_data) {
  constexpr int32_t kMin = std::numeric_limits<T>::min();
  constexpr int32_t kMax = std::numeric_limits<T>::max();
  constexpr int kInputBits = 5, kSumBits = 12, kOutputBits = 4;
  const auto rescale = [&](int32_t difference) {
    return MultiplyByQuantizedMultiplier(difference, params.input_multiplier,
                                         params.input_left_shift);
  };
  for (size_t row = 0; row < outer_size; ++row) {
    const T* in = input_data + row * depth;
    const int32_t max = *std::max_element(in, in + depth);
    int32_t sum = 0;
    for (size_t i = 0; i < depth; ++i) {
      if (in[i] - max < params.diff_min) continue;
      sum = WrappingAdd(
          sum, fixed_point::RoundingDivideByPOT(
                   fixed_point::ExpOfNegative<kInputBits>(rescale(in[i] - max)), kSumBits));
    }
    const int32_t log_sum = fixed_point::LogOfQ12InQ5(sum);
    // Differences that would overflow when the logarithm is subtracted have the lowest output.
    const int32_t lowest_difference = MultiplyByQuantizedMultiplier(
        log_sum + std::numeric_limits<int32_t>::min(), params.reverse_scaling_divisor,
        -params.reverse_scaling_right_shift);
    const int32_t bound = std::max<int32_t>(params.diff_min - 1, lowest_difference);
    for (size_t i = 0; i < depth; ++i) {
      int32_t value = kMin;
      if (in[i] - max > bound) {
        value = fixed_point::RoundingDivideByPOT(rescale(in[i] - max) - log_sum,
                                                 31 - kInputBits - kOutputBits) +
                kMax;
      }
      output_data[row * depth + i] = static_cast<T>(std::min(std::max(value, kMin), kMax));
    }
  }
}

inline void LogSoftmax(const SoftmaxParams& params, const RuntimeShape& input_shape,
                       const uint8_t* input_data, const RuntimeShape& output_shape,
                       uint8_t* output_data) {
  const int last = input_shape.DimensionsCount() - 1;
  const int rows = MatchingFlatSizeSkipDim(input_shape, last, output_shape);
  const int depth = MatchingDim(input_shape, last, output_shape, last);
  LogSoftmaxQuantized(params, static_cast<size_t>(rows), static_cast<size_t>(depth), input_shape,
                      input_data, output_shape, output_data);
}

inline void LogSoftmax(const SoftmaxParams& params, const size_t outer_size, const size_t depth,
                       const RuntimeShape& input_shape, const int8_t* input_data,
                       const RuntimeShape& output_shape, int8_t* output_data) {
  LogSoftmaxQuantized(params, outer_size, depth, input_shape, input_data, output_shape,
                      output_data);
}

}  // namespace reference_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_LOG_SOFTMAX_H_
