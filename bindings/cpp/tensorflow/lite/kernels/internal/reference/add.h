// SPDX-License-Identifier: Apache-2.0
//
// ADD. Functions without "Broadcast" in their names take inputs of equal shapes.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_ADD_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_ADD_H_

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "tensorflow/lite/kernels/internal/common.h"
#include "tensorflow/lite/kernels/internal/reference/quantized_binary.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace reference_ops {

// Adds and clamps elements of float, int32 or int64.
template <typename T>
inline void Add(const ArithmeticParams& params, const RuntimeShape& input1_shape,
                const T* input1_data, const RuntimeShape& input2_shape, const T* input2_data,
                const RuntimeShape& output_shape, T* output_data) {
  T min, max;
  GetActivationParams(params, &min, &max);
  const int count = MatchingElementsSize(input1_shape, input2_shape, output_shape);
  for (int i = 0; i < count; ++i) {
    output_data[i] =
        ActivationFunctionWithMinMax(WrappingAdd(input1_data[i], input2_data[i]), min, max);
  }
}

// Adds quantised elements.
template <typename T>
inline void AddElementwise(int size, const ArithmeticParams& params, const T* input1_data,
                           const T* input2_data, T* output_data) {
  for (int i = 0; i < size; ++i) {
    output_data[i] = quantized_binary::AddQuantized(params, input1_data[i], input2_data[i]);
  }
}

inline void AddScalarBroadcast(int size, const ArithmeticParams& params, uint8_t input1_data,
                               const uint8_t* input2_data, uint8_t* output_data) {
  for (int i = 0; i < size; ++i) {
    output_data[i] = quantized_binary::AddQuantized(params, input1_data, input2_data[i]);
  }
}

inline void Add(const ArithmeticParams& params, const RuntimeShape& input1_shape,
                const uint8_t* input1_data, const RuntimeShape& input2_shape,
                const uint8_t* input2_data, const RuntimeShape& output_shape,
                uint8_t* output_data) {
  AddElementwise(MatchingElementsSize(input1_shape, input2_shape, output_shape), params,
                 input1_data, input2_data, output_data);
}

inline void AddGeneralParamScale(const ArithmeticParams& params, const RuntimeShape& input1_shape,
                                 const int16_t* input1_data, const RuntimeShape& input2_shape,
                                 const int16_t* input2_data, const RuntimeShape& output_shape,
                                 int16_t* output_data) {
  AddElementwise(MatchingFlatSize(input1_shape, input2_shape, output_shape), params, input1_data,
                 input2_data, output_data);
}

// Adds int16 elements. With `pot_scale`, scales are powers of two, and the shift of one input is 0,
// that of the other 0 or negative.
inline void Add(const ArithmeticParams& params, const RuntimeShape& input1_shape,
                const int16_t* input1_data, const RuntimeShape& input2_shape,
                const int16_t* input2_data, const RuntimeShape& output_shape, int16_t* output_data,
                bool pot_scale = true) {
  if (!pot_scale) {
    AddGeneralParamScale(params, input1_shape, input1_data, input2_shape, input2_data, output_shape,
                         output_data);
    return;
  }
  TFLITE_DCHECK(params.input1_shift == 0 || params.input2_shift == 0);
  const int count = MatchingElementsSize(input1_shape, input2_shape, output_shape);
  for (int i = 0; i < count; ++i) {
    const int16_t a = fixed_point::RoundingDivideByPOT(input1_data[i], -params.input1_shift);
    const int16_t b = fixed_point::RoundingDivideByPOT(input2_data[i], -params.input2_shift);
    output_data[i] =
        quantized_binary::ClampToActivation<int16_t>(params, SaturatingAddNonGemmlowp(a, b));
  }
}

// Adds and clamps elements; 8-bit and 16-bit ones are quantised.
template <typename T, bool dummy = false>
inline void BroadcastAdd6DSlow(const ArithmeticParams& params, const RuntimeShape& input1_shape,
                               const T* input1_data, const RuntimeShape& input2_shape,
                               const T* input2_data, const RuntimeShape& output_shape,
                               T* output_data) {
  if constexpr (is_small_integer<T>::value && !dummy) {
    BroadcastBinary(input1_shape, input1_data, input2_shape, input2_data, output_shape, output_data,
                    [&](T a, T b) { return quantized_binary::AddQuantized(params, a, b); });
  } else {
    T min, max;
    GetActivationParams(params, &min, &max);
    BroadcastBinary(
        input1_shape, input1_data, input2_shape, input2_data, output_shape, output_data,
        [&](T a, T b) { return ActivationFunctionWithMinMax(WrappingAdd(a, b), min, max); });
  }
}

template <typename T>
inline void BroadcastAdd4DSlow(const ArithmeticParams& params, const RuntimeShape& input1_shape,
                               const T* input1_data, const RuntimeShape& input2_shape,
                               const T* input2_data, const RuntimeShape& output_shape,
                               T* output_data) {
  BroadcastAdd6DSlow<T>(params, input1_shape, input1_data, input2_shape, input2_data, output_shape,
                        output_data);
}

inline void BroadcastAddFivefold(const ArithmeticParams& params, const RuntimeShape& input1_shape,
                                 const uint8_t* input1_data, const RuntimeShape& input2_shape,
                                 const uint8_t* input2_data, const RuntimeShape& output_shape,
                                 uint8_t* output_data) {
  BroadcastAdd6DSlow<uint8_t>(params, input1_shape, input1_data, input2_shape, input2_data,
                              output_shape, output_data);
}

}  // namespace reference_ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_ADD_H_
