// SPDX-License-Identifier: Apache-2.0
//
// LOGISTIC.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_LOGISTIC_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_LOGISTIC_H_

#include <cmath>
#include <cstdint>

#include "tensorflow/lite/kernels/internal/common.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace reference_ops {

// Returns 1 / (1 + exp(-x)). Above kUpper the result is 1, with an error below 1e-7. Below kLower
// it is exp(x), which is larger than the formula by a factor of at most 1.00013 and avoids an
// overflow of exp(-x).
inline float LogisticOf(float x) {
  constexpr float kUpper = 16.619047164916992188f;
  constexpr float kLower = -9.0f;
  if (x > kUpper) return 1.0f;
  return x < kLower ? std::exp(x) : 1.0f / (1.0f + std::exp(-x));
}

template <typename T>
inline void Logistic(const RuntimeShape& input_shape, const T* input_data,
                     const RuntimeShape& output_shape, T* output_data) {
  const int count = MatchingFlatSize(input_shape, output_shape);
  for (int i = 0; i < count; ++i)
    output_data[i] = static_cast<T>(LogisticOf(static_cast<float>(input_data[i])));
}

inline void Logistic(const LogisticParams&, const RuntimeShape& input_shape,
                     const float* input_data, const RuntimeShape& output_shape,
                     float* output_data) {
  Logistic(input_shape, input_data, output_shape, output_data);
}

// Computes in float32; the result is truncated towards zero.
inline void Logistic(const RuntimeShape& input_shape, const int8_t* input_data, float input_scale,
                     int input_zero_point, const RuntimeShape& output_shape, int8_t* output_data,
                     float output_scale, int output_zero_point) {
  const int count = MatchingFlatSize(input_shape, output_shape);
  for (int i = 0; i < count; ++i) {
    const float value =
        LogisticOf(static_cast<float>(input_data[i] - input_zero_point) * input_scale);
    output_data[i] =
        static_cast<int8_t>(value / output_scale + static_cast<float>(output_zero_point));
  }
}

}  // namespace reference_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_LOGISTIC_H_
